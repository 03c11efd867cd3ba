# Backends killed with SIGKILL at random moments, and recovery.  ROUNDS=n per
# cent of 6 hits for each kind of victim; SEED=n replays the moments.
use CuckooCluster;
use CuckooCrash;

seed();
crash_rounds(rounds(6));
done_testing();
