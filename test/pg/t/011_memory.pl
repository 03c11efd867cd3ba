# Memory does not grow with the number of calls; test/soak has more rounds.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use CuckooMemory;
use Test::More;

flat_memory(20000);
done_testing();
