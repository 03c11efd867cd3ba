# The files of test/vectors, and their lists of items as SQL.
package CuckooVectors;

use CuckooCluster;
use Exporter 'import';
use FindBin;

our @EXPORT = qw(lines items hashes_of);

# The lines of a file of test/vectors, as lists of fields; undef for '-'.
sub lines
{
	my ($name) = @_;
	return map { [ map { $_ eq '-' ? undef : $_ } split /\t/, $_, -1 ] }
	  grep { !/^#/ && /\S/ } split /\n/, slurp_file("$FindBin::Bin/../../vectors/$name");
}

# Items of the recipes, as SQL.
sub items
{
	my ($list) = @_;
	return map {
		my ($type, $value) = split /:/, $_, 2;
		$type eq 'i' && $value =~ /^(-?\d+)\.\.(-?\d+)$/ ? "SELECT g FROM generate_series($1::bigint, $2) g"
		  : $type eq 'i' ? "SELECT ($value)::bigint"
		  : $type eq 'r' ? "SELECT '$value'::float8"
		  : $type eq 't' ? "SELECT \$t\$$value\$t\$::text"
		  : $type eq 'b' ? "SELECT '\\x$value'::bytea"
		  : die "item $_"
	} split /,/, $list;
}

# Hashes of all items, in order, under a seed.
sub hashes_of
{
	my ($list, $seed) = @_;
	return '(SELECT NULL::bigint AS h)' if !$list;
	return '(' . join(' UNION ALL ', map { "SELECT cuckoofilter_hash(x, $seed) AS h FROM ($_) AS s(x)" } items($list)) . ')';
}

1;
