# Memory does not grow with the number of calls; test/soak has more rounds.
use CuckooCluster;
use CuckooMemory;

flat_memory(20000);
done_testing();
