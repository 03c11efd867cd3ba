# Filter tables: tables that only look like one, snapshots older than the table, UPDATEs that wait for
# rows, writes that no trigger sees, owners of partitions, sources and filters that do not last equally
# long. No crash, no function of others, no item denied.
use CuckooCluster;
use CuckooSession;
use PostgreSQL::Test::Cluster;

my $node = new_cluster('main', streaming => 1);
my $sql = sub { $node->safe_psql('postgres', $_[0]) };
my $fails = sub
{
	my ($statement, $error, $what) = @_;
	my (undef, undef, $err) = $node->psql('postgres', $statement);

	like($err, $error, $what);
	return;
};
# The error of a statement in a session that goes on.
sub error_of
{
	my ($session, $statement) = @_;

	$session->ask($statement);
	return ($session->answer)[1];
}
# Values of a column that its filter denies.
my $denied = sub { $sql->("SELECT count(*) FROM $_[0] WHERE NOT cuckoofilter_table_contains('$_[2]', $_[1])") };

# ------------------------------------------------- tables that look like a filter

my $like = sub
{
	my ($keys, $capacity, $rate) = @_;

	$sql->("DROP TABLE IF EXISTS alike; CREATE TABLE alike (id bigint NOT NULL, chunk bytea NOT NULL, $keys,
		CHECK (cuckoofilter_chunk_valid(id, chunk, NULL::bigint, $capacity, $rate, '')))");
	return;
};
my @uses = map { "SELECT $_" } ("cuckoofilter_table_contains('alike', 1)", "cuckoofilter_table_add('alike', 1)", "cuckoofilter_table_add_all('alike', ARRAY[1, 2])",
	"cuckoofilter_table_info('alike')", "cuckoofilter_table_optimize('alike')", "cuckoofilter_export('alike')");
foreach my $key ('chunk', 'chunk, id', 'id, chunk', 'id) INCLUDE (chunk')
{
	$like->("PRIMARY KEY ($key)", 1000, 0.01);
	$fails->($_, qr/cuckoofilter table alike cannot be used: it has no primary key/, "PRIMARY KEY ($key): $_") foreach @uses;
}
$sql->(q{CREATE ROLE mallory; CREATE SCHEMA m AUTHORIZATION mallory; CREATE TABLE m.ran (who text); GRANT ALL ON m.ran TO PUBLIC; SET ROLE mallory;
	CREATE FUNCTION m.v() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN IF current_user <> 'mallory' THEN INSERT INTO m.ran VALUES (current_user); END IF; RETURN 1000; END $$;
	CREATE FUNCTION m.i() RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN m.v(); END $$});
foreach (['txid_current()', 0.01], [1000, 'random()'], [ "int8mul('1'::bigint, m.i())", 0.01 ], [ 1000, "power('0.5'::float8, m.i())" ])
{
	my @arguments = @$_;

	$like->('PRIMARY KEY (id)', @arguments);
	$fails->($_, qr/alike is not a cuckoofilter table/, "@arguments: $_") foreach @uses;
}
is($sql->('SELECT count(*) FROM m.ran'), 0, 'no function of the owner runs');

# ------------------------------------------- an index that is created meanwhile

my ($a, $b) = map { CuckooSession->new($node) } 1 .. 2;
$sql->("SELECT cuckoofilter_table_create('indexed', 'bigint', 100000); SELECT cuckoofilter_table_add_all('indexed', ARRAY(SELECT generate_series(1, 20000)))");
$a->query('BEGIN; REINDEX INDEX indexed_pkey; CREATE INDEX ON indexed (chunk)');
$b->ask("SELECT cuckoofilter_table_contains('indexed', 5)");
$b->wait_for_lock;
$a->query('COMMIT');
is(($b->answer)[0], 't', 'a session reads what the table is, and the table gets an index');
like(error_of($b, "SELECT cuckoofilter_table_add_all('indexed', ARRAY(SELECT generate_series(20001, 40000)))"), qr/it has an index besides its primary key/, 'the session knows the index');

# ------------------------------------------------------------ settings of a session

is($sql->("CREATE TABLE rated (k int); SET extra_float_digits = -15; SELECT cuckoofilter_table_follow('rated', 'k', 0.0123); RESET extra_float_digits;
	SELECT cuckoofilter_table_follow('rated', 'k', 0.0123), cuckoofilter_table_info('rated_k_filter') ->> 'target_fpr'"), "rated_k_filter\nrated_k_filter|0.0123", 'the rate is the one that was passed');

# ------------------------------------------------------- snapshots that are older

$sql->('CREATE TABLE source (k int); INSERT INTO source SELECT generate_series(1, 1000)');
foreach my $question ('SELECT count(*) FROM source WHERE NOT cuckoofilter_table_contains($$source_k_filter$$, k)', 'SELECT cuckoofilter_export($$source_k_filter$$)',
	'SELECT cuckoofilter_table_info($$source_k_filter$$)')
{
	foreach my $change ("SELECT cuckoofilter_table_follow('source', 'k')", 'ALTER TABLE source_k_filter SET UNLOGGED; ALTER TABLE source_k_filter SET LOGGED')
	{
		$a->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM source');
		$sql->($change);
		like(error_of($a, $question), qr/40001: could not serialize access/, "$question, of a snapshot before $change");
		$a->query('ROLLBACK');
	}
	$sql->('DROP TABLE source_k_filter CASCADE');
}
# EXECUTE has a snapshot before it waits for the lock on the source, and knows the new filter after it
$sql->("SELECT cuckoofilter_table_follow('source', 'k')");
$b->query(q{PREPARE asks AS SELECT count(*) FROM source WHERE NOT cuckoofilter_table_contains('source_k_filter', k)});
$a->query("SET client_min_messages = warning; BEGIN; LOCK source; DROP TABLE source_k_filter CASCADE; SELECT cuckoofilter_table_follow('source', 'k')");
$b->ask('EXECUTE asks');
$b->wait_for_lock;
$a->query('COMMIT');
is(join('', ($b->answer)[0, 1]), 0, 'EXECUTE of a snapshot before the filter was made again');
is($b->query('EXECUTE asks'), 0, 'EXECUTE again');
# An UPDATE that has waited for a row goes on with its new version, of which its snapshot does not know; an item that nobody has added is denied.
$sql->("CREATE TABLE waited (id int PRIMARY KEY, k int, n int DEFAULT 0); INSERT INTO waited SELECT g, g FROM generate_series(1, 2000) g; SELECT cuckoofilter_table_follow('waited', 'k', 0.000001, 10000)");
foreach my $level ('READ COMMITTED', 'REPEATABLE READ')
{
	$a->query('BEGIN; UPDATE waited SET k = k + 10000');
	$b->ask("BEGIN ISOLATION LEVEL $level; WITH known AS (UPDATE waited SET n = n + 1 WHERE cuckoofilter_table_contains('waited_k_filter', k) RETURNING id) SELECT count(*) FROM known; COMMIT");
	$b->wait_for_lock;
	$a->query('COMMIT');
	like(join('', ($b->answer)[0, 1]), $level eq 'READ COMMITTED' ? qr/^2000$/ : qr/40001: could not serialize access/, "$level: rows that are changed while an UPDATE waits for them");
}
$a->query('BEGIN; UPDATE waited SET k = k + 10000 WHERE id = 5');
$b->ask("SELECT k, cuckoofilter_table_contains('waited_k_filter', k), cuckoofilter_table_contains('waited_k_filter', -k), cuckoofilter_table_contains('waited_k_filter', 20006) FROM waited WHERE id = 5 FOR UPDATE");
$b->wait_for_lock;
$a->query('COMMIT');
is(($b->answer)[0], '30005|t|f|t', 'FOR UPDATE');
is($sql->("BEGIN; SELECT cuckoofilter_table_add('waited_k_filter', -7), cuckoofilter_table_contains('waited_k_filter', -7); ROLLBACK"), 't|f', 'a lookup does not see the changes of its own statement');
is($sql->("SET force_parallel_mode = on; SELECT count(*) FROM waited WHERE NOT cuckoofilter_table_contains('waited_k_filter', -k)"), 2000, 'a parallel plan') if server_version($node) < 160000;
$sql->("DROP TABLE waited_k_filter CASCADE");
# so does one that asks for copies, and one whose snapshot shows no rows of the filter; not the changes of its own statement
foreach my $before ("SELECT cuckoofilter_table_add('few', 1)", 'TRUNCATE few')
{
	foreach my $condition ("cuckoofilter_table_contains('few', k)", "cuckoofilter_table_copies('few', k) > 0")
	{
		$sql->("CREATE TABLE late (k int); INSERT INTO late VALUES (1); SELECT cuckoofilter_table_create('few', 'int', 1000); $before");
		$a->query("BEGIN; UPDATE late SET k = 2; SELECT cuckoofilter_table_add('few', 2)");
		$b->ask("UPDATE late SET k = k WHERE k = 1 OR $condition RETURNING k, cuckoofilter_table_add('few', -7), cuckoofilter_table_contains('few', -7)");
		$b->wait_for_lock;
		$a->query('COMMIT');
		is(join('', ($b->answer)[0, 1]), '2|t|f', "$before, an UPDATE that waits WHERE $condition");
		$sql->('DROP TABLE late, few');
	}
}
# the query of a STABLE function that such a statement calls has the old snapshot; here it is parallel
$sql->(q{CREATE TABLE late (k int); INSERT INTO late VALUES (1), (2); CREATE TABLE big AS SELECT FROM generate_series(1, 10000); ALTER TABLE big SET (parallel_workers = 2); SELECT cuckoofilter_table_follow('late', 'k');
	CREATE FUNCTION has(x int) RETURNS bool STABLE LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT bool_and(cuckoofilter_table_contains('late_k_filter', x)) FROM big); END$$;
	CREATE FUNCTION workers() RETURNS text LANGUAGE plpgsql AS $$DECLARE line text; BEGIN
		FOR line IN EXPLAIN (ANALYZE) SELECT bool_and(cuckoofilter_table_contains('late_k_filter', 1)) FROM big LOOP IF line ~ 'Workers Launched' THEN RETURN line; END IF; END LOOP; RETURN 'none'; END$$});
$b->query('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0');
like($b->query('SELECT workers()'), qr/Workers Launched: 2/, 'two workers');
$a->query('BEGIN; UPDATE late SET k = k + 10 WHERE k = 2');
$b->ask('SELECT k, has(k), has(-k) FROM late ORDER BY k FOR UPDATE');
$b->wait_for_lock;
$a->query('COMMIT');
is(($b->answer)[0], "1|t|f\n12|t|f", 'a parallel query in a function that FOR UPDATE calls');
$b->query('RESET ALL');
$sql->('DROP TABLE big; DROP FUNCTION has, workers; DROP TABLE late_k_filter CASCADE; DROP TABLE late');
# TRUNCATE leaves no rows to any snapshot
$a->query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM source");
$sql->("TRUNCATE source_k_filter");
is($a->query("SELECT cuckoofilter_table_contains('source_k_filter', 5); COMMIT"), 'f', 'TRUNCATE');
$sql->("SELECT cuckoofilter_table_follow('source', 'k')");
is($denied->('source', 'k', 'source_k_filter'), 0, 'a new snapshot');
is($sql->("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT cuckoofilter_table_contains(cuckoofilter_table_create('own', 'int'), 1); TRUNCATE own;
	SELECT cuckoofilter_table_add_all('own', '{1,2}'::int[]), cuckoofilter_table_contains('own', 1); SELECT cuckoofilter_table_contains('own', 1), cuckoofilter_count(cuckoofilter_export('own')); COMMIT"),
	"f\n2|f\nt|2", 'rows of this transaction');

# an item of which an older snapshot shows the most copies, and no newer one
foreach my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
	foreach my $change ('TRUNCATE equal', "DELETE FROM equal; SELECT cuckoofilter_table_follow('equal', 'k')")
	{
		$sql->("CREATE TABLE equal (k int); INSERT INTO equal SELECT 7 FROM generate_series(1, 8); SELECT cuckoofilter_table_follow('equal', 'k')");
		$a->query("BEGIN ISOLATION LEVEL $level; SELECT count(*) FROM source");
		$sql->($change);
		like(error_of($a, 'INSERT INTO equal VALUES (7)'), qr/40001: could not serialize access/, "an add in $level, after $change");
		$a->query('COMMIT');
		is($denied->('equal', 'k', 'equal_k_filter'), 0, 'no item is denied');
		$sql->('DROP TABLE equal_k_filter CASCADE; DROP TABLE equal');
	}
}

# a transaction that changes the table's entry in pg_class still knows that another one has written it anew
foreach my $change ('GRANT SELECT ON source_k_filter TO PUBLIC', 'ALTER TABLE source_k_filter RENAME TO source_k_filter')
{
	my $own = $change =~ s/TO source_k_filter/TO renamed/r;

	$a->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM source');
	$sql->("TRUNCATE source_k_filter; SELECT cuckoofilter_table_follow('source', 'k')");
	like(error_of($a, "$own; SELECT cuckoofilter_table_contains('" . ($own eq $change ? 'source_k_filter' : 'renamed') . "', 5)"), qr/40001: could not serialize access/, "newer than the snapshot, after $own");
	$a->query('ROLLBACK');
}

# the transaction writes the table anew itself, while a query of it is open
foreach my $change ('ALTER TABLE source_k_filter SET UNLOGGED; ALTER TABLE source_k_filter SET LOGGED', 'TRUNCATE source_k_filter; SELECT cuckoofilter_table_add_all($$source_k_filter$$, ARRAY(SELECT k FROM source))',
	'SAVEPOINT s; ALTER TABLE source_k_filter SET UNLOGGED; RELEASE s', 'CLUSTER source_k_filter USING source_k_filter_pkey')
{
	foreach my $question ('SELECT count(*) FROM source WHERE NOT cuckoofilter_table_contains($$source_k_filter$$, k)', 'SELECT cuckoofilter_count(cuckoofilter_export($$source_k_filter$$)) - 1000',
		'SELECT (cuckoofilter_table_info($$source_k_filter$$) ->> $$count$$)::int - 1000')
	{
		foreach my $level ('READ COMMITTED', 'REPEATABLE READ')
		{
			$a->query("BEGIN ISOLATION LEVEL $level; DECLARE asks CURSOR FOR $question; $change");
			$a->ask('FETCH asks');
			like(join('', ($a->answer)[0, 1]), $change =~ /CLUSTER/ ? qr/^0$/ : qr/55000: cuckoofilter table source_k_filter cannot be used: it was written anew since the query began/, "$level, $question, then $change");
			$a->query('ROLLBACK');
		}
	}
}
# another transaction has written it anew since, and this one adds to it
$a->query('BEGIN; DECLARE asks CURSOR FOR SELECT cuckoofilter_count(cuckoofilter_export($$source_k_filter$$))');
$sql->('ALTER TABLE source_k_filter SET UNLOGGED; ALTER TABLE source_k_filter SET LOGGED');
$a->query(q{GRANT SELECT ON source_k_filter TO PUBLIC; SELECT cuckoofilter_table_add_all('source_k_filter', ARRAY(SELECT generate_series(1, 2000)))});
like(error_of($a, 'FETCH asks'), qr/55000: cuckoofilter table source_k_filter cannot be used: it was written anew since the query began/, 'a table that others wrote anew, and this transaction changes');
$a->query('ROLLBACK');

# a table that is dropped while a lookup waits for its lock
$sql->("SELECT cuckoofilter_table_create('dropped', 'int')");
$a->query('BEGIN; DROP TABLE dropped');
$b->ask("SELECT cuckoofilter_table_contains('dropped', 1)");
$b->wait_for_lock;
$a->query('COMMIT');
like(($b->answer)[1], qr/42P01: relation with OID \d+ does not exist/, 'a table that is dropped meanwhile');

# so does a source, perhaps with its partitions
$sql->('CREATE TABLE going (k int); CREATE TABLE parted (k int) PARTITION BY RANGE (k); CREATE TABLE parted1 PARTITION OF parted FOR VALUES FROM (0) TO (10)');
foreach my $source (qw(going parted))
{
	$a->query("BEGIN; DROP TABLE $source");
	$b->ask("SELECT cuckoofilter_table_follow('$source', 'k')");
	$b->wait_for_lock;
	$a->query('COMMIT');
	like(($b->answer)[1], qr/42P01: relation with OID \d+ does not exist/, "a source that is dropped meanwhile: $source");
}
like(error_of($a, "SELECT cuckoofilter_table_follow(0, 'k')"), qr/42P01: relation with OID 0 does not exist/, 'no source');

# ------------------------------------------------ tables that were parts of a source

$sql->('CREATE TABLE whole (k int) PARTITION BY RANGE (k); CREATE TABLE whole1 PARTITION OF whole FOR VALUES FROM (0) TO (1000); CREATE TABLE whole2 PARTITION OF whole FOR VALUES FROM (1000) TO (2000);
	INSERT INTO whole SELECT generate_series(0, 1999)');
$sql->("SELECT cuckoofilter_table_follow('whole', 'k')");
$sql->('ALTER TABLE whole DETACH PARTITION whole1');
like(error_of($a, "SELECT cuckoofilter_table_follow('whole1', 'k')"), qr/55000: cuckoofilter table whole_k_filter follows other tables, too/, 'a detached partition does not take the filter of its parent');
is($denied->('whole', 'k', 'whole_k_filter'), 0, 'which denies nothing');
is($sql->("SELECT cuckoofilter_table_follow('whole1', 'k', name => 'whole1_k_filter')"), 'whole1_k_filter', 'it gets one of its own');
$sql->("SELECT cuckoofilter_table_follow('whole', 'k'); INSERT INTO whole VALUES (1500); INSERT INTO whole1 VALUES (7)");
is($denied->('whole', 'k', 'whole_k_filter') + $denied->('whole1', 'k', 'whole1_k_filter'), 0, 'both are in step');
$sql->("CREATE TABLE whole3 PARTITION OF whole FOR VALUES FROM (2000) TO (3000); SELECT cuckoofilter_table_follow('whole', 'k'); INSERT INTO whole VALUES (2500);
	ALTER TABLE whole DETACH PARTITION whole2; ALTER TABLE whole RENAME TO parent; ALTER TABLE whole2 RENAME TO whole");
foreach my $more ('', ", name => 'whole_k_filter'")
{
	like(error_of($a, "SELECT cuckoofilter_table_follow('whole', 'k'$more)"), qr/55000: cuckoofilter table whole_k_filter follows other tables, too/, "nor does one that is called like it$more");
}
is($denied->('parent', 'k', 'whole_k_filter'), 0, 'which denies nothing then');
# its part has another parent meanwhile, which is followed
$sql->("CREATE TABLE archive (k int) PARTITION BY RANGE (k); ALTER TABLE archive ATTACH PARTITION whole FOR VALUES FROM (1000) TO (2000); SELECT cuckoofilter_table_follow('archive', 'k')");
is($sql->("SELECT cuckoofilter_table_follow('parent', 'k')"), 'whole_k_filter', 'the parent finds it by its triggers, and drops those of the part');
$sql->("INSERT INTO archive VALUES (1999); INSERT INTO parent VALUES (2999)");
is($denied->('parent', 'k', 'whole_k_filter') + $denied->('archive', 'k', 'archive_k_filter'), 0, 'both are in step');
is($sql->("SELECT cuckoofilter_table_contains('whole_k_filter', 1500)"), 'f', 'and it has left the moved partition');
# a detached part that is dropped, with its triggers, since the snapshot
$sql->('CREATE TABLE cut (k int) PARTITION BY RANGE (k); CREATE TABLE cut1 PARTITION OF cut FOR VALUES FROM (0) TO (1000); CREATE TABLE cut2 PARTITION OF cut DEFAULT; INSERT INTO cut SELECT generate_series(0, 1999);
	SELECT cuckoofilter_table_follow($$cut$$, $$k$$); ALTER TABLE cut DETACH PARTITION cut1');
$a->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM source');
$sql->('DROP TABLE cut1');
is($a->query("SELECT cuckoofilter_table_follow('cut', 'k'), cuckoofilter_table_contains('cut_k_filter', 500), cuckoofilter_table_contains('cut_k_filter', 1500)"), 'cut_k_filter|t|t', 'filled anew without the dropped part');
$a->query('COMMIT');
is($denied->('cut', 'k', 'cut_k_filter') . $sql->("SELECT cuckoofilter_table_info('cut_k_filter') -> 'count'"), '01000', 'it has the others');
# parts that have parts of their own, and are given its name or the filter's
$sql->("CREATE TABLE tree (k int) PARTITION BY RANGE (k); CREATE TABLE tree1 PARTITION OF tree FOR VALUES FROM (0) TO (1000) PARTITION BY RANGE (k); CREATE TABLE tree1a PARTITION OF tree1 DEFAULT;
	CREATE TABLE tree2 PARTITION OF tree DEFAULT; CREATE TABLE heir (k int); CREATE TABLE heir1 () INHERITS (heir); CREATE TABLE heir1a () INHERITS (heir1);
	INSERT INTO tree SELECT generate_series(0, 1999); INSERT INTO heir1 VALUES (1); INSERT INTO heir VALUES (2); SELECT cuckoofilter_table_follow('tree', 'k'), cuckoofilter_table_follow('heir', 'k');
	ALTER TABLE tree DETACH PARTITION tree1; ALTER TABLE heir1 NO INHERIT heir");
foreach my $table ('tree', 'heir')
{
	like(error_of($a, "SELECT cuckoofilter_table_follow('${table}1', 'k', name => '${table}_k_filter')"), qr/55000: cuckoofilter table ${table}_k_filter follows other tables, too/, "a part of $table with children");
	is($denied->($table, 'k', "${table}_k_filter"), 0, 'denies nothing');
	$sql->("SELECT cuckoofilter_table_follow('$table', 'k')");
	is($denied->($table, 'k', "${table}_k_filter"), 0, 'filled anew, it does not either');
}
# a parent that becomes the child of its child, and then is none
$sql->("CREATE TABLE up (k int); CREATE TABLE down () INHERITS (up); INSERT INTO up VALUES (1); INSERT INTO down VALUES (2); SELECT cuckoofilter_table_follow('up', 'k');
	ALTER TABLE down NO INHERIT up; ALTER TABLE up INHERIT down; SELECT cuckoofilter_table_follow('down', 'k'); ALTER TABLE up NO INHERIT down");
$fails->("SELECT cuckoofilter_table_follow('up', 'k')", qr/cuckoofilter table up_k_filter follows other tables, too/, 'a former parent does not take the filter');
is($sql->("SELECT cuckoofilter_table_follow('down', 'k')") . $denied->('down', 'k', 'up_k_filter'), 'up_k_filter0', 'which is of its child now');
# a part whose column has another name meanwhile, while another column has its name
$sql->("CREATE TABLE base (k int, n int); CREATE TABLE leaf () INHERITS (base); INSERT INTO leaf VALUES (1, 11); SELECT cuckoofilter_table_follow('base', 'k');
	ALTER TABLE leaf NO INHERIT base; ALTER TABLE leaf RENAME k TO was; ALTER TABLE leaf ADD k int; ALTER TABLE leaf INHERIT base; SELECT cuckoofilter_table_follow('base', 'k'); INSERT INTO leaf VALUES (3, 4, 5)");
is($denied->('base', 'k', 'base_k_filter') . $sql->("SELECT cuckoofilter_table_contains('base_k_filter', 3), cuckoofilter_table_info('base_k_filter') -> 'count'"), '0f|1', 'the column of the name is followed');
$sql->('UPDATE leaf SET k = 6 WHERE k = 5; DELETE FROM leaf WHERE was = 1');
is($denied->('base', 'k', 'base_k_filter') . $sql->("SELECT cuckoofilter_table_info('base_k_filter') -> 'count'"), '01', 'and its changes');

# a trigger of a user, with a condition as ours has, is not one of ours
$sql->(q{CREATE TABLE mixed (k int); CREATE TABLE mixed1 () INHERITS (mixed); SELECT cuckoofilter_table_follow('mixed', 'k'); CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'});
foreach my $kind ("inserted AFTER INSERT", "column BEFORE UPDATE OF k")
{
	my ($label, $event) = $kind =~ /^(\w+) (.*)/;

	foreach my $table ('mixed', 'mixed1')
	{
		$sql->(qq{DROP TRIGGER mixed_k_filter_$label ON $table; CREATE TRIGGER mine_$label $event ON $table FOR EACH STATEMENT WHEN (cuckoofilter_follows('mixed_k_filter')) EXECUTE FUNCTION nothing()});
	}
}
$sql->("SELECT cuckoofilter_table_follow('mixed', 'k'); INSERT INTO mixed VALUES (1); INSERT INTO mixed1 VALUES (2)");
is($denied->('mixed', 'k', 'mixed_k_filter'), 0, 'so those that are missing are created');
$sql->("ALTER TABLE mixed1 NO INHERIT mixed; DROP TABLE mixed; SELECT cuckoofilter_table_follow('mixed1', 'k', name => 'mixed_k_filter'); INSERT INTO mixed1 VALUES (3)");
is($denied->('mixed1', 'k', 'mixed_k_filter') . $sql->("SELECT count(*), count(*) FILTER (WHERE tgname ~ 'mine_') FROM pg_trigger WHERE tgrelid = 'mixed1'::regclass"), '07|2', 'and it stays when the role of its table changes');
$sql->('DROP TABLE mixed1; DROP TABLE mixed_k_filter; DROP FUNCTION nothing');

# settings of our functions, for safety's sake
$sql->(q{CREATE TABLE careful (k int); ALTER FUNCTION cuckoofilter_table_changed SET search_path = pg_catalog; ALTER FUNCTION cuckoofilter_follows SET search_path = pg_catalog; SELECT cuckoofilter_table_follow('careful', 'k')});
is($sql->("INSERT INTO careful VALUES (1)") . $denied->('careful', 'k', 'careful_k_filter'), '0', 'functions with a setting');
$sql->('ALTER FUNCTION cuckoofilter_table_changed RESET ALL; ALTER FUNCTION cuckoofilter_follows RESET ALL; DROP TABLE careful_k_filter CASCADE; DROP TABLE careful');

# who may write to a filter, but does not own it, does not drop the triggers of its source
$sql->(q{GRANT ALL ON source_k_filter TO mallory; SET ROLE mallory; CREATE TABLE m.taker (k int);
	CREATE TRIGGER taker BEFORE UPDATE OF k ON m.taker FOR EACH STATEMENT WHEN (cuckoofilter_follows('source_k_filter')) EXECUTE FUNCTION cuckoofilter_table_changed()});
$fails->("SET ROLE mallory; SELECT cuckoofilter_table_follow('m.taker', 'k', name => 'public.source_k_filter')", qr/must be owner of table source_k_filter/, 'triggers of the owner');
is($sql->("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'source'::regclass"), 5, 'stay');
is($denied->('source', 'k', 'source_k_filter'), 0, 'and so do the items');
$sql->('DROP TABLE m.taker; REVOKE ALL ON source_k_filter FROM mallory');
# nor does he keep its owner from filling it
$sql->(q{SET ROLE mallory; CREATE TABLE m.above (k int); CREATE TABLE m.below () INHERITS (m.above);
	CREATE TRIGGER taker BEFORE UPDATE OF k ON m.above FOR EACH STATEMENT WHEN (cuckoofilter_follows('source_k_filter')) EXECUTE FUNCTION cuckoofilter_table_changed();
	RESET ROLE; SELECT cuckoofilter_table_follow('source', 'k')});
is($sql->("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'm.above'::regclass"), 0, 'triggers of others that name a filter are dropped');
$sql->('DROP TABLE m.above CASCADE');

# a foreign table has no rows that could be read in its place
SKIP:
{
	skip('no TRUNCATE triggers of foreign tables', 1) if server_version($node) < 160000;
	$sql->("CREATE EXTENSION postgres_fdw; CREATE SERVER self FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $node->host . "', port '" . $node->port . "', dbname 'postgres');
		CREATE USER MAPPING FOR CURRENT_USER SERVER self; CREATE TABLE far (k int); CREATE FOREIGN TABLE near (k int) SERVER self OPTIONS (table_name 'far')");
	$sql->("CREATE TRIGGER $_ near FOR EACH STATEMENT WHEN (cuckoofilter_follows('source_k_filter')) EXECUTE FUNCTION cuckoofilter_table_changed()") foreach ('k BEFORE UPDATE OF k ON', 't BEFORE TRUNCATE ON');
	$fails->('TRUNCATE near', qr/must be called by a trigger that cuckoofilter_table_follow has created/, 'TRUNCATE of a foreign table');
	$sql->('DROP EXTENSION postgres_fdw CASCADE');
}

# a partition of another owner, who writes to it directly
$sql->("CREATE ROLE other; CREATE TABLE shared (k int, p int) PARTITION BY LIST (p); CREATE TABLE shared1 PARTITION OF shared FOR VALUES IN (1); CREATE TABLE shared2 PARTITION OF shared FOR VALUES IN (2);
	ALTER TABLE shared2 OWNER TO other; SELECT cuckoofilter_table_follow('shared', 'k'); INSERT INTO shared VALUES (1, 1), (2, 2)");
$fails->('SET ROLE other; INSERT INTO shared2 VALUES (3, 2)', qr/permission denied for table shared_k_filter/, 'the owner of a partition has no privileges on the filter');
$sql->('GRANT SELECT, INSERT, UPDATE, DELETE ON shared_k_filter TO other; SET ROLE other; INSERT INTO shared2 VALUES (4, 2); TRUNCATE shared2; INSERT INTO shared2 VALUES (5, 2), (6, 2)');
is($denied->('shared', 'k', 'shared_k_filter') . $sql->("SELECT cuckoofilter_table_info('shared_k_filter') -> 'count'"), '03', 'and writes with them');

# ------------------------------------------------------------ how long a table lasts

$fails->("SELECT cuckoofilter_table_follow('source', 'k', name => 'pg_temp.short')", qr/cuckoofilter table short is temporary or unlogged, "source" is not/, 'a temporary filter');
is($sql->("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'source'::regclass"), 5, 'it has left no triggers');
$sql->('ALTER TABLE source_k_filter SET UNLOGGED');
$fails->($_, qr/cuckoofilter table source_k_filter is temporary or unlogged, "source" is not.*SET LOGGED/s, "an unlogged filter: $_")
  foreach ('INSERT INTO source VALUES (1001)', "SELECT cuckoofilter_table_follow('source', 'k')");
$sql->('ALTER TABLE source_k_filter SET LOGGED; INSERT INTO source VALUES (1001)');
is($sql->("CREATE TEMP TABLE brief (k int); SELECT cuckoofilter_table_follow('brief', 'k'); INSERT INTO brief VALUES (1);
	SELECT cuckoofilter_table_contains('brief_k_filter', 1); CREATE UNLOGGED TABLE fast (k int); SELECT cuckoofilter_table_follow('fast', 'k'); ALTER TABLE fast_k_filter SET UNLOGGED;
	INSERT INTO fast VALUES (1); SELECT cuckoofilter_table_contains('fast_k_filter', 1)"), "brief_k_filter\nt\nfast_k_filter\nt", 'both are temporary, or unlogged');

# a part that lasts longer than its parent
$sql->("CREATE UNLOGGED TABLE flash (k int); CREATE TABLE stone () INHERITS (flash); INSERT INTO stone VALUES (1); CREATE UNLOGGED TABLE sand () INHERITS (flash); SELECT cuckoofilter_table_follow('flash', 'k'); ALTER TABLE flash_k_filter SET UNLOGGED");
$fails->("SELECT cuckoofilter_table_follow('flash', 'k')", qr/cuckoofilter table flash_k_filter is temporary or unlogged, "stone" is not/, 'a logged part of an unlogged table');
is($sql->("ALTER TABLE stone SET UNLOGGED; SELECT cuckoofilter_table_follow('flash', 'k'); INSERT INTO stone VALUES (2); INSERT INTO sand VALUES (3)") . $denied->('flash', 'k', 'flash_k_filter'), 'flash_k_filter0', 'all are unlogged');

# ------------------------------------------------------ writes that no trigger sees

$sql->('CREATE TABLE one (k int); CREATE TABLE two (k int); CREATE TABLE child () INHERITS (one, two)');
$fails->("SELECT cuckoofilter_table_follow('one', 'k')", qr/"child" is a partition or a child of another table/, 'a child with another parent');
$sql->("ALTER TABLE child NO INHERIT two; SELECT cuckoofilter_table_follow('one', 'k')");
$sql->('CREATE TABLE top (k int); CREATE TABLE left_ () INHERITS (top); CREATE TABLE right_ () INHERITS (top); CREATE TABLE both_ () INHERITS (left_, right_);
	SELECT cuckoofilter_table_follow($$top$$, $$k$$); INSERT INTO both_ VALUES (1); UPDATE right_ SET k = 2; UPDATE left_ SET k = k + 1; INSERT INTO right_ VALUES (7)');
is($denied->('top', 'k', 'top_k_filter'), 0, 'a child with two parents that are followed');

$sql->("ALTER TABLE source DISABLE TRIGGER USER; INSERT INTO source VALUES (1002)");
foreach my $state ('DISABLE TRIGGER', 'ENABLE REPLICA TRIGGER', 'ENABLE ALWAYS TRIGGER')
{
	$sql->("ALTER TABLE source $state source_k_filter_inserted; SELECT cuckoofilter_table_follow('source', 'k'); INSERT INTO source SELECT max(k) + 1 FROM source");
	is($denied->('source', 'k', 'source_k_filter'), 0, "filled anew after $state");
}
is($sql->("SELECT string_agg(tgenabled::text, '' ORDER BY tgname) FROM pg_trigger WHERE tgrelid = 'source'::regclass"), 'OOAOO', 'triggers are enabled');

# a statement that is changing the source, or has just done so by a cascade, does not see triggers that are created now, and has not fired those that there are
$sql->(q{CREATE TABLE busy (k int); INSERT INTO busy VALUES (1), (1), (2); SELECT cuckoofilter_table_follow('busy', 'k', name => 'busy_before');
	CREATE FUNCTION follows(k int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM cuckoofilter_table_follow('busy', 'k'); RETURN k; END $$;
	CREATE TABLE above (k int PRIMARY KEY); CREATE TABLE below (k int REFERENCES above ON DELETE CASCADE, v int); INSERT INTO above VALUES (1), (2); INSERT INTO below VALUES (1, 5), (2, 5);
	SELECT cuckoofilter_table_follow('below', 'v'); CREATE FUNCTION refill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM cuckoofilter_table_follow('below', 'v'); RETURN NULL; END $$;
	CREATE TRIGGER refill AFTER DELETE ON above FOR EACH ROW EXECUTE FUNCTION refill()});
$fails->($_, qr/cannot follow "busy" because it is being used by active queries in this session/, $_)
  foreach ("WITH w AS (INSERT INTO busy VALUES (7) RETURNING k) SELECT cuckoofilter_table_follow('busy', 'k') FROM w", 'INSERT INTO busy SELECT follows(g) FROM generate_series(8, 9) g',
	"WITH w AS (DELETE FROM busy WHERE ctid = (SELECT min(ctid) FROM busy) OR k = 2 RETURNING k) SELECT cuckoofilter_table_follow('busy', 'k', name => 'busy_before') FROM w");
$fails->('DELETE FROM above WHERE k = 1', qr/cannot follow "below" because it has pending trigger events/, 'a cascade');
is($denied->('busy', 'k', 'busy_before') + $denied->('below', 'v', 'below_v_filter'), 0, 'their filters are as they were');

# event triggers write into the source while it is read and gets its triggers
$sql->(q{CREATE TABLE ddl (tag text); CREATE FUNCTION log_ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ddl VALUES (tg_event || clock_timestamp()); END $$;
	CREATE EVENT TRIGGER started ON ddl_command_start EXECUTE FUNCTION log_ddl(); CREATE EVENT TRIGGER ended ON ddl_command_end EXECUTE FUNCTION log_ddl();
	SELECT cuckoofilter_table_follow('ddl', 'tag'); SELECT cuckoofilter_table_follow('ddl', 'tag'); DROP EVENT TRIGGER started; DROP EVENT TRIGGER ended});
is($denied->('ddl', 'tag', 'ddl_tag_filter'), 0, 'event triggers');
is($sql->("SELECT cuckoofilter_export('ddl_tag_filter') = cuckoofilter_agg(tag, 0.01, 1000000) FROM ddl"), 't', 'event triggers: no more than the rows');

# they drop a part of the source meanwhile, or rename the column
foreach my $ddl ('DROP TABLE leaving1', 'ALTER TABLE leaving RENAME k TO k2')
{
	$sql->(qq{CREATE TABLE leaving (k int) PARTITION BY RANGE (k); CREATE TABLE leaving1 PARTITION OF leaving FOR VALUES FROM (0) TO (10);
		CREATE FUNCTION leave() RETURNS event_trigger LANGUAGE plpgsql AS \$\$ BEGIN $ddl; END \$\$;
		CREATE EVENT TRIGGER leaves ON ddl_command_end WHEN tag IN ('CREATE TABLE') EXECUTE FUNCTION leave()});
	like(error_of($a, "SELECT cuckoofilter_table_follow('leaving', 'k')"), qr/(?:42P01: relation with OID \d+ does not exist|42703: no trigger says which column of "leaving")/, "event triggers: $ddl");
	$sql->('DROP EVENT TRIGGER leaves; DROP FUNCTION leave; DROP TABLE leaving');
}

# triggers of a user that look up the filter: only those that come after the filter's see the new rows
$sql->(q{CREATE TABLE asked (k int); CREATE TABLE answers (who text, denied bigint); SELECT cuckoofilter_table_follow('asked', 'k');
	CREATE FUNCTION ask() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO answers SELECT tg_name, count(*) FROM asked WHERE NOT cuckoofilter_table_contains('asked_k_filter', k); RETURN NULL; END $$;
	CREATE TRIGGER a_before AFTER INSERT ON asked EXECUTE FUNCTION ask(); CREATE TRIGGER z_after AFTER INSERT ON asked EXECUTE FUNCTION ask(); CREATE TRIGGER z_row AFTER INSERT ON asked FOR EACH ROW EXECUTE FUNCTION ask();
	INSERT INTO asked VALUES (1)});
is($sql->("SELECT string_agg(who || ' ' || denied, ', ' ORDER BY who) FROM answers"), 'a_before 1, z_after 0, z_row 1', 'triggers that look up the filter of their table');

# ---------------------------------------------------------------------- names

# a filter that takes the place of another one, more than once
$sql->("SELECT cuckoofilter_table_follow('source', 'k', 0.001, 5000, 'source_new'); BEGIN; LOCK source; DROP TABLE source_k_filter CASCADE; ALTER TABLE source_new RENAME TO source_k_filter; COMMIT;
	INSERT INTO source SELECT max(k) + 1 FROM source") foreach 1 .. 2;
is($denied->('source', 'k', 'source_k_filter'), 0, 'a filter that takes the name of another one');
$sql->("CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE twice (k int, l int); SELECT cuckoofilter_table_follow('twice', 'k', name => 'a.f'), cuckoofilter_table_follow('twice', 'l', name => 'b.f'); INSERT INTO twice VALUES (1, 2)");
is($sql->("SELECT cuckoofilter_table_contains('a.f', 1), cuckoofilter_table_contains('b.f', 2), cuckoofilter_table_contains('b.f', 1)"), 't|t|f', 'filters of one name in two schemas');

is($sql->("SELECT cuckoofilter_table_create('names', 'name'); SELECT cuckoofilter_table_add('names', repeat('x', 70)), cuckoofilter_table_add('names', repeat('ü', 40)::varchar);
	SELECT cuckoofilter_table_contains('names', n), cuckoofilter_table_contains('names', n::name), cuckoofilter_table_remove('names', n::name) FROM (VALUES (repeat('x', 70)), (repeat('ü', 40))) t(n)"),
	"names\nt|t\nt|t|t\nt|t|t", 'a text that is too long for a name is cut');

# -------------------------------------------------------------------- a standby

# A primary does not wait for the snapshots of a standby before an index takes the place of another one: it lacks the rows that only they show.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nwal_receiver_status_interval = 1\n");
$standby->start;
$node->poll_query_until('postgres', 'SELECT backend_xmin IS NOT NULL FROM pg_stat_replication');
$sql->("CREATE TABLE seen_there (k int); INSERT INTO seen_there SELECT generate_series(1, 1000); SELECT cuckoofilter_table_follow('seen_there', 'k')");
my $there = CuckooSession->new($standby);
foreach my $question ("SELECT count(*) FROM seen_there WHERE NOT cuckoofilter_table_contains('seen_there_k_filter', k)", "SELECT cuckoofilter_count(cuckoofilter_export('seen_there_k_filter')) < 1000")
{
	$node->wait_for_catchup($standby);
	$there->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM seen_there');
	$sql->($_) foreach ("UPDATE seen_there SET k = k + 1", 'REINDEX TABLE CONCURRENTLY seen_there_k_filter');
	$node->wait_for_catchup($standby);
	like(error_of($there, $question), qr/40001: could not serialize access/, "an index that is newer than the snapshot: $question");
	$there->query('ROLLBACK');
	like($there->query($question), qr/^[0f]$/, 'a new snapshot');
}
$there->quit;
# VACUUM FULL freezes the rows that the primary's snapshots see: each snapshot of a standby sees them.
$standby->append_conf('postgresql.conf', "hot_standby_feedback = off\n");
$standby->restart;
$node->wait_for_catchup($standby);
$there = CuckooSession->new($standby);
$there->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM seen_there');
$sql->($_) foreach ('UPDATE seen_there SET k = k + 1', 'VACUUM FULL seen_there_k_filter');
$node->wait_for_catchup($standby);
like(error_of($there, "SELECT count(*) FROM seen_there WHERE NOT cuckoofilter_table_contains('seen_there_k_filter', k)"), qr/40001: could not serialize access/, 'a table that is newer than the snapshot');
$there->query('ROLLBACK');
$there->quit;
$standby->stop;

# ------------------------------------------------------------------ MultiXacts

# The row's MultiXact has the number of the transaction that waits.
$sql->("CREATE TABLE late (k int); INSERT INTO late VALUES (1); SELECT cuckoofilter_table_create('few', 'int', 1000); SELECT cuckoofilter_table_add('few', 1)");
my $multixact = $sql->('SELECT txid_current()') + 20;
$_->quit foreach ($a, $b);
$node->stop;
command_ok([ 'pg_resetwal', '-m', "$multixact,1", $node->data_dir ], 'the next MultiXact');
$node->start;
($a, $b, my $locks) = map { CuckooSession->new($node) } 1 .. 3;
1 while $sql->('SELECT txid_current()') < $multixact - 1;
is($b->query('BEGIN; SELECT txid_current()'), $multixact, 'is a transaction, too');
$locks->query('BEGIN; SELECT FROM few FOR KEY SHARE');
$a->query("BEGIN; UPDATE late SET k = 2; SELECT cuckoofilter_table_add('few', 2)");
is($sql->('SELECT xmax FROM few'), $multixact, 'and locks and replaces a row');
$b->ask("UPDATE late SET k = k WHERE cuckoofilter_table_contains('few', k) RETURNING k");
$b->wait_for_lock;
$a->query('COMMIT');
is(join('', ($b->answer)[0, 1]), 2, 'the UPDATE finds what was added');

$node->stop;
done_testing();
