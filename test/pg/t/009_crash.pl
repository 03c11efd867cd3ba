# A backend is killed while it writes; then recovery. test/soak has more rounds.
use CuckooCluster;
use CuckooCrash;

seed();
crash_rounds(1, 'union', 'copy in binary');
done_testing();
