# Join filters do not change PostgreSQL's order of execution: side effects, errors and the nodes
# that are never executed are those of the same plan without filters. First queries that once
# differed, then random ones. SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooJoin;
use CuckooRandom;

my $node = join_cluster('main', conf => "enable_mergejoin = off\nenable_nestloop = off\n");
my $seed = seed();

$node->safe_psql(
	'postgres', q{
	CREATE TABLE fact AS SELECT g AS id, g % 2000 AS k, g % 50 AS few, g % 300 AS l FROM generate_series(1, 20000) g;
	CREATE TABLE dim AS SELECT g * 10 AS k, g AS id FROM generate_series(1, 100) g;
	CREATE TABLE wide AS SELECT g AS k, g AS id FROM generate_series(1, 30000) g;
	CREATE TABLE none (k integer, id integer);
	CREATE TABLE big AS SELECT g AS id, g % 20000 AS k FROM generate_series(1, 150000) g;
	CREATE TABLE gone WITH (autovacuum_enabled = off) AS SELECT g AS id, g % 2000 AS k FROM generate_series(1, 60000) g;
	CREATE SEQUENCE s; CREATE SEQUENCE s2;
	CREATE TABLE stored (place serial, a bigint, b bigint);
	ANALYZE; DELETE FROM gone});

# The result of a query in a mode: rows or an error, and the values of the sequences.
sub done
{
	my ($mode, $before, $query) = @_;
	my ($status, $out, $err) = $node->psql(
		'postgres', "ALTER SEQUENCE s RESTART; ALTER SEQUENCE s2 RESTART; TRUNCATE stored RESTART IDENTITY;
		SET cuckoofilter.join_filter = $mode; $before;\n\\set VERBOSITY sqlstate\n$query;\n\\set VERBOSITY terse\nSELECT last_value, is_called FROM s; SELECT last_value, is_called FROM s2; SELECT * FROM stored ORDER BY place",
		on_error_stop => 0);
	return "$out\n$err";
}

# The nodes of a plan in their order, ours left out, each with whether it ran.
sub ran
{
	my ($mode, $before, $query) = @_;
	my $plan = explained("SET cuckoofilter.join_filter = $mode; $before; $query");
	my @nodes = grep { /\((?:actual|never)/ && !/Cuckoo Join Filter/ } split(/\n/, $plan);

	return join("\n", map { s/^[ >-]*//r =~ s/\(actual .*/: ran/r =~ s/\(never executed\)/: never/r } @nodes);
}

# A query does the same in every mode; it has so many filters, or any number.
sub same
{
	my ($name, $query, %options) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $before = $options{before} // 'SELECT 0';
	my $off = done('off', $before, $query);
	my $plan = explained("$before; $query", 'COSTS OFF');

	foreach my $mode ('on', 'auto', 'verify')
	{
		is(done($mode, $before, $query), $off, "$name: $mode is as off") or diag("$query\n$plan");
	}
	is(filters_of($plan), $options{filters}, "$name: $options{filters} filters") or diag("$query\n$plan")
	  if defined $options{filters};
	is(ran('on', $before, $query), ran('off', $before, $query), "$name: the same nodes run")
	  if $options{ran};
	return $off;
}

# --------------------------------------------------------------- side effects

my $default = 'SET cuckoofilter.join_filter_min_rows = 100000; SET cuckoofilter.join_filter_max_pass = 0.7';
my $probe = "(SELECT id, k, (SELECT nextval('s')) AS n FROM big OFFSET 0)";
my $build = "(SELECT k, id, (SELECT nextval('s')) AS n FROM wide WHERE id % 100 = 0 OFFSET 0)";
my $stores = "INSERT INTO stored (a, b) SELECT f.n, d.n FROM $probe f JOIN $build d USING (k) WHERE f.id < 120000";

like(same('InitPlans on both sides, stored', $stores, before => $default), qr/^1\|1\|2$/m, 'the probe side is first');
same('an InitPlan on the probe side', "SELECT count(*), sum(f.n), sum(d.id) FROM $probe f JOIN dim d USING (k)", filters => 0);
same('an InitPlan on the build side', "SELECT count(*), sum(f.id), sum(d.n) FROM fact f JOIN $build d USING (k)", filters => 0);
same('an InitPlan in a condition', "SELECT count(*), sum(f.id) FROM fact f JOIN dim d USING (k) WHERE d.id <> (SELECT nextval('s')) AND f.id <> (SELECT nextval('s'))", filters => 0);
same('an InitPlan that no row reaches', "SELECT count(*) FROM (SELECT k, id + (SELECT nextval('s')) AS n FROM fact WHERE k = 3 OFFSET 0) f JOIN (SELECT k FROM dim WHERE id < 5) d USING (k)", filters => 0);
same('an InitPlan of a key that is not asked', "SELECT count(*) FROM fact f JOIN dim d ON f.k = d.k AND f.id + (SELECT nextval('s')) = d.id WHERE f.k % 10 = 3", filters => 0);
same('a CTE', "WITH w AS MATERIALIZED (SELECT k, nextval('s') AS n FROM fact) SELECT count(*), sum(w.n), sum(d.id) FROM w JOIN dim d USING (k)", filters => 0);
same('a CTE of both sides', "WITH w AS MATERIALIZED (SELECT k, nextval('s') AS n FROM fact) SELECT count(*), sum(a.n * b.n) FROM w a JOIN w b USING (k) WHERE b.n % 20 = 0", filters => 0);
same('a CTE behind a CTE', "WITH v AS MATERIALIZED (SELECT k, nextval('s') AS n FROM dim), w AS MATERIALIZED (SELECT k, max(n) AS n FROM v GROUP BY k) SELECT count(*), sum(w.n) FROM fact JOIN w USING (k)", filters => 0);
same('a CTE behind an InitPlan', "WITH v AS MATERIALIZED (SELECT nextval('s') AS n FROM dim) SELECT count(*) FROM fact JOIN (SELECT k FROM dim WHERE id < (SELECT max(n) FROM v) OFFSET 0) d USING (k)", filters => 0);
same('a SubPlan of the build side', "SELECT count(*), sum(d.n) FROM fact JOIN (SELECT k, (SELECT nextval('s') + 0 * count(*) FROM none WHERE none.id = dim.id) AS n FROM dim OFFSET 0) d USING (k)", filters => 0);
same('a SubPlan of the probe side', "SELECT count(*), sum(f.n) FROM (SELECT k, (SELECT nextval('s') + 0 * count(*) FROM none WHERE none.id = fact.id) AS n FROM fact OFFSET 0) f JOIN dim USING (k)", filters => 0);
same('a CTE without side effects', "WITH w AS MATERIALIZED (SELECT k, id FROM fact) SELECT count(*), sum(w.id), sum(d.id) FROM w JOIN dim d USING (k)", filters => 1);
same('a recursive CTE', "WITH RECURSIVE w AS (SELECT 10 AS k UNION ALL SELECT k + 10 FROM w WHERE k < 500) SELECT count(*), sum(id) FROM fact JOIN w USING (k)");
same('an InitPlan without side effects', 'SELECT count(*), sum(f.id) FROM fact f JOIN dim d USING (k) WHERE d.id <> (SELECT count(*) FROM none) AND f.id <> (SELECT count(*) FROM dim)', filters => 1);
same('side effects above', "SELECT k, nextval('s') FROM (SELECT f.k, (SELECT nextval('s2')) FROM fact f JOIN dim d USING (k)) j", filters => 1);
same('LIMIT above', "SELECT k, nextval('s') FROM fact f JOIN dim d USING (k) LIMIT 7", filters => 1);

# --------------------------------------------------- errors, and what never runs

my $fails = '(SELECT k, 10 / (id - id) AS x FROM wide OFFSET 0)';
same('an error in a build side that is not read', "SELECT count(*), sum(x) FROM gone JOIN $fails d USING (k)", ran => 1);
same('an error where nothing is read, behind a sort', "SELECT count(*), sum(x) FROM (SELECT * FROM gone WHERE id > 0 ORDER BY id OFFSET 0) n JOIN $fails d USING (k)");
like(same('an error in a probe side, whose build side is empty', "SELECT count(*), sum(x) FROM $fails f JOIN (SELECT k FROM dim WHERE id < 0) d USING (k)"), qr/22012/, 'PostgreSQL reads a row first');
same('an error in a probe side that is not read', "SELECT count(*), sum(f.x) FROM (SELECT k, 10 / (id - id) AS x FROM fact WHERE id > 1000000 OR k > 0 OFFSET 0) f JOIN (SELECT k FROM dim WHERE id < 0) d USING (k)");
like(same('an error in both sides', "SELECT count(*) FROM (SELECT k, 10 / (id - id) AS x FROM big OFFSET 0) f JOIN (SELECT k, ('x' || id)::integer AS y FROM wide OFFSET 0) d USING (k) WHERE x > y"), qr/22012/, 'the error of the probe side is first');

# An empty build side anywhere in a star.
foreach my $order (1, 2, 3)
{
	my @dims = map { $_ == $order ? 'none' : 'wide' } (1 .. 3);
	my $star = "SELECT count(*), sum(f.id) FROM fact f JOIN $dims[0] a ON a.k = f.k JOIN $dims[1] b ON b.k = f.few JOIN $dims[2] c ON c.k = f.l";

	same("a star whose dimension $order is empty", $star, before => 'SET join_collapse_limit = 1', filters => 3, ran => 1);
	same("the same, as the planner orders it", $star, ran => 1);
	same("the same, sorted below", $star =~ s/fact f/(SELECT * FROM fact ORDER BY l, id OFFSET 0) f/r, before => 'SET join_collapse_limit = 1', filters => 3, ran => 1);
	same("the same, with a condition that none meets", $star =~ s/none/(SELECT * FROM wide WHERE id < 0)/r, before => 'SET join_collapse_limit = 1', filters => 3, ran => 1);
	same("the same, grouped between", "SELECT count(*), sum(n) FROM (SELECT f.k, f.l, count(*) AS n FROM fact f JOIN $dims[0] a ON a.k = f.k JOIN $dims[1] b ON b.k = f.few GROUP BY 1, 2) g JOIN $dims[2] c ON c.k = g.l",
		before => 'SET join_collapse_limit = 1', filters => 3, ran => 1);
}
same('an empty probe side', 'SELECT count(*) FROM gone f JOIN dim a USING (k) JOIN wide b USING (k)', ran => 1);

# ---------------------------------------- an upper filter and an empty lower dimension

# The upper join builds first, as its build side is small beside that of the lower one, and no row of the fact is in it. The
# lower join reads a row before it finds its build side empty. The filter must not let the scan search the whole fact for it.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE facts AS SELECT g AS id, g % 1000 AS a, g % 997 AS b, g / 200 AS c, timestamp '2020-01-01' + g * interval '1 minute' AS at FROM generate_series(0, 59999) g;
	CREATE INDEX ON facts USING brin (c) WITH (pages_per_range = 1); CREATE INDEX facts_id ON facts (id);
	CREATE TABLE parts (id integer, a integer, b integer) PARTITION BY RANGE (b);
	CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (500); CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (500) TO (10000);
	INSERT INTO parts SELECT id, a, b FROM facts;
	CREATE TABLE lower AS SELECT i AS k, i % 40 AS c1, (i + 1) % 40 AS c2 FROM generate_series(0, 999) i;
	CREATE TABLE upper AS SELECT 5000 + i AS k, date '2030-01-01' + i AS day FROM generate_series(0, 9) i;
	CREATE TABLE past AS SELECT 500 + i AS k FROM generate_series(0, 9) i;
	CREATE TABLE late AS SELECT 290 + i AS k FROM generate_series(0, 9) i;
	CREATE TABLE tens AS SELECT i * 10 AS k FROM generate_series(0, 99) i});
$node->safe_psql('postgres', 'VACUUM ANALYZE');

# How many rows of the fact are read with filters, and without; and the plan.
sub fact_rows
{
	my ($query, $mode) = @_;
	my @rows;
	my $plan;

	foreach my $of ('off', $mode)
	{
		$plan = explained("SET join_collapse_limit = 1; SET cuckoofilter.join_filter = $of; $query");
		my $rows = 0;

		foreach my $scan ($plan =~ /^( *(?:-> +)?(?:Seq|Index) Scan(?: using \w+)? on (?:facts|parts\d)[^\n]*\n(?:(?! *->)[^\n]*\n)*)/gm)
		{
			my ($returned, $loops) = $scan =~ /rows=(\d+) loops=(\d+)/ or next;

			$rows += $returned * $loops;
			$rows += $_ for $scan =~ /Rows Removed by Filter: (\d+)/g;
		}
		$rows += $_ for $plan =~ /Removed: (\d+)/g;
		push(@rows, $rows);
	}
	return (@rows, $plan);
}

my $empty = 'JOIN lower d ON f.a = d.k';
my $none = 'd.c1 = 3 AND d.c2 = 3';
my %searches = (
	'a filter of a plain key' => "SELECT count(*) FROM facts f $empty JOIN upper e ON f.b = e.k WHERE $none",
	'ranges of a mapped key' => "SELECT count(*) FROM facts f $empty JOIN upper e ON f.at::date = e.day WHERE $none",
	'partitions' => "SELECT count(*) FROM parts f $empty JOIN upper e ON f.b = e.k WHERE $none",
	'blocks' => "SELECT count(*) FROM facts f $empty JOIN upper e ON f.c = e.k WHERE $none",
	'a subquery' => "SELECT count(*) FROM (SELECT * FROM facts UNION ALL SELECT * FROM facts) f $empty JOIN upper e ON f.b = e.k WHERE $none",
	'three joins' => "SELECT count(*) FROM facts f JOIN tens t ON f.a = t.k + 9 $empty JOIN upper e ON f.b = e.k WHERE $none",
	'two filters' => "SELECT count(*) FROM facts f $empty JOIN past p ON f.c = p.k JOIN upper e ON f.b = e.k WHERE $none",
	'a semijoin' => "SELECT count(*) FROM (SELECT * FROM facts f WHERE a IN (SELECT k FROM lower d WHERE $none) OFFSET 0) f JOIN upper e ON f.b = e.k",
	'a build side that starts again' => "SELECT sum(n) FROM (VALUES (3), (7), (9)) v(g), LATERAL (SELECT count(*) AS n FROM facts f JOIN lower d ON f.a = d.k AND d.c1 = v.g AND d.c2 = 3 JOIN upper e ON f.b = e.k OFFSET 0) x",
	'groups in order' => "SET enable_hashagg = off; SET enable_sort = off; SELECT count(*) FROM (SELECT id, max(a) AS n FROM facts GROUP BY id) f JOIN lower d ON f.n = d.k JOIN upper e ON f.id = e.k WHERE $none",
	'a merge join' => 'SET enable_mergejoin = on; SELECT count(*) FROM (SELECT f.b FROM facts f JOIN lower d ON f.id = d.c1 WHERE d.c1 = d.c2 OFFSET 0) f JOIN upper e ON f.b = e.k');

foreach my $name (sort keys %searches)
{
	my $query = $searches{$name};

	foreach my $mode ('on', 'auto')
	{
		my ($off, $rows, $plan) = fact_rows($query, $mode);

		cmp_ok($off, '<', 100, "$name, off: few rows are read") or diag($plan);
		cmp_ok($rows, '<=', $off, "$name, $mode: no more with filters") or diag($plan);
	}
	same($name, $query, before => 'SET join_collapse_limit = 1');
	cmp_ok(filters_of(explained("SET join_collapse_limit = 1; $query", 'COSTS OFF')), '>', 0, "$name: with a filter");
}

# Nor is an index searched for the blocks that can have the keys, unless the lower one has rows.
foreach my $mode ('on', 'auto')
{
	my ($empty_side, $other) = map {
		$node->safe_psql('postgres', "SET join_collapse_limit = 1; SET cuckoofilter.join_filter = $mode; BEGIN; $_; SELECT pg_stat_get_xact_numscans('facts_c_idx'::regclass)")
	} ($searches{blocks}, $searches{blocks} =~ s/$none/d.c1 < 39/r);

	is($empty_side, "0\n0", "blocks, $mode: no index is searched");
	is($other, "0\n1", "blocks, $mode: it is where the lower one has rows");
}

# A filter that waits keeps no other one from skipping blocks.
like(explained("SET join_collapse_limit = 1; SELECT count(*) FROM facts f JOIN late p ON f.c = p.k JOIN lower d ON f.a = d.k JOIN upper e ON f.b = e.k"), qr/Blocks Skipped: [23]\d\d of [34]\d\d by facts_c_idx/, 'a lower filter skips blocks while an upper one waits');

# A merge join ends when its inner side has ended: at a row that comes later. The filter lets it have some.
{
	my ($off, $rows, $plan) = fact_rows('SET enable_mergejoin = on; SELECT count(*) FROM (SELECT f.b FROM facts f JOIN lower d ON f.id = d.c1 OFFSET 0) f JOIN upper e ON f.b = e.k', 'on');

	like($plan, qr/Merge Join.*Filtered Scan: f.b of facts|Filtered Scan: f.b of facts.*Merge Join/s, 'a merge join that ends: the plan') or diag($plan);
	cmp_ok($off, '<', 100, 'a merge join that ends, off: few rows are read') or diag($plan);
	cmp_ok($rows, '<', 300, 'a merge join that ends: few rows are read') or diag($plan);
}

# If the lower one has rows, the filter drops all rows but the first. A LEFT join returns the rows that it has no match for.
foreach my $kind ('JOIN', 'LEFT JOIN')
{
	my ($off, $rows, $plan) = fact_rows("SELECT count(*) FROM facts f $kind lower d ON f.a = d.k JOIN upper e ON f.b = e.k", 'on');

	like($plan, qr/Seq Scan on facts f \(actual rows=[01] /, "$kind, the lower one has rows: the filter drops all but the first") or diag($plan);
}

# ------------------------------------------------------------------------ drawn

# A side of a join: SQL of something with columns k, l, id and n; the sequences are told apart.
sub side
{
	my ($table, $sequence) = @_;
	my $rows = pick('', '', ' WHERE id % 7 = 0', ' WHERE k % 10 = 0', ' WHERE id < 0', ' WHERE id > 5000', ' WHERE k = 3');
	my $value = pick(
		'id', 'id', 'id', "nextval('$sequence')", "(SELECT nextval('$sequence'))", "id + (SELECT nextval('$sequence') + count(*) FROM none)",
		"(SELECT nextval('$sequence') + 0 * count(*) FROM none WHERE none.id = t.id)", '(SELECT count(*) FROM none)', '10 / (id - id)', '10 / (id - 4000)',
		"(SELECT n FROM (WITH w AS MATERIALIZED (SELECT nextval('$sequence') AS n) SELECT n FROM w) q)", 'CASE WHEN id < 0 THEN 1 / (id - id) ELSE id END');
	my $l = $table eq 'fact' ? 'l' : 'id % 300 AS l';
	my $sql = "SELECT k, $l, id, $value AS n FROM $table t$rows";
	my $form = int(rand(6));

	$sql .= ' AND id <> (SELECT nextval(' . "'$sequence'))" if $rows && chance(0.1);
	return "($sql OFFSET 0)" if $form < 2;
	return "(WITH w AS MATERIALIZED ($sql) SELECT * FROM w)" if $form == 2;
	return "($sql ORDER BY id OFFSET 0)" if $form == 3;
	return "(SELECT k, l, max(id) AS id, max(n) AS n FROM ($sql OFFSET 0) g GROUP BY k, l)" if $form == 4;
	return "($sql UNION ALL SELECT 1, 2, 3, 4)";
}

my $rounds = rounds(400);
my %count = map { $_ => 0 } qw(filters with errors raised differ volatile);
foreach my $round (1 .. $rounds)
{
	my $joins = 1 + int(rand(3));
	my $from = side(pick('fact', 'fact', 'wide', 'none', 'gone'), 's') . ' f';
	my $sum = 'f.n';

	foreach my $join (1 .. $joins)
	{
		my $on = pick('f.k = d%d.k', 'f.l = d%d.k', 'f.k = d%d.k AND f.l = d%d.l') =~ s/%d/$join/gr;

		$from .= pick(' JOIN ', ' JOIN ', ' JOIN ', ' LEFT JOIN ', ' RIGHT JOIN ') . side(pick('dim', 'wide', 'none', 'fact'), pick('s', 's2')) . " d$join ON $on";
		$sum .= " + d$join.n";
	}
	my $query = "SELECT count(*), sum($sum), min(f.id) FROM $from";
	my $before = pick('SELECT 0', 'SET join_collapse_limit = 1', "SET work_mem = '64kB'", 'SET enable_nestloop = on', 'SET enable_hashagg = off');
	$query = 'INSERT INTO stored (a, b) ' . $query =~ s/, min\(f\.id\)//r if chance(0.2);
	my $off = done('off', $before, $query);
	my $mode = pick('on', 'on', 'verify');
	my $on = done($mode, $before, $query);
	my $filters = filters_of(explained("$before; $query", 'COSTS OFF'));

	$count{filters} += $filters;
	$count{with}++ if $filters;
	$count{volatile}++ if $query =~ /nextval/;
	if ($off =~ /ERROR/)
	{
		# a row that a filter drops raises no error above: REFERENCE.md says so
		$count{errors}++;
		next if !$filters || $on eq $off || $on !~ /ERROR/;
	}
	$count{raised}++ if $on =~ /ERROR/ && $off !~ /ERROR/;
	next if $on eq $off;
	$count{differ}++;
	diag("SEED=$seed, round $round, $before; $query\noff:\n$off\n$mode:\n$on\n" . explained("$before; $query", 'COSTS OFF'));
}
note(join(', ', map { "$_ $count{$_}" } sort keys %count));
diag(join(', ', map { "$_ $count{$_}" } sort keys %count)) if $ENV{SEED};
is($count{differ}, 0, "$rounds drawn joins do with filters what they do without");
is($count{raised}, 0, 'and raise no error that they do not raise without');
cmp_ok($count{with}, '>', $rounds / 50, "$count{with} of them have filters, $count{filters} in all");
cmp_ok($count{volatile}, '>', $rounds / 5, "$count{volatile} have side effects");
cmp_ok($count{errors}, '<', $rounds / 2, "$count{errors} fail without a filter");

done_testing();
