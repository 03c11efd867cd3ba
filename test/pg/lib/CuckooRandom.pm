# Shared by the tests that draw their inputs.
package CuckooRandom;

use CuckooCluster;
use Exporter 'import';

our @EXPORT = qw(pick chance);

# One of the arguments.
sub pick
{
	return $_[ int(rand(@_)) ];
}

# True with this probability.
sub chance
{
	return rand() < $_[0];
}

1;
