# The hash join that takes the place of a nested loop over a BRIN index: where the planner chooses
# it, and each case in which the loop stays.
use CuckooCluster;
use CuckooJoin;
use CuckooSession;

my $node = join_cluster('main', conf => "autovacuum = off\nrandom_page_cost = 1.1\njit = off\nmax_parallel_workers_per_gather = 0\n");

$node->safe_psql(
	'postgres', q{
	CREATE TABLE fact AS SELECT g AS id, g / 100 AS day, g % 97 AS other, repeat('x', 300) AS pad FROM generate_series(0, 239999) g;
	CREATE INDEX fact_day ON fact USING brin (day) WITH (pages_per_range = 16);
	CREATE TABLE dim AS SELECT d AS day, d / 6 AS month, d::bigint AS big, d % 97 AS other FROM generate_series(0, 2399) d;
	CREATE TABLE part (LIKE fact) PARTITION BY RANGE (day);
	CREATE TABLE part_1 PARTITION OF part DEFAULT;
	INSERT INTO part SELECT * FROM fact;
	CREATE INDEX part_day ON part USING brin (day) WITH (pages_per_range = 16);
	CREATE TABLE partial AS SELECT * FROM fact;
	CREATE INDEX partial_day ON partial USING brin (day) WITH (pages_per_range = 16) WHERE id >= 0;
	CREATE TABLE two AS SELECT * FROM fact;
	CREATE INDEX two_day ON two USING brin (day, id) WITH (pages_per_range = 16);
	CREATE TABLE guarded AS SELECT * FROM fact;
	CREATE INDEX guarded_day ON guarded USING brin (day) WITH (pages_per_range = 16);
	ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
	CREATE POLICY odd ON guarded USING (other % 2 = 1);
	CREATE ROLE reader;
	GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
	CREATE TABLE texts AS SELECT id, to_char(day, 'FM00000') AS day, pad FROM fact;
	CREATE INDEX texts_day ON texts USING brin (day) WITH (pages_per_range = 16);
	CREATE TABLE big AS SELECT g AS id, g % 2400 AS day, repeat('y', 60) AS pad FROM generate_series(1, 200000) g;
	CREATE TABLE wide WITH (parallel_workers = 0) AS SELECT g AS id, g / 100 AS day, repeat('z', 900) AS pad FROM generate_series(0, 119999) g;
	CREATE INDEX wide_day ON wide USING brin (day) WITH (pages_per_range = 1);
	CREATE TABLE outer_month AS SELECT g AS month FROM generate_series(3, 5) g;
	CREATE FUNCTION vol(int) RETURNS int VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END'});
$node->safe_psql('postgres', 'VACUUM ANALYZE');
$node->safe_psql(
	'postgres', q{
	CREATE TABLE grown (LIKE fact);
	INSERT INTO grown SELECT * FROM fact WHERE id < 90000;
	ANALYZE grown;
	INSERT INTO grown SELECT * FROM fact WHERE id >= 90000;
	CREATE TABLE sized AS SELECT relpages, reltuples FROM pg_class WHERE relname = 'grown';
	CREATE INDEX grown_day ON grown USING brin (day) WITH (pages_per_range = 16);
	UPDATE pg_class SET relpages = sized.relpages, reltuples = sized.reltuples FROM sized WHERE relname = 'grown';
	CREATE TABLE dirty WITH (parallel_workers = 0) AS SELECT * FROM fact;
	CREATE INDEX dirty_day ON dirty USING brin (day) WITH (pages_per_range = 16);
	ANALYZE dirty});

# A query gives the same rows in every mode. With `off` it is a nested loop over the BRIN index; with
# `auto` a hash join at the loop's cost, or that loop.
sub takes
{
	my ($wanted, $name, $query, $before) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my (%rows, %plan, %cost);

	$before //= '';
	foreach my $mode (qw(off auto on verify))
	{
		$rows{$mode} = $node->safe_psql('postgres', "SET cuckoofilter.join_filter = $mode; $before; $query");
		$plan{$mode} = $node->safe_psql('postgres', "SET cuckoofilter.join_filter = $mode; $before; EXPLAIN $query");
		($cost{$mode}) = $plan{$mode} =~ /cost=([\d.]+)/;
		$plan{$mode} =~ s/  \(cost=[^)]*\)//g;
		is($rows{$mode}, $rows{off}, "$name: $mode gives the same") if $mode ne 'off';
	}
	like($plan{off}, qr/Nested Loop.*Bitmap Index Scan on \w+_day/s, "$name: a loop over BRIN without filters");
	my ($index) = $plan{off} =~ /Bitmap Index Scan on (\w+_day)/;
	if ($wanted eq 'hash')
	{
		like($plan{auto}, qr/Hash Join.*Seq Scan on/s, "$name: a hash join in its place");
		unlike($plan{auto}, qr/Bitmap Index Scan on \w+_day/, "$name: no loop");
		is($cost{auto}, $cost{off}, "$name: the cost of the loop, by which PostgreSQL orders the joins");
		$plan{auto} = $node->safe_psql('postgres', "SET cuckoofilter.join_filter = auto; $before; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
		cmp_ok($plan{auto} =~ /Blocks Skipped: (\d+) of (\d+) by $index/ ? $1 / $2 : 0, '>', 0.9, "$name: which skips blocks");
	}
	else
	{
		like($plan{auto}, qr/Nested Loop.*Bitmap Index Scan on \w+_day/s, "$name: the loop stays");
	}
	diag($plan{auto}) if !Test::More->builder->is_passing;
	return;
}

my $month = 'SELECT count(*), sum(id) FROM fact JOIN dim USING (day) WHERE month = 7';
takes('hash', 'a month', $month);
takes('hash', 'a prepared query', 'EXECUTE p', "PREPARE p AS $month");
takes('hash', 'sides exchanged', 'SELECT count(*), sum(id) FROM dim JOIN fact ON dim.day = fact.day WHERE month = 7');
takes('hash', 'two columns of the key', 'SELECT count(*), sum(id) FROM fact JOIN dim ON fact.day = dim.day AND fact.other = dim.other WHERE month = 7');
takes('hash', 'types of one family', 'SELECT count(*), sum(id) FROM fact JOIN dim ON fact.day = dim.big WHERE month = 7');
takes('hash', 'a condition of the table that the index does not have', "$month AND fact.other < 50");
takes('hash', 'in a subquery', "SELECT * FROM (SELECT count(*) c FROM fact JOIN dim USING (day) WHERE month = 7 OFFSET 0) s");
takes('hash', 'INSERT', 'INSERT INTO sink SELECT id FROM fact JOIN dim USING (day) WHERE month = 7 RETURNING id',
	'CREATE TEMP TABLE sink (id int)');
takes('hash', 'the build side is a join', 'SELECT count(*), sum(id) FROM fact JOIN (dim JOIN (VALUES (7)) v (m) ON month = m) ON fact.day = dim.day');

takes('hash', 'scattered days', 'SELECT count(*), sum(id) FROM fact JOIN dim USING (day) WHERE dim.big % 240 = 3');

# A hundred days that are as far apart as they can be: each one is a range of its own.
my $apart = $node->safe_psql('postgres', 'SET cuckoofilter.join_filter = on; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT count(*) FROM fact JOIN dim USING (day) WHERE dim.day % 24 = 5');
cmp_ok($apart =~ /Blocks Skipped: (\d+) of (\d+) by fact_day/ ? $1 / $2 : 0, '>', 0.7, 'days far apart: the blocks between them are skipped') or diag($apart);

takes('loop', 'LEFT', 'SELECT count(*), sum(id) FROM dim LEFT JOIN fact USING (day) WHERE month = 7');
takes('loop', 'FOR UPDATE', 'SELECT id FROM fact JOIN dim USING (day) WHERE month = 7 ORDER BY id FOR UPDATE OF dim');
takes('loop', 'a volatile function', "$month AND vol(dim.other) = 3");
takes('loop', 'a partial index', 'SELECT count(*) FROM partial JOIN dim USING (day) WHERE month = 7 AND id >= 0');
takes('loop', 'a partitioned table', 'SELECT count(*) FROM part JOIN dim USING (day) WHERE month = 7');
takes('loop', 'the index has a condition of the table', 'SELECT count(*) FROM two JOIN dim USING (day) WHERE month = 7 AND id > 5');
takes('loop', 'row security', 'SELECT count(*) FROM guarded JOIN dim USING (day) WHERE month = 7', 'SET ROLE reader');
takes('loop', 'an expression', 'SELECT count(*) FROM fact JOIN dim ON fact.day = dim.day + 1 WHERE month = 7 AND dim.day IN (SELECT vol(44))');
takes('loop', 'an expression that is not the first key', 'SELECT count(*), sum(id) FROM fact JOIN dim ON fact.other = dim.other AND fact.day = dim.day + 1 WHERE dim.day % 97 = 20');
takes('loop', 'texts, of which only the least and the greatest key are known', q{SELECT count(*), sum(id) FROM texts JOIN (SELECT to_char(day, 'FM00000') AS day FROM dim WHERE day IN (3, 2300) OFFSET 0) d USING (day)});
takes('loop', 'LIMIT, which the loop reaches before the build side is read', 'SELECT fact.day FROM fact JOIN big USING (day) WHERE big.id = 3 LIMIT 1');
takes('loop', 'LIMIT, which the loop reaches with one search of the index', 'SELECT fact.day FROM fact JOIN (SELECT day FROM dim WHERE other = 7 LIMIT 3) d USING (day) LIMIT 3');
takes('hash', 'the same without LIMIT', 'SELECT count(*), sum(id) FROM fact JOIN (SELECT day FROM dim WHERE other = 7 LIMIT 3) d USING (day)');
takes('loop', 'LIMIT that may not end the loop, by the estimates', 'SELECT count(*) FROM (SELECT fact.day FROM fact JOIN dim USING (day) WHERE month = 7 LIMIT 10000) s');
takes('loop', 'LIMIT that reads few rows', 'SELECT count(*) FROM (SELECT fact.day FROM fact JOIN dim USING (day) WHERE month = 7 LIMIT 10) s');
takes('hash', 'LIMIT after a sort', 'SELECT count(*), sum(id) FROM (SELECT id FROM fact JOIN dim USING (day) WHERE month = 7 ORDER BY id LIMIT 3) s');
takes('hash', 'LIMIT of an aggregate', "$month LIMIT 1");
takes('loop', 'LIMIT of groups in the order of the loop', 'SELECT dim.day, count(*) FROM fact JOIN dim USING (day) WHERE dim.day BETWEEN 500 AND 700 GROUP BY dim.day LIMIT 1',
	'BEGIN; CREATE INDEX ON dim (day)');
my $ordered = 'SELECT count(*), fact.day FROM (SELECT day FROM dim WHERE month = 7 OR month = 9 ORDER BY day OFFSET 0) d%s JOIN fact USING (day) GROUP BY fact.day ORDER BY 1, 2';
takes('loop', 'groups in the order of the loop, which another order of joins could give', sprintf($ordered, ' CROSS JOIN (SELECT FROM outer_month WHERE month = 4 OFFSET 0) one'), 'SET join_collapse_limit = 1');
takes('hash', 'groups in the order of the loop, of one dimension', sprintf($ordered, ''));
takes('hash', 'LIMIT of groups in another order', 'SELECT month, count(*) FROM fact JOIN dim USING (day) WHERE month = ANY (ARRAY[7, 8]) GROUP BY month ORDER BY month LIMIT 1');
takes('loop', 'LIMIT of a CTE', 'WITH s AS MATERIALIZED (SELECT day FROM fact JOIN dim USING (day) WHERE dim.other = 5) SELECT * FROM s LIMIT 1');
takes('loop', 'EXISTS of a join with a subquery, which may end it', 'SELECT EXISTS (SELECT FROM (SELECT fact.day FROM fact JOIN dim USING (day) WHERE month = 7 OFFSET 0) s JOIN (VALUES (200), (215)) v(day) USING (day))');
takes('loop', 'a build side with LIMIT below the inner side of a loop, which may read it again',
	'SELECT count(*), sum(s.id) FROM big JOIN (SELECT fact.id FROM fact JOIN (SELECT day FROM dim WHERE other = 7 LIMIT 3) d USING (day)) s ON big.day % 7 < s.id % 7 WHERE big.id < 3000');
takes('hash', 'a build side of plain scans there',
	'SELECT count(*), sum(s.id) FROM big JOIN (SELECT fact.id FROM fact JOIN dim USING (day) WHERE dim.month = 7) s ON big.day % 7 < s.id % 7 WHERE big.id < 3000');
takes('loop', 'correlated', 'SELECT m, (SELECT count(*) FROM fact JOIN dim USING (day) WHERE month = m) FROM (VALUES (7), (8)) v (m)');
takes('loop', 'a recursive term',
	'WITH RECURSIVE t (day, n) AS (SELECT 5, 1 UNION ALL SELECT f.day + 20, n + 1 FROM t JOIN fact f ON f.day = t.day WHERE n < 9 AND f.id = f.day * 100) SELECT count(*), sum(day) FROM t');
takes('loop', 'an InitPlan that is correlated',
	'SELECT month, (SELECT count(*) FROM fact JOIN dim d USING (day) WHERE d.month = (SELECT max(month) FROM dim WHERE dim.month <= o.month)) FROM outer_month o');
takes('loop', 'an InitPlan that is volatile', 'SELECT count(*), sum(id) FROM fact JOIN dim USING (day) WHERE month = (SELECT (7 + random() * 0)::int)');
takes('loop', 'a condition of the table that may fail', "$month AND 10 / (fact.other - 200) > -10");
takes('loop', 'a key of the build side that may fail, which the index does not have', 'SELECT count(*), sum(id) FROM fact JOIN dim ON fact.day = dim.day AND fact.other = 10 / (dim.other - 200) WHERE month = 7');
takes('loop', 'a key of the table that may fail', 'SELECT count(*), sum(id) FROM fact JOIN dim ON fact.day = dim.day AND 10 / (fact.other - 200) = dim.other WHERE month = 7');
takes('loop', 'a column of the table that may fail, below an outer join',
	'SELECT count(*), sum(z) FROM outer_month o LEFT JOIN (SELECT dim.month + fact.other * 0 AS m, coalesce(10 / (fact.other - 200), 1) AS z FROM fact JOIN dim USING (day) WHERE month = 7) s ON o.month = s.m');
takes('loop', 'a table without VACUUM, of which a busy server skips no block', 'SELECT count(*), sum(id) FROM dirty JOIN dim USING (day) WHERE month = 7') if server_version($node) >= 160000;
takes('loop', 'a table that was small when it was analyzed', 'SELECT count(*), sum(id) FROM grown JOIN dim USING (day) WHERE month = 7 AND grown.other = 5', 'SET cuckoofilter.join_filter_min_rows = 100000');
takes('loop', 'ranges of one page, wide rows', 'SELECT count(*), sum(id) FROM wide JOIN dim USING (day) WHERE dim.day = 7');
takes('loop', 'SERIALIZABLE', $month, 'BEGIN ISOLATION LEVEL SERIALIZABLE');
takes('loop', 'no blocks', $month, 'SET cuckoofilter.join_filter_blocks = off');
takes('loop', 'few rows', $month, 'SET cuckoofilter.join_filter_min_rows = 1000000');
takes('loop', "no $_", $month, "SET $_ = off") foreach qw(enable_hashjoin enable_seqscan);

# Cached plans follow the settings that switch filters on and off. A statement is prepared and run in one state of
# a session, which then changes: the plan is that of a statement that is planned in the new state.
sub kept
{
	my ($name, $first, $change, $wanted, $query) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $rows = $node->safe_psql('postgres', $query // $month);
	my $printed = $node->safe_psql('postgres',
		"SET plan_cache_mode = force_generic_plan; $first; PREPARE p AS " . ($query // $month) . "; EXECUTE p; $change; EXECUTE p; EXPLAIN (COSTS OFF) EXECUTE p");
	my %is = (
		hash => qr/Hash Join.*Seq Scan on fact.*Cuckoo Join Filter/s,
		loop => qr/Nested Loop(?!.*Cuckoo).*Bitmap Index Scan on fact_day/s);

	like($printed, $is{$wanted}, "a kept plan: $name");
	is(() = $printed =~ /^\Q$rows\E$/mg, 2, "a kept plan: $name: the same rows");
}
my $mode = 'cuckoofilter.join_filter';
kept('from auto to off', "SET $mode = auto", "SET $mode = off", 'loop');
kept('from off to auto', "SET $mode = off", "SET $mode = auto", 'hash');
kept('from off to on', "SET $mode = off", "SET $mode = on", 'hash');
kept('off by set_config', "SET $mode = auto", "SELECT set_config('$mode', 'off', false)", 'loop');
kept('off by RESET', "SET $mode = auto", 'RESET ALL; SET plan_cache_mode = force_generic_plan', 'hash');
kept('on by a rollback', "SET $mode = auto; BEGIN; SET LOCAL $mode = off", 'ROLLBACK', 'hash');
kept('off by a rollback to a savepoint', "SET $mode = off; BEGIN; SAVEPOINT s; SET LOCAL $mode = auto", 'ROLLBACK TO s', 'loop');
kept('on by an error', "SET $mode = auto", "DO \$\$BEGIN SET LOCAL $mode = off; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END\$\$", 'hash');
kept('blocks off', 'SET cuckoofilter.join_filter_blocks = on', 'SET cuckoofilter.join_filter_blocks = off', 'loop');
kept('blocks on', 'SET cuckoofilter.join_filter_blocks = off', 'SET cuckoofilter.join_filter_blocks = on', 'hash');

# Functions keep the plans of their statements. One that has the setting of its own runs with it, and its caller
# without it.
$node->safe_psql(
	'postgres', qq{
	CREATE FUNCTION month() RETURNS bigint LANGUAGE plpgsql AS \$f\$ BEGIN RETURN (SELECT count(*) FROM fact JOIN dim USING (day) WHERE month = 7); END \$f\$;
	CREATE FUNCTION month_off() RETURNS bigint LANGUAGE plpgsql SET $mode = off AS \$f\$ BEGIN RETURN (SELECT count(*) FROM fact JOIN dim USING (day) WHERE month = 7); END \$f\$});
kept('below a function with a setting', "SET $mode = auto", 'SELECT month_off(); SELECT month(); SELECT month_off()', 'hash');

# Not every cached plan is made again: the function below has the setting of its own, and joins few rows.
$node->safe_psql(
	'postgres', qq{
	CREATE TABLE few AS SELECT g AS k FROM generate_series(1, 100) g;
	ANALYZE few;
	CREATE FUNCTION few_off() RETURNS bigint LANGUAGE plpgsql SET $mode = off AS \$f\$ BEGIN RETURN (SELECT count(*) FROM few a JOIN few b USING (k)); END \$f\$});
my (undef, undef, $planned) = $node->psql('postgres',
	"SET cuckoofilter.join_filter_min_rows = 100000; SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT count(*) FROM few; EXECUTE p; SELECT few_off();
	SET log_planner_stats = on; SET client_min_messages = log; SELECT few_off() FROM generate_series(1, 20); EXECUTE p; SET $mode = off; EXECUTE p");
is(() = $planned =~ /PLANNER STATISTICS/g, 1, 'what has no filter in either state is not planned again') or diag($planned);

# How many blocks of fact a call reads, of about 13,000.
sub blocks_of
{
	my ($before, $call) = @_;
	my $read = "SELECT heap_blks_read + heap_blks_hit FROM pg_statio_user_tables WHERE relname = 'fact'";
	my $count = server_version($node) >= 150000 ? 'SELECT pg_stat_force_next_flush()' : 'SELECT pg_sleep(1.5)';
	my @counts = $node->safe_psql('postgres', "$before; $count; SELECT 'read ' || ($read); $call; $count; SELECT 'read ' || ($read)") =~ /^read (\d+)$/mg;

	return $counts[1] - $counts[0];
}
my $all = $node->safe_psql('postgres', "SELECT relpages FROM pg_class WHERE relname = 'fact'");
foreach my $state (
	[ 'switched off', "SET $mode = auto; SELECT month() FROM generate_series(1, 8)", "SET $mode = off" ],
	[ 'blocks switched off', "SET $mode = auto; SELECT month() FROM generate_series(1, 8)", 'SET cuckoofilter.join_filter_blocks = off' ])
{
	cmp_ok(blocks_of("$state->[1]; $state->[2]", 'SELECT month()'), '<', $all / 4, "a kept plan of a function, $state->[0], reads few blocks");
}

# Of another isolation level PostgreSQL does not tell before a statement runs: the first one reads all, no further one does.
kept('in a SERIALIZABLE transaction, from the second time on', "SET $mode = auto", 'BEGIN ISOLATION LEVEL SERIALIZABLE', 'loop');
my $serializable = 'SET plan_cache_mode = force_generic_plan; PREPARE p AS ' . $month . '; EXECUTE p; SET default_transaction_isolation = serializable';
cmp_ok(blocks_of("$serializable; EXECUTE p", 'EXECUTE p; EXECUTE p; EXECUTE p'), '<', $all / 2, 'in SERIALIZABLE transactions: few blocks are read');

# From PostgreSQL 16 on, blocks that are not all-visible are not skipped if a transaction ends between the snapshot and the search
# of the index. What pg_class says of them is that of the last VACUUM.
SKIP:
{
	skip('before PostgreSQL 16', 1) if server_version($node) < 160000;
	my $query = 'SELECT count(*), sum(id) FROM swept JOIN dim USING (day) WHERE month = 7';
	my $other = CuckooSession->new($node);
	my %session = map { $_ => CuckooSession->new($node) } qw(off auto);

	$node->safe_psql('postgres', 'CREATE TABLE ended (n int); CREATE TABLE swept WITH (fillfactor = 90) AS SELECT * FROM fact; CREATE INDEX swept_day ON swept USING brin (day) WITH (pages_per_range = 16)');
	$node->safe_psql('postgres', 'VACUUM ANALYZE swept');
	$session{$_}->query("SET cuckoofilter.join_filter = $_; PREPARE p AS $query; EXECUTE p") foreach qw(off auto);
	like($session{auto}->query("EXPLAIN EXECUTE p"), qr/Hash Join/, 'all blocks are visible: a hash join is prepared');

	# The blocks that a query reads of the table, by a cursor, so that a transaction ends between the snapshot and the search.
	my $count = q{SELECT pg_stat_get_xact_blocks_fetched('swept'::regclass)};
	my $read = sub {
		my ($mode, $isolation, $what) = @_;
		my $prepared = $what =~ /^EXECUTE/;

		$session{$mode}->query("BEGIN ISOLATION LEVEL $isolation");
		my $before = $session{$mode}->query($count);
		$session{$mode}->query("DECLARE c CURSOR FOR $what") if !$prepared;
		$other->query('INSERT INTO ended VALUES (1)');
		my $rows = $session{$mode}->query($prepared ? $what : 'FETCH ALL FROM c');
		my $blocks = $session{$mode}->query($count) - $before;
		$session{$mode}->query('COMMIT');
		is($rows, '600|2699700', "$mode, $isolation: the rows");
		return $blocks;
	};
	my $few = $read->('off', 'READ COMMITTED', $query);

	$node->safe_psql('postgres', 'UPDATE swept SET other = other WHERE id % 20 = 0');
	is($node->safe_psql('postgres', q{SELECT relallvisible > 0.9 * relpages FROM pg_class WHERE relname = 'swept'}), 't', 'an UPDATE: pg_class says that nearly all blocks are visible');
	takes('loop', "an UPDATE, $_", $query, "BEGIN ISOLATION LEVEL $_") foreach 'READ COMMITTED', 'REPEATABLE READ';
	foreach my $isolation ('READ COMMITTED', 'REPEATABLE READ')
	{
		cmp_ok($read->('auto', $isolation, $query), '<', 2 * $few, "an UPDATE, $isolation, beside transactions that end: as few blocks as the loop reads, $few");
	}
	cmp_ok($read->('auto', 'REPEATABLE READ', 'EXECUTE p'), '>', 10 * $few, 'the cached plan reads many, once');
	cmp_ok($read->('auto', 'REPEATABLE READ', 'EXECUTE p'), '<', 2 * $few, 'then the planner has chosen again');
	like($session{auto}->query("EXPLAIN EXECUTE p"), qr/Nested Loop/, 'the loop');
	$node->safe_psql('postgres', 'VACUUM swept');
	$node->safe_psql('postgres', 'UPDATE swept SET other = other WHERE id = 7');
	takes('hash', 'a row is updated', $query);
	cmp_ok($read->('auto', 'REPEATABLE READ', $query), '<', 2 * $few, 'it reads few blocks');
	$_->quit foreach $other, values %session;
}

done_testing();
