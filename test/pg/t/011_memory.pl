# Memory is flat; test/soak has more of it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use CuckooMemory;
use Test::More;

flat_memory(20000);
done_testing();
