# Comparison of filters in every kind of plan: parallel, by partitions, in two phases through text
# and binary, from stored values; and large values, which are fetched once. SEED=n ROUNDS=percent.
use CuckooCluster;
use List::Util qw(shuffle);

seed();
my $node = new_cluster('main', conf => "max_parallel_workers = 4\nmax_worker_processes = 8\nshared_buffers = '128MB'\n");
my $serial = 'SET max_parallel_workers_per_gather = 0;';
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';

# Filters of all days: item i is in those of days 0 .. i % 50.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE days (day integer, f cuckoofilter) PARTITION BY RANGE (day);
	CREATE TABLE days0 PARTITION OF days FOR VALUES FROM (0) TO (25);
	CREATE TABLE days1 PARTITION OF days FOR VALUES FROM (25) TO (50);
	INSERT INTO days SELECT day, cuckoofilter_agg(i, 0.001, 30000)
		FROM generate_series(0, 49) day, generate_series(1, 30000) i WHERE i % 50 >= day GROUP BY day;
	INSERT INTO days VALUES (7, NULL), (30, NULL);
	ANALYZE});

# The same bytes from leader and workers, and from partitions.
my $all = 'SELECT md5(cuckoofilter_intersect_agg(f)::text) FROM days';
my $want = $node->safe_psql('postgres', "$serial $all");
like($node->safe_psql('postgres', "$parallel EXPLAIN (COSTS OFF) $all"), qr/Finalize Aggregate.*Gather.*Partial Aggregate/s, 'the plan is parallel');
is($node->safe_psql('postgres', "$parallel $all"), $want, 'and gives the same bytes');
my $wise = 'SET enable_partitionwise_aggregate = on; SET cpu_tuple_cost = 100;';   # to hand rows on costs
like($node->safe_psql('postgres', "$serial $wise EXPLAIN (COSTS OFF) $all"), qr/Finalize Aggregate.*Partial Aggregate.*days0.*Partial Aggregate.*days1/s,
	'partitions: aggregated on their own');
is($node->safe_psql('postgres', "$serial $wise $all"), $want, 'partitions: the same bytes');
is( $node->safe_psql('postgres', "SELECT (SELECT count(*) FROM generate_series(49, 30000, 50) i WHERE NOT u \@> i), cuckoofilter_count(u) BETWEEN 600 AND 640
		FROM (SELECT cuckoofilter_intersect_agg(f) FROM days) t(u)"), '0|t', 'what is in all of them');
my $groups = 'SELECT md5(string_agg(f::text, $$,$$ ORDER BY k)) FROM (SELECT day % 5 AS k, cuckoofilter_intersect_agg(f) AS f FROM days GROUP BY 1) g';
is($node->safe_psql('postgres', "$parallel $groups"), $node->safe_psql('postgres', "$serial $groups"), 'groups: the same bytes');
is($node->safe_psql('postgres', "$parallel SELECT cuckoofilter_intersect_agg(f) IS NULL FROM days WHERE day = 77 OR f IS NULL"), 't', 'NULL over none, in parallel');
is($node->safe_psql('postgres', "$parallel SELECT cuckoofilter_count(cuckoofilter_intersect_agg(f)) FROM (SELECT f FROM days UNION ALL SELECT cuckoofilter_create(5)) d"),
	'0', 'nothing in common is not NULL, in parallel');
my $sums = 'SELECT round(sum(cuckoofilter_overlap(a.f, b.f))::numeric, 3) FROM days a JOIN days b ON b.day = a.day + 1';
like($node->safe_psql('postgres', "$parallel EXPLAIN (COSTS OFF) $sums"), qr/Gather/, 'overlap in a parallel plan');
is($node->safe_psql('postgres', "$parallel $sums"), $node->safe_psql('postgres', "$serial $sums"), 'and the same sum');

# In two phases: partial states leave as text or in binary, and come back.  Filters differ in
# all but precision, so that order does not matter.
my $file = PostgreSQL::Test::Utils::tempdir() . '/states';
$node->safe_psql(
	'postgres', q{
	CREATE AGGREGATE partial_intersect(cuckoofilter) (SFUNC = cuckoofilter_intersect_agg_transition, STYPE = cuckoofilter);
	CREATE AGGREGATE combine_intersect(cuckoofilter) (SFUNC = cuckoofilter_intersect, STYPE = cuckoofilter);
	CREATE TABLE leaf (id integer, f cuckoofilter);
	CREATE TABLE state (node integer, f cuckoofilter);
	CREATE TABLE back (node integer, f cuckoofilter)});
foreach my $round (1 .. rounds(10))
{
	my $n = (5, 60, 3000, 20_000)[ int(rand(4)) ];
	my $leaves = 2 + int(rand(8));
	my $exact = rand() < 0.3;
	my @leaf = map {
		my $id = $_;
		my $from = int(rand($n / 4));
		my $options = join(',', 'bucket_size=' . (2, 4, 8)[ int(rand(3)) ], rand() < 0.5 ? 'kind=set' : 'kind=deletable', rand() < 0.5 ? 'layout=plain' : ());
		my $agg = $exact ? "cuckoofilter_agg(i, 1e-15, 1, '$options')" : "cuckoofilter_agg(i, 0.01, 40000, '$options')";
		my $empty = $round % 5 == 0 && $id == 2 ? 'AND false' : '';
		"INSERT INTO leaf SELECT $id, $agg FROM generate_series($from, $n) i WHERE true $empty";
	} 1 .. $leaves;
	$node->safe_psql('postgres', join(';', 'TRUNCATE leaf, state, back', @leaf));
	is($node->safe_psql('postgres', 'SELECT count(*) FROM leaf a, leaf b WHERE a.f & b.f <> b.f & a.f OR a.f & b.f <> cuckoofilter_intersect(a.f, b.f)'),
		0, "round $round: & in either order");
	my ($same, $want) = split /\|/, $node->safe_psql('postgres',
		"SELECT count(DISTINCT cuckoofilter_info(f) -> 'prefix_bits') = 1, md5(cuckoofilter_intersect_agg(f ORDER BY id)::bytea) FROM leaf");
	foreach my $format ('text', 'binary')
	{
		my $nodes = 1 + int(rand($leaves));
		$node->safe_psql(
			'postgres', qq{
			TRUNCATE state, back;
			INSERT INTO state SELECT node, partial_intersect(f ORDER BY random()) FROM (SELECT f, (random() * $nodes)::integer AS node FROM leaf OFFSET 0) l GROUP BY 1;
			COPY state TO '$file' (FORMAT $format);
			COPY back FROM '$file' (FORMAT $format)});
		# every filter that has items has those from n / 4 on
		my ($got, $lost) = split /\|/, $node->safe_psql('postgres',
			"SELECT md5(u::bytea), (SELECT count(*) FROM generate_series($n / 4, $n) i WHERE NOT u \@> i AND NOT EXISTS (SELECT FROM leaf WHERE cuckoofilter_count(f) = 0))
				FROM (SELECT combine_intersect(f ORDER BY random()) FROM back) t(u)");
		is($lost, 0, "round $round, $format: nothing is lost");
		# where hashes meet tables, which chance matches remain depends on the order
		is($got, $want, "round $round, $format: $leaves filters of up to $n items, the same bytes") if $same eq 't';
	}
}

# A state that was stored is an ordinary filter.
is( $node->safe_psql('postgres', q{
		WITH s AS (SELECT partial_intersect(f) AS f FROM days WHERE day < 20)
		SELECT f = f::text::cuckoofilter, f = f::bytea::cuckoofilter, f @> 49, cuckoofilter_info(f) ->> 'kind',
			cuckoofilter_intersect(s.f, (SELECT cuckoofilter_intersect_agg(f) FROM days WHERE day >= 20)) = (SELECT cuckoofilter_intersect_agg(f) FROM days)
		FROM s}), 't|t|t|set|t', 'a stored state');

# One stored filter beside many: each is fetched once, whichever argument it is.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE large AS SELECT cuckoofilter_agg(i) AS f FROM generate_series(1, 400000) i;
	CREATE TABLE small AS SELECT cuckoofilter_create(9) + g AS f FROM generate_series(1, 30) g;
	VACUUM ANALYZE large; VACUUM ANALYZE small});
foreach my $call ('cuckoofilter_overlap(l.f, s.f)', 'cuckoofilter_overlap(s.f, l.f)', 'cuckoofilter_overlap_error(l.f, s.f)', 'cuckoofilter_jaccard(l.f, s.f)', 'cuckoofilter_count(cuckoofilter_intersect(s.f, l.f))')
{
	my $plan = $node->safe_psql('postgres', "$serial EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT sum($call) FROM large l, small s");
	my ($hit) = $plan =~ /Buffers: shared hit=(\d+)/;
	my $toast = $node->safe_psql('postgres', "SELECT pg_table_size('large') / 8192");

	cmp_ok($hit // 0, '<', 3 * $toast, "$call: 30 calls read the value of $toast pages once ($hit pages)");
}

$node->stop;
done_testing();
