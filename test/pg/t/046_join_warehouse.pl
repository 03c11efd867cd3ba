# The queries of `make bench-join` over a small warehouse give the same rows in every mode of
# join_filter, as PostgreSQL plans them, with nested loops alone, and with workers. The filters are
# counted by kind.
use CuckooCluster;
use FindBin;

my $folder = "$FindBin::Bin/../../bench/join/warehouse";
my $sales = 20000;

# Filters of any size, also of a few rows.
my $node = new_cluster('main',
	conf => "shared_preload_libraries = 'cuckoofilter_join'\nsearch_path = 'warehouse, public'\nfsync = off\nautovacuum = off\nshared_buffers = 128MB\n"
	  . "cuckoofilter.join_filter_min_rows = 0\nrandom_page_cost = 1.1\nmax_parallel_workers_per_gather = 0\n"
	  . "parallel_setup_cost = 0\nparallel_tuple_cost = 0\nmin_parallel_table_scan_size = 0\nmin_parallel_index_scan_size = 0\n");
my @columns = qw(planned built given_up suspended rows_tested rows_removed partitions_skipped nested_loops);
my (undef, @parts) = split /^-- (\w+): .*\n/m, slurp_file("$folder/queries.sql");
my @names = @parts[ grep { $_ % 2 == 0 } 0 .. $#parts ];
my %query = @parts;

cmp_ok(scalar(@names), '>=', 40, scalar(@names) . ' queries');
$node->psql('postgres', "\\set n $sales\n" . slurp_file("$folder/schema.sql") . "VACUUM ANALYZE;", on_error_die => 1);

# The rows of each query in a mode, and the sum of its filters' counters.
sub rows_of
{
	my ($mode, $settings) = @_;
	my $sql = join('', map { "\\echo == $_\n$query{$_}\n" } @names);
	my $out = $node->safe_psql('postgres', "SELECT cuckoofilter_join_stats_reset(); SET cuckoofilter.join_filter = $mode; $settings\n$sql");
	my (undef, %rows) = split /^== (\w+)\n/m, "$out\n";
	my %stats;

	@stats{@columns} = split /\|/, $node->safe_psql('postgres', "SELECT " . join(', ', @columns) . " FROM cuckoofilter_join_stats WHERE database = 'postgres'");
	return (\%rows, \%stats);
}

my %way = (
	'as planned' => '',
	'nested loops' => 'SET enable_hashjoin = off; SET enable_mergejoin = off;',
	'hash joins' => 'SET enable_nestloop = off; SET enable_mergejoin = off;',
	'workers' => 'SET max_parallel_workers_per_gather = 2;');

foreach my $way (sort keys %way)
{
	my ($off, $nothing) = rows_of('off', $way{$way});

	is($nothing->{planned}, 0, "$way, off: no filters");
	cmp_ok(scalar(grep { $off->{$_} ne '' } @names), '>=', 40, "$way: most queries find rows") if $way eq 'as planned';
	foreach my $mode (qw(auto on verify))
	{
		my ($rows, $stats) = rows_of($mode, $way{$way});
		my @differ = grep { $rows->{$_} ne $off->{$_} } @names;

		is("@differ", '', "$way, $mode: the same rows as off: " . join(', ', map { "$_ $stats->{$_}" } @columns));
		next if $mode eq 'auto';
		cmp_ok($stats->{rows_tested}, '>', 100000, "$way, $mode: filters are asked");
		cmp_ok($stats->{nested_loops}, '>', 20, "$way, $mode: filters of nested loops") if $way eq 'nested loops';
		is($stats->{partitions_skipped} > 500, $mode eq 'on', "$way, $mode: partitions are skipped in on only") if $way ne 'nested loops';
		cmp_ok($stats->{built} - $stats->{nested_loops}, '>', 50, "$way, $mode: filters of hash joins") if $way ne 'nested loops';
	}
}

$node->stop;
done_testing();
