# Filter tables: sessions that add and remove at the same time, roll back to savepoints and are killed,
# compared with an exact model in tables of the same transactions; a table that is followed, on the
# primary and on a standby; snapshots that are older than splits; a crash.
use CuckooCluster;
use CuckooSession;

seed();
my $node = new_cluster('main', streaming => 1, conf => "restart_after_crash = on\nmax_prepared_transactions = 4\nwal_level = logical\n");
my $sessions = 4;
my $rounds = rounds(12);

# The table, and what is in it: a row for each copy, written by the same transactions.
$node->safe_psql('postgres', q{
	SELECT cuckoofilter_table_create('seen', 'bigint', 200000, 0.0001);
	SELECT cuckoofilter_table_create('once', 'bigint', 200000, 0.000001, 'kind=set');
	CREATE TABLE model (item bigint);
	CREATE TABLE target (item bigint, session int);
	CREATE TABLE source (id bigint PRIMARY KEY, key text);
	SELECT cuckoofilter_table_follow('source', 'key', 0.0001, 200000)});
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nmax_standby_streaming_delay = -1\n");
$standby->start;

# One step of a session: a change of the filter and of the model. Each item is of one session only,
# so that the model knows what a removal finds.
sub step
{
	my ($session) = @_;
	my ($n, $from) = (1 + int(rand(rand() < 0.3 ? 2000 : 20)), int(rand(100000)));
	my $items = "SELECT $session * 1000000 + $from + g FROM generate_series(1, $n) g";
	my $kind = int(rand(7));

	return "SELECT cuckoofilter_table_add_all('seen', ARRAY($items)); INSERT INTO model $items" if $kind < 2;
	return "SELECT cuckoofilter_table_add('seen', $session * 1000000 + $from); INSERT INTO model VALUES ($session * 1000000 + $from)"
	  if $kind == 2;
	return "WITH gone AS (DELETE FROM model WHERE ctid = ANY (ARRAY(SELECT ctid FROM model WHERE item / 1000000 = $session ORDER BY random() LIMIT $n)) RETURNING item)
		SELECT cuckoofilter_table_remove_all('seen', array_agg(item)) FROM gone" if $kind < 5;
	return "INSERT INTO source SELECT g, 'k' || g FROM ($items) t(g) ON CONFLICT (id) DO UPDATE SET key = source.key || 'x'" if $kind == 5;
	return "DELETE FROM source WHERE id / 1000000 = $session AND id % 7 = " . int(rand(7));
}

# A transaction, perhaps with savepoints.
sub transaction
{
	my ($session) = @_;
	my $isolation = rand() < 0.2 ? 'REPEATABLE READ' : 'READ COMMITTED';
	my $sql = "BEGIN ISOLATION LEVEL $isolation; ";

	foreach my $i (0 .. int(rand(3)))
	{
		my $end = rand() < 0.3 ? 'ROLLBACK TO' : 'RELEASE';
		$sql .= rand() < 0.3 ? "SAVEPOINT s; " . step($session) . "; $end s; " : step($session) . '; ';
	}
	return $sql . (rand() < 0.15 ? 'ROLLBACK' : 'COMMIT');
}

# Every item of the model is in the filter, with at least its copies up to what a group can have, and
# the rate is small; the followed table has exactly what an aggregate has.
sub check
{
	my ($of, $what) = @_;
	my $ask = sub { $of->safe_psql('postgres', $_[0]) };

	is($ask->("SELECT count(*) FROM (SELECT item, count(*) AS n FROM model GROUP BY item) m WHERE cuckoofilter_table_copies('seen', item) < least(n, 8)"),
		0, "$what: no item is lost");
	is($ask->("SELECT count(*) FROM source WHERE NOT cuckoofilter_table_contains('source_key_filter', key)"), 0, "$what: no followed item is lost");
	is($ask->("SELECT cuckoofilter_export('source_key_filter') = cuckoofilter_agg(key, 0.0001, 200000) FROM source"), 't', "$what: nothing else is followed");
	cmp_ok($ask->("SELECT count(*) FROM generate_series(100000000, 100020000) g WHERE cuckoofilter_table_contains('seen', g)"), '<', 30, "$what: the rate");
	is($ask->("SELECT cuckoofilter_table_check('seen'), cuckoofilter_table_check('source_key_filter'), cuckoofilter_table_check('once')"), '||', "$what: no damage");
}

# --------------------------------------------------------------- many sessions

my @sessions = map { CuckooSession->new($node) } 1 .. $sessions;
# an old snapshot, which asks again after all splits
my $old = CuckooSession->new($node);
$old->query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM model");
my ($failed, $done, %states) = (0, 0);

foreach my $round (1 .. $rounds)
{
	foreach my $of (0 .. $#sessions)
	{
		$sessions[$of]->ask(join(';', map { transaction($of + 1) } 1 .. 5));
	}
	my $killed = rand() < 0.3 ? int(rand($sessions)) : -1;
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($sessions[$killed]{pid})") if $killed >= 0;
	$node->psql('postgres', "SELECT cuckoofilter_table_optimize('seen'), cuckoofilter_table_optimize('source_key_filter')") if rand() < 0.3;
	# a standby that is asked meanwhile: one query has one snapshot of rows and chunks
	foreach my $time (1 .. 3)
	{
		is($standby->safe_psql('postgres', "SELECT (SELECT count(*) FROM (SELECT item, count(*) AS n FROM model GROUP BY item) m WHERE cuckoofilter_table_copies('seen', item) < least(n, 8)),
			(SELECT count(*) FROM source WHERE NOT cuckoofilter_table_contains('source_key_filter', key)), (SELECT count(*) FROM source) - (cuckoofilter_table_info('source_key_filter') -> 'count')::int"),
			'0|0|0', "round $round: a standby that is asked meanwhile, $time");
	}
	foreach my $of (0 .. $#sessions)
	{
		my (undef, $err, $alive) = $sessions[$of]->answer;

		$states{$1}++ while $err =~ /ERROR:  (\w{5}):/g;
		$sessions[$of]->ask('ROLLBACK') if $alive;
		(undef, undef, $alive) = $sessions[$of]->answer if $alive; # a kill may come as late as this
		$sessions[$of] = CuckooSession->new($node) if !$alive;
	}
	check($node, "round $round") if $round % 4 == 0;
}
note(join(', ', map { "$_: $states{$_}" } sort keys %states));
is(join(' ', grep { !/^(40001|40P01|25P02|3B001|57P01)$/ } sort keys %states), '', 'no error but conflicts, deadlocks and kills');
cmp_ok($node->safe_psql('postgres', "SELECT cuckoofilter_table_info('seen') -> 'rows'"), '>', 1, 'there were splits');
is($old->query("SELECT count(*) FROM model WHERE NOT cuckoofilter_table_contains('seen', item)"), 0, 'an old snapshot misses nothing');
$old->query('COMMIT');
check($node, 'sessions');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
check($standby, 'standby');
is(error_state($standby, "SELECT cuckoofilter_table_add('seen', 1)"), '25006', 'a standby is not changed');

# ---------------------------------------------------- each row once, in any order

$node->safe_psql('postgres', 'CREATE TABLE staging AS SELECT g::bigint AS item FROM generate_series(1, 3000) g ORDER BY random()');
$sessions[$_]->ask("INSERT INTO target SELECT item, $_ FROM (SELECT * FROM staging ORDER BY random()) s WHERE cuckoofilter_table_add('once', item)") foreach 0 .. $#sessions;
is(join('', map { ($_->answer)[1] } @sessions), '', 'queries that add the items of their rows end in no deadlock');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT item) FROM target'), '3000|3000', 'each row once');

# ---------------------------------------------------- rows that are not where they were

# A function keeps the places of rows for the calls of one query. In a block of PL/pgSQL each expression
# is one query for it, whatever happens between two calls: splits, savepoints, fewer pages, other files.
$node->safe_psql('postgres', "DROP TABLE IF EXISTS moved_model, moved, moved_older; SELECT setseed($_);" . q{
	CREATE TABLE moved_model (item bigint);
	SELECT cuckoofilter_table_create('moved_older', 'bigint', 200000, 0.0001);
	BEGIN;
	SELECT cuckoofilter_table_create('moved', 'bigint', 200000, 0.0001);
	DO $$
	DECLARE
		tables regclass[] := ARRAY['moved', 'moved_older'];
		items bigint[] := '{}';
		kept bigint[];
		item bigint;
		kind int;
		times int := 0;
		which regclass;
	BEGIN
		FOR i IN 1 .. 60 LOOP
			kept := items;
			kind := i % 6;
			BEGIN
				IF kind < 3 THEN
					items := items || ARRAY(SELECT (random() * 1e15)::bigint FROM generate_series(1, (random() ^ 3 * 20000)::int));
				ELSIF kind = 3 THEN
					TRUNCATE moved, moved_older;
					items := ARRAY[i];
				ELSE
					PERFORM cuckoofilter_table_optimize(t) FROM unnest(tables) t;
				END IF;
				PERFORM cuckoofilter_table_add_all(t, items) FROM unnest(tables) t WHERE kind < 4;
				FOR j IN 1 .. 200 LOOP
					item := items[1 + (random() * (cardinality(items) - 1))::int];
					FOREACH which IN ARRAY tables[1:1 + (j % 50 = 0)::int] LOOP
						IF NOT cuckoofilter_table_contains(which, item) THEN
							RAISE EXCEPTION '% denied % in step %', which, item, i;
						END IF;
					END LOOP;
					items := items || (random() * 1e15)::bigint;
					times := times + (NOT cuckoofilter_table_add('moved', items[cardinality(items)]))::int + (NOT cuckoofilter_table_add('moved_older', items[cardinality(items)]))::int;
				END LOOP;
				IF random() < 0.3 THEN
					RAISE EXCEPTION 'back';
				END IF;
			EXCEPTION WHEN raise_exception THEN
				IF SQLERRM <> 'back' THEN
					RAISE;
				END IF;
				items := kept;
			END;
		END LOOP;
		IF times > 30 THEN
			RAISE EXCEPTION '% items were there before', times;
		END IF;
		INSERT INTO moved_model SELECT unnest(items);
	END $$;
	COMMIT}),
	is($node->safe_psql('postgres', q{SELECT count(*), cuckoofilter_table_check('moved'), cuckoofilter_table_check('moved_older') FROM moved_model
		WHERE NOT cuckoofilter_table_contains('moved', item) OR NOT cuckoofilter_table_contains('moved_older', item)}), '0||', 'rows that move')
  foreach map { rand() } 1 .. 2;
$node->safe_psql('postgres', 'DROP TABLE moved_model, moved, moved_older');
# TRUNCATE in the transaction that has created the table keeps the file
$node->safe_psql('postgres', q{BEGIN;
	SELECT cuckoofilter_table_create('moved', 'bigint', 200000, 0.0001);
	DO $$
	DECLARE
		n int;
	BEGIN
		FOREACH n IN ARRAY ARRAY[50000, 2, 50000] LOOP
			PERFORM cuckoofilter_table_add_all('moved', ARRAY(SELECT generate_series(1, n)));
			FOR i IN 1 .. 2000 LOOP
				IF NOT cuckoofilter_table_contains('moved', i) AND i <= n THEN
					RAISE EXCEPTION 'denied % of %', i, n;
				END IF;
			END LOOP;
			TRUNCATE moved;
		END LOOP;
	END $$;
	ROLLBACK});


# ------------------------------------------------ one session waits for another

my ($a, $b) = @sessions;
$node->safe_psql('postgres', "SELECT cuckoofilter_table_create('small', 'int', 1000)");
$a->query("BEGIN; SELECT cuckoofilter_table_add('small', 1)");
$b->ask("SELECT cuckoofilter_table_add('small', 1)");
$b->wait_for_lock;
# the chunk splits before the other session goes on
$a->query("SELECT cuckoofilter_table_add_all('small', ARRAY(SELECT generate_series(2, 3000))); COMMIT");
is(($b->answer)[0], 'f', 'a session that waited finds what the other one has added');
is($node->safe_psql('postgres', "SELECT count(*) FROM generate_series(1, 3000) g WHERE cuckoofilter_table_contains('small', g)"), 3000, 'and loses nothing');
is($node->safe_psql('postgres', "SELECT cuckoofilter_table_copies('small', 1)"), 2, 'two copies');
$a->query("BEGIN; SELECT cuckoofilter_table_add('small', 5000)");
$b->ask("SELECT cuckoofilter_table_add('small', 5000)");
$b->wait_for_lock;
$a->query('ROLLBACK');
is(($b->answer)[0], 't', 'a session that waited for a rollback');
$a->query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM small");
$node->safe_psql('postgres', "SELECT cuckoofilter_table_add_all('small', ARRAY(SELECT generate_series(6000, 8000)))");
$a->ask("SELECT cuckoofilter_table_add('small', 9000)");
like(($a->answer)[1], qr/ERROR:  40001/, 'REPEATABLE READ');
$a->query('ROLLBACK');
# each of two serializable sessions adds what the other one has not found
$a->query("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT cuckoofilter_table_contains('small', 20001)");
$b->query("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT cuckoofilter_table_contains('small', 20002)");
$a->ask("SELECT cuckoofilter_table_add('small', 20002)");
my ($found, $error) = $a->answer;
$b->ask("SELECT cuckoofilter_table_add('small', 20001); COMMIT");
$a->ask('COMMIT');
my $errors = join(' ', $error, map { ($_->answer)[1] } $a, $b);
is(scalar(() = $errors =~ /ERROR:  40001/g), 1, "SERIALIZABLE: one of them fails: $errors");
foreach ($a, $b) { $_->ask('ROLLBACK'); $_->answer }
# an empty table has no row to lock
$node->safe_psql('postgres', 'TRUNCATE small');
$a->query("BEGIN; SELECT cuckoofilter_table_add('small', 1)");
$b->ask("SELECT cuckoofilter_table_add('small', 2)");
$b->wait_for_lock;
$a->query('COMMIT');
is(($b->answer)[0], 't', 'two sessions begin an empty table');
is($node->safe_psql('postgres', "SELECT cuckoofilter_table_contains('small', 1), cuckoofilter_table_contains('small', 2)"), 't|t', 'both items are there');

# ------------------------------------------------------------------ a crash

$sessions[$_]->ask(join(';', map { transaction($_ + 1) } 1 .. 20)) foreach 0 .. $#sessions;
select(undef, undef, undef, rand(0.5));
$node->stop('immediate');
$node->start;
check($node, 'crash');

# --------------------------------------------- prepared transactions, a crash

$node->safe_psql('postgres', "SELECT cuckoofilter_table_create('prepared', 'int', 10000); SELECT cuckoofilter_table_add_all('prepared', ARRAY[1, 2])");
$node->safe_psql('postgres', "BEGIN; SELECT cuckoofilter_table_add_all('prepared', ARRAY(SELECT generate_series(3, 3000))), cuckoofilter_table_remove('prepared', 1); INSERT INTO source VALUES (-1, 'prepared'); PREPARE TRANSACTION 'kept'");
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', "SELECT cuckoofilter_table_contains('prepared', 1), cuckoofilter_table_contains('prepared', 77), cuckoofilter_table_contains('source_key_filter', 'prepared')"), 't|f|f', 'a prepared transaction is not visible');
# its chunk is locked
is(error_state($node, "SET lock_timeout = '1s'; SELECT cuckoofilter_table_add('prepared', 5000)"), '55P03', 'others wait for it');
$node->safe_psql('postgres', "COMMIT PREPARED 'kept'");
is($node->safe_psql('postgres', "SELECT cuckoofilter_table_contains('prepared', 1), count(*) FILTER (WHERE NOT cuckoofilter_table_contains('prepared', g)), cuckoofilter_table_contains('source_key_filter', 'prepared') FROM generate_series(2, 3000) g"), 'f|0|t', 'it is after its commit');
$node->safe_psql('postgres', "BEGIN; SELECT cuckoofilter_table_remove_all('prepared', ARRAY(SELECT generate_series(2, 3000))); DELETE FROM source WHERE id = -1; PREPARE TRANSACTION 'undone'");
$node->stop('immediate');
$node->start;
$node->safe_psql('postgres', "ROLLBACK PREPARED 'undone'");
is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE NOT cuckoofilter_table_contains('prepared', g)), cuckoofilter_table_contains('source_key_filter', 'prepared') FROM generate_series(2, 3000) g"), '0|t', 'one that was rolled back');
check($node, 'prepared');

# -------------------------------------------------------- dump and restore

# The filter of a source is what an aggregate says, triggers go on, and the other tables have their items.
sub restored
{
	my ($of, $database, $how) = @_;

	is($of->safe_psql($database, "INSERT INTO source VALUES (-5, 'after'); SELECT cuckoofilter_table_contains('source_key_filter', 'after'), cuckoofilter_export('source_key_filter') = cuckoofilter_agg(key, 0.0001, 200000) FROM source; DELETE FROM source WHERE id = -5"),
		't|t', "$how: triggers go on");
	is($of->safe_psql($database, "SELECT count(*) FROM model WHERE NOT cuckoofilter_table_contains('seen', item)"), 0, "$how: nothing is lost");
}

my $folder = PostgreSQL::Test::Utils::tempdir();
my @psql = ('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f');
my $database = 0;

# Restore dumps, in their order, into a new database.
sub restore
{
	my ($how, @dumps) = @_;
	my $name = 'restored_' . ++$database;

	$node->safe_psql('postgres', "CREATE DATABASE $name");
	foreach my $options (@dumps)
	{
		my $file = "$folder/dump_" . $database;
		my @restore = grep({ $_ eq '-Fc' } @$options) ? ('pg_restore', '-e', '-j2', '-d', $node->connstr($name), $file) : (@psql, $file, '-d', $node->connstr($name));

		$node->command_ok([ 'pg_dump', @$options, '-f', $file, '-d', $node->connstr('postgres') ], "$how: dump");
		$node->command_ok(\@restore, "$how: restore");
	}
	restored($node, $name, $how);
	return $name;
}

restore('plain', []);
restore('custom', ['-Fc']);
restore('inserts', [ '--rows-per-insert=100', '--no-sync' ]);
my $copied = restore('schema, then data', ['--schema-only'], [ '--data-only', '--disable-triggers' ]);
# data without --disable-triggers: the rows of the source go to the filter, too
$node->safe_psql($copied, 'TRUNCATE source, source_key_filter, model, seen');
run_command([ 'pg_dump', '--data-only', '-t', 'source*', '-f', "$folder/data", '-d', $node->connstr('postgres') ]);
my (undef, $err) = run_command([ @psql, "$folder/data", '-d', $node->connstr($copied) ]);
like($err, qr/duplicate key value violates unique constraint "source_key_filter_pkey"/, 'data without --disable-triggers');
$node->safe_psql($copied, "SELECT cuckoofilter_table_follow('source', 'key', 0.0001, 200000)");
is($node->safe_psql($copied, "SELECT cuckoofilter_export('source_key_filter') = cuckoofilter_agg(key, 0.0001, 200000) FROM source"), 't', 'filled anew');

# ------------------------------------------------------- logical replication

$node->safe_psql($copied, 'TRUNCATE source, source_key_filter, model, seen');
$node->safe_psql('postgres', "CREATE PUBLICATION tables FOR TABLE source, source_key_filter; SELECT pg_create_logical_replication_slot('tables', 'pgoutput')");
$node->safe_psql($copied, "CREATE SUBSCRIPTION tables CONNECTION '" . $node->connstr . " dbname=postgres' PUBLICATION tables WITH (create_slot = false, slot_name = tables)");
$sessions[0] = CuckooSession->new($node);
$sessions[0]->ask(join('; ', map { my $i = $_; "INSERT INTO source SELECT -g, 'new' || g FROM generate_series(${i}000, ${i}999) g; DELETE FROM source WHERE id % 7 = " . $i % 7 } 1 .. 10));
# each table has its initial copy by itself; from then on they change together
$node->poll_query_until($copied, "SELECT count(*) = 2 FROM pg_subscription_rel WHERE srsubstate = 'r'");
my $asked = 0;
my $wrong = "SELECT count(*) FROM source WHERE NOT cuckoofilter_table_contains('source_key_filter', key)";
do
{
	is($node->safe_psql($copied, $wrong), 0, 'a subscriber that is asked meanwhile') if $asked++ % 20 == 0;
} until $node->safe_psql('postgres', "SELECT state <> 'active' FROM pg_stat_activity WHERE pid = $sessions[0]{pid}") eq 't';
$sessions[0]->answer;
$node->wait_for_catchup('tables');
is($node->safe_psql($copied, "$wrong; SELECT cuckoofilter_table_check('source_key_filter'); SELECT cuckoofilter_export('source_key_filter') = cuckoofilter_agg(key, 0.0001, 200000) FROM source"), "0\n\nt", 'a subscriber');
is($node->safe_psql('postgres', 'SELECT count(*), md5(string_agg(id::text || chunk::text, $$,$$ ORDER BY id)) FROM source_key_filter'), $node->safe_psql($copied, 'SELECT count(*), md5(string_agg(id::text || chunk::text, $$,$$ ORDER BY id)) FROM source_key_filter'), 'has the same chunks');
$node->safe_psql($copied, 'ALTER SUBSCRIPTION tables DISABLE; ALTER SUBSCRIPTION tables SET (slot_name = NONE); DROP SUBSCRIPTION tables');
ok($node->poll_query_until('postgres', "SELECT NOT active FROM pg_replication_slots WHERE slot_name = 'tables'"), 'the slot is free');
$node->safe_psql('postgres', "SELECT pg_drop_replication_slot('tables')");

# ------------------------------------------------------------------ places of rows

# Calls of one query search the index less often than there are chunks: a search finds the neighbours, too.
my $many = int(rand(2)) ? 20000 : 300000;
$node->safe_psql('postgres', "SELECT cuckoofilter_table_create('asked', 'bigint', $many); SELECT cuckoofilter_table_add_all('asked', ARRAY(SELECT generate_series(1, $many)))");
foreach my $state ('as it was built', 'with old versions of rows')
{
	my ($found, $chunks, $searches) = split(/\|/, $node->safe_psql('postgres', "BEGIN; CREATE TEMP TABLE before ON COMMIT DROP AS SELECT idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'asked';
		CREATE TEMP TABLE lookups ON COMMIT DROP AS SELECT count(*) FROM generate_series(1, $many) g WHERE cuckoofilter_table_contains('asked', g::bigint);
		SELECT count, (SELECT count(*) FROM asked), s.idx_scan - before.idx_scan FROM lookups, before, pg_stat_xact_user_tables s WHERE relname = 'asked'; COMMIT"));
	is($found, $many, "$many lookups in one query, $state");
	cmp_ok($searches, '<', $chunks / 2 + 50, "$searches searches of the index, $chunks chunks");
	$node->safe_psql('postgres', "SELECT cuckoofilter_table_add_all('asked', ARRAY(SELECT generate_series(1, $many, 50))), cuckoofilter_table_remove_all('asked', ARRAY(SELECT generate_series(1, $many, 50)))") foreach 1 .. 3;
}

# ------------------------------------------------------------------ pg_upgrade

# The LOAD of pg_upgrade does not use the path on which PostgreSQL 18 finds an extension that is staged.
my $loads = server_version($node) < 180000 || !-s ($ENV{CUCKOOFILTER_STAGED} // '/dev/null');
$standby->stop;
$node->stop;
if ($loads)
{
	my $upgraded = PostgreSQL::Test::Cluster->new('upgraded');
	my ($bindir) = grep { -x "$_/pg_upgrade" } split(/:/, $ENV{PATH});
	$upgraded->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
	$upgraded->append_conf('postgresql.conf', slurp_file($ENV{CUCKOOFILTER_STAGED}) . "autovacuum = off\nmax_prepared_transactions = 4\n") if $ENV{CUCKOOFILTER_STAGED};
	chdir $folder;
	command_ok([ 'pg_upgrade', '--no-sync', '-d', $node->data_dir, '-D', $upgraded->data_dir, '-b', $bindir, '-B', $bindir, '-s', $node->host, '-p', $node->port, '-P', $upgraded->port ], 'pg_upgrade');
	$upgraded->start;
	check($upgraded, 'upgraded');
	restored($upgraded, 'postgres', 'upgraded');
	$upgraded->stop;
}
done_testing();
