# LEFT and ANTI nested loops: their filter drops no row, but the lookup of a row that it denies does not run. Every
# query gives the rows that it gives without, in every mode, and "verify" looks up what the filter denies.
use CuckooCluster;
use CuckooJoin;
use CuckooSession;

my $node = join_cluster('main', conf => "enable_hashjoin = off\nenable_mergejoin = off\nenable_material = off\nrandom_page_cost = 0.1\nautovacuum = off\n");
my $uncached = 'SET enable_memoize = off; ';

$node->safe_psql(
	'postgres', q{
	CREATE TABLE fact AS SELECT g AS id, nullif((hashint4(g) & 65535) % 2000, 7) AS k, g % 50 AS few, g % 7 AS a FROM generate_series(1, 20000) g;
	CREATE TABLE dim AS SELECT g AS k, g % 50 AS c, g::text AS t, g % 50 - 10 AS x, repeat('y', 30) AS pad FROM generate_series(0, 2500) g;
	INSERT INTO dim VALUES (NULL, 3, NULL, 0);
	CREATE UNIQUE INDEX dim_k ON dim (k) INCLUDE (c);
	CREATE TABLE dup AS SELECT g % 2500 AS k, g % 50 AS c FROM generate_series(0, 10000) g;
	CREATE INDEX dup_k ON dup (k);
	CREATE TABLE two AS SELECT g AS k, i AS j, (g + i) % 50 AS c FROM generate_series(0, 999) g, generate_series(0, 4) i;
	CREATE UNIQUE INDEX two_k ON two (k, j);
	CREATE TABLE parted (k integer, c integer) PARTITION BY RANGE (k);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (1000);
	CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (1000) TO (3000);
	INSERT INTO parted SELECT k, c FROM dim WHERE k IS NOT NULL;
	CREATE UNIQUE INDEX ON parted (k);
	CREATE TABLE gone AS SELECT g AS k, g % 5 AS c FROM generate_series(1, 5000) g;
	CREATE UNIQUE INDEX gone_k ON gone (k);
	CREATE TABLE small AS SELECT g AS id FROM generate_series(1, 5) g;
	CREATE SEQUENCE s});
$node->safe_psql('postgres', 'VACUUM ANALYZE');
$node->safe_psql('postgres', 'DELETE FROM gone');

# The lookups that a plan skipped.
sub skipped_in
{
	my ($plan) = @_;
	my $sum = 0;

	$sum += $_ foreach $plan =~ /Lookups Skipped: (\d+)/g;
	return $sum;
}

# A query gives the same rows, or error, and effects on the sequence in every mode. What comes before its last
# statement is done first. Returns the rows.
sub same
{
	my ($name, $query) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my %rows;

	foreach my $mode (qw(off on auto verify))
	{
		my ($status, $out, $err) = $node->psql('postgres', "ALTER SEQUENCE s RESTART; SET cuckoofilter.join_filter = $mode; $query;\nSELECT last_value FROM s", on_error_stop => 0);

		$rows{$mode} = "$out\n$err";
	}
	is($rows{$_}, $rows{off}, "$name: $_ gives the same") or diag($query, "\n", plan_of($query, 'COSTS OFF')) foreach qw(on auto verify);
	return $rows{off} =~ /^(.*?)\n/ ? $1 : '';
}

# The same, and at least so many lookups are skipped.
sub answered
{
	my ($name, $query, $least) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $rows = same($name, $query);
	my $plan = plan_of($query);

	cmp_ok(skipped_in($plan), '>=', $least // 18000, "$name: lookups are skipped") or diag($plan);
	return $rows;
}

# The same, without a filter of a nested loop.
sub refused
{
	my ($name, $query) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $rows = same($name, $query);
	my $plan = plan_of($query, 'COSTS OFF');

	like($plan, qr/Nested Loop (?:Left|Anti) Join/, "$name: a nested loop");
	unlike($plan, qr/Cuckoo Nested Loop Filter/, "$name: without a filter");
	return $rows;
}

# ------------------------------------------------------------------ LEFT and ANTI

my $left = 'SELECT count(*), count(d.c), sum(f.id), sum(d.k) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3';
my $anti = 'SELECT count(*), sum(f.id), count(f.k) FROM fact f WHERE NOT EXISTS (SELECT FROM dim d WHERE d.k = f.k AND d.c = 3)';

like(answered('LEFT', $left), qr/^20000\|39\d\|/, 'LEFT: all rows');
like(answered('ANTI', $anti), qr/^196\d\d\|/, 'ANTI: most rows');
my $plan = plan_of($uncached . $left);
like($plan, qr/Nested Loop Left Join \(actual rows=20000 .*\(Cuckoo Nested Loop Filter\)[^\n]*\n\s*Nested Loop Filter: built after 512 rows, 50 keys\n\s*Rows Tested: 19488  Lookups Skipped: 19\d{3} \(9\d\.\d %\)\n\s*->  Seq Scan on fact f \(actual rows=20000 /s,
	'EXPLAIN: the node counts the lookups that it answers, and the scan returns all rows');
my ($skipped) = skipped_in($plan);
like($plan, qr/->  Index [^\n]* on dim d(?:_1)? \(actual rows=0(?:\.\d+)? loops=${\(20000 - $skipped)}\)/, 'the others run');
unlike($plan, qr/Filtered Scan|Removed: /, 'no scan asks');
like(plan_of($left, 'ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF, FORMAT JSON'), qr/"Nested Loop Filter": "built after 512 rows, 50 keys".*"Rows Tested": 19488,\s*"Lookups Skipped": 19\d{3}/s, 'JSON');
like(plan_of($left, 'COSTS OFF'), qr/\(Cuckoo Nested Loop Filter\)\n/, 'EXPLAIN alone');
answered('without Memoize, LEFT', $uncached . $left);
answered('without Memoize, ANTI', $uncached . $anti);
answered('a bitmap scan', "SET enable_indexscan = off; SET enable_indexonlyscan = off; $anti");
answered('an index-only scan', "SET enable_bitmapscan = off; SET enable_indexscan = off; SET enable_seqscan = off; $anti");
answered('duplicates, LEFT', 'SELECT count(*), sum(f.id), count(d.c) FROM fact f LEFT JOIN dup d ON d.k = f.k AND d.c = 3');
answered('duplicates, ANTI', 'SELECT count(*), sum(f.id) FROM fact f WHERE NOT EXISTS (SELECT FROM dup d WHERE d.k = f.k AND d.c = 3)');
answered('two keys', 'SELECT count(*), sum(f.id), count(t.c) FROM fact f LEFT JOIN two t ON t.k = f.k AND t.j = f.a AND t.c < 10', 15000);
is(answered('an empty table, LEFT', 'SELECT count(*), count(d.c) FROM fact f LEFT JOIN gone d ON d.k = f.k'), '20000|0', 'it is empty');
is(answered('an empty table, ANTI', 'SELECT count(*) FROM fact f WHERE NOT EXISTS (SELECT FROM gone d WHERE d.k = f.k)'), '20000', 'it is empty');
like(answered('keys that are NULL', "SELECT count(*), sum(f.id), count(d.k) FROM (SELECT id, CASE WHEN id % 3 = 0 OR id < 600 THEN k END AS k FROM fact OFFSET 0) f LEFT JOIN dim d ON d.k = f.k", 12500), qr/^20000\|200010000\|7\d\d\d$/, 'they have no match, and stay');
like(answered('keys that are NULL, ANTI', "SELECT count(*), count(f.k) FROM (SELECT id, CASE WHEN id % 3 = 0 OR id < 600 THEN k END AS k FROM fact OFFSET 0) f WHERE NOT EXISTS (SELECT FROM dim d WHERE d.k = f.k)", 12500), qr/^1\d{4}\|0$/, 'nor here');
like(plan_of('SELECT count(*) FROM fact f WHERE EXISTS (SELECT FROM dup d WHERE d.k = f.k AND d.c = 3)'), qr/Nested Loop Semi Join.*Rows Tested: 19488  Removed: 19\d{3} /s, 'SEMI: rows are dropped, as in INNER loops');
same('a loop in which all rows match', 'SELECT count(*), sum(f.id), sum(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k');
is(skipped_in(plan_of('SELECT count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k WHERE f.k IS NOT NULL')), 0, 'which skips none');

# What the loop returns for a row without a match, and tests of it.
answered('the rows themselves', 'SELECT f.*, d.c, d.t, d.c IS NULL, d.* FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3 ORDER BY f.id');
answered('without a sort', 'SELECT f.*, d.c, d.t, coalesce(d.c, -1) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3');
answered('a condition on the result', "$left WHERE d.c IS DISTINCT FROM 3 OR f.a = 2");
like(plan_of("$left WHERE d.c IS DISTINCT FROM 3 OR f.a = 2"), qr/Nested Loop Left Join[^\n]*\n\s*Filter: [^\n]*\n\s*Rows Removed by Filter: [23]\d\d\n/, 'which removes rows that match');
answered('one that removes rows without a match', "$left WHERE d.c IS NOT DISTINCT FROM 3 OR f.a = 2");
like(plan_of("$left WHERE d.c IS NOT DISTINCT FROM 3 OR f.a = 2"), qr/Nested Loop Left Join[^\n]*\n\s*Filter: [^\n]*\n\s*Rows Removed by Filter: 16\d{3}\n/, 'all of them are counted');
answered('one that no row meets', "$left WHERE d.c IS NOT DISTINCT FROM 3 AND d.x > 0 OR f.a > 9 AND d.c IS NULL");
answered('effects of the result', "SELECT f.id, nextval('s'), d.c FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3");
answered('effects of the outer side', "SELECT sum(f.n), count(d.c) FROM (SELECT k, id, nextval('s') AS n FROM fact OFFSET 0) f LEFT JOIN dim d ON d.k = f.k AND d.c = 3");
like(answered('memory of a row', "SELECT count(*), sum(length(f.x)), count(d.c) FROM (SELECT k, repeat('x', id % 4000) || id AS x FROM fact OFFSET 0) f LEFT JOIN dim d ON d.k = f.k AND d.c = 3"), qr/^20000\|/, 'is freed');

# Loops above, below and beside a loop.
answered('a loop above', 'SELECT count(*), count(d.c), count(e.c), sum(f.id) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3 LEFT JOIN dup e ON e.k = f.k AND e.c = 4', 36000);
answered('LEFT and INNER', "SET join_collapse_limit = 1; SELECT count(*), count(d.c), sum(f.id) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3 JOIN dup e ON e.k = f.k AND e.c < 25", 8000);
answered('LEFT above INNER', "SET join_collapse_limit = 1; SELECT count(*), count(d.c), sum(f.id) FROM fact f JOIN dup e ON e.k = f.k AND e.c < 25 LEFT JOIN dim d ON d.k = f.k AND d.c = 3", 8000);
answered('ANTI above LEFT', 'SELECT count(*), count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3 WHERE NOT EXISTS (SELECT FROM dup e WHERE e.k = f.k AND e.c = 4)', 36000);
same('a hash join above', "SET enable_hashjoin = on; SET random_page_cost = 0.02; SET join_collapse_limit = 1; SELECT count(*), count(d.c), sum(f.id) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3 JOIN small ON small.id = f.few");
answered('behind a sort', 'SELECT count(*), sum(f.id), count(d.c) FROM (SELECT * FROM fact ORDER BY few, id OFFSET 0) f LEFT JOIN dim d ON d.k = f.k AND d.c = 3');

# ------------------------------------------------------------------- refusals

refused('a condition on both sides', 'SELECT count(*), count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3 AND d.x + f.a < 30');
refused('one on the outer side', 'SELECT count(*), count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3 AND f.a < 4');
refused('a volatile condition', "SELECT count(*), count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3 AND nextval('s') > d.x");
refused('a condition that may fail', 'SELECT count(*), count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND 10 / (d.x + 11) > 2');
answered('beside one that cannot', 'SELECT count(*), count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c < 5 AND 10 / (d.x + 11) > 2', 15000);
like(same('an error that lookups raise', 'SELECT count(*), count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c IN (3, 4) AND 10 / (d.c - 3) > 2'), qr/^1$/, 'is raised in every mode: no rows, and the sequence');
refused('a partitioned table', 'SELECT count(*), count(d.c) FROM fact f LEFT JOIN parted d ON d.k = f.k AND d.c = 3');
refused('Material', 'SELECT count(*), count(d.c) FROM (SELECT * FROM fact WHERE id < 700) f LEFT JOIN (SELECT k, c FROM dup WHERE c = 3 OFFSET 0) d USING (k)');
$node->safe_psql(
	'postgres', q{
	CREATE ROLE somebody; CREATE TABLE secret AS SELECT * FROM dim; CREATE UNIQUE INDEX ON secret (k); ALTER TABLE secret ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON secret USING (c < 5);
	GRANT SELECT ON fact, secret, s TO somebody; ANALYZE secret});
refused('row security', 'SET ROLE somebody; SELECT count(*), count(d.c) FROM fact f LEFT JOIN secret d ON d.k = f.k AND d.c = 3');
foreach my $statement ('SELECT f.id FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3 FOR UPDATE OF f', 'UPDATE fact f SET a = 0 WHERE NOT EXISTS (SELECT FROM dim d WHERE d.k = f.k AND c = 3)', 'DELETE FROM fact f WHERE NOT EXISTS (SELECT FROM dim d WHERE d.k = f.k AND c = 3)')
{
	my $locked = plan_of($statement, 'COSTS OFF');

	ok($locked =~ /Nested Loop (?:Left|Anti) Join/ && $locked !~ /Cuckoo/, "no filter: $statement") or diag($locked);
}
like(plan_of("BEGIN ISOLATION LEVEL SERIALIZABLE; $left"), qr/Nested Loop Filter: not built, the transaction is serializable/, 'a serializable transaction');

# ------------------------------------- parameters, rescans, early ends, other sessions

# The inner side keeps the parameters of its last lookup; those of an upper row reach it with its next one.
foreach my $query (
	'SELECT sum(x.n), sum(x.m) FROM small, LATERAL (SELECT count(*) AS n, count(d.c) AS m FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c < 20 AND d.c <> small.id OFFSET 0) x',
	'SELECT small.id, x.* FROM small, LATERAL (SELECT count(*) AS n, sum(f.id) FROM fact f WHERE f.few > small.id AND NOT EXISTS (SELECT FROM dim d WHERE d.k = f.k AND d.c < 20 AND d.x > small.id) OFFSET 0) x ORDER BY 1',
	'SELECT id, (SELECT count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c < 20 AND d.c > small.id) FROM small ORDER BY 1')
{
	foreach my $memoize ('', $uncached)
	{
		answered("an upper row in a condition: $memoize$query", "$memoize$query", 20000);
	}
}
my $again = "SELECT v.x, s.* FROM (VALUES (1), (2), (3)) v(x) LEFT JOIN ($left) s ON true";
answered('again and again', $again, 57000);
like(plan_of($again), qr/Rows Tested: 59488  Lookups Skipped: 5[78]\d{3} .*?Seq Scan on dim [^\n]*\(actual rows=51 loops=1\)/s, 'the filter is kept, and built once');
answered('again, and ended early each time', 'SELECT v.x, (SELECT count(q.c) FROM (SELECT f.id, d.c FROM fact f LEFT JOIN dup d ON d.k = f.k AND d.c = 3 WHERE f.few <> v.x LIMIT 700 + v.x) q) FROM (VALUES (1), (2), (3)) v(x)', 1000);
answered('LIMIT', 'SELECT f.id, d.c FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3 LIMIT 3000', 2000);
answered('EXISTS that ends early', 'SELECT id, EXISTS (SELECT FROM fact f WHERE f.id > small.id * 300 AND NOT EXISTS (SELECT FROM dim d WHERE d.k = f.k AND d.c < 48)) FROM small ORDER BY 1', 0);
answered('a cursor', "BEGIN; DECLARE c CURSOR FOR SELECT f.id, d.c FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3; MOVE 3000 IN c; FETCH 5 FROM c; MOVE ALL IN c; COMMIT; $left");
answered('two cursors', "BEGIN; DECLARE c CURSOR FOR SELECT f.id, d.c FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3; DECLARE e CURSOR FOR SELECT f.id, d.c FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 4; MOVE 900 IN c; MOVE 1000 IN e; FETCH 60 FROM c; FETCH 60 FROM e; FETCH ALL FROM c; FETCH ALL FROM e; COMMIT; $left");
answered('a scroll cursor', "BEGIN; DECLARE c SCROLL CURSOR FOR SELECT f.id, d.c FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3; MOVE 3000 IN c; FETCH BACKWARD 5 FROM c; MOVE FIRST IN c; FETCH 3 FROM c; FETCH LAST FROM c; COMMIT; $left");
answered('a prepared statement', "SET plan_cache_mode = force_generic_plan; PREPARE p(integer) AS SELECT count(*), count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = \$1; EXECUTE p(4); EXECUTE p(3)");
answered('an InitPlan', 'SELECT count(*), count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c < (SELECT min(id) + 2 FROM small)', 17000);
answered('a recursive query', 'WITH RECURSIVE r(n, i) AS (SELECT k, 0 FROM fact WHERE id < 3000 UNION ALL SELECT d.x, i + 1 FROM r LEFT JOIN dim d ON d.k = r.n AND d.c > 45 WHERE i < 3) SELECT count(*), sum(n) FROM r', 1000);
answered('a function in each row', "SET check_function_bodies = off; CREATE OR REPLACE FUNCTION pg_temp.inner_left(n integer) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = n WHERE f.id < 800); END'; SELECT sum(pg_temp.inner_left(f.a)) FILTER (WHERE f.id % 6 = 0), count(d.c) FROM (SELECT * FROM fact ORDER BY id LIMIT 600) f LEFT JOIN dim d ON d.k = f.k AND d.c = 3", 50);
answered('INSERT where there is none', 'CREATE TEMP TABLE made (k integer); CREATE UNIQUE INDEX ON made (k); INSERT INTO made SELECT g FROM generate_series(1, 100) g; ANALYZE made; INSERT INTO made SELECT DISTINCT f.k FROM fact f WHERE f.k > 0 AND NOT EXISTS (SELECT FROM made m WHERE m.k = f.k); SELECT count(*), sum(k) FROM made; ' . $left);
my $inserting = 'CREATE TEMP TABLE made (k integer, id integer); CREATE INDEX ON made (k); INSERT INTO made SELECT g, 0 FROM generate_series(1, 100) g; ANALYZE made; INSERT INTO made SELECT f.k, f.id FROM fact f WHERE NOT EXISTS (SELECT FROM made m WHERE m.k = f.k)';
like(plan_of($inserting), qr/Insert on made.*Lookups Skipped: 1\d{4} /s, 'into the table that is looked up');
same('into it', "$inserting; SELECT count(*), sum(k), sum(id) FROM made");
my @session = (CuckooSession->new($node), CuckooSession->new($node));
$session[0]->query('BEGIN; UPDATE dim SET c = 3 WHERE k = 100; UPDATE dim SET c = 4 WHERE k = 3; DELETE FROM dim WHERE k = 53; INSERT INTO dim (k, c) VALUES (-3, 3); UPDATE fact SET k = -3 WHERE id > 19990');
sub sees_the_same
{
	my ($when) = @_;
	is($session[1]->query("SET cuckoofilter.join_filter = on; $left; $anti"), $session[1]->query("SET cuckoofilter.join_filter = off; $left; $anti"), "rows that another session changes: $when");
	return;
}
sees_the_same('before its commit');
$session[1]->query("BEGIN ISOLATION LEVEL REPEATABLE READ; $left");
$session[0]->query('COMMIT');
sees_the_same('an older snapshot');
$session[1]->query('COMMIT');
sees_the_same('a new one');

# Two workers.
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
foreach my $leader ('on', 'off')
{
	answered("two workers, the leader $leader: LEFT", "$parallel SET parallel_leader_participation = $leader; $left", 17000);
	answered("two workers, the leader $leader: ANTI", "$parallel SET parallel_leader_participation = $leader; $anti", 17000);
}
like(plan_of("$parallel SET parallel_leader_participation = off; $left"), qr/Workers Launched: 2.*Parallel Custom Scan \(Cuckoo Nested Loop Filter\).*Lookups Skipped: 1\d{4} /s, 'in the workers');
answered('two workers again and again', "$parallel $again", 50000);

# Memory, errors.
like(plan_of("SET cuckoofilter.join_filter_memory = 64; SELECT count(t.c) FROM fact f LEFT JOIN two t ON t.k = f.k AND t.j = f.a"), qr/Nested Loop Filter: given up after 512 rows, memory\n/, 'past its memory it is given up');
same('past its memory', 'SET cuckoofilter.join_filter_memory = 64; SELECT count(*), count(t.c), sum(f.id) FROM fact f LEFT JOIN two t ON t.k = f.k AND t.j = f.a');
same('an error of the result', 'SELECT 1 / (f.id - 15000), d.c FROM fact f LEFT JOIN dim d ON d.k = f.k AND d.c = 3');

# Rows that match in one stretch: the filter sleeps, and wakes.
$node->safe_psql('postgres', 'CREATE TABLE stretch AS SELECT g AS id, CASE WHEN g BETWEEN 10000 AND 60000 THEN g % 50 * 50 + 3 ELSE g % 2500 END AS k FROM generate_series(1, 80000) g; ANALYZE stretch');
my $stretch = 'SET cuckoofilter.join_filter_max_pass = 0.5; SELECT count(*), count(d.c), sum(f.id) FROM stretch f LEFT JOIN dim d ON d.k = f.k AND d.c = 3';
answered('rows that match in one stretch', $stretch, 9000);
like(plan_of($stretch), qr/Lookups Skipped: \d+ \(\d+\.\d %\)\n\s*Rows Passed Untested: \d{5}\n/, 'in which the filter sleeps');

# ---------------------------------------------------------------------- auto, verify

my $auto = 'SET cuckoofilter.join_filter = auto; SET cuckoofilter.join_filter_max_pass = 0.7; SET cuckoofilter.join_filter_min_rows = 100000;';
like(plan_of("$auto SELECT count(d.c) FROM stretch f LEFT JOIN dim d ON d.k = f.k"), qr/Nested Loop Left Join.*not built after \d+,\d+ rows, (?:100|99)\.\d % of them match\n/s, 'auto: not where all match');

like(plan_of("SET cuckoofilter.join_filter = verify; $left"), qr/Rows Tested: 19488  Denied: 1[89]\d{3} /s, 'verify counts');
unlike(plan_of("SET cuckoofilter.join_filter = verify; $left"), qr/Skipped/, 'and skips nothing');
like(plan_of("SET cuckoofilter.join_filter = verify; $uncached$left"), qr/->  Index [^\n]* on dim [^\n]*loops=20000\)/, 'all lookups run');
# a function that is wrongly marked: it denies in the scan of the dimension what it accepts later
$node->safe_psql('postgres', q{
	CREATE SEQUENCE asked;
	CREATE FUNCTION moody(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE LEAKPROOF AS 'BEGIN RETURN $1 = 3 AND nextval(''asked'') NOT BETWEEN 15 AND 64; END'});
foreach my $query ('SELECT count(d.c) FROM fact f LEFT JOIN dim d ON d.k = f.k AND moody(d.c)', 'SELECT count(*) FROM fact f WHERE NOT EXISTS (SELECT FROM dim d WHERE d.k = f.k AND moody(d.c))')
{
	my ($status, $out, $err) = $node->psql('postgres', "SET cuckoofilter.join_filter = verify; ALTER SEQUENCE asked RESTART; $uncached$query");

	like($err, qr/ERROR:  a join filter removed a row that has a match in the join/, "verify reports a match that the filter denied: $query");
}

done_testing();
