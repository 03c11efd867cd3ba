# A backend is killed while it writes; then recovery. test/soak has more rounds.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use CuckooCluster;
use CuckooCrash;
use Test::More;

seed();
crash_rounds(1, 'union', 'copy in binary');
done_testing();
