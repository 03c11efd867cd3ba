# Memory does not grow in a million calls of each function, and in a hundred thousand groups.
# ROUNDS=n per cent of them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../pg/lib";
use CuckooCluster;
use CuckooMemory;
use Test::More;

flat_memory(rounds(1000000));
done_testing();
