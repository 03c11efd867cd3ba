# Join filters for foreign tables: postgres_fdw sends them to its server, which filters its rows
# before it sends them.
use CuckooCluster;
use CuckooJoin;

my $node = join_cluster('main', conf => "cuckoofilter.join_filter_remote = on\nenable_mergejoin = off\nenable_nestloop = off\n");
plan(skip_all => 'without postgres_fdw')
  if !$node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'});

my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw');
foreach my $part (0, 1)
{
	$node->safe_psql('postgres', "CREATE DATABASE s$part");
	$node->safe_psql(
		"s$part", "CREATE EXTENSION cuckoofilter;
		CREATE TABLE fact AS SELECT g * 2 + $part AS id, $part AS part, nullif(g % 2000, 7) AS k, (g % 2000)::smallint AS small, (g % 3000)::text AS t, (g % 3000)::char(9) AS c,
			md5((g % 2000)::text)::uuid AS u, date '2000-01-01' + g % 2000 AS d, g % 2000 / 4.0::float8 AS f, g % 20 AS few, (g % 2000)::numeric AS kn FROM generate_series(1, 10000) g; ANALYZE");
	$node->safe_psql(
		'postgres', "CREATE SERVER s$part FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 's$part', extensions 'cuckoofilter');
		CREATE USER MAPPING FOR CURRENT_USER SERVER s$part");
}
my $columns = 'id integer, part integer, k integer, small smallint, t text, c char(9), u uuid, d date, f double precision, few integer, kn numeric';
$node->safe_psql(
	'postgres', "CREATE TABLE dim AS SELECT g AS id, g * 10 AS k, (g * 10)::bigint AS big, (g * 5)::text AS t, (g * 5)::varchar AS v, (g * 5)::char(9) AS c, md5((g * 10)::text)::uuid AS u, date '2000-01-01' + g AS d, g / 4.0 AS n, g / 4.0::float8 AS f, (g * 10)::numeric AS kn FROM generate_series(1, 100) g;
	CREATE FOREIGN TABLE fact ($columns) SERVER s0;
	CREATE TABLE parts ($columns) PARTITION BY LIST (part);
	CREATE FOREIGN TABLE parts0 PARTITION OF parts FOR VALUES IN (0) SERVER s0 OPTIONS (table_name 'fact');
	CREATE FOREIGN TABLE parts1 PARTITION OF parts FOR VALUES IN (1) SERVER s1 OPTIONS (table_name 'fact');
	ANALYZE dim; ANALYZE fact; ANALYZE parts0; ANALYZE parts1; ANALYZE parts");

sub remote
{
	my ($name, $query) = @_;
	my $plan = explained($query, 'ANALYZE, VERBOSE, TIMING OFF, SUMMARY OFF, COSTS OFF');

	same_rows($name, $query);
	like($plan, qr/, by its server/, "$name: by its server");
	my @rows = $plan =~ /Foreign Scan [^(]*\(actual rows=(\d+)/g;
	cmp_ok($rows[0], '<', 2000, "$name: few rows come") or diag($plan);
	return $plan;
}

my $plan = remote('integers', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k)');
like($plan, qr/Remote SQL: SELECT \* FROM \(SELECT id, k FROM public\.fact\) s\(c1, c2\) WHERE CASE WHEN pg_catalog\.pg_typeof\(c2\) = ANY .*pg_catalog\.int4.* THEN coalesce\(public\.cuckoofilter_contains\(\$1::public\.cuckoofilter, c2\), true\) ELSE true END/, 'the remote SQL');
my $json = explained('SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k)', 'ANALYZE, FORMAT JSON');
like($json, qr/"Filtered Scans": \["fact\.k of fact, by its server"\],\s*"Filter Keys": 100/, 'in JSON, too');
unlike($json, qr/"Rows Tested"/, 'what a server asks is not counted');
$json = explained('SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k); EXECUTE p; SET cuckoofilter.join_filter_remote = off; EXECUTE p', 'ANALYZE, FORMAT JSON');
like($json, qr/"Filtered Scans": \["fact\.k of fact"\],.*"Rows Tested": 10000,/s, 'turned off after planning: asked here, and so counted');
# Of rows that join nothing a server sends one in a thousand.
$node->safe_psql('s0', 'CREATE TABLE wide AS SELECT g AS k FROM generate_series(1, 200000) g; ANALYZE wide');
$node->safe_psql('postgres', 'CREATE FOREIGN TABLE wide (k integer) SERVER s0; CREATE TABLE every_tenth AS SELECT g * 10 AS k FROM generate_series(1, 20000) g; ANALYZE wide; ANALYZE every_tenth');
$plan = explained('SELECT count(*) FROM wide JOIN every_tenth USING (k)', 'ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF');
my ($sent) = $plan =~ /Foreign Scan on wide \(actual rows=(\d+)/ or diag($plan);
cmp_ok($sent, '>=', 20000, 'a server sends rows that join');
cmp_ok($sent, '<', 20900, 'and of 180,000 that do not fewer than one in 200');
remote('smallint = bigint', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim ON small = big');
remote('text', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (t)');
remote('text = varchar', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim ON fact.t = v');
remote('char(n)', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (c)');
remote('uuid', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (u)');
remote('date', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (d)');
remote('double precision', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (f)');
remote('a semi join', 'SELECT count(*), sum(id) FROM fact WHERE k IN (SELECT k FROM dim)');
remote('remote conditions and parameters', "PREPARE p(integer) AS SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k) WHERE few < \$1 AND dim.id > \$1; SET plan_cache_mode = force_generic_plan; EXECUTE p(10)");
remote('an aggregate of the server', 'SELECT count(*), sum(m) FROM (SELECT k, count(*) m FROM fact GROUP BY k) s JOIN dim USING (k)');
remote('an expression of the server', 'SELECT count(*), sum(m) FROM (SELECT k + 0 AS k, count(*) m FROM fact GROUP BY 1) s JOIN dim USING (k)');
# The other server keeps the order of a subquery when it asks the filter for its rows; here no node sorts them.
$plan = remote('ordered by the server', 'SELECT array_agg(id) FROM (SELECT s.id FROM (SELECT * FROM fact ORDER BY id OFFSET 0) s JOIN dim USING (k)) q');
like($plan, qr/Remote SQL: SELECT \* FROM \(SELECT [^\n]* ORDER BY id ASC NULLS LAST[^\n]*\) s\(c1, /, 'ordered by the server: in a subquery');
unlike($plan, qr/->  (?:Incremental )?Sort/, 'ordered by the server: and not here');
foreach my $order ('id', 'id DESC', 't, id DESC')
{
	my $ordered = "SELECT s.t, s.id FROM (SELECT * FROM fact ORDER BY $order OFFSET 0) s JOIN dim USING (k)";
	my @rows = split /\n/, $node->safe_psql('postgres', $ordered);

	is(join(',', @rows), join(',', split /\n/, $node->safe_psql('postgres', "SET cuckoofilter.join_filter = off; SELECT t, id FROM ($ordered) q ORDER BY $order")), "ordered by the server: $order") or diag(explained($ordered, 'COSTS OFF'));
}
remote('a join of the server', 'SET join_collapse_limit = 1; SELECT count(*), sum(a.id) FROM fact a JOIN fact b USING (id) JOIN dim ON dim.k = a.k');
remote('two filters', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k) JOIN dim e ON fact.t = e.t');
remote('partitions', 'SELECT count(*), sum(parts.id) FROM parts JOIN dim USING (k)');
$node->safe_psql('postgres', "ALTER SERVER s0 OPTIONS (ADD async_capable 'true'); ALTER SERVER s1 OPTIONS (ADD async_capable 'true')");
remote('asynchronous partitions', 'SELECT count(*), sum(parts.id) FROM parts JOIN dim USING (k)');
remote('again and again', 'SET enable_nestloop = on; SET enable_material = off; SELECT v.x, s.* FROM (VALUES (1), (2), (3)) v(x) LEFT JOIN LATERAL (SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k) WHERE fact.few < v.x OFFSET 0) s ON true');
remote('a setting that changes', 'PREPARE p AS SELECT count(*) FROM fact JOIN dim USING (k); SET plan_cache_mode = force_generic_plan; EXECUTE p');

# EXPLAIN names the relation of each key, and does not fail where it cannot.
$node->safe_psql('s0', 'CREATE TABLE narrow AS SELECT id, t AS w FROM fact; ANALYZE narrow');
$node->safe_psql('postgres', 'CREATE FOREIGN TABLE narrow (id integer, w text) SERVER s0; ANALYZE narrow; ALTER SERVER s0 OPTIONS (ADD fdw_tuple_cost $$100$$)'); # joins are cheaper over there
my %two = (
	'SELECT count(*), sum(a.id) FROM fact a JOIN narrow b USING (id) JOIN dim d ON d.c = a.c AND d.t = b.w' => 'a.c, b.w of fact a, narrow b',
	'SELECT count(*), sum(a.id) FROM narrow b JOIN fact a USING (id) JOIN dim d ON d.t = b.w AND d.c = a.c' => 'b.w, a.c of narrow b, fact a',
	'SELECT count(*), sum(a.id) FROM fact a JOIN narrow b USING (id) JOIN dim d ON d.c = a.c AND d.t = a.t' => 'a.c, a.t of fact a',
	'SELECT count(*), sum(g.n) FROM (SELECT a.c, b.w, count(*) n FROM fact a JOIN narrow b USING (id) GROUP BY 1, 2) g JOIN dim d ON d.c = g.c AND d.t = g.w' => 'a.c, b.w of fact a, narrow b',
	'SELECT count(*), sum(g.n) FROM (SELECT a.c, b.w || $$$$ AS w, count(*) n FROM fact a JOIN narrow b USING (id) GROUP BY 1, 2) g JOIN dim d ON d.c = g.c AND d.t = g.w' => 'a.c, ? of fact a',
	'SELECT count(*), sum(s.n) FROM (SELECT k + 0 AS k, count(*) n FROM fact GROUP BY 1) s JOIN dim USING (k)' => 'plan node \\d+, by its server');
foreach my $query (sort keys %two)
{
	my $lines = $two{$query} =~ s/([.?])/\\$1/gr;

	like(explained("SET join_collapse_limit = 1; $query"), qr/Filtered Scan: $lines\n/, "EXPLAIN: $two{$query}");
	like(explained("SET join_collapse_limit = 1; $query", 'FORMAT JSON'), qr/"Filtered Scans": \["$lines"\]/, "EXPLAIN in JSON: $two{$query}");
	same_rows("two keys of a remote join, under auto_explain: $two{$query}", "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET join_collapse_limit = 1; $query");
}
$node->safe_psql('postgres', 'ALTER SERVER s0 OPTIONS (DROP fdw_tuple_cost)');

# The build side is read before the foreign scan sends its query, but only if nobody can tell: it has no
# side effects and cannot fail, and no other join, whose build side may be empty, is on the way.
$node->safe_psql('postgres', 'CREATE TABLE here AS SELECT g AS k, g AS id, g::numeric AS kn, repeat(\'x\', 500) AS wide FROM generate_series(1, 9000) g; CREATE TABLE none (k integer, id integer);
	CREATE TABLE gone WITH (autovacuum_enabled = off) AS SELECT k, id FROM here WHERE k <= 2000; ANALYZE here; ANALYZE none; ANALYZE gone; DELETE FROM gone');

# Which nodes run, without ours.
sub nodes_that_run
{
	my ($mode, $query) = @_;
	my $plan = explained("SET join_collapse_limit = 1; SET cuckoofilter.join_filter = $mode; $query");

	return join("\n", map { s/^[ >-]*//r =~ s/\(actual .*/: ran/r =~ s/\(never executed\)/: never/r } grep { /\((?:actual|never)/ && !/Cuckoo Join Filter/ } split(/\n/, $plan));
}

sub in_order
{
	my ($name, $query) = @_;
	my $plan = explained("SET join_collapse_limit = 1; $query", 'COSTS OFF');

	same_rows($name, "SET join_collapse_limit = 1; $query");
	is(nodes_that_run('on', $query), nodes_that_run('off', $query), "$name: the same nodes run") or diag($plan);
	like($plan, qr/by its server/, "$name: by its server") or diag($plan);
}
my $gone = 'SELECT count(*), sum(f.id), sum(d.x) FROM (SELECT * FROM fact WHERE id + 0 <> id) f';
my %fails = (
	'an operator that fails' => '(SELECT k, 10 / (id - id) AS x FROM here OFFSET 0)', 'a condition that fails' => '(SELECT k, id AS x FROM here WHERE 10 / (id - id) > 0 OFFSET 0)',
	'a cast that fails' => "(SELECT k, ('x' || id)::integer AS x FROM here OFFSET 0)", 'a cast by input that fails' => '(SELECT k, id::text::name::text::integer AS x FROM here WHERE id::text::boolean OFFSET 0)',
	'an aggregate that fails' => "(SELECT k, sum(9e18::bigint::double precision::bigint)::bigint AS x FROM here JOIN (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11)) v(n) ON true GROUP BY k)");
foreach my $name (sort keys %fails)
{
	in_order($name, "$gone JOIN $fails{$name} d USING (k)");
}
in_order('an InitPlan that is not run', "$gone JOIN (SELECT k, id AS x FROM here WHERE id <> (SELECT 10 / count(*) FROM none) OFFSET 0) d USING (k)");
foreach my $dims ([ 'none', 'here' ], [ 'here', 'none' ], [ 'gone', 'here' ], [ 'here', 'gone' ])
{
	in_order("a star over a foreign table: $dims->[0], $dims->[1]", "SELECT count(*), sum(fact.id) FROM fact JOIN $dims->[0] a ON a.k = fact.k JOIN $dims->[1] b ON b.k = fact.few");
}
# The filter of the upper join comes after the query was sent: it is asked here.
my $late = 'SET join_collapse_limit = 1; SELECT count(*), sum(fact.id) FROM fact JOIN dim a ON a.id = fact.few JOIN every_tenth d ON d.k = fact.k';
same_rows('a filter that comes too late for the server', $late, 2);
like(explained($late), qr/Filtered Scan: fact\.k of fact, by its server\n.*Rows Tested: \d{4}  Removed: 8\d{3} /s, 'a filter that comes too late for the server: asked here');
# conditions that cannot fail
remote('a build side that is read first', 'SELECT count(*), sum(fact.id) FROM fact JOIN (SELECT k FROM here WHERE kn > 20 AND id BETWEEN 21 AND 100 AND id = k OFFSET 0) d USING (k)');

# Not by the server.
sub local_only
{
	my ($name, $query) = @_;

	same_rows($name, $query);
	unlike(explained($query, 'VERBOSE'), qr/by its server|cuckoofilter_contains/, "$name: not by the server");
}
local_only('numeric', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (kn)');
# Neighbours among these have the same double.
$node->safe_psql('s0', 'CREATE TABLE exact AS SELECT g + 18446744073709000000 AS kn FROM generate_series(1, 10000) g; ANALYZE exact');
$node->safe_psql('postgres', 'CREATE FOREIGN TABLE exact (kn numeric) SERVER s0; ANALYZE exact; CREATE TABLE tenths AS SELECT g * 10 + 18446744073709000000.00 AS kn FROM generate_series(1, 100) g; ANALYZE tenths');
local_only('numerics of 20 digits', 'SELECT count(*), sum(exact.kn) FROM exact JOIN tenths USING (kn)');
like(explained('SELECT count(*) FROM exact JOIN tenths USING (kn)', 'ANALYZE'), qr/Removed: 98\d\d /, 'numerics of 20 digits: rows are dropped here');
local_only('two columns', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim ON fact.k = dim.k AND fact.t = dim.t');
local_only('a table of this server', 'SELECT count(*) FROM dim a JOIN dim b USING (k)');
local_only('the setting is off', 'SET cuckoofilter.join_filter_remote = off; SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k)');
$node->safe_psql('postgres', 'CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM fact WHERE few < 5');
local_only('a security barrier', 'SELECT count(*), sum(barrier.id) FROM barrier JOIN dim USING (k)');

# Row security of a parent is a condition of its foreign children that its server is not sent: it would
# tell of hidden rows.
$node->safe_psql(
	'postgres', "CREATE ROLE reader; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
	CREATE FUNCTION mine(integer) RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN \$1 % 2 = 1; END';
	CREATE TABLE parent ($columns); CREATE FOREIGN TABLE child () INHERITS (parent) SERVER s0 OPTIONS (table_name 'fact'); ANALYZE child; GRANT SELECT ON parent TO reader;
	CREATE USER MAPPING FOR reader SERVER s0 OPTIONS (user '" . $node->safe_psql('postgres', 'SELECT current_user') . "', password_required 'false');
	CREATE USER MAPPING FOR reader SERVER s1 OPTIONS (user '" . $node->safe_psql('postgres', 'SELECT current_user') . "', password_required 'false');
	CREATE POLICY p ON parts USING (mine(few)); CREATE POLICY p ON parent USING (mine(few))");
foreach my $table ('parts', 'parent')
{
	my $query = "SELECT count(*), sum(f.id) FROM $table f JOIN dim USING (k)";

	like(explained("SET ROLE reader; $query"), qr/, by its server/, "$table without row security: by its server");
	$node->safe_psql('postgres', "ALTER TABLE $table ENABLE ROW LEVEL SECURITY");
	unlike(explained("SET ROLE reader; $query"), qr/, by its server/, "row security of $table: not by its server");
	like(explained("SET ROLE reader; $query"), qr/Filtered Scans?: /, "row security of $table: but here");
	same_rows("row security of $table", "SET ROLE reader; $query");
}
local_only('verify', 'SET cuckoofilter.join_filter = verify; SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k)');
is($node->safe_psql('postgres', 'SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT count(*) FROM fact JOIN dim USING (k); EXECUTE p; SET cuckoofilter.join_filter = off; EXECUTE p; SET cuckoofilter.join_filter = verify; EXECUTE p; SET cuckoofilter.join_filter = on; SET cuckoofilter.join_filter_remote = off; EXECUTE p; SET cuckoofilter.join_filter_memory = 64; EXECUTE p'),
	join("\n", (500) x 5), 'a plan that is kept, under other settings');
$node->safe_psql('postgres', "ALTER SERVER s0 OPTIONS (SET extensions '')");
local_only('a server without the extension', 'SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k)');

# A database that has the library, but not the extension.
$node->safe_psql('postgres', "ALTER SERVER s0 OPTIONS (SET extensions 'cuckoofilter'); CREATE DATABASE bare");
$node->safe_psql(
	'bare', "CREATE EXTENSION postgres_fdw; CREATE SERVER s0 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 's0', extensions 'cuckoofilter');
	CREATE USER MAPPING FOR CURRENT_USER SERVER s0; CREATE FOREIGN TABLE fact ($columns) SERVER s0; CREATE TABLE dim AS SELECT g * 10 AS k FROM generate_series(1, 100) g; ANALYZE dim; ANALYZE fact");
my $bare = $node->safe_psql('bare', 'EXPLAIN VERBOSE SELECT count(*) FROM fact JOIN dim USING (k); SELECT count(*) FROM fact JOIN dim USING (k)');
like($bare, qr/Cuckoo Join Filter.*^500$/sm, 'a database without the extension: the filter is asked here');
unlike($bare, qr/cuckoofilter_contains/, 'and not by the server');

# Who may send filters: the keys of a table that a role may not read could go to another server.
# A database whose sessions have no library at first, and in which the setting is off.
$node->safe_psql(
	'postgres', "DROP FUNCTION mine(integer) CASCADE; CREATE ROLE alice LOGIN; CREATE TABLE secret AS SELECT k FROM dim; ANALYZE secret;
	CREATE FUNCTION joins_secret() RETURNS SETOF text SECURITY DEFINER LANGUAGE plpgsql AS 'BEGIN RETURN QUERY EXECUTE ''EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM fact JOIN secret USING (k)''; END';
	CREATE FUNCTION sends_secret() RETURNS SETOF text SECURITY DEFINER LANGUAGE sql SET cuckoofilter.join_filter_remote = on AS 'SELECT joins_secret()';
	CREATE SCHEMA alice AUTHORIZATION alice");
$node->safe_psql('postgres', 'CREATE DATABASE rights TEMPLATE postgres');
$node->safe_psql('postgres', "ALTER DATABASE rights SET session_preload_libraries = 'plpgsql'; ALTER DATABASE rights SET cuckoofilter.join_filter_remote = off");

# What a user's session prints, errors and warnings included, when it does some SQL first, then joins.
sub as_user
{
	my ($before, $user, $join) = @_;
	my @who = (extra_params => [ '-U', $user ]);
	my (undef, $out, $err) = $node->psql('rights', "$before; SELECT cuckoofilter_join_load(); SELECT * FROM " . ($join // 'joins_secret()'), @who, on_error_stop => 0);

	return "$out\n$err";
}

sub may_not
{
	my ($name, $before) = @_;
	my $printed = as_user($before, 'alice');

	like($printed, qr/Cuckoo Join Filter/, "$name: the filter is there");
	like($printed, qr/permission denied to set parameter "cuckoofilter\.join_filter_remote"/, "$name: permission denied");
	unlike($printed, qr/, by its server/, "$name: the keys stay here");
}

my $remote = 'cuckoofilter.join_filter_remote';
my $load = 'SELECT cuckoofilter_join_load()';
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my $query_of = server_version($node) >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode';

foreach my $when ('before', 'after')
{
	my $first = $when eq 'after' ? "$load;" : '';

	may_not("$_, $when the library is loaded", "$first $_")
	  foreach ("SET $remote = on", "SELECT set_config('$remote', 'on', false)", "SET SESSION AUTHORIZATION alice; SET $remote = yes");
	may_not("ALTER ROLE, $when the library is loaded", "$first ALTER ROLE alice SET $remote = on");
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_db_role_setting WHERE setrole = 'alice'::regrole"), '0', "ALTER ROLE, $when the library is loaded: nothing is kept");
	may_not("a function's setting, $when the library is loaded",
		"$first CREATE FUNCTION alice.sends() RETURNS SETOF text SECURITY DEFINER LANGUAGE sql SET $remote = on AS 'SELECT joins_secret()'; $load; SELECT alice.sends()");
	$node->safe_psql('rights', 'DROP FUNCTION IF EXISTS alice.sends()');
}
may_not('SET LOCAL before the library is loaded', "BEGIN; SET LOCAL $remote = on");
{
	local $ENV{PGOPTIONS} = "-c $remote=on";
	may_not('options of the connection', 'SELECT 1');
	$node->safe_psql('postgres', 'ALTER DATABASE rights RESET session_preload_libraries');
	may_not('options of the connection, and the library is preloaded', 'SELECT 1');
	$node->safe_psql('postgres', "ALTER DATABASE rights SET session_preload_libraries = 'plpgsql'");
}
may_not('pg_settings', "$load; UPDATE pg_settings SET setting = 'on' WHERE name = '$remote'");
like(as_user("SET $remote = on", $superuser), qr/, by its server/, 'a superuser may');
like(as_user('SELECT 1', 'alice', 'sends_secret()'), qr/, by its server/, "a superuser's function may");
is(() = as_user("$load; SELECT * FROM sends_secret()", 'alice') =~ /, by its server/g, 1, 'and nobody after it');
foreach my $by ('ROLE alice', 'DATABASE rights')
{
	$node->safe_psql('rights', "ALTER $by SET $remote = on");
	like(as_user('SELECT 1', 'alice'), qr/, by its server/, "a superuser's ALTER $by");
	is($node->safe_psql('rights', "$load; SET $query_of = on; SELECT current_setting('$remote'), count(*) > 0 FROM pg_class", extra_params => [ '-U', 'alice' ]) =~ s/^\n//r, 'on|t', "a superuser's ALTER $by: so in workers");
	like(as_user("SET $remote = off", 'alice'), qr/permission denied/, "a superuser's ALTER $by: not to be changed by others");
	$node->safe_psql('rights', $by =~ /ROLE/ ? "ALTER $by RESET $remote" : "ALTER $by SET $remote = off");
}
SKIP:
{
	skip('GRANT SET is of PostgreSQL 15 and later', 4) if server_version($node) < 150000;
	$node->safe_psql('rights', "$load; GRANT SET ON PARAMETER $remote TO alice");
	like(as_user($_, 'alice'), qr/, by its server/, "GRANT SET: $_") foreach ("SET $remote = on", "$load; SET $remote = on");
	is($node->safe_psql('rights', "$load; SET $remote = on; SET $query_of = on; SELECT current_setting('$remote'), count(*) > 0 FROM pg_class", extra_params => [ '-U', 'alice' ]) =~ s/^\n//r, 'on|t', 'GRANT SET: so in workers');
	$node->safe_psql('rights', "REVOKE SET ON PARAMETER $remote FROM alice");
	may_not('after REVOKE', "SET $remote = on");
}

# A foreign table of another wrapper.
SKIP:
{
	skip('a server without file_fdw', 3) if !$node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'file_fdw'});
	my $file = $node->basedir . '/numbers.csv';
	append_to_file($file, join("\n", 1 .. 3000) . "\n");
	$node->safe_psql('postgres', "CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw; CREATE FOREIGN TABLE numbers (k integer) SERVER files OPTIONS (filename '$file', format 'csv')");
	local_only('a file', 'SELECT count(*), sum(k) FROM numbers JOIN dim USING (k)');
}

done_testing();
