# Joins on a hot standby, and on its primary, give the same rows in every mode, in one snapshot, while the primary inserts,
# updates, deletes, VACUUMs, summarizes, desummarizes and builds indexes.  First snapshots older than an index or its summaries,
# which lack rows that only these snapshots see; then random ones.  SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooJoin;
use CuckooRandom;
use CuckooSession;
use PostgreSQL::Test::Cluster;

my $primary = random_cluster("max_wal_senders = 5\nenable_mergejoin = off\nmax_standby_streaming_delay = -1\nhot_standby_feedback = off\n", streaming => 1);
seed();
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->safe_psql('postgres', "CREATE TABLE filler AS SELECT repeat('x', 300) AS filler");

my @sessions = map { CuckooSession->new($_) } ($standby, $primary);
my $session = $sessions[0];
my $queries = 0;

# Run SQL on the primary, and let the standby replay it.
sub change
{
	# the message writes all that is before it, as summaries of BRIN have no transaction that would
	$primary->safe_psql('postgres', $_) foreach (@_, q{SELECT pg_logical_emit_message(true, '', '')});
	$primary->wait_for_catchup($standby);
	return;
}

# A query gives the same rows in all modes. Recovery may cancel it, or hold a lock while it waits for the query's own transaction.
sub compare
{
	my ($name, $query) = @_;
	my %rows;

	foreach my $mode (qw(off on auto verify))
	{
		$session->ask("SET cuckoofilter.join_filter = $mode; $query");
		my ($out, $err, $alive) = $session->answer;
		die "the server ended the session: $err" if !$alive;
		return if $err =~ /ERROR: +(40001|40P01|55P03)/;
		$rows{$mode} = $err eq '' ? $out : "error: $err";
	}
	$queries++;
	return $rows{off} if !grep { $rows{$_} ne $rows{off} } qw(on auto verify);
	return fail("$name: $query\n" . join("\n", map { "$_: $rows{$_}" } sort keys %rows));
}

# ------------------------------------------ snapshots older than an index, or than its summaries

my $join = 'SELECT count(*), sum(id) FROM fact JOIN d USING (k)';
my $explain = "SET cuckoofilter.join_filter = on; EXPLAIN (ANALYZE, COSTS OFF) $join";
my $all_but_few = qr/Blocks Skipped: 8\d\d of 8\d\d by fact_k/;
my $facts = 'CREATE TABLE fact AS SELECT g AS id, g / 10 AS k, filler FROM generate_series(0, 19999) g, filler';
my %case = ( # before the snapshot, and after it
	btree => [ '', 'CREATE INDEX fact_k ON fact (k)' ],
	brin => [ 'CREATE INDEX fact_k ON fact USING brin (k) WITH (pages_per_range = 4)', q{SELECT brin_desummarize_range('fact_k', 4 * g) FROM generate_series(0, 300) g; SELECT brin_summarize_new_values('fact_k')} ]);
foreach my $case (map { my $case = $_; ([ $case, 0 ], [ $case, 2 ]) } sort keys %case)
{
	my ($name, $workers, $before, $after) = ("@$case workers", $case->[1], @{ $case{ $case->[0] } });

	change('DROP TABLE IF EXISTS fact, d', 'CREATE TABLE d AS SELECT g AS k FROM generate_series(500, 529) g', $facts, $before, 'INSERT INTO fact SELECT g, 510, filler FROM generate_series(20000, 20999) g, filler', 'ANALYZE fact, d');
	$session->query("SET enable_nestloop = off; SET max_parallel_workers_per_gather = $workers; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
	like($session->query($explain), $all_but_few, "$name: blocks are skipped") if $before ne '';
	change('DELETE FROM fact WHERE k BETWEEN 400 AND 600', $after);
	is(compare("$name, an older snapshot", $join), '1300|22044350', "$name: the rows of an older snapshot");
	like($session->query($explain), qr/Blocks Skipped: 0 of \d+ by fact_k\n\s*Blocks Not Skipped: before VACUUM, the index may lack some of their rows/, "$name: EXPLAIN says why no block is skipped");
	$session->query('COMMIT');
	is(compare("$name, a new snapshot", $join), '0|', "$name: no rows in a new one");
	like($session->query($explain), $all_but_few, "$name: in which blocks are skipped");
	next if $before eq '' || $workers != 0;
	change('VACUUM fact'); # only where blocks are all-visible, from 16 on
	my $loop = 'SET cuckoofilter.join_filter = auto; SET enable_nestloop = on; EXPLAIN SELECT count(*) FROM fact JOIN d USING (k) WHERE d.k < 502';
	like($primary->safe_psql('postgres', $loop), qr/Hash Join/, 'a hash join in place of a nested loop over the BRIN index');
	like($session->query($loop), qr/Nested Loop/, 'not on the standby');
}

# ------------------- transactions that never write to the table end, and it was never vacuumed

# The build side is read late, so that transactions end between the snapshot and the search.
change('DROP TABLE fact', 'CREATE DATABASE other', q{CREATE FUNCTION waits(k integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN IF k = 500 THEN PERFORM pg_sleep(0.3); END IF; RETURN true; END'});
$primary->safe_psql($_, 'CREATE TABLE beside (n integer)') foreach qw(postgres other);
my $late = 'SELECT count(*), sum(id) FROM fact JOIN (SELECT k FROM d WHERE waits(k)) d USING (k)';
foreach my $index ('(k)', 'USING brin (k) WITH (pages_per_range = 4)')
{
	change('DROP TABLE IF EXISTS fact', $facts, "CREATE INDEX fact_k ON fact $index", 'ANALYZE fact');
	foreach my $database (qw(other postgres))
	{
		my $busy = CuckooSession->new($primary, $database);

		$busy->ask('SET statement_timeout = 0; DO $$BEGIN LOOP INSERT INTO beside VALUES (1); COMMIT; PERFORM pg_sleep(0.002); END LOOP; END$$');
		foreach my $at (@sessions)
		{
			$session = $at;
			$session->query('SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0; SELECT pg_sleep(1.1)'); # positions are noted once a second
			foreach my $workers (0, 2)
			{
				my $name = join(' ', $session == $sessions[0] ? 'standby' : 'primary', "an index $index, a busy session in $database, $workers workers");

				like($session->query("SET max_parallel_workers_per_gather = $workers; SET cuckoofilter.join_filter = on; EXPLAIN (ANALYZE, COSTS OFF) $late"), $all_but_few, "$name: blocks are skipped");
				is($session->query("SET cuckoofilter.join_filter = on; $late"), '300|1544850', "$name: the rows");
			}
		}
		$primary->safe_psql('postgres', "SELECT pg_terminate_backend($busy->{pid})");
		$busy->answer;
	}
}

# An index that is built or summarized while a query waits, which was planned before.
sub meanwhile
{
	my ($node, $name, $before, $after, @table) = @_;
	my $holder = CuckooSession->new($node);

	change('DROP TABLE IF EXISTS fact', @table);
	$session->query("SET cuckoofilter.join_filter = on; SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0; SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT count(*), sum(id) FROM fact JOIN (SELECT k FROM d WHERE locks(k)) d USING (k); EXECUTE p; SELECT pg_sleep(1.1)");
	$before->();
	$holder->query('SELECT pg_advisory_lock(1)');
	$session->ask('EXECUTE p');
	until ($holder->query(q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}) > 0) { }
	$after->();
	$holder->query('SELECT pg_advisory_unlock(1)');
	is($session->answer, '300|1544850', "$name: the rows of an older snapshot");
	$session->query('DEALLOCATE p; RESET plan_cache_mode');
	$holder->quit;
	return;
}

$session = $sessions[0];
change(q{CREATE FUNCTION locks(k integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN IF k = 500 THEN PERFORM pg_advisory_xact_lock_shared(1); END IF; RETURN true; END'});
foreach my $case ([ 'B-tree', '(k)', 'REINDEX INDEX fact_k' ], [ 'BRIN', 'USING brin (k) WITH (pages_per_range = 4)', $case{brin}[1] ], [ 'BRIN, built', 'USING brin (k)', 'REINDEX INDEX fact_k' ])
{
	my ($name, $index, $after) = @$case;

	meanwhile($standby, $name, sub { }, sub { change('DELETE FROM fact WHERE k BETWEEN 400 AND 600', $after) }, $facts, "CREATE INDEX fact_k ON fact $index", 'ANALYZE fact');
}

# ------------------------------------ on the primary: an UPDATE of BRIN's columns is HOT from 16 on

my $hot = server_version($primary) >= 160000;
my $vacuumed = qr/Blocks Skipped: 1[78]\d\d of 18\d\d by fact_k/;
my $changed = $hot ? qr/^(?!.*Blocks Skipped: [1-9])/s : $vacuumed; # no block is all-visible
my $other = CuckooSession->new($primary);
my @unsummarized = (
	'DROP TABLE IF EXISTS fact', 'CREATE TABLE fact (id integer, k integer, filler text) WITH (fillfactor = 50)', 'CREATE INDEX fact_k ON fact USING brin (k) WITH (pages_per_range = 4)',
	'INSERT INTO fact SELECT g, g / 10, filler FROM generate_series(0, 19999) g, filler', 'ANALYZE fact');
my $update = q{UPDATE fact SET k = k + 5000 WHERE k BETWEEN 480 AND 549; SELECT pg_stat_get_xact_tuples_hot_updated('fact'::regclass)};
my $summarize = q{SELECT brin_summarize_new_values('fact_k')};

$session = $sessions[1];
change('CREATE TABLE locked ()', 'DROP TABLE d', 'CREATE TABLE d AS SELECT g AS k FROM generate_series(500, 529) g', 'ANALYZE d');
foreach my $workers (0, 2)
{
	my $name = "HOT updates, $workers workers";

	# The snapshot's list has the transaction that updates, and not its own one, which its workers see.
	change(@unsummarized);
	$session->query("SET enable_nestloop = off; SET max_parallel_workers_per_gather = $workers; BEGIN ISOLATION LEVEL REPEATABLE READ; LOCK TABLE locked IN ACCESS EXCLUSIVE MODE");
	is($other->query("BEGIN; $update") > 600, $hot, "$name: HOT from 16 on");
	change('ANALYZE d');
	$session->query('SELECT 1');
	$other->query('COMMIT');
	change($summarize);
	is(compare("$name, an older snapshot", $join), '300|1544850', "$name: the rows of an older snapshot");
	like($session->query($explain), $changed, "$name: which can skip no block before VACUUM");
	like($primary->safe_psql('postgres', "SET enable_nestloop = off; SET max_parallel_workers_per_gather = 0; $explain"), $vacuumed, "$name: a newer one skips blocks");
	change('VACUUM fact');
	is(compare("$name, after VACUUM", $join), '300|1544850', "$name: the rows after VACUUM");
	like($session->query($explain), $vacuumed, "$name: when blocks are skipped");
	$session->query('COMMIT');
	is(compare("$name, a new snapshot", $join), '0|', "$name: the rows of a new snapshot");
}

# A transaction that updates and builds, and others that summarize, while the query waits.
meanwhile($primary, 'HOT updates and REINDEX', sub { $other->query("BEGIN; $update; REINDEX INDEX fact_k") }, sub { $other->query('COMMIT') }, @unsummarized);
meanwhile($primary, 'HOT updates, and summaries', sub { }, sub { change($update, $summarize) }, @unsummarized);

change(@unsummarized);
$session->query("SET cuckoofilter.join_filter = on; BEGIN; DECLARE c CURSOR FOR $join");
change($update, $summarize);
is($session->query('FETCH c'), '300|1544850', 'HOT updates: the rows of a cursor');
$session->query('COMMIT');

# ------------------------------------------------------------------------------ random

sub change_sql
{
	my $id = int(rand(20000));
	my $of = "fact WHERE id BETWEEN $id AND $id + " . pick(5, 200, 3000);
	my @summaries = map { "SELECT brin_desummarize_range('fact_brin', " . 4 * int(rand(220)) . ')' } (1 .. 3);

	return pick(
		@summaries, 'SELECT brin_summarize_new_values($$fact_brin$$)', 'SELECT pg_sleep(0.05)', 'VACUUM fact', 'VACUUM (FREEZE, ANALYZE) fact', (map { "INSERT INTO fact SELECT id, k + $_, filler FROM $of" } (0, 500)),
		"UPDATE fact SET k = k + 7 FROM filler f WHERE id BETWEEN $id AND $id + 300", "DELETE FROM $of", join('; ', "DELETE FROM $of", @summaries, 'SELECT brin_summarize_new_values($$fact_brin$$)'), 'DROP INDEX IF EXISTS fact_btree; CREATE INDEX fact_btree ON fact (k)');
}

my $what = 'SELECT count(*), sum(f.id), sum(length(f.filler)) FROM fact f';
my @queries = (
	"$what JOIN d USING (k)", "$what JOIN d USING (k) JOIN e USING (k)", "$what JOIN e USING (k) WHERE f.id % 3 = 0 AND e.j < 20", "$what WHERE k IN (SELECT k FROM d) AND f.id > 9000", "$what LEFT JOIN e USING (k)",
	"$what WHERE NOT EXISTS (SELECT FROM e WHERE e.k = f.k)", "SELECT g, x.* FROM generate_series(1, 2) g, LATERAL ($what JOIN d USING (k) OFFSET g - g) x");

$sessions[0]->query(q{SET lock_timeout = '2s'}); # recovery that holds a lock and waits for a snapshot is a deadlock that nothing detects
foreach my $round (1 .. rounds(8))
{
	my ($writer, $from, $step) = (CuckooSession->new($primary), int(rand(1900)), pick(1, 1, 40));
	my $room = pick($facts, $facts =~ s/fact AS/fact WITH (fillfactor = 60) AS/r); # for HOT updates

	change('DROP TABLE IF EXISTS fact, d, e', "CREATE TABLE d AS SELECT $from + g * $step AS k FROM generate_series(1, " . pick(1, 40, 300) . ') g', 'CREATE TABLE e AS SELECT g AS k, g % 50 AS j FROM generate_series(0, 2600) g WHERE g % ' . pick(2, 3, 30) . ' = 0',
		'CREATE UNIQUE INDEX ON e (k)', $room, 'CREATE INDEX fact_brin ON fact USING brin (k) WITH (pages_per_range = 4)', pick('ANALYZE', 'ANALYZE fact'), map { change_sql() } (1 .. int(rand(3))));
	$writer->ask(join('; ', 'SET client_min_messages = error', map { change_sql() } (1 .. 60)));
	foreach (1 .. 16)
	{
		$session = pick(@sessions);

		my $loops = pick('hashjoin = on; SET enable_nestloop = on', 'hashjoin = on; SET enable_nestloop = off', 'hashjoin = off; SET enable_nestloop = on');
		my ($index, $bitmap) = $session == $sessions[0] ? qw(off off) : ('on', $hot ? 'off' : 'on'); # PostgreSQL's own scans lack such rows, too

		$session->query("SET enable_$loops; SET enable_indexscan = $index; SET enable_bitmapscan = $bitmap; SET max_parallel_workers_per_gather = " . pick(0, 0, 2) . '; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
		$session->query('SELECT pg_sleep(' . pick(0, 0, 0.02, 0.2) . ')');
		compare("round $round", pick(@queries)) foreach (1 .. pick(1, 1, 2));
		$session->query('ROLLBACK');
		$writer->{psql}->pump_nb;
	}
	is(($writer->answer)[1], '', "round $round: no error on the primary");
	$writer->quit;
	$primary->wait_for_catchup($standby);
	compare("round $round, at the end", pick(@queries)) foreach (1, 2);
}
cmp_ok($sessions[0]->query('SELECT blocks_skipped FROM cuckoofilter_join_stats') + $sessions[1]->query('SELECT blocks_skipped FROM cuckoofilter_join_stats'), '>', 10 * $queries, "$queries queries skip blocks");
$_->quit foreach (@sessions, $other);
$_->stop foreach ($standby, $primary);

done_testing();
