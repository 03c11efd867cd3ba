# Filter tables: sessions that add and remove at the same time, roll back to savepoints and are killed,
# compared with an exact model in tables of the same transactions; a table that is followed, on the
# primary and on a standby; snapshots that are older than splits; a crash.
use CuckooCluster;
use CuckooSession;

seed();
my $node = new_cluster('main', streaming => 1, conf => "restart_after_crash = on\nmax_prepared_transactions = 4\n");
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
	foreach my $of (0 .. $#sessions)
	{
		my (undef, $err, $alive) = $sessions[$of]->answer;

		$states{$1}++ while $err =~ /ERROR:  (\w{5}):/g;
		$sessions[$of] = CuckooSession->new($node) if !$alive;
		$sessions[$of]->ask('ROLLBACK') if $alive;
		$sessions[$of]->answer if $alive;
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

# ------------------------------------------------ one session waits for another

my ($a, $b) = @sessions;
$node->safe_psql('postgres', "SELECT cuckoofilter_table_create('small', 'int', 1000)");
$a->query("BEGIN; SELECT cuckoofilter_table_add('small', 1)");
$b->ask("SELECT cuckoofilter_table_add('small', 1)");
$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $b->{pid}");
# the chunk splits before the other session goes on
$a->query("SELECT cuckoofilter_table_add_all('small', ARRAY(SELECT generate_series(2, 3000))); COMMIT");
is(($b->answer)[0], 'f', 'a session that waited finds what the other one has added');
is($node->safe_psql('postgres', "SELECT count(*) FROM generate_series(1, 3000) g WHERE cuckoofilter_table_contains('small', g)"), 3000, 'and loses nothing');
is($node->safe_psql('postgres', "SELECT cuckoofilter_table_copies('small', 1)"), 2, 'two copies');
$a->query("BEGIN; SELECT cuckoofilter_table_add('small', 5000)");
$b->ask("SELECT cuckoofilter_table_add('small', 5000)");
$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $b->{pid}");
$a->query('ROLLBACK');
is(($b->answer)[0], 't', 'a session that waited for a rollback');
$a->query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM small");
$node->safe_psql('postgres', "SELECT cuckoofilter_table_add_all('small', ARRAY(SELECT generate_series(6000, 8000)))");
$a->ask("SELECT cuckoofilter_table_add('small', 9000)");
like(($a->answer)[1], qr/ERROR:  40001/, 'REPEATABLE READ');
$a->query('ROLLBACK');
# an empty table has no row to lock
$node->safe_psql('postgres', 'TRUNCATE small');
$a->query("BEGIN; SELECT cuckoofilter_table_add('small', 1)");
$b->ask("SELECT cuckoofilter_table_add('small', 2)");
$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $b->{pid}");
$a->query('COMMIT');
is(($b->answer)[0], 't', 'two sessions begin an empty table');
is($node->safe_psql('postgres', "SELECT cuckoofilter_table_contains('small', 1), cuckoofilter_table_contains('small', 2)"), 't|t', 'both items are there');

# ------------------------------------------------------------------ a crash

$sessions[$_]->ask(join(';', map { transaction($_ + 1) } 1 .. 20)) foreach 0 .. $#sessions;
select(undef, undef, undef, rand(0.5));
$node->stop('immediate');
$node->start;
check($node, 'crash');

# -------------------------------------------------------- dump and restore

my ($dump) = run_command([ 'pg_dump', '-d', $node->connstr('postgres') ]);
$node->safe_psql('postgres', 'CREATE DATABASE restored');
my $file = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
append_to_file($file, "$dump\n");
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $file, '-d', $node->connstr('restored') ], 'restore');
is($node->safe_psql('restored', "INSERT INTO source VALUES (-5, 'after'); SELECT cuckoofilter_table_contains('source_key_filter', 'after'), cuckoofilter_export('source_key_filter') = cuckoofilter_agg(key, 0.0001, 200000) FROM source"),
	't|t', 'triggers go on after a restore');
is($node->safe_psql('restored', "SELECT count(*) FROM model WHERE NOT cuckoofilter_table_contains('seen', item)"), 0, 'nothing is lost by a restore');

$standby->stop;
$node->stop;
done_testing();
