# Memory does not grow in a million calls of each function, and in a hundred thousand groups.
# ROUNDS=n per cent of them.
use CuckooCluster;
use CuckooMemory;

flat_memory(rounds(1000000));
done_testing();
