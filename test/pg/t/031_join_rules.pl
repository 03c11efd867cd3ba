# The rules of join filters, in pg/join/plan/rules.c and the files it calls: for each rule, a query that
# would give another result, or a plan that would differ, without it.
use CuckooCluster;
use CuckooJoin;
use CuckooSession;

my $node = join_cluster('main');
my $hash = 'SET enable_mergejoin = off; SET enable_nestloop = off;';

$node->safe_psql(
	'postgres', q{
	CREATE TABLE fact AS SELECT g AS id, g % 2000 AS k, g % 50 AS few, (g % 3000)::text AS t FROM generate_series(1, 20000) g;
	INSERT INTO fact SELECT -g, NULL, g FROM generate_series(1, 30) g;
	CREATE TABLE dim AS SELECT g * 10 AS k, (g * 5)::text AS t, g AS id FROM generate_series(1, 100) g;
	INSERT INTO dim VALUES (NULL, NULL, 0), (-1, '-1', -1);
	CREATE TABLE big AS SELECT g AS id, g % 30011 AS k FROM generate_series(1, 60000) g;
	ANALYZE});

# Where the numbers of rows are odd: the join fetches one row before it makes the filter.

# 1. Only joins without rows for those that have no partner; strict operators; NULLs.
same_rows('a left join', "$hash SELECT count(*), count(dim.id), sum(fact.id) FROM fact LEFT JOIN dim USING (k)", 0);
same_rows('a full join', "$hash SELECT count(*), count(dim.id), count(fact.id) FROM fact FULL JOIN dim USING (k)", 0);
same_rows('an anti join', "$hash SELECT count(*), sum(id) FROM fact WHERE NOT EXISTS (SELECT FROM dim WHERE dim.k = fact.k)", 0);
like(explained("$hash SELECT count(*) FROM fact JOIN dim USING (k) WHERE fact.id < 0"), qr/Rows Tested: 29  Removed: 29 /, 'keys that are NULL are dropped');
$node->safe_psql(
	'postgres', q{
	CREATE FUNCTION same(integer, integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 IS NOT DISTINCT FROM $2; END';
	CREATE OPERATOR === (LEFTARG = integer, RIGHTARG = integer, FUNCTION = same, COMMUTATOR = ===, HASHES);
	CREATE OPERATOR CLASS same_ops FOR TYPE integer USING hash AS OPERATOR 1 ===, FUNCTION 1 hashint4(integer)});
is(same_rows('an operator that is not strict', "$hash SELECT count(*) FROM fact JOIN dim ON fact.k === dim.k", 0), '1030', 'an operator that is not strict: NULL joins NULL');

# 2. A build side that changes while the query runs.
$node->safe_psql('postgres', 'CREATE TABLE a AS SELECT g AS id, g % 50 AS k4 FROM generate_series(1, 3700) g; CREATE TABLE b AS SELECT g AS id, g * 7 % 400 AS k4 FROM generate_series(1, 1000) g; ANALYZE a; ANALYZE b');
is(same_rows('a build side with a parameter', "SET enable_mergejoin = off; SELECT array_agg(x.n) FROM (VALUES (2000), (5), (6)) v(g), LATERAL (SELECT count(*) n FROM a JOIN b ON a.k4 = b.k4 WHERE b.id = v.g OFFSET 0) x", 0),
	'{0,74,74}', 'a build side with a parameter: the right rows');
same_rows('a parameter of the probe side only', "$hash SELECT array_agg(x.n) FROM (VALUES (10), (500), (60)) v(g), LATERAL (SELECT count(*) n FROM fact JOIN dim USING (k) WHERE fact.id % 100 < v.g OFFSET 0) x", 1);
same_rows('the same with several batches', "$hash SET work_mem = '64kB'; SELECT array_agg(x.n) FROM (VALUES (10), (500), (60)) v(g), LATERAL (SELECT count(*) n FROM big a JOIN big b USING (id) WHERE b.k % 2 = 0 AND a.k % 100 < v.g OFFSET 0) x", 1);
same_rows('a volatile build side', "$hash SELECT count(*) >= 0 FROM fact JOIN (SELECT k FROM dim WHERE random() < 2 OFFSET 0) d USING (k)", 0);
same_rows('a volatile function below the join', "$hash CREATE TEMP SEQUENCE s; SELECT count(*), max(n) FROM (SELECT k, nextval('s') n FROM fact OFFSET 0) f JOIN dim USING (k)", 0);
same_rows('a volatile function above the join', "$hash CREATE TEMP SEQUENCE s; SELECT count(*), max(n) FROM (SELECT k, nextval('s') n FROM fact JOIN dim USING (k) OFFSET 0) f", 1);
same_rows('a volatile function in a subplan', "$hash SELECT count(*) >= 0 FROM fact JOIN (SELECT k FROM dim WHERE id > (SELECT random() FROM fact f WHERE f.id = dim.id) OFFSET 0) d USING (k)", 0);
same_rows('a volatile function in a CTE of the build side', "$hash WITH w AS MATERIALIZED (SELECT k FROM dim WHERE random() < 2) SELECT count(*) >= 0 FROM fact JOIN w USING (k)", 0);
same_rows('a volatile function in a CTE of the probe side', "$hash CREATE TEMP SEQUENCE s; WITH w AS MATERIALIZED (SELECT k, nextval('s') n FROM fact) SELECT count(*), max(n) FROM w JOIN dim USING (k)", 0);
same_rows('a volatile InitPlan of the build side', "$hash CREATE TEMP SEQUENCE s; SELECT count(*), max(n) FROM fact JOIN (SELECT k, (SELECT nextval('s')) n FROM dim OFFSET 0) d USING (k)", 0);
same_rows('a volatile InitPlan of the probe side', "$hash CREATE TEMP SEQUENCE s; SELECT count(*), max(n) FROM (SELECT k, (SELECT nextval('s')) n FROM fact OFFSET 0) f JOIN dim USING (k)", 0);
same_rows('a volatile SubPlan of the probe side', "$hash CREATE TEMP SEQUENCE s; SELECT count(*), max(n) FROM (SELECT k, (SELECT nextval('s') + 0 * count(*) FROM dim WHERE dim.id = fact.id) n FROM fact WHERE id < 2000 OFFSET 0) f JOIN dim USING (k)", 0);
same_rows('a volatile CTE that neither side has', "$hash CREATE TEMP SEQUENCE s; WITH w AS MATERIALIZED (SELECT nextval('s') n) SELECT n, c FROM w, (SELECT count(*) c FROM fact JOIN dim USING (k)) j", 1);
same_rows('the parameter of an INSERT', "$hash CREATE TEMP TABLE made (k integer); INSERT INTO made SELECT k FROM fact JOIN dim USING (k)", 1);
same_rows('an InitPlan of the build side', "$hash SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.id < (SELECT count(*) / 10 FROM a)", 1);
same_rows('an InitPlan with a parameter', "SET enable_mergejoin = off; SELECT array_agg(x.n) FROM (VALUES (2000), (5), (6)) v(g), LATERAL (SELECT count(*) n FROM a JOIN b ON a.k4 = b.k4 WHERE b.id = (SELECT max(id) FROM a WHERE id = v.g OFFSET 0) OFFSET 0) x", 0);

# A build side that has other rows when it is read again, while a sort of the probe side keeps those that passed the
# first filter. The sort is below the inner side of a nested loop, the hash table has several batches. In the first
# reading the leader sleeps on rows of its block, so the worker's come first; in the second one the leader's do.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE paged AS SELECT g AS k, g::float8 / 3 AS f, repeat('x', 900) AS pad FROM generate_series(1, 600) g;
	CREATE TABLE sorted AS SELECT g AS k, g AS id FROM generate_series(1, 20000) g; ALTER TABLE sorted SET (parallel_workers = 0);
	CREATE FUNCTION late(integer) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1 AS $$BEGIN
		IF pg_backend_pid()::text = current_setting('rules.leader') AND clock_timestamp() < statement_timestamp() + interval '0.6 s' THEN PERFORM pg_sleep(0.4); END IF;
		RETURN true;
	END$$;
	ANALYZE paged; ANALYZE sorted});
my $parallel = "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 1;";
my $batches = "$hash SET enable_material = off; SET work_mem = '64kB'; SET hash_mem_multiplier = 1;";

sub again
{
	my ($build) = @_;
	return "$batches SELECT s.g, count(q.pad), sum(q.k) FROM generate_series(1, 2) s(g) LEFT JOIN (SELECT f.k, l.pad FROM (SELECT k FROM sorted ORDER BY k OFFSET 0) f JOIN ($build) l ON l.k = f.k) q ON true GROUP BY 1 ORDER BY 1";
}
same_rows('a LIMIT that is read again', "DO \$\$BEGIN PERFORM set_config('rules.leader', pg_backend_pid()::text, false); END\$\$; $parallel" . again('SELECT k, pad FROM paged WHERE late(k) LIMIT 120') =~ s/, sum\(q\.k\)//r, 0);
# DISTINCT ON: 19 hashes the other side if it expects more rows than fit into its memory, so it is to expect few.
my %varies = (
	'LIMIT' => 'SELECT k, pad FROM paged LIMIT 120',
	'DISTINCT ON' => 'SELECT DISTINCT ON (k % 100) k, pad FROM paged WHERE k < 150 AND k + 0 < 150 ORDER BY k % 100',
	'a window function' => 'SELECT * FROM (SELECT k, pad, row_number() OVER () AS n FROM paged) p WHERE n <= 120',
	'an aggregate' => 'SELECT k, max(pad) AS pad FROM paged GROUP BY k HAVING sum(f) < 50',
	'INTERSECT' => 'SELECT k, pad FROM paged WHERE k < 200 INTERSECT SELECT k, pad FROM paged',
	'TABLESAMPLE' => 'SELECT k, pad FROM paged TABLESAMPLE BERNOULLI (30) REPEATABLE (1)',
	'a LIMIT in a SubPlan' => 'SELECT k, pad FROM paged p WHERE k < 200 AND f < (SELECT d.id FROM dim d WHERE d.id > p.k % 5 LIMIT 1) OFFSET 0');
same_rows("read again: $_", again($varies{$_}), 0) foreach sort keys %varies;
my %constant = (
	'a table' => 'SELECT k, pad FROM paged WHERE k < 200',
	'UNION ALL' => 'SELECT k, pad FROM paged WHERE k < 100 UNION ALL SELECT k, pad FROM paged WHERE k > 500',
	'a LIMIT in a CTE' => 'WITH w AS MATERIALIZED (SELECT k, pad FROM paged LIMIT 120) SELECT k, pad FROM w',
	'an aggregate in an InitPlan' => 'SELECT k, pad FROM paged WHERE k < (SELECT avg(f) FROM paged)');
same_rows("read again: $_", again($constant{$_}), 1) foreach sort keys %constant;
my $limited = '(SELECT k FROM dim LIMIT 50) d USING (k)';
same_rows('a LIMIT that is read once', "$hash SELECT count(*) FROM fact JOIN $limited", 1);
same_rows('a LIMIT in a CTE', "$hash WITH w AS MATERIALIZED (SELECT k FROM fact JOIN $limited) SELECT count(*) FROM w", 1);
same_rows('a LIMIT in an InitPlan', "$hash SELECT count(*) FROM a WHERE id < (SELECT count(*) FROM fact JOIN $limited)", 1);
same_rows('a LIMIT in a SubPlan', "$hash SELECT count(*) FROM a WHERE id % 100 < (SELECT count(*) FROM fact JOIN $limited WHERE few = a.k4 OFFSET 0) AND id < 10", 0);
same_rows('a LIMIT in a recursive query', "$hash WITH RECURSIVE r AS (SELECT 10 AS k UNION ALL SELECT r.k + 10 FROM r JOIN (SELECT DISTINCT k FROM fact JOIN $limited) j USING (k) WHERE r.k < 90) SELECT count(*), sum(k) FROM r", 0);
# before PostgreSQL 15, such a cursor can be rewound
is(filters_of(explained("$hash DECLARE c CURSOR FOR SELECT fact.id FROM fact JOIN $limited", 'COSTS OFF')), server_version($node) < 150000 ? 0 : 1, 'a LIMIT in a cursor');
# each process reads a build side of its own, and gets rows from a hash table of the probe side that they share
my $shared = "$hash $parallel SET join_collapse_limit = 1; SELECT count(*) FROM big x JOIN big f ON x.id = f.id";
same_rows('each process reads rows that vary', "$shared JOIN (SELECT DISTINCT ON (k % 200) k FROM sorted WHERE k < 200 ORDER BY k % 200, k) d ON f.k = d.k", 1);
same_rows('each process reads the same rows', "$shared JOIN sorted d ON f.k = d.k WHERE d.k < 200", 2);

# 3. Rows that are looked at again in their latest version.
$node->safe_psql('postgres', 'CREATE TABLE lock_fact AS SELECT * FROM fact; CREATE TABLE lock_dim AS SELECT * FROM dim; ANALYZE');
foreach my $statement (
	'SELECT * FROM lock_fact f JOIN lock_dim d USING (k) FOR UPDATE', 'SELECT * FROM lock_fact f JOIN lock_dim d USING (k) FOR SHARE OF f',
	'UPDATE lock_fact f SET few = 0 FROM lock_dim d WHERE f.k = d.k', 'DELETE FROM lock_fact f USING lock_dim d WHERE f.k = d.k',
	'WITH w AS (DELETE FROM lock_dim RETURNING k) SELECT count(*) FROM lock_fact f JOIN w USING (k)',
	'WITH w AS (UPDATE lock_dim SET id = 1 RETURNING k) SELECT count(*) FROM lock_fact f JOIN lock_dim USING (k)')
{
	is(filters_of(explained("$hash $statement", 'COSTS OFF')), 0, "no filter: $statement");
}
my @session = (CuckooSession->new($node), CuckooSession->new($node));
$session[0]->query('BEGIN; UPDATE lock_fact SET k = 77777 WHERE id BETWEEN 1 AND 5; UPDATE lock_fact SET k = 10 WHERE id = 10; UPDATE lock_dim SET k = 77777 WHERE k = 10');
$session[1]->ask("$hash SELECT count(*) FROM (SELECT f.id FROM lock_fact f JOIN lock_dim d USING (k) WHERE f.id <= 10 FOR UPDATE) s");
$node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM pg_locks WHERE NOT granted');
$session[0]->query('COMMIT');
is($session[1]->answer, '0', 'rows locked in their latest version');

# 4. Memory.
my $many = "$hash SELECT count(*), sum(a.id) FROM big a JOIN big b USING (id) WHERE b.k % 2 = 0";
like(explained("SET cuckoofilter.join_filter_memory = '1MB'; $many"), qr/Filter Keys: 30\d{3} .*Rows Tested: 59999 /s, 'a filter within its memory');
my $poor = explained("SET cuckoofilter.join_filter_memory = '128kB'; $many");
like(explained("SET cuckoofilter.join_filter_memory = '128kB'; $many", 'ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF, FORMAT JSON'), qr/"Given Up": "memory"/, 'in JSON too');
like($poor, qr/Given Up: memory/, 'a filter that would pass its memory is given up');
unlike($poor, qr/Rows Tested/, 'and asked by none');
like(explained("SET cuckoofilter.join_filter_memory = '600kB'; $many"), qr/Given Up: memory/, 'so is one whose keys fit, but not with what it takes to build it');
same_rows('without memory', "SET cuckoofilter.join_filter_memory = '128kB'; $many");
# what its memory is, as the memory context says while a cursor has the filter
foreach my $memory (300, 400, 500, 700, 1000)
{
	my ($used) = $node->safe_psql('postgres',
		"$hash SET cuckoofilter.join_filter_memory = '${memory}kB'; BEGIN; DECLARE c CURSOR FOR SELECT a.id FROM big a JOIN big b USING (id) WHERE b.k % 2 = 0; MOVE 1 IN c;
		SELECT coalesce(sum(total_bytes), 0) / 1024 FROM pg_backend_memory_contexts WHERE name = 'cuckoo join filter'");
	cmp_ok($used, '<=', $memory, "memory of $memory kB: $used kB at rest");
}

# 5. A filter that does not pay is asked less often, or given up; 044_join_suspended has more.
my $all = 'SELECT count(*), sum(a.id) FROM big a JOIN big b USING (id)';
like(explained("$hash SET cuckoofilter.join_filter_max_pass = 0.7; $all"), qr/Rows Tested: 6144  Removed: 0 \(0\.0 %\)\n\s*Rows Passed Untested: 53855\n/, 'few rows are tested where all pass');
like(explained("$hash SET cuckoofilter.join_filter_max_pass = 0.7; $all", 'ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF, FORMAT JSON'), qr/"Rows Passed Untested": 53855/, 'also in JSON');
same_rows('few rows are tested', "$hash SET cuckoofilter.join_filter_max_pass = 0.7; $all");
$node->safe_psql('postgres', 'CREATE TABLE wrong AS SELECT 1 AS id; ALTER TABLE wrong SET (autovacuum_enabled = off); ANALYZE wrong; INSERT INTO wrong SELECT g FROM generate_series(1, 20000) g');
my $auto = "SET cuckoofilter.join_filter = auto; SET cuckoofilter.join_filter_max_pass = 0.7;";
like(explained("$hash $auto SELECT count(*) FROM big JOIN wrong USING (id)"), qr/Given Up: more keys than estimated/, 'gathering stops where there are many more keys than estimated');
like(explained("$hash $auto SELECT count(*) FROM (SELECT * FROM big ORDER BY k, id OFFSET 0) b JOIN wrong USING (id) WHERE wrong.id < 5000"), qr/Rows Tested: 55904  Removed: 5\d{4} /, 'not where so many pay all the same');
same_rows('more keys than estimated', "$hash SELECT count(*) FROM big JOIN wrong USING (id)");

# auto: the cost rule.
sub auto_filters
{
	return filters_of(explained("$hash $auto SET cuckoofilter.join_filter_min_rows = 50000; $_[0]", 'COSTS OFF'));
}
is(auto_filters('SELECT count(*) FROM big JOIN dim USING (k)'), 1, 'auto: few keys');
is(auto_filters('SET cuckoofilter.join_filter_min_rows = 0; SELECT count(*) FROM big JOIN dim USING (k) WHERE big.id > 1000'), 1, 'auto: behind a condition that most rows meet');
is(auto_filters('SET cuckoofilter.join_filter_min_rows = 0; SELECT count(*) FROM big JOIN dim USING (k) WHERE big.id < 15000'), 0, 'auto: not behind one that few meet');
is(auto_filters('SELECT count(*) FROM big a JOIN big b USING (id)'), 0, 'auto: not as many keys as rows');
is(auto_filters('SELECT count(*) FROM fact JOIN dim USING (k)'), 0, 'auto: not for few rows');
is(auto_filters('SET cuckoofilter.join_filter_memory = 1000; SELECT count(*) FROM big JOIN dim USING (k)'), 1, 'auto: few keys in little memory');
is(auto_filters('SET cuckoofilter.join_filter_min_rows = 0; SET cuckoofilter.join_filter_memory = 64; SELECT count(*) FROM (SELECT * FROM big ORDER BY k, id OFFSET 0) a JOIN fact b USING (id) WHERE b.id < 5000'), 0, 'auto: not where memory will lack');
is(auto_filters('SET cuckoofilter.join_filter_min_rows = 0; SELECT count(*) FROM (SELECT * FROM big ORDER BY k, id OFFSET 0) a JOIN fact b USING (id) WHERE b.id < 5000'), 1, 'auto: but where there is');
is(auto_filters('SELECT count(*) FROM big a JOIN big b USING (id) WHERE b.id < 50000'), 0, 'auto: not where nearly all rows pass');

# 6. Row security: rows that a policy hides are not asked for.
$node->safe_psql(
	'postgres', q{
	CREATE ROLE somebody LOGIN; GRANT SELECT ON fact, dim TO somebody;
	CREATE TABLE secret AS SELECT * FROM fact; GRANT SELECT ON secret TO somebody;
	ALTER TABLE secret ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON secret USING (few < 5);
	CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM fact WHERE few < 5 OFFSET 0;
	GRANT SELECT ON barrier TO somebody; ANALYZE secret});
like(explained("SET ROLE somebody; $hash SELECT count(*) FROM secret JOIN dim USING (k)"), qr/Rows Tested: 2003 /, 'rows that row security hides are not tested');
like(explained("SET ROLE somebody; $hash SELECT count(*) FROM barrier b JOIN dim USING (k) WHERE b.few % 2 = 0"), qr/Subquery Scan on b .*Filtered Scan: b\.k\n.*Rows Tested: 1201 /s, 'a security barrier is not entered');
$node->safe_psql('postgres', 'CREATE TABLE allowed AS SELECT id FROM fact WHERE few < 5; ANALYZE allowed; CREATE VIEW hides WITH (security_barrier) AS SELECT fact.* FROM fact JOIN allowed USING (id); GRANT SELECT ON hides TO somebody');
unlike(explained("SET ROLE somebody; $hash SELECT count(*) FROM hides JOIN dim USING (k)"), qr/Filtered Scan: fact\.k/, 'nor are rows that a join hides, where the barrier has no node of its own');
same_rows('a barrier that is a join', "SET ROLE somebody; $hash SELECT count(*) FROM hides JOIN dim USING (k)");
same_rows('row security', "SET ROLE somebody; $hash SELECT count(*) FROM secret JOIN dim USING (k)", 1);

# 7. Plans that are kept.
my $kept = "$hash SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT count(*) FROM fact JOIN dim USING (k); EXECUTE p;";
like(explained("$kept EXECUTE p"), qr/Rows Tested/, 'a plan that is kept');
unlike(explained("$kept SET cuckoofilter.join_filter = off; EXECUTE p"), qr/Filter Keys|Rows Tested/, 'asks no more when the setting is off');
like(explained("$kept SET cuckoofilter.join_filter = off; EXECUTE p; SET cuckoofilter.join_filter = on; EXECUTE p"), qr/Rows Tested/, 'and does again');

# 8. Errors, cancels and subtransactions that end leave nothing.
my $session = CuckooSession->new($node);
$session->query(
	"$hash CREATE FUNCTION fail(n integer) RETURNS integer LANGUAGE plpgsql AS 'BEGIN IF n > 900 THEN RAISE division_by_zero; END IF; RETURN n; END' IMMUTABLE;
	CREATE FUNCTION loops(n integer) RETURNS void LANGUAGE plpgsql AS \$\$
	BEGIN
		FOR i IN 1 .. n LOOP
			BEGIN
				PERFORM count(fail(fact.k)) FROM fact JOIN dim USING (k);
			EXCEPTION WHEN division_by_zero THEN NULL;
			END;
			BEGIN
				PERFORM count(*) FROM fact JOIN dim ON fact.k = fail(dim.k);
			EXCEPTION WHEN division_by_zero THEN NULL;
			END;
		END LOOP;
	END\$\$");
my $memory = 'SELECT sum(total_bytes), count(*) FILTER (WHERE name LIKE $$%cuckoo%$$) FROM pg_backend_memory_contexts';
$session->query("SELECT loops(3); $memory");
my ($before) = $session->query($memory) =~ /^(\d+)\|0$/m;
$session->query('SELECT loops(60)');
my ($after) = $session->query($memory) =~ /^(\d+)\|0$/m;
cmp_ok($after, '<', $before + 200_000, "errors leave nothing: $before bytes before, $after after");
# the scan of a build side cancels itself, on any machine at the same row
$session->query("CREATE FUNCTION stop(n integer) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN IF n = 3000 THEN PERFORM pg_cancel_backend(pg_backend_pid()); END IF; RETURN true; END' IMMUTABLE");
$session->ask('SELECT count(*) FROM big a JOIN big b USING (id) JOIN big c USING (id) JOIN (SELECT * FROM big WHERE stop(id)) d USING (id)');
like(($session->answer)[1], qr/57014: canceling statement due to user request/, 'a cancel in a build side');
is($session->query('SELECT count(*) FROM fact JOIN dim USING (k)'), '1000', 'after a cancel all is well');
is($session->query("BEGIN; DECLARE c CURSOR FOR SELECT fact.id FROM fact JOIN dim USING (k) ORDER BY 1; SAVEPOINT s; DECLARE d CURSOR FOR SELECT fact.id FROM fact JOIN dim USING (k); MOVE 3 IN d; ROLLBACK TO s; FETCH 1 FROM c; COMMIT"),
	'10', 'a subtransaction that ends with a cursor');
like($session->query($memory), qr/^\d+\|0$/, 'and leaves nothing');

is($session->query("CREATE ROLE nobody; SET ROLE nobody; SELECT 1"), '1', 'somebody who may read nothing');
$session->ask('SELECT count(*) FROM fact JOIN dim USING (k)');
like(($session->answer)[1], qr/permission denied/, 'an error where a query starts');
is($session->query('RESET ROLE; SELECT count(*) FROM fact JOIN dim USING (k)'), '1000', 'and the next one is well');

# 10. verify: a hash function that lies makes a filter deny what the join finds.  For each row but the
# first, which comes before the filter, it is called by us, and then by the join.
$node->safe_psql(
	'postgres', q{
	CREATE SEQUENCE calls;
	CREATE TYPE honest AS (n integer);
	CREATE TYPE liar AS (n integer);
	CREATE FUNCTION liar_eq(honest, liar) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN ($1).n = ($2).n; END';
	CREATE FUNCTION liar_eq(liar, honest) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN ($1).n = ($2).n; END';
	CREATE FUNCTION honest_hash(honest) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS 'SELECT 0';
	CREATE FUNCTION liar_hash(liar) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS 'SELECT (nextval(''calls'') % 2)::integer';
	CREATE OPERATOR ==== (LEFTARG = honest, RIGHTARG = liar, FUNCTION = liar_eq, COMMUTATOR = ====, HASHES);
	CREATE OPERATOR ==== (LEFTARG = liar, RIGHTARG = honest, FUNCTION = liar_eq, COMMUTATOR = ====, HASHES);
	CREATE OPERATOR FAMILY lies USING hash;
	ALTER OPERATOR FAMILY lies USING hash ADD OPERATOR 1 ==== (honest, liar), OPERATOR 1 ==== (liar, honest),
		FUNCTION 1 (honest, honest) honest_hash(honest), FUNCTION 1 (liar, liar) liar_hash(liar);
	CREATE TABLE truth AS SELECT ROW(g)::honest AS x FROM generate_series(1, 500) g;
	CREATE TABLE lie AS SELECT ROW(g)::liar AS x FROM generate_series(1, 50) g; ANALYZE});
my $lies = 'SELECT count(*) FROM truth a JOIN lie b ON a.x ==== b.x';
is(filters_of(explained("$hash $lies", 'COSTS OFF')), 1, 'a hash function that lies to us: a filter');
is($node->safe_psql('postgres', "$hash ALTER SEQUENCE calls RESTART; $lies"), '0', 'a hash function that lies to us: no rows');
my ($ret, $stdout, $stderr) = $node->psql('postgres', "$hash SET cuckoofilter.join_filter = verify; ALTER SEQUENCE calls RESTART WITH 2; $lies");
like($stderr, qr/ERROR:  a join filter removed a row that has a match in the join/, 'verify reports it');
like(explained("$hash SET cuckoofilter.join_filter = verify; SELECT count(*) FROM fact f JOIN dim d USING (k)"), qr/Seq Scan on fact f \(actual rows=20030 .*Rows Tested: 20029  Denied: 1[89]\d{3} /s, 'verify counts, and drops nothing');
like(explained("$hash SET cuckoofilter.join_filter = verify; SELECT count(*) FROM fact f JOIN dim d USING (k)", 'ANALYZE, FORMAT JSON'), qr/"Rows Tested": 20029,\s*"Rows Denied by Join Filter": 1[89]\d{3}/, 'in JSON, too');

done_testing();
