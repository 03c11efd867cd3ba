# Join filters: which joins have one, that it removes rows where it should, and that every query
# gives the same rows as without.
use CuckooCluster;
use CuckooJoin;

my $node = join_cluster('main');
my $hash = 'SET enable_mergejoin = off; SET enable_nestloop = off;';

$node->safe_psql(
	'postgres', q{
	CREATE TABLE fact AS SELECT g AS id, nullif(g % 2000, 7) AS k, g % 50 AS few, (g % 3000)::text AS t, g % 7 AS part FROM generate_series(1, 20000) g;
	CREATE TABLE dim AS SELECT g * 10 AS k, (g * 5)::text AS t, g AS id, g % 50 AS few FROM generate_series(1, 100) g;
	INSERT INTO dim VALUES (NULL, NULL, 0, 0);
	CREATE TABLE dim2 AS SELECT g * 3 AS k, g AS id FROM generate_series(1, 100) g;
	CREATE INDEX fact_k ON fact (k);
	CREATE TABLE parts (id integer, k integer, part integer) PARTITION BY LIST (part);
	CREATE TABLE parts0 PARTITION OF parts FOR VALUES IN (0, 1, 2);
	CREATE TABLE parts1 (part integer, junk text, k integer, id integer);
	ALTER TABLE parts1 DROP COLUMN junk;
	ALTER TABLE parts ATTACH PARTITION parts1 FOR VALUES IN (3, 4, 5, 6);
	INSERT INTO parts SELECT id, k, part FROM fact;
	ANALYZE});

# The scan reads all blocks, so that all rows are tested.
my $all = "$hash SET cuckoofilter.join_filter_blocks = off;";

# Kinds of joins.
same_rows('inner', "$hash SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k)", 1);
same_rows('semi', "$hash SELECT count(*), sum(id) FROM fact WHERE k IN (SELECT k FROM dim)", 1);
same_rows('semi by EXISTS', "$hash SELECT count(*), sum(id) FROM fact WHERE EXISTS (SELECT FROM dim WHERE dim.k = fact.k AND dim.id % 3 <> fact.id % 3)", 1);
same_rows('right', "$hash SELECT count(*), count(fact.id), sum(dim.id) FROM dim LEFT JOIN fact USING (k)", 1);

my $version = server_version($node);
my $anti = "$hash SELECT count(*), sum(id) FROM dim WHERE NOT EXISTS (SELECT FROM fact WHERE fact.k = dim.k + 5)";
same_rows('right anti', $anti, $version >= 160000 ? 1 : 0);
like(explained("$all $anti"), qr/Hash Right Anti Join.*Rows Tested: 20000  Removed: 1[89]/s, 'right anti: rows are dropped') if $version >= 160000;
my $semi = "$hash SELECT count(*), sum(id) FROM dim WHERE EXISTS (SELECT FROM fact WHERE fact.k = dim.k AND fact.few <> dim.id)";
same_rows('right semi', $semi);
like(explained("$all $semi"), qr/Hash Right Semi Join.*Rows Tested: 19999  Removed: 1[89]/s, 'right semi: rows are dropped') if $version >= 180000;

# What a filter drops, and what it says of itself.  The join fetches one row before it makes the filter.
my $plan = explained("$all SELECT count(*) FROM fact f JOIN dim d USING (k)");
like($plan, qr/Seq Scan on fact f \(actual rows=1\d{3} /, 'rows without a partner do not leave the scan');
like($plan, qr/Filtered Scan: f\.k of fact f\n\s*Filter Keys: 100  Memory: 1kB\n\s*Rows Tested: 19999  Removed: 1[89]\d{3} \(9\d\.\d %\)/, 'EXPLAIN tells of it');
unlike($plan, qr/Rows Removed by Filter/, 'and not as of a condition');
my $json = explained("$all SELECT count(*) FROM fact f JOIN dim d USING (k)", 'ANALYZE, FORMAT JSON');
like($json, qr/"Filtered Scans": \["f\.k of fact f"\],\s*"Filter Keys": 100,\s*"Filter Memory": 1,\s*"Rows Tested": 19999,\s*"Rows Removed by Join Filter": 1\d{4},/, 'EXPLAIN in JSON');
like(explained("$all SELECT count(*) FROM fact f JOIN dim d USING (k) WHERE f.few < 10"), qr/Rows Removed by Filter: 16000\n.*Rows Tested: 3999 /s, 'rows that the scan drops itself are not tested');
like(explained("$hash SELECT count(*) FROM fact f JOIN dim d USING (k)", 'VERBOSE'), qr/Custom Scan \(Cuckoo Join Filter\).*?Output: d\.k\n/s, 'EXPLAIN VERBOSE');

# Integers near each other are also a set, which is exact while they are in 2^20 side by side; then its buckets grow. There
# are numbers on both sides of each power of two, as the set grows by doubling, and at both ends of bigint.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE apart AS SELECT n::bigint FROM generate_series(-9, 9) n UNION
		SELECT sign * (1::bigint << i) + d FROM generate_series(4, 30) i, (VALUES (-1), (1)) s(sign), generate_series(-1, 1) d UNION
		SELECT n FROM generate_series(9223372036854775797, 9223372036854775806) n UNION SELECT -n - 2 FROM generate_series(9223372036854775797, 9223372036854775806) n UNION SELECT NULL;
	CREATE TABLE many AS SELECT n, g FROM apart, generate_series(1, 20) g;
	ANALYZE apart, many});
sub near # first keys
{
	my ($first, $keys) = @_;
	return "SELECT n FROM apart WHERE n = $first UNION ALL (SELECT n FROM apart WHERE $keys ORDER BY n OFFSET 0)";
}
foreach my $first (0, 524288, -9223372036854775808, 9223372036854775806)
{
	foreach my $keys ('n BETWEEN -2048 AND 2047', 'n BETWEEN -4097 AND 2048', 'n BETWEEN -524288 AND 524287', 'n BETWEEN -524288 AND 524288', 'n BETWEEN -524289 AND 524287', 'n BETWEEN 0 AND 1048575', 'n < 0', 'abs(n::numeric) > 9223372036854770000', 'n IN (-524288, 524287)', 'n % 2 = 0')
	{
		same_rows("first $first, $keys", "$hash SELECT count(*), sum(many.n), sum(g) FROM many WHERE n IN (@{[near($first, $keys)]})");
		same_rows("first $first, $keys, INNER", "$hash SELECT count(*), sum(many.n), sum(g) FROM many JOIN (SELECT DISTINCT n FROM (@{[near($first, $keys)]}) x) y USING (n)");
	}
}
foreach my $case ([ 0, 2047, 1 ], [ 0, -2048, 1 ], [ 0, 524287, 129 ], [ 0, -524288, 129 ], [ 0, 524288, 129 ], [ 0, -524289, 129 ], [ 524288, 0, 129 ], [ 0, 1048576, 2 ], [ 0, -1048577, 2 ], [ '9223372036854775806', '-9223372036854775808', 2 ])
{
	my ($first, $next, $kilobytes) = @$case;
	like(explained("$all SELECT count(*) FROM many WHERE n IN (@{[near($first, qq{n = $next})]})"), qr/Filter Keys: 2  Memory: ${kilobytes}kB\n/, "$next after $first: memory");
}
my $wide = near(0, 'n IN (0, 524287)');
like(explained("$all SET cuckoofilter.join_filter_memory = '128kB'; SELECT count(*) FROM fact WHERE id IN (SELECT id FROM fact WHERE id <= 1100 UNION ALL SELECT n FROM ($wide) w)"), qr/Filter Keys: 1102  Memory: 18kB\n/, 'a set that is as exact as the memory allows');
my $more = "SELECT count(*) FROM fact WHERE id IN (SELECT n FROM ($wide) w UNION ALL SELECT id FROM fact WHERE id <= 8000)";
like(explained("$all SET cuckoofilter.join_filter_memory = '220kB'; $more"), qr/Filter Keys: 8002  Memory: 11kB\n/, 'a set that leaves no memory for the hashes');
like(explained("$all SELECT count(*) FROM fact f JOIN dim d USING (k)"), qr/Rows Tested: 19999  Removed: 18999 /, 'a set is exact');
$node->safe_psql('postgres', "CREATE TABLE a AS SELECT g * 65536 / 2 AS n FROM generate_series(1, 1000) g; CREATE TABLE b AS SELECT g::smallint AS n FROM generate_series(-9, 9) g; ANALYZE a, b");
like(explained("$all SELECT count(*) FROM a JOIN b USING (n)"), qr/Rows Tested: 999  Removed: 999 /, 'integers that end in the same 16 bits');
# a bucket of two integers of which only one is a key
foreach my $key (0, 1)
{
	$node->safe_psql('postgres', "CREATE TABLE half_$key AS SELECT g * 2 + $key AS n FROM generate_series(1, 1000) g UNION ALL SELECT 1500000; CREATE TABLE other_$key AS SELECT g * 2 + 1 - $key AS n FROM generate_series(1, 2000) g; ANALYZE half_$key, other_$key");
	like(explained("$all SELECT count(*) FROM other_$key JOIN half_$key USING (n)"), qr/Rows Tested: 1999  Removed: 19[89]\d /, "a bucket of which only integer $key is a key");
}

# Keys.
same_rows('text', "$hash SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (t)", 1);
same_rows('two columns', "$hash SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k, few)", 1);
like(explained("$hash SELECT count(*) FROM fact JOIN dim USING (k, few)"), qr/Filtered Scan: fact\.k, fact\.few of fact/, 'two columns: one filter');
like(explained("$all SELECT count(*) FROM fact JOIN dim USING (k, few)"), qr/Rows Tested: 19999  Removed: 19[5-9]\d\d /, 'two columns: both count');
same_rows('two columns of two tables', "$hash SET join_collapse_limit = 1; SELECT count(*), sum(a.id) FROM fact a JOIN fact b ON a.id = b.id JOIN dim ON dim.k = a.k AND dim.few = b.few", 2);
is(same_rows('one of two columns, of rows as the table has them', "$hash SELECT count(*), min(fact.id) FROM fact JOIN dim2 d ON fact.k = d.k AND fact.few + 0 = d.id", 1), '10|75', 'one of two columns: the right rows');
same_rows('an expression of the build side', "$hash SELECT count(*), sum(fact.id) FROM fact JOIN dim ON fact.k = dim.k + 1", 1);
same_rows('an expression of the probe side', "$hash SELECT count(*), sum(fact.id) FROM fact JOIN dim ON fact.k + 1 = dim.k", 0);
same_rows('an expression behind a NULL is not evaluated', "$hash SELECT count(*) FROM fact JOIN dim ON fact.k + 0 = dim.k AND fact.few = 10 / dim.id", 0);
same_rows('no keys', "$hash SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.id < 0");
same_rows('only NULL keys', "$hash SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.k IS NULL", undef);

$node->safe_psql(
	'postgres', q{
	CREATE TYPE mood AS ENUM ('a', 'b', 'c', 'd', 'e', 'f');
	CREATE TYPE pair AS (a integer, b text);
	CREATE DOMAIN posint AS integer CHECK (VALUE > 0);
	CREATE TABLE v AS SELECT g FROM generate_series(1, 400) g});
my $icu = ($node->psql('postgres', "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"))[2] !~ /ICU is not supported/;
my @types = (
	[ 'smallint', 'g' ], [ 'bigint', 'g' ], [ 'boolean', '(g > 200)' ], [ 'oid', 'g' ], [ 'real', 'g / 4.0' ],
	[ 'double precision', "CASE g WHEN 1 THEN '-0' WHEN 2 THEN '0' WHEN 3 THEN 'NaN' ELSE g / 3.0 END" ],
	[ 'numeric', "CASE WHEN g % 2 = 0 THEN g ELSE (g || '.00')::numeric END" ], [ 'text', "repeat('x', g)" ], [ 'varchar(9)', 'g' ], [ 'char(9)', 'g' ],
	[ 'name', 'g' ], [ '"char"', 'chr(g % 100 + 20)' ], [ 'bytea', "decode(md5(g::text), 'hex')" ], [ 'uuid', 'md5(g::text)' ], [ 'date', "date '2000-01-01' + g" ],
	[ 'timestamp', "timestamp '2000-01-01' + g * interval '1 hour'" ], [ 'timestamptz', "timestamptz '2000-01-01' + g * interval '1 hour'" ],
	[ 'time', "time '00:00' + g * interval '1 minute'" ], [ 'interval', "g * interval '1 hour'" ], [ 'inet', "'10.0.0.0'::inet + g" ], [ 'macaddr', "lpad(to_hex(g), 12, '0')" ],
	[ 'mood', "(enum_range(NULL::mood))[g % 6 + 1]" ], [ 'integer[]', 'ARRAY[g, NULL]' ], [ 'text[]', "ARRAY[g::text, 'x']" ], [ 'pair', "ROW(g, g::text)::pair" ],
	[ 'int4range', 'int4range(g, g + 1)' ], [ 'jsonb', "jsonb_build_object('a', g)" ], [ 'posint', 'g' ], [ 'tid', "format('(%s,1)', g)" ], [ 'xid', "g" ],
	[ 'text COLLATE nocase', "CASE WHEN g % 2 = 0 THEN 'A' ELSE 'a' END || g / 2" ]);
@types = grep { $_->[0] !~ /nocase/ } @types if !$icu;
foreach my $type (@types)
{
	my ($name, $value) = @$type;
	my ($bare) = $name =~ /^(.*?)(?: COLLATE .*)?$/;

	$node->safe_psql('postgres',
		"DROP TABLE IF EXISTS tf, td; CREATE TABLE tf (g integer, x $name); CREATE TABLE td (g integer, x $name);
		INSERT INTO tf SELECT g, ($value)::text::$bare FROM v; INSERT INTO td SELECT g, ($value)::text::$bare FROM v WHERE g % 9 IN (0, 1); ANALYZE tf; ANALYZE td");
	my $rows = same_rows($name, "$hash SELECT count(*), sum(tf.g) FROM tf JOIN td ON tf.x = td.x", 1);
	unlike($rows, qr/^0\|/, "$name: there are some");
}
foreach my $cross ([ 'smallint', 'bigint' ], [ 'bigint', 'integer' ], [ 'integer', 'smallint' ], [ 'real', 'double precision' ], [ 'varchar', 'text' ], [ 'text', 'varchar(5)' ], [ 'name', 'text' ], [ 'text', 'name' ], [ 'char(7)', 'char(4)' ])
{
	my ($f, $d) = @$cross;

	$node->safe_psql('postgres',
		"DROP TABLE IF EXISTS tf, td; CREATE TABLE tf AS SELECT g, g::text::$f AS x FROM v; CREATE TABLE td AS SELECT g, g::text::$d AS x FROM v WHERE g % 9 = 0; ANALYZE tf; ANALYZE td");
	is(same_rows("$f = $d", "$hash SELECT count(*), sum(tf.g) FROM tf JOIN td ON tf.x = td.x", 1), '44|8910', "$f = $d: the right ones");
}

# Spills, and what is between the join and the scan.
like(explained("$hash SET work_mem = '64kB'; SELECT count(*) FROM fact a JOIN fact b USING (id) WHERE b.few < 25"), qr/Batches: (?:[2-9]|\d\d).*Filter Keys: 10000 .*Rows Tested: 19999  Removed: (?:9\d{3}|10000) /s, 'several batches');
same_rows('several batches', "$hash SET work_mem = '64kB'; SELECT count(*), sum(a.id) FROM fact a JOIN fact b USING (id) WHERE b.few < 25", 1);
sub through
{
	my ($name, $query, $nodes, $filters) = @_;

	same_rows($name, $query, $filters // 1);
	like(explained($query), qr/$nodes.*Rows Tested: \d+  Removed: [1-9]/s, "$name: the plan, and rows are dropped");
}
through('a sort', "$hash SELECT count(*) FROM (SELECT * FROM fact ORDER BY few, id OFFSET 0) s JOIN dim USING (k)", 'Sort');
through('a star', "$hash SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k) JOIN dim2 ON fact.few = dim2.k", 'Hash Join.*Hash Join', 2);
through('the build side of another join', "$hash SET join_collapse_limit = 1; SELECT count(*) FROM (fact a JOIN (fact b JOIN dim USING (k)) ON a.id = b.id)", 'Hash Join.*Hash Join', 2);
through('a merge join', "SET enable_nestloop = off; SET enable_hashjoin = on; SET join_collapse_limit = 1; SELECT count(*) FROM (SELECT a.k, b.few FROM (SELECT * FROM fact ORDER BY id) a JOIN (SELECT * FROM fact ORDER BY id) b USING (id) OFFSET 0) s JOIN dim USING (k)", '(Merge|Hash) Join');
through('a nested loop', "SET enable_mergejoin = off; SET enable_hashjoin = on; SET enable_material = off; SELECT count(*) FROM (SELECT f.k, v.x FROM fact f LEFT JOIN (VALUES (1), (2)) v(x) ON v.x < f.few OFFSET 0) s JOIN dim USING (k)", 'Nested Loop');
through('partitions', "$hash SELECT count(*), sum(parts.id) FROM parts JOIN dim USING (k)", 'Append');
like(explained("$hash SELECT count(*) FROM parts JOIN dim USING (k)"), qr/Filtered Scan: parts\.k of parts, 2 partitions\n/, 'partitions: EXPLAIN names their table');
like(explained("$hash SELECT count(*) FROM parts JOIN dim USING (k) WHERE part < 3"), qr/Filtered Scan: parts\.k of parts0 parts\n/, 'one partition: EXPLAIN names it');
like(explained("$hash SELECT count(*) FROM (SELECT k FROM parts p UNION ALL SELECT k FROM parts q) s JOIN dim USING (k)", 'COSTS OFF, FORMAT JSON'), qr/"Filtered Scans": \["p\.k of parts p, 2 partitions", "q\.k of parts q, 2 partitions"\]/, 'partitions of two tables, in JSON');
through('UNION ALL', "$hash SELECT count(*) FROM (SELECT k FROM fact UNION ALL SELECT k FROM parts UNION ALL SELECT 10) s JOIN dim USING (k)", 'Append');
through('MergeAppend', "$hash SELECT count(*) FROM (SELECT * FROM ((SELECT k FROM fact ORDER BY k) UNION ALL (SELECT k FROM parts0 ORDER BY k)) u ORDER BY k OFFSET 0) s JOIN dim USING (k)", 'Append');
through('groups', "$hash SELECT count(*), sum(n) FROM (SELECT k, count(*) n FROM fact GROUP BY k) s JOIN dim USING (k)", 'Aggregate');
through('sorted groups', "$hash SET enable_hashagg = off; SELECT count(*), sum(n) FROM (SELECT k, few, count(*) n FROM fact GROUP BY k, few HAVING count(*) > 1) s JOIN dim USING (k)", 'GroupAggregate');
through('groups that compute nothing', "$hash SET enable_hashagg = off; SELECT count(*), sum(s.few) FROM (SELECT k, few FROM fact GROUP BY k, few) s JOIN dim USING (k)", 'Group');
same_rows('a key that the scan computes', "$hash SELECT count(*), sum(s.id) FROM (SELECT k + 0 AS k, id FROM fact ORDER BY id LIMIT 19000) s JOIN dim USING (k)", 0);
$node->safe_psql('postgres', 'CREATE TABLE places AS SELECT ctid AS place, tableoid AS t, id FROM fact WHERE id % 10 = 0; ANALYZE places');
same_rows('the place of a row', "$hash SELECT count(*), sum(fact.id) FROM fact JOIN places ON fact.ctid = places.place", 0);
same_rows('the table of a row', "$hash SELECT count(*), sum(fact.id) FROM fact JOIN (SELECT max(t::text)::oid AS t FROM places OFFSET 0) p ON fact.tableoid = p.t", 0);
through('DISTINCT', "$hash SELECT count(*) FROM (SELECT DISTINCT k, few FROM fact) s JOIN dim USING (k)", 'Aggregate|Unique');
through('a window', "$hash SELECT count(*), sum(r) FROM (SELECT k, row_number() OVER (PARTITION BY k ORDER BY id) r FROM fact) s JOIN dim USING (k)", 'WindowAgg');
through('a CTE', "$hash WITH c AS MATERIALIZED (SELECT * FROM fact) SELECT count(*) FROM c JOIN dim USING (k)", 'CTE');
through('an index', "$hash SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM fact JOIN dim2 d ON fact.k = d.k WHERE fact.k < 1500", 'Index Only Scan');
through('an index scan', "$hash SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*), sum(fact.id) FROM fact JOIN dim2 d ON fact.k = d.k WHERE fact.k < 1500", 'Index Scan');
through('a bitmap', "$hash SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off; SELECT count(*), sum(fact.id) FROM fact JOIN dim2 d ON fact.k = d.k WHERE fact.k < 1500", 'Bitmap Heap Scan');
$node->safe_psql('postgres', "CREATE TABLE marked AS SELECT id, k, few, repeat('x', 900) AS wide FROM fact; CREATE INDEX ON marked (id); CREATE INDEX ON marked (few); ANALYZE marked");
through('bitmaps of two indexes', "$hash SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off; SELECT count(*), sum(f.id) FROM marked f JOIN dim2 d ON f.k = d.k WHERE f.id BETWEEN 100 AND 3000 AND f.few BETWEEN 10 AND 12", 'BitmapAnd');
$node->safe_psql('postgres', 'CREATE INDEX ON marked ((k + 0), k)');
$node->safe_psql('postgres', 'VACUUM ANALYZE marked');
through('an expression of an index', "$hash SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT count(*) FROM (SELECT k + 0 AS k FROM marked WHERE k + 0 < 1500 ORDER BY 1 OFFSET 0) s JOIN dim2 d USING (k)", 'Index Only Scan');
through('a function', "$hash SELECT count(*) FROM generate_series(1, 5000) g JOIN dim ON g = dim.k", 'Function Scan');
through('a sample', "$hash SELECT count(*) FROM fact TABLESAMPLE system (100) REPEATABLE (1) JOIN dim USING (k)", 'Sample Scan');
through('an InitPlan', "$hash SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.id < (SELECT max(id) / 2 FROM dim2)", 'InitPlan');
same_rows('LIMIT between', "$hash SELECT count(*) FROM (SELECT * FROM fact ORDER BY id LIMIT 5000) s JOIN dim USING (k)", 0);
same_rows('groups by something else', "$hash SELECT count(*), sum(k) FROM (SELECT id % 5000 AS g, max(k) k FROM fact GROUP BY 1) s JOIN dim USING (k)", 0);
same_rows('DISTINCT ON something else', "$hash SELECT count(*), sum(k) FROM (SELECT DISTINCT ON (id % 5000) id % 5000 AS g, k FROM fact ORDER BY 1, id) s JOIN dim USING (k)", 0);
same_rows('a window over something else', "$hash SELECT count(*), sum(r) FROM (SELECT k, row_number() OVER (PARTITION BY few ORDER BY id) r FROM fact) s JOIN dim USING (k)", 0);
same_rows('grouping sets', "$hash SELECT count(*), sum(n) FROM (SELECT k, few, count(*) n FROM fact GROUP BY GROUPING SETS ((k), (few))) s JOIN dim USING (k)", 0);
same_rows('the nullable side of an outer join', "$hash SELECT count(*), sum(n) FROM (SELECT coalesce(f.k, 10) c, f.k, count(*) n FROM dim2 LEFT JOIN fact f ON f.id = dim2.k GROUP BY 1, 2) s JOIN dim ON s.k = dim.k");

$node->safe_psql('postgres', "CREATE TABLE words AS SELECT CASE WHEN g % 2 = 0 THEN 'a' ELSE 'A' END || g / 2 AS w FROM generate_series(1, 4000) g; CREATE TABLE word AS SELECT 'A' || g AS w FROM generate_series(1, 100) g; ANALYZE");
SKIP:
{
	skip('a server without ICU', 3) if !$icu;
	is(same_rows('groups by another equality', "$hash SET enable_sort = off; SELECT count(*), sum(n) FROM (SELECT min(w COLLATE \"C\") AS m, w COLLATE nocase AS w, count(*) n FROM words GROUP BY 2) s JOIN word d ON s.w COLLATE \"C\" = d.w", 0) =~ /\|/, 1, 'groups by another equality: a row');
}
same_rows('groups by another collation', "$hash SELECT count(*), sum(n) FROM (SELECT w, count(*) n FROM words GROUP BY 1) s JOIN word d ON s.w COLLATE \"C\" = d.w COLLATE \"C\"", 1);
$node->safe_psql(
	'postgres', q{
	CREATE FUNCTION same_tens(integer, integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN $1 / 10 = $2 / 10; END';
	CREATE FUNCTION hash_tens(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN hashint4($1 / 10); END';
	CREATE OPERATOR ==~ (LEFTARG = integer, RIGHTARG = integer, FUNCTION = same_tens, COMMUTATOR = ==~, HASHES);
	CREATE OPERATOR CLASS tens FOR TYPE integer USING hash AS OPERATOR 1 ==~, FUNCTION 1 hash_tens(integer)});
same_rows('an operator of one\'s own', "$hash SELECT count(*), sum(fact.id) FROM fact JOIN dim2 ON fact.k ==~ dim2.k", 1);
my $groups = "$hash SELECT count(*), sum(n) FROM (SELECT k, count(*) n FROM fact GROUP BY k) s JOIN dim2 ON s.k ==~ dim2.k WHERE dim2.k < 60";
unlike(explained($groups), qr/Filtered Scan: fact/, 'groups by an equality of another family are not entered');
is($node->safe_psql('postgres', $groups), $node->safe_psql('postgres', "SET cuckoofilter.join_filter = off; $groups"), 'groups by an equality of another family: the same rows');
same_rows('groups by the same equality', "$hash SELECT count(*), sum(n) FROM (SELECT w, count(*) n FROM words GROUP BY 1) s JOIN word d USING (w)", 1);

# Statements.
my $join = 'SELECT fact.id, k FROM fact JOIN dim USING (k)';
is($node->safe_psql('postgres', "$hash CREATE TABLE made AS $join; SELECT count(*), sum(id) FROM made"), $node->safe_psql('postgres', "SET cuckoofilter.join_filter = off; SELECT count(*), sum(id) FROM ($join) s"), 'CREATE TABLE AS');
like(explained("$hash INSERT INTO made $join"), qr/Insert on made.*Rows Tested/s, 'INSERT .. SELECT');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id) FROM made'), '2000|1000', 'INSERT .. SELECT: its rows');
is($node->safe_psql('postgres', "$hash BEGIN; DECLARE c SCROLL CURSOR FOR $join ORDER BY id; MOVE 500 IN c; FETCH BACKWARD 1 FROM c; COMMIT"),
	$node->safe_psql('postgres', "SET cuckoofilter.join_filter = off; BEGIN; DECLARE c SCROLL CURSOR FOR $join ORDER BY id; MOVE 500 IN c; FETCH BACKWARD 1 FROM c; COMMIT"), 'a cursor');
is($node->safe_psql('postgres', "$hash PREPARE p(integer) AS SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.id <= \$1; SET plan_cache_mode = force_generic_plan; EXECUTE p(100); EXECUTE p(10); EXECUTE p(0); EXECUTE p(100)"),
	"1000\n100\n0\n1000", 'a prepared statement, with parameters');
is($node->safe_psql('postgres', "$hash DO 'BEGIN FOR i IN 1..10 LOOP EXECUTE format(''CREATE TEMP TABLE x%s AS SELECT count(*) FROM fact JOIN dim USING (k) WHERE dim.id <= %s'', i, i); END LOOP; END'; SELECT * FROM x1, x5, x10"), '10|50|100', 'PL/pgSQL');

is($node->safe_psql('postgres', "$hash COPY ($join WHERE dim.id < 3 ORDER BY 1 LIMIT 3) TO STDOUT"), "10\t10\n20\t20\n2010\t10", 'COPY');
is($node->safe_psql('postgres', "$hash CREATE MATERIALIZED VIEW seen AS $join; REFRESH MATERIALIZED VIEW seen; SELECT count(*) FROM seen"), '1000', 'a materialized view');
is($node->safe_psql('postgres', "$hash CREATE TABLE target (id integer PRIMARY KEY, k integer); INSERT INTO target VALUES (10, 0); INSERT INTO target $join ON CONFLICT (id) DO UPDATE SET k = -1; SELECT count(*), count(*) FILTER (WHERE k = -1) FROM target"), '1000|1', 'INSERT .. ON CONFLICT');
same_rows('a recursive query', "$hash WITH RECURSIVE r AS (SELECT id, k, 1 AS depth FROM fact WHERE id < 50 UNION ALL SELECT r.id, dim.id * 3, depth + 1 FROM r JOIN dim ON r.k = dim.k WHERE depth < 6) SELECT count(*), sum(k) FROM r", 1);
like(explained("$hash CREATE OR REPLACE FUNCTION joined() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM fact JOIN dim USING (k)); END'; SELECT joined() FROM generate_series(1, 3)"), qr/rows=3/, 'a function in a query');

# Hooks of other extensions: of one that is loaded before us, and one that comes after.
SKIP:
{
	skip('a server without pg_stat_statements', 1) if !$node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'});
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_stat_statements'\npg_stat_statements.track_planning = on\n");
	$node->restart;
	$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements');
	$node->safe_psql('postgres', "$hash SELECT count(*) AS counted FROM fact JOIN dim USING (k)");
	is($node->safe_psql('postgres', q{SELECT plans || ' ' || calls || ' ' || rows FROM pg_stat_statements WHERE query LIKE '%AS counted FROM%' AND query NOT LIKE '%plans%'}), '1 1 1', 'with pg_stat_statements');
}
my $log = -s $node->logfile;
$node->safe_psql('postgres', "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on; $all SELECT count(*) FROM fact JOIN dim USING (k)");
like(substr(slurp_file($node->logfile), $log), qr/Cuckoo Join Filter.*Rows Tested: 19999 /s, 'with auto_explain');

done_testing();
