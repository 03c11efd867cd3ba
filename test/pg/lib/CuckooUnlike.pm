# Unlike filters: each has its own random size, capacity, rate, bucket size, layout and kind.
package CuckooUnlike;

use CuckooCluster;
use Exporter 'import';
use List::Util qw(shuffle);

our @EXPORT = qw(one_of draw_size draw_options draw_empty draw_filter draw_narrow);

sub one_of
{
	return $_[ int(rand(@_)) ];
}

# Sizes on both sides of where a filter, or the state of an aggregate, changes its form.
sub draw_size
{
	my @sizes = (
		[ 1, 1 ], [ 7, 10 ], [ 55, 60 ], [ 200, 900 ], [ 1000, 4000 ], [ 4090, 4100 ], [ 4090, 4100 ],
		[ 7000, 20_000 ], [ 26_550, 26_700 ], [ 26_550, 26_700 ], ([ 26_600, 65_500 ]) x 5, [ 65_500, 66_500 ], [ 90_000, 150_000 ]);
	my ($low, $high) = rand() < 0.01 ? (520_000, 640_000) : @{ $sizes[ int(rand(@sizes)) ] };
	return $low + int(rand($high - $low + 1));
}

# Options of a filter with this seed.
sub draw_options
{
	my ($its_seed, $kind) = @_;
	my @options = ("seed=$its_seed");
	my $b = one_of('', '', 2, 4, 8);

	push @options, "bucket_size=$b" if $b;
	push @options, 'layout=plain' if rand() < 0.3;
	$kind //= one_of('', '', 'set');
	push @options, "kind=$kind" if $kind;
	return join(',', shuffle(@options));
}

# SQL of an empty filter, whose seed matters to nobody.
sub draw_empty
{
	my ($kind) = @_;
	my $options = draw_options(one_of(0, 1, 77, -1), $kind);
	my $fpr = one_of(0.5, 0.01, 1e-6);
	my $capacity = one_of(1, 1000, 1_000_000_000);

	return one_of("cuckoofilter_create($capacity, $fpr, '$options')", "(SELECT cuckoofilter_agg(NULL::bigint, $fpr, $capacity, '$options'))",
		"(SELECT cuckoofilter_remove_all(cuckoofilter_agg(x, 1e-4, $capacity, '" . ($options =~ /set/ ? 'seed=1' : $options) . "'), VARIADIC array_agg(x)) FROM generate_series(1, 2000) x)");
}

# SQL of a filter of the integers first .. last; a roomy one has the capacity to
# be merged with others.
sub draw_filter
{
	my ($its_seed, $first, $last, $roomy) = @_;
	my $fpr = one_of(0.2, 0.05, 0.01, 0.01, 0.01, 0.003, 1e-4, 1e-7);
	my $capacity = one_of('NULL', 'NULL', 'NULL', 1, $last - $first + 1, 100_000, 700_000, 100_000_000);
	my $options = draw_options($its_seed);

	$capacity = one_of(400_000, 700_000, 100_000_000) if $roomy;
	return "(SELECT cuckoofilter_agg(x, $fpr, $capacity, '$options') FROM generate_series($first, $last) x)";
}

# SQL of a filter that has the precision for its own items only, so that a merge of n such is
# near its limit.  One or so of n has a coarse rate, with which the limit is higher.
sub draw_narrow
{
	my ($its_seed, $first, $last, $n) = @_;
	my $is_coarse = rand() < 1 / $n;
	my $fpr = $is_coarse ? one_of(0.3, 0.9) : one_of(0.05, 0.01, 0.01, 0.01, 0.003);
	my $capacity = $is_coarse ? one_of('NULL', 1000, 1_000_000) : one_of('NULL', 'NULL', 1, $last - $first + 1);
	my $options = draw_options($its_seed, rand() < 1 / $n ? 'set' : 'deletable');

	$options =~ s/bucket_size=2/bucket_size=8/ if rand() < 0.8;
	return "(SELECT cuckoofilter_agg(x, $fpr, $capacity, '$options') FROM generate_series($first, $last) x)";
}

1;
