# Join filters in parallel plans: all processes share one filter under a Parallel Hash; under other
# hash joins each process has its own.
use CuckooCluster;
use CuckooJoin;

my $node = join_cluster('main',
	conf => "max_parallel_workers_per_gather = 2\nmax_parallel_workers = 8\nmax_worker_processes = 10\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\nmin_parallel_table_scan_size = 0\n"
	  . "enable_mergejoin = off\nenable_nestloop = off\n");

$node->safe_psql(
	'postgres', q{
	CREATE TABLE fact AS SELECT g AS id, g % 20000 AS k, md5((g % 20000)::text) AS t FROM generate_series(1, 100000) g;
	CREATE TABLE dim AS SELECT g * 10 AS k, md5((g * 10)::text) AS t, g AS id FROM generate_series(1, 1000) g;
	CREATE TABLE parts (id integer, k integer) PARTITION BY HASH (id);
	CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parts SELECT id, k FROM fact;
	ANALYZE});

# Where each process has a filter, it fetches one row before it makes it.
my %shared = ('one filter' => '', 'a filter each' => 'SET enable_parallel_hash = off;');
foreach my $kind (sort keys %shared)
{
	my $set = $shared{$kind};
	my $hash = $set ? 'Hash' : 'Parallel Hash';

	like(explained("$set SELECT count(*) FROM fact JOIN dim USING (k)"),
		qr/Workers Launched: 2.*$hash Join.*Parallel Custom Scan \(Cuckoo Join Filter\).*Filter Keys: 1000 .*Rows Tested: (?:100000|9999\d)  Removed: 9[45]\d{3} /s, "$kind: counts of all processes");
	same_rows("$kind: integers", "$set SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k)", 1);
	same_rows("$kind: text", "$set SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (t)", 1);
	same_rows("$kind: a semi join", "$set SELECT count(*), sum(fact.id) FROM fact WHERE k IN (SELECT k FROM dim WHERE id > 0)", 1);
	same_rows("$kind: a star", "$set SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k) JOIN dim d ON d.k = fact.id");
	same_rows("$kind: batches", "$set SET work_mem = '64kB'; SELECT count(*), sum(a.id) FROM fact a JOIN fact b USING (id) WHERE b.id < 8000", 1);
	same_rows("$kind: partitions", "$set SELECT count(*), sum(parts.id) FROM parts JOIN dim USING (k)", 1);
	same_rows("$kind: no keys", "$set SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k) WHERE dim.id < 0");
	same_rows("$kind: without the leader", "$set SET parallel_leader_participation = off; SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k)", 1);
	same_rows("$kind: without workers", "$set SET max_parallel_workers = 0; SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k)", 1);
	same_rows("$kind: a cursor, and so no workers", "$set BEGIN; DECLARE c CURSOR FOR SELECT fact.id FROM fact JOIN dim USING (k) WHERE fact.id < 100 ORDER BY 1; FETCH ALL FROM c; COMMIT; SELECT count(*) FROM fact JOIN dim USING (k)", 1);
	my $again = "$set SET enable_nestloop = on; SET enable_material = off; SELECT v.x, s.* FROM (VALUES (1), (2), (3)) v(x) LEFT JOIN (SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k)) s ON true";
	same_rows("$kind: again and again", $again, 1);
	like(explained($again), qr/Finalize Aggregate \(actual rows=1 loops=3\).*Rows Tested: (?:300000|29999\d)  Removed: 2[78]\d{4} /s, "$kind: again and again: the filter of each run drops rows");
	my $slept = explained("$set SET cuckoofilter.join_filter_max_pass = 0.7; SELECT count(*) FROM fact a JOIN fact b USING (id)");
	my ($tested, $untested) = $slept =~ /Rows Tested: (\d+)  Removed: 0 .*Rows Passed Untested: (\d+)/s;
	cmp_ok($tested, '<', 30_000, "$kind: few rows are tested where all pass") or diag($slept);
	cmp_ok(abs(99_999 - $tested - $untested), '<', 4, "$kind: rows that pass untested are counted in all processes") or diag($slept);
	same_rows("$kind: sleeps, again and again",
		"$set SET cuckoofilter.join_filter_max_pass = 0.5; SET enable_nestloop = on; SET enable_material = off; SELECT v.x, s.* FROM (VALUES (1), (2), (3)) v(x) LEFT JOIN (SELECT count(*), sum(a.id) FROM fact a JOIN fact b USING (id) WHERE b.k % 10 <> 0) s ON true");
	my $poor = "$set SET cuckoofilter.join_filter_memory = '64kB'; SELECT count(*), sum(a.id) FROM fact a JOIN fact b USING (id)";
	same_rows("$kind: without memory", $poor, 1);
	like(explained($poor), qr/Given Up: memory/, "$kind: given up for memory");
	same_rows("$kind: memory for the keys of a process, not for all", "$set SET cuckoofilter.join_filter_memory = '1300kB'; SELECT count(*), sum(a.id) FROM fact a JOIN fact b USING (id)", 1);
	my $kept = "$set SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k); EXECUTE p;";
	unlike(explained("$kept SET cuckoofilter.join_filter = off; EXECUTE p"), qr/Rows Tested|Filter Keys/, "$kind: a kept plan, switched off");
	is($node->safe_psql('postgres', "$kept SET cuckoofilter.join_filter = off; EXECUTE p; SET cuckoofilter.join_filter = on; EXECUTE p") =~ /^(.+)\n\1\n\1$/, 1, "$kind: a kept plan, on, off and on");
	unlike(explained($poor), qr/Rows Tested/, "$kind: and asked by none");
}

# Processes that share a hash table share what its filter costs, too: where a filter is expected to pay in one process,
# it is in several. The costs depend on the rows of the shared table, not on those of one process. Of the dimension
# a tenth matches; the fact has an index, so that without a filter the plan says `blocks only`.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE event AS SELECT g AS id, (g * 104729::bigint % 200000)::int AS k FROM generate_series(1, 100000) g;
	CREATE INDEX ON event USING brin (k);
	CREATE TABLE person AS SELECT (g * 7919::bigint % 200000)::int AS k, g AS id FROM generate_series(1, 60000) g;
	VACUUM ANALYZE event, person});
my %planned;
foreach my $keys (400, 1300, 2000, 3000, 5000, 7000, 9000, 15_000, 24_000, 30_000, 48_000)
{
	my $query = "SELECT count(*), sum(event.id) FROM event JOIN person USING (k) WHERE person.id <= $keys";
	my $set = 'SET cuckoofilter.join_filter = auto; SET cuckoofilter.join_filter_max_pass = 0.7;';
	my $serial = explained("$set SET max_parallel_workers_per_gather = 0; $query", 'COSTS OFF');
	my $parallel = explained("$set $query");

	like($parallel, qr/Workers Launched: 2.*Parallel Hash Join/s, "$keys keys: a parallel plan");
	is(filters_of($parallel), filters_of($serial), "$keys keys: as many filters as in one process") or diag($serial, $parallel);
	like($parallel, qr/Rows Tested: 100000 /, "$keys keys: which all rows ask") if filters_of($serial);
	$planned{ filters_of($serial) }++;
}
ok($planned{0} > 0 && $planned{1} > 5, "filters are planned for $planned{1} numbers of keys, and not for $planned{0}");

# The estimate of keys is that of all processes: 9,000 are expected, and 27,000 come, as many in each process as are expected
# in all. Each one waits at the begin of its partition, so that the others take theirs.
$node->safe_psql(
	'postgres', q{
	CREATE FUNCTION waits(g integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN IF g < 4 THEN PERFORM pg_sleep(0.5); END IF; RETURN true; END';
	CREATE TABLE alike (g integer, k integer, a integer, part integer) PARTITION BY LIST (part);
	CREATE TABLE alike0 PARTITION OF alike FOR VALUES IN (0) WITH (parallel_workers = 0);
	CREATE TABLE alike1 PARTITION OF alike FOR VALUES IN (1) WITH (parallel_workers = 0);
	CREATE TABLE alike2 PARTITION OF alike FOR VALUES IN (2) WITH (parallel_workers = 0);
	INSERT INTO alike SELECT g, g % 30000, g % 100, g % 3 FROM generate_series(1, 60000) g;
	CREATE TABLE often AS SELECT g AS id, (g * 104729::bigint % 30000)::int AS k FROM generate_series(1, 200000) g;
	VACUUM ANALYZE alike, often});
foreach my $workers (0, 2)
{
	like(explained("SET max_parallel_workers_per_gather = $workers; SET cuckoofilter.join_filter = auto; SET cuckoofilter.join_filter_max_pass = 0.7; SELECT count(*), sum(often.id) FROM often JOIN alike USING (k) WHERE a < 45 AND waits(g)"),
		qr/Given Up: more keys than estimated/, "more keys than estimated, $workers workers");
}

# A partial aggregate between, and a cascade.
same_rows('the build side of another', 'SET join_collapse_limit = 1; SELECT count(*), sum(a.id) FROM fact a JOIN (fact b JOIN dim USING (k)) ON a.id = b.id', 2);
same_rows('LIMIT above', 'SELECT count(*) FROM (SELECT fact.id FROM fact JOIN dim USING (k) LIMIT 100) s', 1);

# Each Gather takes one of the few segments of shared memory. The last join gets none, so that the leader runs it alone:
# by hashes, and by ranges only.
my $few = join_cluster('few',
	conf => "max_connections = 6\nmax_worker_processes = 4\nmax_parallel_workers = 4\nmax_wal_senders = 0\nsuperuser_reserved_connections = 0\nautovacuum_max_workers = 1\n"
	  . "autovacuum = off\nmax_parallel_workers_per_gather = 2\nparallel_setup_cost = 0\nparallel_tuple_cost = 0\nmin_parallel_table_scan_size = 0\nenable_mergejoin = off\n"
	  . "enable_nestloop = off\ncuckoofilter.join_filter_min_rows = 0\n");
$few->safe_psql(
	'postgres', q{
	CREATE TABLE f AS SELECT g AS id, g AS k FROM generate_series(1, 20000) g;
	CREATE INDEX ON f USING brin (k) WITH (pages_per_range = 1);
	CREATE TABLE d AS SELECT g * 50 AS k FROM generate_series(1, 300) g;
	CREATE TABLE s AS SELECT g AS id FROM generate_series(1, 200) g;
	VACUUM ANALYZE f, d, s;
	ALTER TABLE f SET (parallel_workers = 2); ALTER TABLE d SET (parallel_workers = 2); ALTER TABLE s SET (parallel_workers = 1)});
my $alone = 0;
foreach my $taken (119 .. 124)
{
	my $sum = join(' + ', map { "(SELECT count(*) FROM s WHERE s.id > $_)" } 1 .. $taken);

	foreach my $mode ('on', 'verify', 'auto')
	{
		my ($status, $got, $error) = $few->psql('postgres', "SET cuckoofilter.join_filter = $mode; SELECT $sum + (SELECT count(*) FROM f JOIN d USING (k) WHERE f.id > 7)");

		# between these two numbers PostgreSQL itself gives up
		next if $error =~ /too many dynamic shared memory segments/;
		is($got, 200 * $taken - $taken * ($taken + 1) / 2 + 300, "$mode: $taken segments are taken");
		$alone += $taken > 121;
	}
}
is($alone, 9, 'no segment was left for the last join');

done_testing();
