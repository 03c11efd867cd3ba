# Scans that skip the blocks that can have no key of a join: which indexes serve, what is refused, and when the keys
# come while the scan runs.
use CuckooCluster;
use CuckooJoin;
use CuckooPortal;
use CuckooSession;

# few buffers, so that even small tables have synchronized scans
my $node = join_cluster('main', conf => "shared_buffers = 1MB\nenable_nestloop = off\nenable_mergejoin = off\nmax_prepared_transactions = 0\n");
my $version = server_version($node);

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# What EXPLAIN says of skipped blocks, for each filter: [skipped, all, indexes].
sub skipped_in
{
	my ($query) = @_;
	my $plan = explained($query);
	my @blocks;

	push(@blocks, [ $1, $2, $3 ]) while $plan =~ /Blocks Skipped: (\d+) of (\d+) by (.*)/g;
	return ($plan, @blocks);
}

# The same rows in every mode, and at least this part of the blocks is skipped by the first filter that skips some, by an index.
sub skips
{
	my ($name, $query, $share, $index) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $rows = same_rows($name, $query);
	my ($plan, @blocks) = skipped_in($query);
	my ($most) = sort { $b->[0] <=> $a->[0] } @blocks, [ 0, 1, 'none' ];

	ok($most->[0] >= $share * $most->[1] && $most->[1] > 0, "$name: $most->[0] of $most->[1] blocks are skipped") or diag($plan);
	is($most->[2], $index, "$name: by $index") if defined $index;
	return $rows;
}

# The same rows, and no block is skipped.
sub reads_all
{
	my ($name, $query, $filters) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($plan, @blocks) = skipped_in($query);

	same_rows($name, $query, $filters);
	ok(!grep({ $_->[0] > 0 } @blocks), "$name: all blocks are read") or diag($plan);
	return;
}

# About 7 rows a block, in the order of k, 3,000 blocks; the same in another order, by a constant.
sql(q{
	CREATE TABLE dim AS SELECT g AS k, g AS j, g / 30 AS month, g % 7 AS day FROM generate_series(0, 1999) g;
	CREATE TABLE fact AS SELECT g AS id, g / 10 AS k, g % 100 AS v, repeat('x', 1000) AS filler FROM generate_series(0, 19999) g;
	CREATE INDEX fact_brin ON fact USING brin (k) WITH (pages_per_range = 4);
	CREATE TABLE shuffled AS SELECT * FROM fact ORDER BY hashint4(id);
	CREATE TABLE plain AS SELECT * FROM fact;
	ANALYZE});
my $month = 'JOIN dim USING (k) WHERE month = 31';

# --------------------------------------------------------------- keys and indexes

is(skips('a month', "SELECT count(*), sum(v) FROM fact $month", 0.9, 'fact_brin'), '300|14850', 'the rows of a month');
reads_all('no index', "SELECT count(*), sum(v) FROM plain $month");
skips('a condition that is first true late', "SET synchronize_seqscans = off; SELECT count(*), sum(v) FROM fact $month AND id >= 9500", 0.9);

# PostgreSQL does not read the build side if the probe side has no row. So it is read first only if it is small beside
# the scans: by the size of its table, whatever the estimates say.
sub build_side_runs
{
	my ($name, $query, $runs) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $plan = explained($query);

	like($plan, qr/Cuckoo Join Filter/, "$name: a filter");
	is($plan =~ /Cuckoo Join Filter\) \(never executed\)/ ? 'not read' : 'read', $runs, "$name: the build side is $runs") or diag($plan);
	return;
}

sql('CREATE TABLE dear AS SELECT g AS k, g % 1000 AS j, g AS m FROM generate_series(0, 49999) g; CREATE INDEX dear_m ON dear (m); ANALYZE dear; CREATE TABLE deceptive (LIKE dear); ANALYZE deceptive; INSERT INTO deceptive SELECT * FROM dear');
foreach my $mode ('on', 'auto')
{
	my $set = "SET cuckoofilter.join_filter = $mode;";

	build_side_runs("$mode, a small build side", "$set SELECT count(*) FROM fact JOIN dim USING (k) WHERE month = 31 AND v < 0", 'read');
	build_side_runs("$mode, a small build side of VALUES", "$set SELECT count(*) FROM fact JOIN (VALUES (1), (2)) d(k) USING (k) WHERE v < 0", 'read');
	build_side_runs("$mode, a dear one", "$set SELECT count(*) FROM fact JOIN dear USING (k) WHERE j = 3 AND v < 0", 'not read');
	build_side_runs("$mode, a dear one by an index", "$set SELECT count(*) FROM fact JOIN dear USING (k) WHERE m BETWEEN 300 AND 305 AND v < 0", 'not read');
	build_side_runs("$mode, one that was empty when it was analyzed", "$set SELECT count(*) FROM fact JOIN deceptive USING (k) WHERE j = 3 AND v < 0", 'not read');
	build_side_runs("$mode, a join", "$set SELECT count(*) FROM fact JOIN (SELECT dim.k FROM dim JOIN dim e USING (j) WHERE dim.month = 31 OFFSET 0) d USING (k) WHERE v < 0", 'not read');
	build_side_runs("$mode, scans that are not read", "$set SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT count(*) FROM (SELECT id, k FROM fact WHERE v < 1000 AND \$1 = 5 OFFSET 0) f JOIN dim USING (k) WHERE month = 31; EXECUTE p(4)", 'not read');
}
skips('three months', 'SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE month IN (2, 31, 60)', 0.9);
skips('the first and the last', 'SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE j IN (0, 1999)', 0.95);
skips('more ranges than are kept', 'SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE j % 20 = 0 AND j < 1900 OR j BETWEEN 500 AND 1000', 0.5);
same_rows('no key', 'SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE month < 0');
skips('keys out of range', 'SELECT count(*), sum(id) FROM fact JOIN (SELECT k + 1000000 AS k FROM dim WHERE month = 1 OFFSET 0) d USING (k)', 0.99);
skips('keys of both ends of bigint', "SELECT count(*), sum(id) FROM fact JOIN (VALUES (-9223372036854775808), (9223372036854775807), (77)) d(b) ON fact.k = b", 0.9);
sql('CREATE TABLE often AS SELECT (hashint4(g) & 15) + 500 AS k FROM generate_series(1, 70000) g; CREATE TABLE thin AS SELECT g AS id, g / 100 AS k FROM generate_series(0, 199999) g; CREATE INDEX thin_brin ON thin USING brin (k) WITH (pages_per_range = 16); ANALYZE often, thin');
skips('the same keys many times', 'SELECT count(*), sum(id) FROM thin WHERE EXISTS (SELECT FROM often WHERE often.k = thin.k)', 0.9);
sql('CREATE TABLE two AS SELECT id, k, 2 * k AS l, filler FROM fact; CREATE INDEX two_brin ON two USING brin (l, k) WITH (pages_per_range = 2); ANALYZE two');
skips('two BRIN columns', "SELECT count(*) FROM two $month", 0.9, 'two_brin');
sql('CREATE TABLE pair AS SELECT k, 2 * k AS l, month FROM dim; ANALYZE pair');
skips('two keys, two columns of an index', 'SELECT count(*), sum(id) FROM two JOIN pair USING (k, l) WHERE month = 5', 0.9, 'two_brin');
sql(q{CREATE TABLE mixed AS SELECT id, hashint4(id) & 1023 AS k, hashint4(-id) & 1023 AS l, filler FROM fact; CREATE INDEX mixed_k ON mixed (k); CREATE INDEX mixed_l ON mixed (l);
	CREATE TABLE pairs AS SELECT k, l FROM mixed WHERE id IN (7777, 15555); ANALYZE mixed, pairs});
skips('two keys, an index for each', 'SELECT count(*), sum(id) FROM mixed JOIN pairs USING (k, l)', 0.995, 'mixed_k, mixed_l');

# Many keys: more than are gathered as they are, in any order, and from both ends.
sql('CREATE TABLE wide AS SELECT g AS id, g::bigint * 1000 AS k, repeat($$x$$, 40) AS filler FROM generate_series(0, 99999) g; CREATE INDEX wide_brin ON wide USING brin (k) WITH (pages_per_range = 1); ANALYZE wide');
foreach my $order ('id', 'id DESC', 'hashint4(id)', 'abs(id - 50000)', '-abs(id - 50000)')
{
	skips("20000 keys by $order", "SELECT count(*), sum(wide.id) FROM wide JOIN (SELECT k, id FROM wide WHERE id BETWEEN 30000 AND 49999 ORDER BY $order OFFSET 0) d USING (k)", 0.7);
	skips("18000 keys of both ends by $order", "SELECT count(*), sum(wide.id) FROM wide JOIN (SELECT k, id FROM wide WHERE id < 9000 OR id > 90999 ORDER BY $order OFFSET 0) d USING (k)", 0.7);
}
skips('the last of many keys is far from the others', 'SELECT count(*), sum(wide.id) FROM wide JOIN (SELECT k FROM wide WHERE id < 18000 OR id = 99999 ORDER BY id OFFSET 0) d USING (k)', 0.7);

# Types of which the least and the greatest key are kept, and unlike ones.
my @types = (
	[ 'smallint', 'bigint' ], [ 'bigint', 'smallint' ], [ 'integer', 'bigint' ], [ 'numeric', 'numeric' ], [ 'real', 'double precision' ], [ 'double precision', 'real' ],
	map { [ $_, $_ ] } ('date', 'timestamp', 'timestamptz', 'text', 'varchar(9)', 'char(9)', 'bytea', 'uuid', 'time', 'interval', 'oid', 'name'));
my %value_of = (
	date => "date '2020-01-01' + (%s)::integer",
	(map { $_ => "timestamp '2020-01-01' + (%s) * interval '1 day'" } ('timestamp', 'timestamptz')),
	(map { $_ => "to_char(%s, 'FM000000')" } ('text', 'varchar(9)', 'char(9)', 'name')),
	bytea => "decode(to_char(%s, 'FM000000'), 'hex')",
	uuid => "(to_char(%s, 'FM00000000') || '-0000-0000-0000-000000000000')::uuid",
	time => "time '00:00' + (%s) * interval '1 second'",
	interval => "(%s) * interval '1 hour'");

sub value
{
	my ($type, $n) = @_;
	return sprintf('(' . ($value_of{$type} // '(%s)') . ")::$type", $n);
}

foreach my $pair (@types)
{
	my ($probe, $build) = @$pair;

	sql("DROP TABLE IF EXISTS typed, keys; CREATE TABLE typed AS SELECT id, " . value($probe, 'k') . ' AS k, filler FROM fact; CREATE TABLE keys AS SELECT ' . value($build, 'k') . " AS k, month FROM dim;
		CREATE INDEX typed_brin ON typed USING brin (k) WITH (pages_per_range = 4); ANALYZE typed, keys");
	skips("$probe = $build", "SELECT count(*), sum(id) FROM typed JOIN keys USING (k) WHERE month = 31", 0.8, 'typed_brin');
}

sql('CREATE TABLE multi AS SELECT id, CASE WHEN id % 50 = 0 THEN 0 ELSE k END AS k, filler FROM fact; CREATE INDEX multi_brin ON multi USING brin (k int4_minmax_multi_ops) WITH (pages_per_range = 4); ANALYZE multi');
skips('minmax-multi', "SELECT count(*), sum(id) FROM multi $month", 0.9, 'multi_brin');

# B-trees: few keys, or the order of the table.
sql('CREATE INDEX shuffled_btree ON shuffled (k); ANALYZE shuffled');
skips('few keys by a B-tree', 'SELECT count(*), sum(id) FROM shuffled JOIN dim USING (k) WHERE j IN (5, 800, 1500)', 0.9, 'shuffled_btree');
skips('few keys, of another width', 'SELECT count(*), sum(id) FROM shuffled JOIN (VALUES (5::bigint), (800), (8000000000)) d(b) ON k = b', 0.9, 'shuffled_btree');
sql('CREATE INDEX plain_btree ON plain (k); ANALYZE plain');
skips('ranges by a B-tree, auto', "SET cuckoofilter.join_filter = auto; SELECT count(*), sum(id) FROM plain JOIN (SELECT k FROM dim WHERE k BETWEEN 500 AND 501 OR k BETWEEN 600 AND 605) d USING (k)", 0.9, 'plain_btree');
sql('DROP INDEX plain_btree');

# ------------------------------------------------------------------------ refused

my $refused = "SELECT count(*), sum(id) FROM plain $month";

foreach my $index ('brin (k) WHERE id >= 0', 'brin ((k + 0))', 'hash (k)', 'btree (id, k)', 'brin (id)', 'gin (array[k]) --')
{
	next if $index =~ /gin/;
	sql("CREATE INDEX bad ON plain USING $index");
	reads_all("an index USING $index", $refused);
	sql('DROP INDEX bad');
}
sql('CREATE INDEX bad ON plain USING brin (k int4_bloom_ops)');
reads_all('BRIN of the kind bloom', $refused);
sql('DROP INDEX bad');
sql("CREATE TABLE nets AS SELECT id, inet '10.0.0.0' + k AS k, filler FROM fact; CREATE INDEX nets_brin ON nets USING brin (k inet_inclusion_ops) WITH (pages_per_range = 4); ANALYZE nets");
reads_all('BRIN of the kind inclusion', "SELECT count(*), sum(id) FROM nets JOIN (SELECT inet '10.0.0.0' + k AS k FROM dim WHERE month = 31) d USING (k)");
my $query = "SELECT count(*), sum(id) FROM fact $month";
reads_all('the setting', "SET cuckoofilter.join_filter_blocks = off; $query");
reads_all('enable_bitmapscan', "SET enable_bitmapscan = off; $query");
sql("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'fact_brin'::regclass");
reads_all('an invalid index', $query);
sql("UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'fact_brin'::regclass");
skips('a valid one again', $query, 0.9);
unlike(explained("BEGIN ISOLATION LEVEL SERIALIZABLE; $query"), qr/Blocks Skipped/, 'SERIALIZABLE');
like(explained("BEGIN ISOLATION LEVEL REPEATABLE READ; $query"), qr/Blocks Skipped: 2/, 'REPEATABLE READ');
unlike(explained("SELECT id FROM fact $month FOR UPDATE OF fact"), qr/Cuckoo/, 'FOR UPDATE');
unlike(explained('SELECT count(*) FROM fact LEFT JOIN (SELECT k, month FROM dim WHERE month = 31) d USING (k)'), qr/Cuckoo/, 'LEFT JOIN');
unlike(explained('SELECT count(*) FROM fact WHERE NOT EXISTS (SELECT FROM dim WHERE dim.k = fact.k AND month = 31)'), qr/Cuckoo/, 'ANTI JOIN');
skips('SEMI JOIN', 'SELECT count(*), sum(id) FROM fact WHERE EXISTS (SELECT FROM dim WHERE dim.k = fact.k AND month = 31)', 0.9);
skips('RIGHT JOIN', 'SELECT count(*), sum(id) FROM fact RIGHT JOIN (SELECT k FROM dim WHERE month = 31) d USING (k)', 0.9);
{
	# an index that older transactions cannot use
	my $old = CuckooSession->new($node);

	$old->query('BEGIN; SELECT count(pg_current_xact_id())');
	sql("UPDATE pg_index SET indcheckxmin = true WHERE indexrelid = 'fact_brin'::regclass");
	reads_all('an index newer than a transaction (indcheckxmin)', $query);
	$old->query('COMMIT');
	skips('whose transaction has ended', $query, 0.9);
	$old->quit;
}

# Row security: operators that are leakproof may see all rows, others must not.
sql(q{
	CREATE TABLE secret AS SELECT id, k, k::numeric AS n, filler FROM fact;
	CREATE INDEX secret_k ON secret USING brin (k) WITH (pages_per_range = 4);
	CREATE INDEX secret_n ON secret USING brin (n) WITH (pages_per_range = 4);
	CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM secret WHERE id % 2 = 0;
	ANALYZE secret});
my $by_numeric = 'JOIN (SELECT k::numeric AS n, month FROM dim) d USING (n) WHERE month = 31';
skips('numeric', "SELECT count(*), sum(id) FROM secret $by_numeric", 0.9);
skips('a security barrier, leakproof', "SELECT count(*), sum(id) FROM barrier $month", 0.9);
reads_all('a security barrier', "SELECT count(*), sum(id) FROM barrier $by_numeric");
sql('CREATE ROLE reader; GRANT SELECT ON secret, dim TO reader; ALTER TABLE secret ENABLE ROW LEVEL SECURITY; CREATE POLICY odd ON secret TO reader USING (id % 2 = 1)');
skips('row security, leakproof', "SET ROLE reader; SELECT count(*), sum(id) FROM secret $month", 0.9);
reads_all('row security', "SET ROLE reader; SELECT count(*), sum(id) FROM secret $by_numeric");

# Collations: the equality must be the same.
sql(q{CREATE TABLE words AS SELECT id, to_char(k, 'FM000000') COLLATE "C" AS k, filler FROM fact; CREATE INDEX words_brin ON words USING brin (k COLLATE "POSIX") WITH (pages_per_range = 4);
	CREATE TABLE word AS SELECT to_char(k, 'FM000000') COLLATE "C" AS k, month FROM dim; ANALYZE words, word});
skips('another collation, deterministic', "SELECT count(*), sum(id) FROM words JOIN word USING (k) WHERE month = 31", 0.8);
SKIP:
{
	skip('no ICU', 3) if error_state($node, "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)") ne '';
	sql('CREATE TABLE loosely AS SELECT id, k COLLATE loose AS k, filler FROM words; CREATE INDEX loosely_brin ON loosely USING brin (k COLLATE "C") WITH (pages_per_range = 4); ANALYZE loosely');
	reads_all('a collation with another equality', "SELECT count(*), sum(id) FROM loosely JOIN word ON loosely.k = word.k COLLATE loose WHERE month = 31");
}

# The least and the greatest key are those of one order. Partitions can have indexes of another one.
SKIP:
{
	skip('no ICU', 3) if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu' AND collencoding IN (-1, 6)}) == 0;
	sql(q{CREATE TABLE ordered (id integer, k text COLLATE "C") PARTITION BY RANGE (id);
		CREATE TABLE ordered_0 PARTITION OF ordered FOR VALUES FROM (0) TO (10000);
		CREATE TABLE ordered_1 PARTITION OF ordered FOR VALUES FROM (10000) TO (20000);
		INSERT INTO ordered SELECT g, chr(CASE WHEN g % 10000 < 5000 THEN 97 ELSE 66 END) || g % 10000 FROM generate_series(0, 19999) g;
		CREATE INDEX ordered_c ON ordered_0 USING brin (k COLLATE "C") WITH (pages_per_range = 4);
		CREATE INDEX ordered_icu ON ordered_1 USING brin (k COLLATE "en-x-icu") WITH (pages_per_range = 4);
		CREATE INDEX ordered_d ON ordered_1 USING brin (k COLLATE "C") WITH (pages_per_range = 4);
		CREATE TABLE letter AS SELECT x COLLATE "C" AS k FROM unnest(ARRAY['a100', 'B9000']) x;
		ANALYZE ordered, letter});
	same_rows('indexes of two orders', 'SELECT count(*), sum(id) FROM ordered JOIN letter USING (k)');
	sql('DROP INDEX ordered_c, ordered_d');
	skips('an index of another order', 'SELECT count(*), sum(id) FROM ordered JOIN letter USING (k)', 0.02, 'ordered_icu');
}

# An index that lies is the fault of who made it so; verify tells.
sql("CREATE TABLE lying (LIKE fact); CREATE INDEX lying_brin ON lying USING brin (k) WITH (pages_per_range = 4); INSERT INTO lying SELECT * FROM fact WHERE k < 900; SELECT brin_summarize_new_values('lying_brin');
	UPDATE pg_index SET indisready = false WHERE indexrelid = 'lying_brin'::regclass");
sql("UPDATE lying SET k = 935 WHERE id = 3");
sql("UPDATE pg_index SET indisready = true WHERE indexrelid = 'lying_brin'::regclass; ANALYZE lying");
is(error_state($node, "SET cuckoofilter.join_filter = verify; SELECT count(*) FROM lying JOIN (SELECT k FROM dim WHERE month = 31 LIMIT 30) d USING (k)"), 'XX000', 'verify finds a row that a lying index does not');

# So it does where there is no filter, but ranges alone: of keys that were too many for a filter, and of a function. A row of
# the last blocks has a key that their summary does not cover.
sub verified
{
	my ($name, $key, $moved, $join) = @_;
	my $query = "SET cuckoofilter.join_filter_memory = '64kB'; SELECT count(*) FROM wrong JOIN $join";

	sql("DROP TABLE IF EXISTS wrong; CREATE TABLE wrong AS SELECT id, $key AS k, filler FROM fact; CREATE INDEX wrong_brin ON wrong USING brin (k) WITH (pages_per_range = 4); ANALYZE wrong");
	skips("$name, an index that does not lie", $query, 0.5, 'wrong_brin');
	sql("UPDATE pg_index SET indisready = false WHERE indexrelid = 'wrong_brin'::regclass");
	sql("UPDATE wrong SET k = $moved WHERE id = 700");
	sql("UPDATE pg_index SET indisready = true WHERE indexrelid = 'wrong_brin'::regclass; ANALYZE wrong");
	is(sql($query), sql("SET cuckoofilter.join_filter = off; $query") - 1, "$name: the index lies");
	is(error_state($node, "SET cuckoofilter.join_filter = verify; $query"), 'XX000', "$name: verify finds the row of a block that would be skipped") or diag(explained("SET cuckoofilter.join_filter = verify; $query"));
	return;
}

sql('CREATE TABLE too_many AS SELECT 930000 + 2 * g AS k FROM generate_series(0, 9999) g; CREATE TABLE too_many_words AS SELECT k::text AS k FROM too_many; ANALYZE too_many, too_many_words');
verified('text, and a filter that is given up', '(100000 + k * 450)::text', "'935000'", 'too_many_words USING (k)');
verified('integers, and a filter that is given up', 'k * 1000', '935000', 'too_many USING (k)');
verified('days', "timestamp '2020-01-01' + k * interval '1 day'", "'2020-01-02'::timestamp + 935 * interval '1 day'", "(SELECT date '2020-01-01' + g AS day FROM generate_series(930, 950) g) d ON k::date = d.day");

# ------------------------------------------------------------- when the keys come

skips('the first row that is fetched is in the middle', "SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k) WHERE month = 31 AND id > 5000", 0.5);
skips('it is in a block of the month', "SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k) WHERE month = 31 AND id > 9400", 0.3);
skips('it is the last one', "SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k) WHERE month = 66 AND id > 19995", 0);
skips('two dimensions', 'SELECT count(*), sum(id) FROM fact f JOIN dim d ON f.k = d.k JOIN dim e ON f.k = e.k WHERE d.month BETWEEN 20 AND 40 AND e.month BETWEEN 35 AND 50', 0.3);
skips('two dimensions, the upper one decides', 'SELECT count(*), sum(id) FROM fact f JOIN dim d ON f.k = d.k JOIN dim e ON f.k = e.k WHERE d.day < 6 AND e.month = 40', 0.5);
skips('two columns', 'SELECT count(*) FROM two JOIN dim d ON two.k = d.k JOIN (SELECT 2 * k AS l, month FROM dim) e ON two.l = e.l WHERE d.month < 40 AND e.month > 38', 0.3);
skips('run again', 'SELECT g, n FROM generate_series(1, 3) g, LATERAL (SELECT count(*) + sum(id) AS n FROM fact JOIN dim USING (k) WHERE month = 31 OFFSET g - g) x', 0.9);
skips('run again, with conditions of the scan that change', 'SELECT g, n FROM generate_series(1, 3) g, LATERAL (SELECT count(*) + sum(id) AS n FROM fact JOIN dim USING (k) WHERE month = 31 AND v > g OFFSET 0) x', 0.9);
skips('run again, after a stop', 'SELECT g, n FROM generate_series(1, 4) g, LATERAL (SELECT id AS n FROM fact JOIN dim USING (k) WHERE month = 31 AND v >= g OFFSET g LIMIT 3) x', 0.9);
skips('a hash table of several batches, read again', "SET work_mem = '64kB'; SELECT g, n FROM generate_series(1, 3) g, LATERAL (SELECT count(*) + sum(wide.id) AS n FROM wide JOIN (SELECT k FROM wide WHERE id BETWEEN 30000 AND 39999) d USING (k) OFFSET g - g) x", 0.8);
same_rows('LIMIT', "SELECT count(*) FROM (SELECT id FROM fact $month LIMIT 7) x");
same_rows('an insert', "BEGIN; CREATE TABLE copied AS SELECT * FROM fact $month; SELECT count(*), sum(id) FROM copied; ROLLBACK; $query");
is(sql("BEGIN; DECLARE c CURSOR FOR SELECT id FROM fact $month; FETCH 2 FROM c; MOVE 296 FROM c; FETCH ALL FROM c; COMMIT"), "9300\n9301\n9598\n9599", 'a cursor');
is(sql("BEGIN; DECLARE c SCROLL CURSOR FOR SELECT id FROM fact $month; FETCH 2 FROM c; FETCH BACKWARD 1 FROM c; FETCH LAST FROM c; COMMIT"), "9300\n9301\n9300\n9599", 'a scroll cursor');
is(sql("BEGIN; DECLARE c CURSOR FOR SELECT id FROM fact $month; FETCH 2 FROM c; INSERT INTO fact SELECT id + 100000, k, v, filler FROM fact WHERE k = 930; MOVE 296 FROM c; FETCH ALL FROM c; SELECT count(*) FROM fact $month; ROLLBACK"), "9300\n9301\n9598\n9599\n310", 'rows that come while a cursor is open');

# A transaction changes the table and its index under its own cursor.
foreach my $change ('DROP INDEX fact_brin', 'REINDEX INDEX fact_brin', 'ALTER INDEX fact_brin SET (pages_per_range = 8)', 'UPDATE fact SET k = 0 WHERE k = 930; REINDEX INDEX fact_brin', 'DELETE FROM fact', 'SAVEPOINT s; DROP INDEX fact_brin; ROLLBACK TO s')
{
	foreach my $fetched (0, 2)
	{
		my @rows = split(/\n/, sql("BEGIN; DECLARE c CURSOR FOR SELECT id FROM fact $month; MOVE $fetched FROM c; $change; FETCH ALL FROM c; ROLLBACK"));

		is("@rows[0, -1] " . @rows, '930' . $fetched . ' 9599 ' . (300 - $fetched), "$change, after $fetched rows of a cursor");
	}
}
is(sql("BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT id FROM fact $month; DROP INDEX fact_brin; COMMIT; MOVE 299 FROM c; FETCH ALL FROM c"), '9599', 'a held cursor whose index is dropped');
sql('CREATE INDEX fact_brin ON fact USING brin (k) WITH (pages_per_range = 4)');

# A synchronized scan begins where another one is.
{
	my $other = CuckooSession->new($node);

	$other->query('BEGIN; DECLARE c CURSOR FOR SELECT id FROM fact; MOVE 12345 FROM c');
	my $first = sql('SELECT id FROM fact LIMIT 1');
	cmp_ok($first, '>', 0, 'a scan begins in the middle');
	is(sql($query), '300|2834850', 'it finds all rows of a month');
	is(sql('SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE month IN (1, 60) AND v < 90'), sql('SET cuckoofilter.join_filter = off; SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE month IN (1, 60) AND v < 90'), 'of two months');
	same_rows('and run again', 'SELECT g, n FROM generate_series(1, 2) g, LATERAL (SELECT count(*) + sum(id) AS n FROM fact JOIN dim USING (k) WHERE month IN (1, 41) OFFSET g - g) x');
	$other->query('COMMIT');
	$other->quit;
}

# ---------------------------------------------------------------- what is counted

sub statistics
{
	sql('SELECT pg_stat_force_next_flush()') if $version >= 150000;
	return sql("SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'fact'");
}

{
	my $session = CuckooSession->new($node);
	my $count = q{SELECT pg_stat_get_xact_numscans('fact'::regclass)};

	is($session->query("BEGIN; $query; $count; COMMIT"), "300|2834850\n1", 'one sequential scan, however many runs');
	$session->query('LOAD $$cuckoofilter_join$$; SELECT cuckoofilter_join_stats_reset()');
	$session->query($query);
	my ($plan, $blocks) = skipped_in($query);
	is($session->query('SELECT planned, built, blocks_skipped FROM cuckoofilter_join_stats'), "1|1|$blocks->[0]", 'the view counts skipped blocks');
	is($session->query(q{PREPARE p AS } . "$query; SET plan_cache_mode = force_generic_plan; EXECUTE p; DROP INDEX fact_brin; EXECUTE p"), "300|2834850\n300|2834850", 'a cached plan whose index is dropped');
	$session->query('CREATE INDEX fact_brin ON fact USING brin (k) WITH (pages_per_range = 4)');
	like($session->query('EXPLAIN (ANALYZE, COSTS OFF) EXECUTE p'), qr/Blocks Skipped: 2\d+ of/, 'it uses a new one');
	my $other = CuckooSession->new($node);
	$other->query('BEGIN; REINDEX INDEX fact_brin');
	is($session->query("SET lock_timeout = '3s'; EXECUTE p"), '300|2834850', 'a cached plan does not wait for an index that another session locks');
	$other->query('ROLLBACK');
	$other->quit;
	$session->query('SET cuckoofilter.join_filter_blocks = off');
	unlike($session->query('EXPLAIN (ANALYZE, COSTS OFF) EXECUTE p'), qr/Blocks Skipped/, 'the setting works for a cached plan');
	$session->quit;
}
like(explained($query, 'ANALYZE, FORMAT JSON, TIMING OFF, SUMMARY OFF, COSTS OFF'), qr/"Blocks": 2\d+,\s*"Blocks Skipped": 2\d+,\s*"Block Indexes": "fact_brin"/, 'EXPLAIN, as JSON');
like(explained("SET cuckoofilter.join_filter = verify; $query"), qr/Blocks Denied: 2\d+ of 2\d+ by fact_brin/, 'EXPLAIN, verify');

# ---------------------------------------------------------------- without a filter

my $auto = 'SET cuckoofilter.join_filter = auto; SET cuckoofilter.join_filter_max_pass = 0.7;';
my $many = 'WHERE j + 0 > 1990 OR j + 0 > 1991 OR j + 0 > 1992 OR j + 0 > 1993'; # of which the planner expects many
like(explained("$auto SELECT count(*), sum(id) FROM thin JOIN dim USING (k) $many"), qr/Join Filter: blocks only\n\s*Rows Tested: 1345  Removed: 445 .*\n\s*Blocks Skipped: 8\d+ of 8\d+ by thin_brin/, 'auto: blocks without a filter');
is(sql("$auto SELECT count(*), sum(id) FROM thin JOIN dim USING (k) $many"), '900|179594550', 'auto: the rows');
unlike(explained("$auto SET cuckoofilter.join_filter_blocks = off; SELECT count(*), sum(id) FROM thin JOIN dim USING (k) $many"), qr/Cuckoo/, 'auto: without blocks, nothing');
like(explained("$auto SELECT count(*), sum(id) FROM thin JOIN dim USING (k)"), qr/Blocks Skipped: 0 of/, 'auto: all blocks are live');
unlike(explained("$auto SET cuckoofilter.join_filter_min_rows = 100000; $query"), qr/Cuckoo/, 'auto: a small table');
like(explained("SET cuckoofilter.join_filter_memory = '64kB'; SELECT count(*) FROM wide JOIN (SELECT k FROM wide WHERE id BETWEEN 30000 AND 49999) d USING (k)"), qr/Blocks Skipped: \d\d+ of.*\n\s*Given Up: memory/, 'a filter that is given up leaves its ranges');

# The two sides have types of their own, the table's perhaps a domain: `auto` skips what `on` does, by an estimate of the rows
# between the keys. Ten runs of 130 neighbouring keys, more than are searched one by one. Dates and timestamps have hash
# operators only for equal types.
sql('CREATE DOMAIN whole AS bigint; CREATE DOMAIN day AS date');
my %side_of = (
	(map { $_ => "(g / 8 - 5000)::$_" } qw(smallint integer bigint whole)),
	(map { $_ => "(date '2020-01-01' + (g / 8 - 5000))::$_" } qw(date day)),
	(map { $_ => "('2020-01-01'::$_ + (g / 8 - 5000) * interval '1 microsecond')" } qw(timestamp timestamptz)));
my $sides = join(', ', map { "$side_of{$_} AS of_$_" } sort keys %side_of);
sql("SET timezone = 'Europe/Berlin'; CREATE TABLE line AS SELECT g AS id, $sides FROM generate_series(0, 79999) g; CREATE TABLE head AS SELECT g / 8 AS j, $sides FROM generate_series(0, 79999, 8) g; ANALYZE line, head");
foreach my $index ('btree (%s)', 'brin (%s) WITH (pages_per_range = 2)')
{
	foreach my $probe (sort keys %side_of)
	{
		sql('CREATE INDEX line_key ON line USING ' . sprintf($index, "of_$probe"));
		foreach my $build (grep { !/whole|day/ } sort keys %side_of)
		{
			my $name = "$probe = $build, " . substr($index, 0, 5);
			my $hashed = "$probe $build" =~ /^(?:(?:smallint|integer|bigint|whole) (?:smallint|integer|bigint)|(?:date|day) date|(timestamp|timestamptz) \1)$/;
			my $few = $hashed ? 130 : 2; # a nested loop reads all of the table for each of them
			my $query = "SELECT count(*), sum(id) FROM line JOIN head ON line.of_$probe = head.of_$build WHERE j % 1000 < $few";

			next if error_state($node, $query) ne '';
			is(sql("$auto $query"), sql("SET cuckoofilter.join_filter = off; $query"), "$name, auto: the same rows");
			next if !$hashed;
			skips($name, $query, 0.8, 'line_key');
			my ($plan, $skipped) = skipped_in("$auto $query");
			cmp_ok($skipped->[0], '>', 0.9 * $skipped->[1] * 0.8, "$name, auto: $skipped->[0] of $skipped->[1] blocks are skipped") or diag($plan);
		}
		sql('DROP INDEX line_key');
	}
}

# Rows whose key is in no range of keys are dropped after the scan's condition, without a filter, too.
sql('CREATE TABLE scattered AS SELECT g AS id, CASE WHEN g < 80000 THEN g * 7919 % 2000 ELSE g END AS k, CASE WHEN g < 80000 THEN g / 40 ELSE g END AS o FROM generate_series(0, 99999) g;
	CREATE INDEX ON scattered USING brin (k) WITH (pages_per_range = 4); CREATE INDEX ON scattered USING brin (o) WITH (pages_per_range = 4); ANALYZE scattered');
like(explained("$auto SET cuckoofilter.join_filter_max_pass = 0.02; SELECT count(*) FROM scattered JOIN dim USING (k) WHERE j < 40 AND scattered.id % 2 = 0"), qr/blocks only\n\s*Rows Tested: \d{4,5}  Removed: [1-9]\d{3}.*\n\s*Rows Passed Untested: \d+\n\s*Blocks Skipped: [1-9]/, 'rows are dropped without a filter');
same_rows("scattered keys, $_", "SELECT count(*), sum(id) FROM scattered JOIN dim USING (k) WHERE $_") foreach 'j % 10 = 0', 'j < 90 OR j > 1900';

# BRIN is searched for many keys, each of which is in most ranges of blocks.
sql('CREATE TABLE crowded AS SELECT g AS id, CASE WHEN g < 20000 THEN 900000 ELSE (hashint4(g) & 1048575) % 2000 END AS k FROM generate_series(0, 99999) g; CREATE INDEX crowded_k ON crowded USING brin (k) WITH (pages_per_range = 64); CREATE TABLE every AS SELECT 2 * g AS k FROM generate_series(0, 999) g; ANALYZE crowded, every');
my $crowded = 'SELECT count(*), sum(id) FROM crowded JOIN every USING (k)';
like(explained($auto . $crowded), qr/Blocks Skipped: [1-9]\d* of \d+ by crowded_k/, 'many keys in most ranges of BRIN: blocks are skipped');
same_rows('many keys in most ranges of BRIN', $crowded);

# A scan that a LIMIT may stop searches an index only when it has read some blocks: 2 % of them, or what the search costs.
sub limited
{
	my ($condition, $table, $limit, $more) = @_;
	return sprintf('%s SET synchronize_seqscans = off; SELECT count(*), sum(id) FROM (SELECT id FROM %s JOIN dim USING (k) WHERE %s%s) x', $more // $auto, $table, $condition, $limit);
}
sql('CREATE TABLE apart AS SELECT g AS id, g * 7919 % 200000 / 100 AS k FROM generate_series(0, 199999) g; CREATE INDEX apart_k ON apart (k); ANALYZE apart');
foreach my $workers ('', ' SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0.01; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;')
{
	my $name = $workers eq '' ? 'auto, LIMIT' : 'auto, two workers, LIMIT';

	unlike(explained(limited('j < 100', 'thin', ' LIMIT 30', $auto . $workers)), qr/Blocks/, "$name: the rows come soon");
	# not stopped in the end, as the counts of workers that are running then are lost
	like(explained(limited('j > 1900', 'thin', ' LIMIT 10000', $auto . $workers)), qr/Blocks Skipped: [3-8]\d\d of 8\d\d by thin_brin/, "$name: the rows come late");
	like(explained(limited('j > 1900', 'thin', '', $auto . $workers)), qr/Blocks Skipped: 8\d\d of 8\d\d by thin_brin/, "$name: none");
	is(sql(limited('j > 1900', 'thin', ' LIMIT 100000', $auto . $workers)), '9900|1930990050', "$name: all rows");
}
like(explained(limited('j IN (3, 1997)', 'apart', ' LIMIT 1000')), qr/Blocks Skipped: [2-6]\d\d of 8\d\d by apart_k/, 'auto, LIMIT: a search that costs a part of the scan');
like(explained(limited('j IN (3, 1997)', 'apart', '')), qr/Blocks Skipped: [67]\d\d of 8\d\d by apart_k/, 'auto: the same without LIMIT');
sql('CREATE TABLE vain AS SELECT id, k FROM apart; CREATE INDEX vain_k ON vain USING brin (k) WITH (pages_per_range = 32); ANALYZE vain');
foreach my $limit ('', ' LIMIT 100000')
{
	is(sql('BEGIN; ' . limited('j BETWEEN 1000 AND 1100', 'vain', $limit) . "; SELECT pg_stat_get_xact_numscans('vain_k'::regclass)"), "10100|1009916050\n1", "auto,$limit: BRIN is searched once in vain");
}
sql('CREATE TABLE half AS SELECT g AS id, CASE WHEN g < 100000 THEN 0 ELSE 1000 END + g % 400 AS a, g * 7919 % 200000 AS b FROM generate_series(0, 199999) g; CREATE INDEX half_a ON half USING brin (a); CREATE INDEX half_b ON half (b);
	CREATE TABLE both_keys AS SELECT g % 2 * 1000 + 7 AS a, g * 8000 AS b FROM generate_series(0, 24) g; ANALYZE half, both_keys');
like(explained("$auto SET synchronize_seqscans = off; SELECT count(*) FROM (SELECT id FROM half JOIN both_keys USING (a, b) LIMIT 100000) x"), qr/Blocks Skipped: [5-9]\d\d of 1\d\d\d by half_a, half_b/, 'auto, LIMIT: the second key is searched later, where the first one skips nothing');
sql('CREATE TABLE two_keys AS SELECT id, k AS x, id / 100 AS y FROM apart; CREATE INDEX ON two_keys USING brin (x) WITH (pages_per_range = 32); CREATE INDEX two_keys_y ON two_keys USING brin (y) WITH (pages_per_range = 4); ANALYZE two_keys');
foreach my $order ([ 'x', 'y' ], [ 'y', 'x' ])
{
	my %of = (x => "JOIN dim a ON a.k = x AND a.j BETWEEN 1000 AND 1100", y => "JOIN dim b ON b.k = y AND (b.j < 5 OR b.j > 1900)");
	like(explained("$auto SET synchronize_seqscans = off; SET join_collapse_limit = 1; SELECT count(*) FROM (SELECT id FROM two_keys $of{$order->[0]} $of{$order->[1]} LIMIT 100000) x"),
		qr/Blocks Skipped: (9\d\d|8[5-9]\d|1\d\d\d) of 1\d\d\d by two_keys_y/, "auto, LIMIT, $order->[0] first: a filter by which no block can be skipped keeps no other one waiting");
}
unlike(explained("$auto SET synchronize_seqscans = off; SELECT EXISTS (SELECT FROM thin JOIN dim USING (k) WHERE j > 100 AND id > 10000 OFFSET 3)"), qr/Blocks Skipped: [1-9]/, 'auto, EXISTS: the rows come soon');

# ------------------------------------------------------------ tables that change

sql(q{CREATE TABLE busy WITH (fillfactor = 70) AS SELECT g AS id, g / 10 AS k, 0 AS n, repeat('x', 400) AS filler FROM generate_series(0, 19999) g; CREATE INDEX busy_brin ON busy USING brin (k) WITH (pages_per_range = 4); ANALYZE busy});
my $busy = "SELECT count(*), sum(id), sum(n) FROM busy $month";
sql('UPDATE busy SET n = n + 1 WHERE id % 3 = 0');
skips('HOT updates', $busy, 0.5);
sql('UPDATE busy SET k = 935 WHERE id % 1000 = 7');
skips('late rows', $busy, 0.3);
sql('DELETE FROM busy WHERE id % 4 = 0; VACUUM busy');
skips('deleted rows and VACUUM', $busy, 0.3);
sql("INSERT INTO busy SELECT id + 100000, k, n, filler FROM busy WHERE k < 1500 AND k > 900");
skips('ranges that are not summarized', $busy, 0.3);
sql("SELECT brin_summarize_new_values('busy_brin'); SELECT brin_desummarize_range('busy_brin', g) FROM generate_series(0, 400, 40) g");
skips('ranges whose summary is gone', $busy, 0.3);
same_rows('rows of this transaction', "BEGIN; INSERT INTO busy SELECT id + 200000, 931, n, filler FROM busy WHERE k < 5; DELETE FROM busy WHERE id = 9301; $busy; ROLLBACK; $busy");
sql('DELETE FROM busy WHERE k > 935; VACUUM busy');
same_rows('a table that became shorter', $busy);
sql('TRUNCATE busy');
same_rows('an empty table', $busy);

# From 16 on an UPDATE of a column that only BRIN has is HOT: a summary that is made after it lacks the old version of the
# row, which an older snapshot sees.
{
	my $old = CuckooSession->new($node);
	my $hot = "SELECT count(*), sum(id) FROM hot $month";
	my $begin = 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM dim LIMIT 1';
	my @modes = qw(off on verify);

	sql(q{CREATE TABLE hot (LIKE fact) WITH (fillfactor = 50); CREATE INDEX hot_brin ON hot USING brin (k) WITH (pages_per_range = 1); INSERT INTO hot SELECT * FROM fact; ANALYZE hot});
	$old->query($begin);
	sql('UPDATE hot SET k = k + 100000 WHERE k BETWEEN 930 AND 959');
	sql(q{SELECT brin_summarize_new_values('hot_brin')});
	is($old->query("SET cuckoofilter.join_filter = $_; $hot"), '300|2834850', "rows that other transactions have updated since, $_") foreach @modes;
	$old->query('ROLLBACK');
	sql('UPDATE hot SET k = k - 100000 WHERE k > 100000');
	sql('VACUUM hot');
	is($old->query('BEGIN; ' . join('; ', map { "SET cuckoofilter.join_filter = $_; DECLARE c_$_ CURSOR FOR $hot" } @modes) . '; UPDATE hot SET k = k + 100000 WHERE k BETWEEN 930 AND 959; REINDEX INDEX hot_brin; '
		. join('; ', map { "FETCH c_$_" } @modes) . '; ROLLBACK'), join("\n", ('300|2834850') x 3), 'rows that the transaction of a cursor has updated since');
	sql('VACUUM hot');
	$old->query("$begin; SET cuckoofilter.join_filter = on");
	sql('UPDATE hot SET id = id WHERE k = 5');
	like($old->query("EXPLAIN (ANALYZE, COSTS OFF) $hot"), qr/Blocks Skipped: \d{4} of/, 'blocks that no transaction has changed are skipped');
	$old->quit;
	sql('DROP TABLE hot');
}

# ---------------------------------------------------------------------- partitions

sql(q{
	CREATE TABLE parted (id integer, k integer, v integer, filler text) PARTITION BY RANGE (id);
	CREATE TABLE parted_0 PARTITION OF parted FOR VALUES FROM (0) TO (5000);
	CREATE TABLE parted_1 (filler text, junk integer, k integer, id integer, v integer);
	ALTER TABLE parted_1 DROP COLUMN junk;
	ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES FROM (5000) TO (10000);
	CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10000) TO (20000);
	INSERT INTO parted SELECT id, k, v, filler FROM fact;
	CREATE INDEX parted_0_brin ON parted_0 USING brin (k) WITH (pages_per_range = 4);
	CREATE INDEX parted_1_brin ON parted_1 USING brin (k) WITH (pages_per_range = 8);
	ANALYZE parted});
my $parted = "SELECT count(*), sum(id) FROM parted $month";
skips('partitions, each by its own index', $parted, 0.9, 'parted_0_brin, parted_1_brin');
skips('partitions of several months', 'SELECT count(*), sum(id) FROM parted JOIN dim USING (k) WHERE month IN (1, 20, 50)', 0.8);
sql('CREATE INDEX ON parted USING brin (k) WITH (pages_per_range = 4)');
skips('an index of the partitioned table', $parted, 0.9, 'parted_0_brin, parted_1_brin, parted_2_k_idx');

# -------------------------------------------------------------------- nested loops

# The filter of a nested loop has ranges for the scans of the outer side: before their first row, or when it is built.
my $loop = 'SET enable_nestloop = on; SET enable_hashjoin = off;';
my $looked = 'JOIN looked USING (k) WHERE month = 31';

sql(q{CREATE TABLE looked AS SELECT k, j, month, day, k::numeric AS n FROM dim; ALTER TABLE looked ADD PRIMARY KEY (k); CREATE UNIQUE INDEX looked_n ON looked (n);
	CREATE TABLE twice AS SELECT k, month FROM dim UNION ALL SELECT k, month FROM dim; CREATE INDEX twice_k ON twice (k);
	VACUUM ANALYZE looked, twice});

# The same rows by nested loops, one of which has a filter; and at least this part of the blocks is skipped, or none.
sub loop_skips
{
	my ($name, $query, $share) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($plan, @blocks) = skipped_in($query);
	my ($most) = sort { $b->[0] <=> $a->[0] } @blocks, [ 0, 1 ];

	same_rows($name, $query, filters_of($plan));
	like($plan, qr/Cuckoo Nested Loop Filter/, "$name: the filter of a loop");
	ok($share > 0 ? $most->[0] >= $share * $most->[1] : !grep({ $_->[0] > 0 } @blocks), "$name: $most->[0] of $most->[1] blocks are skipped") or diag($plan);
	return $plan;
}

my $joined = "SELECT count(*), sum(id), sum(v) FROM fact $looked";
like(loop_skips('a loop: a month', "$loop $joined", 0.9), qr/not built, too few rows\n\s*Rows Tested: .*\n\s*Blocks Skipped/, 'before the first row, and without a filter');
loop_skips('a loop: a condition of the scan', "$loop $joined AND id >= 9500", 0.9);
loop_skips('a loop: no key', "$loop SELECT count(*), sum(id) FROM fact JOIN looked USING (k) WHERE month > j", 1);
loop_skips('a loop: SEMI JOIN', "$loop SELECT count(*), sum(id) FROM fact WHERE EXISTS (SELECT FROM twice WHERE twice.k = fact.k AND month = 31)", 0.9);
loop_skips('a loop: each row twice', "$loop SELECT count(*), sum(id) FROM fact JOIN twice USING (k) WHERE month = 31", 0.9);
loop_skips('a loop: LEFT JOIN', "$loop SELECT count(*), count(month), sum(id) FROM fact LEFT JOIN (SELECT k, month FROM looked WHERE month = 31) d USING (k)", 0);
loop_skips('a loop: ANTI JOIN', "$loop SELECT count(*), sum(id) FROM fact WHERE NOT EXISTS (SELECT FROM looked WHERE looked.k = fact.k AND month = 31)", 0);
loop_skips('a loop: a LEFT JOIN below', "$loop SELECT count(*), count(t.month), sum(id) FROM fact LEFT JOIN (SELECT k, month FROM twice WHERE month = 32) t USING (k) JOIN looked USING (k) WHERE looked.month = 31", 0.9);
loop_skips('two loops', "$loop SELECT count(*), sum(id) FROM fact f JOIN looked d ON f.k = d.k JOIN twice e ON f.k = e.k WHERE d.month IN (31, 32) AND e.month IN (32, 33)", 0.9);
loop_skips('a loop, run again', "$loop SELECT g, n FROM generate_series(1, 3) g, LATERAL (SELECT count(*) + sum(id) AS n FROM fact $looked OFFSET g - g) x", 0.9);
loop_skips('a loop, run again after a stop', "$loop SELECT g, n FROM generate_series(1, 4) g, LATERAL (SELECT id AS n FROM fact $looked AND v >= g OFFSET g LIMIT 3) x", 0.9);
loop_skips('a loop: partitions', "$loop SELECT count(*), sum(id) FROM parted $looked", 0.9);
is(sql("$loop BEGIN; DECLARE c CURSOR FOR SELECT id FROM fact $looked; FETCH 2 FROM c; INSERT INTO fact SELECT id + 100000, k, v, filler FROM fact WHERE k = 930; MOVE 296 FROM c; FETCH ALL FROM c; ROLLBACK"), "9300\n9301\n9598\n9599", 'a loop: rows that come while a cursor is open');

# Its condition is known after the first lookup only, so the ranges come with the filter, in the middle of the scan.
my $late = "SELECT count(*), sum(id), sum(v) FROM fact JOIN looked USING (k) WHERE month = (SELECT 31)";
like(loop_skips('a loop, late', "$loop $late", 0.5), qr/built after 512 rows/, 'a loop, late: when the filter is built');
loop_skips('a loop, late, run again', "$loop SELECT g, n FROM generate_series(1, 3) g, LATERAL (SELECT count(*) + sum(id) AS n FROM fact JOIN looked USING (k) WHERE month = (SELECT 31) OFFSET g - g) x", 0.5);
loop_skips('a loop, late: partitions', "$loop SELECT count(*), sum(id) FROM parted JOIN looked USING (k) WHERE month = (SELECT 31)", 0.3);
{
	my $other = CuckooSession->new($node);

	$other->query('BEGIN; DECLARE c CURSOR FOR SELECT id FROM fact; MOVE 12345 FROM c');
	loop_skips('a loop, late, of a scan that begins in the middle', "$loop $late", 0.3);
	is(sql("$loop $late"), '300|2834850|14850', 'its rows');
	$other->query('COMMIT');
	$other->quit;
}

# auto reads only a small dimension for ranges alone.
sql('CREATE TABLE tiny AS SELECT k FROM dim WHERE month = 31; ALTER TABLE tiny ADD PRIMARY KEY (k); CREATE TABLE flat AS SELECT id, k, v FROM fact; INSERT INTO flat SELECT id + 20000, k + 2000, v FROM flat; CREATE INDEX flat_brin ON flat USING brin (k) WITH (pages_per_range = 16); VACUUM ANALYZE tiny, flat');
my $few = 'SET cuckoofilter.join_filter = auto; SET enable_material = off; SELECT count(*), sum(id) FROM flat JOIN %s USING (k) WHERE id %% 100 = 5%s';
loop_skips('a loop, auto: a small dimension', $loop . sprintf($few, 'tiny', ''), 0.5);
like(loop_skips('a loop, auto: a large one', $loop . sprintf($few, 'looked', ' AND month = 31'), 0), qr/Seq Scan on looked \(never executed\)/, 'a loop, auto: a large one is not read');
unlike(explained($loop . sprintf($few, 'tiny', '') . ' LIMIT 1', 'COSTS OFF'), qr/Blocks/, 'EXPLAIN');
like(explained("$loop SET cuckoofilter.join_filter = auto; SELECT id FROM flat JOIN tiny USING (k) WHERE id >= 9300 LIMIT 1"), qr/Seq Scan on tiny \(never executed\)/, 'a loop, auto: nothing is read for a LIMIT');

# Refused, as for hash joins.
loop_skips('a loop: the setting', "$loop SET cuckoofilter.join_filter_blocks = off; $joined", 0);
unlike(explained("$loop BEGIN ISOLATION LEVEL SERIALIZABLE; $joined"), qr/Blocks Skipped/, 'a loop: SERIALIZABLE');
my $by_n = 'SELECT count(*), sum(id) FROM %s JOIN looked USING (n) WHERE month = 31';
sql('CREATE TABLE numbers AS SELECT id, n, filler FROM secret; CREATE INDEX numbers_n ON numbers USING brin (n) WITH (pages_per_range = 4); VACUUM ANALYZE numbers; GRANT SELECT ON looked TO reader');
loop_skips('a loop: numeric', $loop . sprintf($by_n, 'numbers'), 0.9);
unlike(explained("$loop SET ROLE reader; " . sprintf($by_n, 'secret')), qr/Blocks Skipped/, 'a loop: row security');

foreach my $leader ('on', 'off')
{
	my $set = "$loop SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = $leader;";

	loop_skips("a loop, two workers, leader $leader: a month", "$set $joined", 0.8);
	loop_skips("a loop, two workers, leader $leader: again and again", "$set SELECT g, n FROM generate_series(1, 5) g, LATERAL (SELECT count(*) + sum(id) AS n FROM fact $looked OFFSET g - g) x", 0.5);
	loop_skips("a loop, two workers, leader $leader: none comes", "$set SET max_parallel_workers = 0; $joined", 0.8);
	loop_skips("a loop, two workers, leader $leader: a subquery", "$set $late", 0.8);
	loop_skips("a loop, two workers, leader $leader: partitions", "$set SELECT count(*), sum(id) FROM parted $looked", 0.5);
	loop_skips("a loop, two workers, leader $leader: ANTI JOIN", "$set SELECT count(*), sum(id) FROM fact WHERE NOT EXISTS (SELECT FROM looked WHERE looked.k = fact.k AND month = 31)", 0);
}

# ------------------------------------------------------------------------ parallel

my $workers = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
foreach my $hash ('on', 'off')
{
	my $set = "$workers SET enable_parallel_hash = $hash;";

	skips("two workers, parallel hash $hash: a month", "$set $query", 0.9, 'fact_brin');
	skips("two workers, parallel hash $hash: three months", "$set SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE month IN (2, 31, 60)", 0.8);
	skips("two workers, parallel hash $hash: one key", "$set SELECT count(*), sum(id) FROM fact JOIN dim USING (k) WHERE j = 0", 0.5);
	skips("two workers, parallel hash $hash: many keys", "$set SET enable_parallel_hash = on; SELECT count(*), sum(wide.id) FROM wide JOIN (SELECT k FROM wide WHERE id BETWEEN 30000 AND 49999) d USING (k)", 0.5);
	skips("two workers, parallel hash $hash: few keys", "$set SELECT count(*), sum(id) FROM shuffled JOIN dim USING (k) WHERE j IN (5, 800, 1500)", 0.5, 'shuffled_btree');
	same_rows("two workers, parallel hash $hash: text", "$set SELECT count(*), sum(id) FROM words JOIN word USING (k) WHERE month = 31");
	skips("two workers, parallel hash $hash: two dimensions", "$set SET parallel_tuple_cost = 1; SELECT count(*), sum(id) FROM fact f JOIN dim d ON f.k = d.k JOIN dim e ON f.k = e.k WHERE d.month BETWEEN 20 AND 40 AND e.month BETWEEN 35 AND 50", 0.3);
	skips("two workers, parallel hash $hash: partitions", "$set $parted", 0.5);
	skips("two workers, parallel hash $hash: again and again", "$set SELECT g, n FROM generate_series(1, 5) g, LATERAL (SELECT count(*) + sum(id) AS n FROM fact JOIN dim USING (k) WHERE month = 31 OFFSET g - g) x", 0.5);
	skips("two workers, parallel hash $hash: no process of its own", "$set SET parallel_leader_participation = off; $query", 0.5);
	skips("two workers, parallel hash $hash: none comes", "$set SET max_parallel_workers = 0; $query", 0.5);
	same_rows("two workers, parallel hash $hash: LIMIT", "$set SET parallel_tuple_cost = 0.01; SELECT count(*) FROM (SELECT id FROM fact $month LIMIT 7) x");
}

# Some processes gather no ranges, and others do: those that do must know. The function lets the leader or its
# workers wait, so that the other ones read most of the build side.
sql(q{CREATE FUNCTION wait(leader float, worker float) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1 AS $$
	BEGIN
		PERFORM pg_sleep(CASE WHEN (SELECT leader_pid IS NULL FROM pg_stat_activity WHERE pid = pg_backend_pid()) THEN leader ELSE worker END);
		RETURN true;
	END $$;
	CREATE FUNCTION wait_again(leader float, worker float) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1 AS 'BEGIN RETURN wait(leader, worker); END';
	CREATE TABLE large AS SELECT g AS id, g / 2 AS k FROM generate_series(0, 399999) g; CREATE INDEX large_brin ON large USING brin (k) WITH (pages_per_range = 16);
	CREATE TABLE more AS SELECT g AS k, g AS j, repeat('x', 100) AS filler FROM generate_series(0, 199999) g; ANALYZE large, more});
my $large = 'SELECT count(*) + sum(id) AS n FROM large JOIN more USING (k) WHERE j % 2 = 0 AND (j % 2) + 0 = 0 AND j / 2 * 2 = j AND (j % 2000 <> 4 OR wait(%s))';
my $all = '39999900000';

# The leader gives them up in the first run, for the rest of the query. A join that is read again has no filter with a function that is
# STABLE.
my $again = 'SELECT g, n FROM generate_series(1, 2) g, LATERAL (' . sprintf($large =~ s/%(?!s)/%%/gr =~ s/wait\(/wait_again(/r, 'CASE j WHEN 4 THEN 0.1 ELSE 0 END, 0.05') . ' OFFSET g - g) x';
like(explained("$workers $auto $again", 'COSTS OFF'), qr/Parallel Custom Scan \(Cuckoo Join Filter\)/, 'one process has more keys than expected');
is(sql("$workers $auto $again"), "1|$all\n2|$all", 'the rows of both runs');

# A process comes to the scan when another one has taken all of its blocks, while a join below has not read its inner side:
# it reads some of them.
sql('CREATE TABLE three AS SELECT k FROM dim WHERE month BETWEEN 20 AND 22; ANALYZE three');
my $shared = explained("$workers SET max_parallel_workers_per_gather = 1; SET enable_parallel_hash = off; SET join_collapse_limit = 1; "
	  . 'SELECT count(*) FILTER (WHERE wait(0, 0.003)) FROM fact f JOIN dim b ON f.v = b.j JOIN three d ON f.k = d.k WHERE d.k <> 600 OR wait(0.7, 0)', 'ANALYZE, VERBOSE, TIMING OFF, SUMMARY OFF, COSTS OFF');
like($shared, qr/Blocks Skipped: 2\d\d\d of/, 'a late process: blocks are skipped') or diag($shared);
my ($one, $other) = $shared =~ /Parallel Seq Scan on public.fact f \(actual rows=(\d+)[.\d]* loops=2.*?Worker 0: +actual rows=(\d+) /s;
cmp_ok(abs(2 * $one - $other), '>', 100, 'a late process reads a part of the rows') or diag($shared);

# A setting changes when a query has been planned or has started, and its workers have not.
{
	my $portal = CuckooPortal->new($node);

	$portal->query($workers);
	like($portal->plan(sprintf($large =~ s/%(?!s)/%%/gr, '0.02, 0')), qr/Filtered Scan: large.k/, 'a portal: a plan with a filter');
	foreach my $setting ('join_filter_blocks', 'join_filter')
	{
		foreach my $values ([ 'on', 'off' ], [ 'off', 'on' ])
		{
			my $name = "a portal: $setting = $values->[0], then $values->[1]";

			$portal->query("BEGIN; SET LOCAL cuckoofilter.$setting = $values->[0]");
			$portal->start;
			$portal->query("SET LOCAL cuckoofilter.$setting = $values->[1]");
			is($portal->fetch, $all, $name);
			$portal->query('COMMIT');
		}
	}
	$portal->query('BEGIN');
	$portal->start;
	$portal->query('DROP INDEX large_brin');
	is($portal->fetch, $all, 'a portal: the index is dropped');
	$portal->query('ROLLBACK');
}

done_testing();
