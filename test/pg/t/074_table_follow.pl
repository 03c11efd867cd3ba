# Filter tables that follow a column: sessions that write while it is filled, ALTER TABLE of the source,
# triggers that are missing, and what is refused. No item may be denied.
use CuckooCluster;
use CuckooSession;

seed();
my $node = new_cluster('main', conf => "wal_level = logical\n");
my $version = server_version($node);
my $sql = sub { $node->safe_psql('postgres', $_[0]) };
my $fails = sub
{
	my ($statement, $error, $what) = @_;
	my (undef, undef, $err) = $node->psql('postgres', $statement);

	like($err, $error, $what);
	return;
};
# Values of a column that its filter denies.
my $denied = sub { $sql->("SELECT count(*) FROM $_[0] WHERE NOT cuckoofilter_table_contains('$_[2]', $_[1])") };
# A filter has what an aggregate of the column has.
my $same = sub { is($sql->("SELECT cuckoofilter_export('$_[2]') = cuckoofilter_agg($_[1], 0.01, 1000000) FROM $_[0]"), 't', $_[3]) };

# ---------------------------------------------------- sessions that write meanwhile

$sql->("CREATE TABLE src (id bigint, k text); INSERT INTO src SELECT g, 'k' || g FROM generate_series(1, 100) g");
my ($a, $b) = map { CuckooSession->new($node) } 1 .. 2;
foreach my $what ('created', 'filled anew')
{
	$a->query("BEGIN; INSERT INTO src VALUES (1000, '$what'); DELETE FROM src WHERE id = 7");
	$b->ask("SELECT cuckoofilter_table_follow('src', 'k')");
	$b->wait_for_lock;
	$a->query('COMMIT');
	is(($b->answer)[1], '', "$what beside a writer");
	is($denied->('src', 'k', 'src_k_filter'), 0, "$what: nothing is lost");
	$same->('src', 'k', 'src_k_filter', "$what: nothing is left");
	$sql->("INSERT INTO src VALUES (7, 'k7')");
}
is($sql->("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'src'::regclass"), 5, 'triggers');

# ------------------------------------------------------------- another column

$sql->("CREATE TABLE acc (id int, a text, b text); INSERT INTO acc SELECT g, 'a' || g, 'b' || g FROM generate_series(1, 100) g;
	SELECT cuckoofilter_table_follow('acc', 'a', name => 'fa')");
$fails->("SELECT cuckoofilter_table_follow('acc', 'b', name => 'fa')", qr/cuckoofilter table fa follows column "a"/, 'another column');
$fails->("SELECT cuckoofilter_table_follow('fa', 'id')", qr/"fa" is a cuckoofilter table.*Pass the table that/s, 'a filter of a filter table');
$sql->("INSERT INTO acc VALUES (101, 'a101', 'b101')");
is($denied->('acc', 'a', 'fa'), 0, 'the filter is as it was');

# ------------------------------------------------------------ missing triggers

foreach my $event (qw(inserted updated deleted truncated column))
{
	$sql->("DROP TRIGGER fa_$event ON acc; SELECT cuckoofilter_table_follow('acc', 'a', name => 'fa')");
	$sql->("INSERT INTO acc VALUES (101, 'new $event', 'b'); UPDATE acc SET a = 'changed $event' WHERE id = 5; DELETE FROM acc WHERE id = 10");
	$same->('acc', 'a', 'fa', "a trigger that was missing: $event");
	$sql->("INSERT INTO acc VALUES (10, 'a10', 'b10')");
}
$sql->('TRUNCATE acc');
is($sql->("SELECT cuckoofilter_table_info('fa') -> 'count'"), 0, 'TRUNCATE');
$sql->('DROP TRIGGER fa_column ON acc');
$fails->("INSERT INTO acc VALUES (1, 'x', 'y')", qr/no trigger says which column of "acc" cuckoofilter table fa follows.*cuckoofilter_table_follow/s,
	'without the trigger that names the column');

# --------------------------------------------------- a table with other parameters

$sql->("CREATE TABLE own (k bigint); INSERT INTO own SELECT generate_series(1, 100);
	SELECT cuckoofilter_table_create('sd', 'numeric', 1000, 0.01, 'seed=5'), cuckoofilter_table_create('sk', 'bigint', 1000, 0.01, 'seed=5')");
foreach my $filter (qw(sd sk))
{
	$sql->("CREATE TRIGGER $filter BEFORE UPDATE OF k ON own FOR EACH STATEMENT WHEN (cuckoofilter_follows('$filter')) EXECUTE FUNCTION cuckoofilter_table_changed()");
}
$sql->("SELECT cuckoofilter_table_follow('own', 'k', name => 'sk'); INSERT INTO own VALUES (1000)");
is($denied->('own', 'k', 'sk'), 0, 'a seed');
$sql->('DELETE FROM own WHERE k = 3');
is($sql->("SELECT cuckoofilter_export('sk') = cuckoofilter_agg(k, 0.01, 1000, 'seed=5') FROM own"), 't', 'changes with a seed');
$fails->("SELECT cuckoofilter_table_follow('own', 'k', name => 'sd')", qr/does not hold items of the type/, 'another type');
$sql->('DROP TABLE sd CASCADE');

# -------------------------------------------------------------- parts of a table

$sql->("CREATE TABLE q (k int) PARTITION BY LIST (k); CREATE TABLE q1 PARTITION OF q DEFAULT; CREATE TABLE h (k int); CREATE TABLE h1 () INHERITS (h)");
$fails->("SELECT cuckoofilter_table_follow('$_', 'k')", qr/"$_" is a partition or a child of another table/, "$_ alone") foreach qw(q1 h1);
$sql->("SELECT cuckoofilter_table_follow('$_', 'k'); INSERT INTO $_ VALUES (5); INSERT INTO ${_}1 VALUES (6); UPDATE $_ SET k = k + 10") foreach qw(q h);
$same->($_, 'k', "${_}_k_filter", "the parent $_") foreach qw(q h);

# ------------------------------------------------------------------ ALTER TABLE

$sql->("CREATE TABLE dl (id int, k text, n int); SELECT cuckoofilter_table_follow('dl', 'k'); INSERT INTO dl SELECT g, 'k' || g, g FROM generate_series(1, 100) g");
foreach my $change ("ADD COLUMN c1 int DEFAULT 1", 'ADD COLUMN c2 timestamptz DEFAULT clock_timestamp()', 'ADD COLUMN c3 SERIAL', 'ADD COLUMN c4 int GENERATED ALWAYS AS (n + 1) STORED',
	'ALTER COLUMN id TYPE bigint', 'DROP COLUMN id', 'ALTER COLUMN c1 TYPE text', 'RENAME COLUMN k TO key', 'RENAME TO dl2', 'SET UNLOGGED')
{
	$sql->('ALTER TABLE ' . ($change eq 'SET UNLOGGED' ? 'dl2' : 'dl') . " $change");
}
$sql->("INSERT INTO dl2 (key) VALUES ('later'); UPDATE dl2 SET key = 'z' || key WHERE n % 2 = 0; DELETE FROM dl2 WHERE n % 5 = 0");
$same->('dl2', 'key', 'dl_k_filter', 'ALTER TABLE');
$fails->('ALTER TABLE dl2 ALTER COLUMN key TYPE varchar', qr/cannot alter type of a column used in a trigger definition/, 'the type of the column');
$fails->('ALTER TABLE dl2 DROP COLUMN key', qr/cannot drop column key of table dl2/, 'the column');

# a generated column: UPDATE names another one
$sql->("CREATE TABLE low (name text, low text GENERATED ALWAYS AS (lower(name)) STORED); SELECT cuckoofilter_table_follow('low', 'low'); INSERT INTO low VALUES ('A'), ('B')");
$sql->("UPDATE low SET name = 'C' WHERE name = 'A'");
$same->('low', 'low', 'low_low_filter', 'a generated column');
# PostgreSQL inserts a row into a partition whose columns are in other places, and shows triggers the row before its columns were generated
$sql->(q{CREATE TABLE gen (id int, junk int, name text, low text GENERATED ALWAYS AS (lower(name)) STORED) PARTITION BY LIST (id); CREATE TABLE gen0 PARTITION OF gen FOR VALUES IN (0);
	ALTER TABLE gen DROP COLUMN junk; SELECT cuckoofilter_table_follow('gen', 'low'); CREATE TABLE gen1 PARTITION OF gen FOR VALUES IN (1);
	CREATE TABLE gen2 PARTITION OF gen DEFAULT PARTITION BY LIST (id); CREATE TABLE gen3 PARTITION OF gen2 FOR VALUES IN (3)});
$sql->("INSERT INTO gen SELECT g % 4, 'A' || g FROM generate_series(0, 99) AS g WHERE g % 4 <> 2; COPY gen FROM PROGRAM 'printf \"0\\tB\\n1\\tC\\n3\\tD\\n\"'; UPDATE gen SET id = 1 WHERE name = 'A0'");
$same->('gen', 'low', 'gen_low_filter', 'a generated column of partitions');
$sql->("SELECT cuckoofilter_table_follow('gen', 'low'); ALTER TABLE gen DETACH PARTITION gen1; SELECT cuckoofilter_table_follow('gen', 'low'); INSERT INTO gen1 (id, name) VALUES (1, 'E'); ALTER TABLE gen ATTACH PARTITION gen1 FOR VALUES IN (1);
	SELECT cuckoofilter_table_follow('gen', 'low'); INSERT INTO gen2 (id, name) VALUES (3, 'F'); INSERT INTO gen VALUES (1, 'G')");
$same->('gen', 'low', 'gen_low_filter', 'partitions that come back');
# a trigger changes the column that the statement does not name
$sql->(q{CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.key = upper(NEW.key); RETURN NEW; END $$;
	CREATE TRIGGER shout BEFORE UPDATE ON dl2 FOR EACH ROW EXECUTE FUNCTION shout(); UPDATE dl2 SET n = n + 1});
$same->('dl2', 'key', 'dl_k_filter', 'a column that a trigger changes');

# dumps keep the column, also where columns before it were dropped
my ($dump) = run_command([ 'pg_dump', '-d', $node->connstr('postgres'), '-t', 'dl2', '-t', 'dl_k_filter', '-t', 'low', '-t', 'low_low_filter' ]);
$dump =~ s/^CREATE TRIGGER shout.*\n//m;
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->safe_psql('restored', 'CREATE EXTENSION cuckoofilter');
my $file = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
append_to_file($file, "$dump\n");
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $file, '-d', $node->connstr('restored') ], 'restore');
is($node->safe_psql('restored', "INSERT INTO dl2 (key) VALUES ('after'); DELETE FROM dl2 WHERE n % 3 = 0; UPDATE low SET name = 'Q' WHERE name = 'B';
	SELECT cuckoofilter_export('dl_k_filter') = cuckoofilter_agg(key, 0.01, 1000000) FROM dl2; SELECT cuckoofilter_export('low_low_filter') = cuckoofilter_agg(low, 0.01, 1000000) FROM low"),
	"t\nt", 'a restored table is followed');

# the column is dropped
$sql->('ALTER TABLE dl2 DROP COLUMN key CASCADE');
$fails->('INSERT INTO dl2 (n) VALUES (1)', qr/no trigger says which column of "dl2".*DROP TABLE .. CASCADE/s, 'a column that was dropped');
$sql->('DROP TABLE dl_k_filter CASCADE; INSERT INTO dl2 (n) VALUES (1)');

# the condition names no other table
$fails->("CREATE TRIGGER wide AFTER INSERT ON own REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN (cuckoofilter_follows('fa')) EXECUTE FUNCTION cuckoofilter_table_changed(); INSERT INTO own VALUES (1)",
	qr/no trigger says which column of "own"/, 'a trigger without its column');
$sql->('DROP TRIGGER IF EXISTS wide ON own');

# a trigger of somebody else that names the filter stays
$sql->(q{CREATE TABLE theirs (k bigint); CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
	CREATE TRIGGER noted AFTER INSERT ON theirs FOR EACH STATEMENT WHEN ('sk'::regclass IS NOT NULL) EXECUTE FUNCTION noted();
	SELECT cuckoofilter_table_follow('own', 'k', name => 'sk')});
is($sql->("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'theirs'::regclass"), 1, 'triggers of others stay');

# ------------------------------------------------------- read-only transactions

$fails->("BEGIN READ ONLY; SELECT cuckoofilter_table_follow('src', 'k'); COMMIT", qr/in a read-only transaction/, 'READ ONLY');
is($node->psql('postgres', "SELECT cuckoofilter_table_create('pg_temp.mine', 'int'); BEGIN READ ONLY; SELECT cuckoofilter_table_add('mine', 1); COMMIT"), 0, 'READ ONLY: a temporary table');

# -------------------------------------------------------------------- domains

$sql->("CREATE DOMAIN dnn AS int NOT NULL; CREATE DOMAIN dch AS text CHECK (VALUE IS NOT NULL AND VALUE <> ''); CREATE TABLE dsrc (x dnn, y dch);
	INSERT INTO dsrc SELECT g, 'y' || g FROM generate_series(1, 100) g; SELECT cuckoofilter_table_follow('dsrc', 'x'), cuckoofilter_table_follow('dsrc', 'y');
	INSERT INTO dsrc VALUES (1000, 'more')");
foreach my $column (qw(x y))
{
	$sql->("CREATE TABLE dcopy_$column (LIKE dsrc_${column}_filter INCLUDING ALL); INSERT INTO dcopy_$column SELECT * FROM dsrc_${column}_filter");
	is($denied->('dsrc', $column, "dcopy_$column"), 0, "a domain that refuses NULL: $column");
}
is($sql->("SELECT cuckoofilter_table_contains('dcopy_x', '1000'), cuckoofilter_table_contains('dcopy_x', 1000::dnn), cuckoofilter_table_contains('dcopy_x', '-1')"), 't|t|f', 'items of a domain');

# --------------------------------------------------------- expressions of others

$sql->(q{CREATE ROLE mallory; CREATE SCHEMA m AUTHORIZATION mallory; CREATE TABLE m.ran (who text); GRANT ALL ON m.ran TO PUBLIC;
	SET ROLE mallory;
	CREATE FUNCTION m.v() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN IF current_user <> 'mallory' THEN INSERT INTO m.ran VALUES (current_user); END IF; RETURN 1000; END $$;
	CREATE FUNCTION m.i() RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN m.v(); END $$;
	CREATE FUNCTION m.o(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN m.v(); END $$;
	CREATE DOMAIN m.d AS int CHECK (m.i() = 1000);
	CREATE TABLE m.constraint_(id bigint PRIMARY KEY, chunk bytea NOT NULL, CHECK (cuckoofilter_chunk_valid(id, chunk, NULL::int, m.i(), 0.01, '')));
	CREATE TABLE m.argument(id bigint PRIMARY KEY, chunk bytea NOT NULL, CHECK (cuckoofilter_chunk_valid(id, chunk, NULL::int, abs(m.i()), 0.01, '')));
	CREATE TABLE m.domain_(id bigint PRIMARY KEY, chunk bytea NOT NULL, CHECK (cuckoofilter_chunk_valid(id, chunk, NULL::m.d, 1000, 0.01, '')));
	CREATE TABLE m.predicate(id bigint PRIMARY KEY, chunk bytea NOT NULL, CHECK (cuckoofilter_chunk_valid(id, chunk, NULL::int, 1000, 0.01, '')));
	CREATE INDEX ON m.predicate (id) WHERE m.i() = 1000;
	CREATE TABLE m.expression(id bigint PRIMARY KEY, chunk bytea NOT NULL, CHECK (cuckoofilter_chunk_valid(id, chunk, NULL::int, 1000, 0.01, '')));
	CREATE INDEX ON m.expression (m.o(id))});
foreach my $table (qw(constraint_ argument domain_ predicate expression))
{
	$node->psql('postgres', $_) foreach "SELECT cuckoofilter_table_info('m.$table')", "SELECT cuckoofilter_table_contains('m.$table', '1')", "SELECT cuckoofilter_table_add('m.$table', '1')";
	is($sql->('SELECT count(*) FROM m.ran'), 0, "no function of the owner runs: $table");
	$sql->('TRUNCATE m.ran');
}
$fails->("SELECT cuckoofilter_table_info('m.constraint_')", qr/constraint_ is not a cuckoofilter table/, 'no constant');

# -------------------------------------------- indexes, triggers, replica identity

my $unusable = sub
{
	my ($change, $error, $back) = @_;

	$sql->($change);
	$fails->("SELECT cuckoofilter_table_add('used', 1)", $error, $change);
	$fails->("SELECT cuckoofilter_table_optimize('used')", $error, "$change: optimize");
	is($sql->("SELECT cuckoofilter_table_contains('used', 500), cuckoofilter_table_check('used')"), 't|', "$change: lookups");
	$sql->($back);
	$sql->("SELECT cuckoofilter_table_add('used', 1)");
	return;
};
$sql->("SELECT cuckoofilter_table_create('used', 'int', 100000); SELECT cuckoofilter_table_add_all('used', ARRAY(SELECT generate_series(1, 20000)))");
$unusable->($_->[0], qr/cannot be used: it has an index besides its primary key/, "DROP INDEX used_more")
  foreach (['CREATE UNIQUE INDEX used_more ON used (id DESC)'], ['CREATE INDEX used_more ON used USING brin (id)'], ['CREATE INDEX used_more ON used (id)'], ['CREATE UNIQUE INDEX used_more ON used (id) WHERE id > 0'],
	['CREATE INDEX used_more ON used USING hash (id)']);
$unusable->('CREATE TABLE ref (id bigint REFERENCES used)', qr/cannot be used: it has a trigger, a rule or a foreign key/, 'DROP TABLE ref');
$unusable->('CREATE RULE used_rule AS ON UPDATE TO used DO INSTEAD NOTHING', qr/cannot be used: it has a trigger, a rule or a foreign key/, 'DROP RULE used_rule ON used');
$sql->("CREATE PUBLICATION changes FOR TABLE used WITH (publish = 'insert, delete'); ALTER TABLE used REPLICA IDENTITY NOTHING");
$fails->("SELECT cuckoofilter_table_optimize('used')", qr/cannot delete from table "used" because it does not have a replica identity and publishes deletes/, 'optimize with a publication of deletions');
is($sql->("SELECT cuckoofilter_table_add('used', -5)"), 't', 'a change with a publication of deletions');

# ---------------------------------------------------- names that mean two things

is($node->psql('postgres', "CREATE TEMP TABLE nm (id bigint); CREATE TYPE public.bytea AS (x int); SET search_path = public, pg_catalog;
	SELECT cuckoofilter_table_create('nm', 'int'); SELECT cuckoofilter_table_add('public.nm', 7)"), 0, 'a temporary table of the name');
is($sql->("SELECT cuckoofilter_table_contains('nm', 7)"), 't', 'the table that was made');
$sql->('DROP TYPE public.bytea');
$sql->("CREATE ACCESS METHOD other TYPE TABLE HANDLER heap_tableam_handler; SET default_table_access_method = other; SELECT cuckoofilter_table_create('am', 'int')");
is($sql->("SELECT amname FROM pg_class JOIN pg_am a ON a.oid = relam WHERE relname = 'am'"), 'heap', 'the access method');

# ------------------------------------------------- one transaction, many statements

# The dead versions of a chunk are not visited: pages that are read for each add.
$sql->("SELECT cuckoofilter_table_create('often', 'int', 1000); SELECT cuckoofilter_table_add_all('often', ARRAY(SELECT generate_series(1, 700)))");
my $reads = sub
{
	my ($n) = @_;

	return $sql->("BEGIN; SELECT count(*) FROM (SELECT cuckoofilter_table_add('often', 1), cuckoofilter_table_remove('often', 1) FROM generate_series(1, $n)) t;
		SELECT pg_stat_get_xact_blocks_fetched('often'::regclass) + pg_stat_get_xact_blocks_fetched('often_pkey'::regclass); ROLLBACK") =~ s/.*\n//r;
};
my ($few, $many) = ($reads->(500), $reads->(4000));
note("blocks: $few, $many");
cmp_ok($many, '<', 10 * $few, 'the price of an add does not grow');

# ------------------------------------------------------- one call, many items

# what an item needs is freed before the next one
$sql->("SELECT cuckoofilter_table_create('many', 'numeric', 1000000); CREATE TABLE list AS SELECT array_agg(g::text) AS items FROM generate_series(1, 500000) g");
my $peak = sub { slurp_file("/proc/$a->{pid}/status") =~ /^VmHWM:\s+(\d+) kB/m ? $1 : die };
$a = CuckooSession->new($node);
$a->query("SELECT cuckoofilter_table_add_all('many', items[1:1000]) FROM list");
my $before = $peak->();
$a->query("SELECT cuckoofilter_table_add_all('many', items) FROM list");
my $grown = $peak->() - $before;
note("grown by $grown kB");
cmp_ok($grown, '<', 20_000, 'memory of many items');

$node->stop;
done_testing();
