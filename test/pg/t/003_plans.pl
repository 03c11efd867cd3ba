# Parallel, partial, spilled hash and JIT plans, each of which is verified to be used, give the same
# bytes.
use CuckooCluster;

my $node = new_cluster('main', conf => "max_parallel_workers = 4\nmax_worker_processes = 8\nshared_buffers = '128MB'\n");

$node->safe_psql(
	'postgres', q{
	CREATE TABLE t AS SELECT (g * 7919::bigint) % 1000003 AS id, g % 1000 AS few, md5((g % 50000)::text) AS s, g % 100000 AS grp
		FROM generate_series(1, 400000) g;
	CREATE TABLE filters AS SELECT grp % 100 AS part, cuckoofilter_agg(id, 0.001, 400000) AS f FROM t GROUP BY 1;
	CREATE TABLE keys AS SELECT DISTINCT id FROM t WHERE id % 10 = 3;
	ANALYZE});

my $serial = 'SET max_parallel_workers_per_gather = 0;';
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; '
  . 'SET min_parallel_table_scan_size = 0;';

# The same bytes from leader and workers.
my %queries = (
	'agg(bigint)' => 'SELECT md5(cuckoofilter_agg(id)::text) FROM t',
	'agg(few)' => 'SELECT md5(cuckoofilter_agg(few)::text) FROM t',
	'agg(text)' => 'SELECT md5(cuckoofilter_agg(s, 0.001, 100000, $$layout=plain, seed=9$$)::text) FROM t',
	'agg_hash' => 'SELECT md5(cuckoofilter_agg_hash(cuckoofilter_hash(id))::text) FROM t',
	'agg of NULLs' => 'SELECT md5(cuckoofilter_agg(nullif(few, few), 0.02, 7, $$kind=set$$)::text) FROM t',
	'union_agg' => 'SELECT md5(cuckoofilter_union_agg(f)::text) FROM filters',
	'sum_agg' => 'SELECT md5(cuckoofilter_sum_agg(f)::text) FROM filters',
	'agg by group' => 'SELECT md5(string_agg(f::text, $$,$$ ORDER BY k)) FROM (SELECT few % 50 AS k, cuckoofilter_agg(id) AS f FROM t GROUP BY 1) g',
	'several' => 'SELECT md5(cuckoofilter_agg(id)::text || cuckoofilter_agg(s)::text || cuckoofilter_agg_hash(few)::text) FROM t');
foreach my $name (sort keys %queries)
{
	my $query = $queries{$name};
	my $plan = $node->safe_psql('postgres', "$parallel EXPLAIN (COSTS OFF) $query");

	like($plan, qr/Finalize (Group|Hash)?\s*Aggregate.*Gather.*Partial/s, "$name: the plan is parallel");
	is($node->safe_psql('postgres', "$parallel $query"), $node->safe_psql('postgres', "$serial $query"), "$name: and gives the same bytes");
}

# A parallel scan probes a filter of an InitPlan.
my $probe = 'SELECT count(*) FROM t WHERE cuckoofilter_contains((SELECT cuckoofilter_agg(id, 0.0001) FROM keys), id)';
like($node->safe_psql('postgres', "$parallel EXPLAIN (COSTS OFF) $probe"), qr/InitPlan.*Parallel Seq Scan on t/s, 'probes: the plan is parallel');
is($node->safe_psql('postgres', "$parallel $probe"), $node->safe_psql('postgres', "$serial $probe"), 'probes: the same count');

# Hashed groups that do not fit spill, and end as sorted ones do.
my $groups = 'SELECT count(*), sum(cuckoofilter_count(f)), md5(string_agg(f::text, $$,$$ ORDER BY grp)) FROM (SELECT grp, cuckoofilter_agg(id) AS f FROM t GROUP BY grp) g';
my $hashed = $node->safe_psql('postgres', "$serial SET enable_sort = off; SET work_mem = '4MB'; $groups");
my $sorted = $node->safe_psql('postgres', "$serial SET enable_hashagg = off; SET work_mem = '4MB'; $groups");
is($hashed, $sorted, '100,000 groups: hashed with spills, and sorted, give the same filters');
my $explain = $node->safe_psql('postgres',
	"$serial SET enable_sort = off; SET work_mem = '4MB'; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT grp, cuckoofilter_agg(id) FROM t GROUP BY grp");
like($explain, qr/HashAggregate.*Batches: (\d{2,}|[2-9])/s, '100,000 groups: the hash spills');
$explain =~ /Memory Usage: (\d+)kB/;
cmp_ok($1, '<', 4 * 1024 * 2.5, "100,000 groups: memory stays near work_mem ($1 kB)");

# Partitionwise aggregation, with workers.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE p (id bigint, k integer) PARTITION BY RANGE (k);
	CREATE TABLE p0 PARTITION OF p FOR VALUES FROM (0) TO (500);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (500) TO (1000);
	INSERT INTO p SELECT id, few FROM t;
	ANALYZE p});
my $wise = 'SET enable_partitionwise_aggregate = on;';
my $partial = 'SELECT md5(cuckoofilter_agg(id)::text) FROM p';
like($node->safe_psql('postgres', "$parallel $wise EXPLAIN (COSTS OFF) $partial"),
	qr/Finalize Aggregate.*Partial Aggregate.*p0.*Partial Aggregate.*p1/s, 'partitions: aggregated on their own');
is($node->safe_psql('postgres', "$parallel $wise $partial"), $node->safe_psql('postgres', "$serial $queries{'agg(bigint)'}"),
	'partitions: the same bytes');
my $by_key = 'SELECT md5(string_agg(f::text, $$,$$ ORDER BY k)) FROM (SELECT k, cuckoofilter_agg(id) AS f FROM p GROUP BY k) g';
is($node->safe_psql('postgres', "$parallel $wise $by_key"), $node->safe_psql('postgres', "$serial $by_key"), 'partitions: groups by the key');

# JIT compiles the expressions around our functions.
my $jit = 'SET jit = on; SET jit_above_cost = 0; SET jit_inline_above_cost = 0; SET jit_optimize_above_cost = 0;';
is($node->safe_psql('postgres', "$serial $jit $probe"), $node->safe_psql('postgres', "$serial $probe"), 'JIT: the same count');
is($node->safe_psql('postgres', "$serial $jit $queries{'agg(few)'}"), $node->safe_psql('postgres', "$serial $queries{'agg(few)'}"), 'JIT: the same bytes');

$node->stop;
done_testing();
