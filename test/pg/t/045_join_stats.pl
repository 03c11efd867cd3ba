# The view cuckoofilter_join_stats: what is counted, by whom it is seen and reset, with and without
# shared memory.
use CuckooCluster;
use CuckooSession;

my $node = new_cluster('main', conf => "max_parallel_workers_per_gather = 0\nrestart_after_crash = on\n");
my $settings = "cuckoofilter.join_filter = on\ncuckoofilter.join_filter_min_rows = 0\ncuckoofilter.join_filter_max_pass = 1\n"
  . "enable_nestloop = off\nenable_mergejoin = off\n";
my $tables = q{
	CREATE TABLE fact AS SELECT i, i % 5000 AS k FROM generate_series(1, 50000) i;
	CREATE TABLE dim AS SELECT i AS k FROM generate_series(0, 49) i;
	CREATE TABLE parted (k int) PARTITION BY RANGE (k);
	DO $$BEGIN FOR i IN 0..9 LOOP EXECUTE format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES FROM (%s) TO (%s)', i, i * 500, i * 500 + 500); END LOOP; END$$;
	INSERT INTO parted SELECT generate_series(0, 4999);
	CREATE TABLE keyed AS SELECT i AS k, i AS label FROM generate_series(1, 5000) i;
	ALTER TABLE keyed ADD PRIMARY KEY (k);
	CREATE TABLE every AS SELECT i AS k FROM generate_series(0, 4999) i;
	ANALYZE};
my $join = 'SELECT count(*) FROM fact JOIN dim USING (k)'; # 500 rows of 50,000
my @columns = qw(planned built given_up suspended rows_tested rows_removed partitions_skipped nested_loops lookups_skipped blocks_skipped);

# The counters of a database, as a hash.
sub stats_of
{
	my ($asks, $database) = @_;
	my $row = $asks->("SELECT " . join(', ', @columns) . " FROM cuckoofilter_join_stats WHERE database = '$database'");
	my %stats;

	@stats{@columns} = split(/\|/, $row, -1);
	return \%stats;
}

sub in
{
	my ($database) = @_;
	return sub { $node->safe_psql($database, $_[0]) };
}

sub is_stats
{
	my ($stats, $name, %expected) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	is_deeply($stats, { (map { $_ => 0 } @columns), %expected }, $name);
}

# The rows that a filter of 50 keys drops: nearly all of the 49,500 without a match.
sub drops_most
{
	my ($stats, $filters, $name) = @_;
	my ($tested, $removed) = @$stats{qw(rows_tested rows_removed)};
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	# the first row passes untested; a rate of 1 % passes 495 of 49,500
	ok($tested > 49990 * $filters && $tested <= 50000 * $filters && $removed > 47000 * $filters && $removed <= 49500 * $filters,
		"$name: $removed of $tested rows are dropped");
}

# ---------------------------------------------------------- one session, not preloaded

$node->safe_psql('postgres', $tables);
my ($status, $out, $err) = $node->psql('postgres', 'SELECT * FROM cuckoofilter_join_stats', extra_params => [ '-v', 'VERBOSITY=verbose' ]);
like($err, qr/ERROR:  55000: library "cuckoofilter_join" must be loaded\n.*HINT:  .*shared_preload_libraries.*cuckoofilter_join_load\(\)/s, 'without the library the view names it');
is(error_state($node, 'SELECT cuckoofilter_join_stats_reset()'), '55000', 'reset says the same');
is($node->safe_psql('postgres', "SET cuckoofilter.join_filter = 'what the library would refuse'; DO \$\$BEGIN PERFORM * FROM cuckoofilter_join_stats; EXCEPTION WHEN OTHERS THEN NULL; END\$\$; SHOW cuckoofilter.join_filter"),
	'what the library would refuse', 'a question does not load it');

$node->append_conf('postgresql.conf', $settings);
$node->reload;
my $session = CuckooSession->new($node);
my $other = CuckooSession->new($node);
my $asks = sub { $session->query($_[0]) };

$_->query('SELECT cuckoofilter_join_load()') foreach ($session, $other);
is_stats(stats_of($asks, 'postgres'), 'a session begins at zero');
is($session->query('SELECT count(*) FROM cuckoofilter_join_stats'), '1', 'and sees one database');
is($session->query($join), '500', 'a join');
my $stats = stats_of($asks, 'postgres');
is("@$stats{qw(planned built given_up suspended)}", '1 1 0 0', 'its filter is counted');
drops_most($stats, 1, 'one join');
is_stats(stats_of(sub { $other->query($_[0]) }, 'postgres'), 'another session does not count it');
$session->query('SELECT cuckoofilter_join_stats_reset()');
is_stats(stats_of($asks, 'postgres'), 'reset');
$session->query("EXPLAIN $join");
is_stats(stats_of($asks, 'postgres'), 'EXPLAIN counts nothing');
$session->query("SET cuckoofilter.join_filter = off; $join; SET cuckoofilter.join_filter = on");
is_stats(stats_of($asks, 'postgres'), 'nor does a query with join_filter = off');
$session->query("SET cuckoofilter.join_filter = verify; $join; SET cuckoofilter.join_filter = on");
$stats = stats_of($asks, 'postgres');
ok($stats->{built} == 1 && $stats->{rows_tested} > 49990 && $stats->{rows_removed} == 0, 'verify removes no rows');
$session->query("SELECT cuckoofilter_join_stats_reset(); $join WHERE dim.k < 0");
$stats = stats_of($asks, 'postgres');
is("$stats->{planned} $stats->{given_up}", '1 0', 'a filter without keys');
$session->query('SELECT cuckoofilter_join_stats_reset()');
$session->query("SET cuckoofilter.join_filter_memory = 64; SELECT count(*) FROM fact JOIN (SELECT i AS k FROM generate_series(1, 100000) i) d USING (k); RESET cuckoofilter.join_filter_memory");
is_stats(stats_of($asks, 'postgres'), 'a filter past its memory', planned => 1, given_up => 1);
$session->query('SELECT cuckoofilter_join_stats_reset()');
$session->query('SET cuckoofilter.join_filter_max_pass = 0.5; SELECT count(*) FROM fact JOIN every USING (k); RESET cuckoofilter.join_filter_max_pass');
$stats = stats_of($asks, 'postgres');
is("@$stats{qw(planned built given_up suspended)}", '1 1 0 1', 'a filter that drops nothing is suspended');
cmp_ok($stats->{rows_tested}, '<', 40000, 'and tests few rows');

# Partitions and nested loops.
$session->query('SELECT cuckoofilter_join_stats_reset()');
is($session->query('SELECT count(*) FROM parted JOIN dim USING (k)'), '50', 'a table with ten partitions');
$stats = stats_of($asks, 'postgres');
is("@$stats{qw(built partitions_skipped nested_loops)}", '1 9 0', 'nine partitions are skipped');
$session->query("SELECT cuckoofilter_join_stats_reset(); SET cuckoofilter.join_filter = verify; SELECT count(*) FROM parted JOIN dim USING (k); SET cuckoofilter.join_filter = on");
is(stats_of($asks, 'postgres')->{partitions_skipped}, 0, 'verify skips none');
$session->query("SELECT cuckoofilter_join_stats_reset(); SET enable_hashjoin = off; SET enable_nestloop = on; SET enable_seqscan = off");
is($session->query('SELECT count(*) FROM fact JOIN keyed USING (k) WHERE label < 50'), '490', 'a nested loop');
$stats = stats_of($asks, 'postgres');
is("@$stats{qw(planned built nested_loops)}", '1 1 1', 'has a filter');
cmp_ok($stats->{rows_removed}, '>', 45000, "which removes $stats->{rows_removed} rows");
is($session->query('SELECT cuckoofilter_join_stats_reset(); SELECT count(*) FROM fact WHERE NOT EXISTS (SELECT FROM keyed WHERE keyed.k = fact.k AND label < 50)'), "\n49510", 'a nested loop, ANTI');
$stats = stats_of($asks, 'postgres');
is("@$stats{qw(planned built rows_removed nested_loops)}", '1 1 0 1', 'has a filter that removes no rows');
cmp_ok($stats->{lookups_skipped}, '>', 45000, "and skips $stats->{lookups_skipped} lookups");
$session->query('SET enable_hashjoin = on; SET enable_nestloop = off; SET enable_seqscan = on');

# Many executions, nested ones, errors, cursors.
$session->query('SELECT cuckoofilter_join_stats_reset()');
$session->query("DO \$\$BEGIN FOR i IN 1..10 LOOP PERFORM count(*) FROM fact JOIN dim USING (k); END LOOP; END\$\$");
$stats = stats_of($asks, 'postgres');
is("@$stats{qw(planned built)}", '10 10', 'each execution counts');
drops_most($stats, 10, 'ten joins');
$session->query('SELECT cuckoofilter_join_stats_reset()');
$session->ask("SELECT count(1 / (fact.i - 45049)) FROM fact JOIN dim USING (k)");
($out, $err) = $session->answer;
like($err, qr/division by zero/, 'a query that ends in an error');
$stats = stats_of($asks, 'postgres');
is("@$stats{qw(planned built)}", '1 1', 'is counted');
ok($stats->{rows_tested} > 45000 && $stats->{rows_tested} < 45100, "up to the error: $stats->{rows_tested} rows");
$session->query('SELECT cuckoofilter_join_stats_reset()');
$session->query('BEGIN; DECLARE c CURSOR FOR SELECT i FROM fact JOIN dim USING (k); FETCH 5 FROM c');
is_stats(stats_of($asks, 'postgres'), 'an open cursor is not counted yet');
$session->query('ROLLBACK');
$stats = stats_of($asks, 'postgres');
ok($stats->{built} == 1 && $stats->{rows_tested} > 0 && $stats->{rows_tested} < 50000, 'a rolled back one is');
$session->query('SELECT cuckoofilter_join_stats_reset()');
$session->query('SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off');
like($session->query("EXPLAIN $join"), qr/Workers Planned: [12]/, 'a parallel plan');
$session->query($join);
$stats = stats_of($asks, 'postgres');
is("@$stats{qw(planned built)}", '1 1', 'has one filter, however many processes build it');
drops_most($stats, 1, 'workers of a session');
like($session->query('EXPLAIN (COSTS OFF) SELECT sum(i) FROM fact, cuckoofilter_join_stats WHERE fact.k = built'), qr/Function Scan on cuckoofilter_join_stats s/, 'the view is planned');
is($session->query("SELECT concat(provolatile, proparallel) FROM pg_proc WHERE proname = 'cuckoofilter_join_stats'"), 'vr', 'volatile, and for the leader only');
$_->quit foreach ($session, $other);

# --------------------------------------------------------------- all sessions, preloaded

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'cuckoofilter_join'\n");
$node->restart;
is_stats(stats_of(in('postgres'), 'postgres'), 'preloaded: the current database has a row');
$node->safe_psql('postgres', $join) foreach (1 .. 3);
$stats = stats_of(in('postgres'), 'postgres');
is("@$stats{qw(planned built)}", '3 3', 'three sessions are counted');
drops_most($stats, 3, 'three sessions');

$node->safe_psql('postgres', 'CREATE DATABASE second TEMPLATE postgres');
is($node->safe_psql('postgres', "SELECT count(*) FROM cuckoofilter_join_stats WHERE database = 'second'"), '0', 'a database without sessions has no row');
$node->safe_psql('second', $join);
is(stats_of(in('postgres'), 'second')->{built}, 1, 'another database, seen from here');
is(stats_of(in('second'), 'postgres')->{built}, 3, 'this one, seen from there');
$node->safe_psql('second', "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; $join");
$stats = stats_of(in('second'), 'second');
is("@$stats{qw(planned built)}", '2 2', 'workers count once');
drops_most($stats, 2, 'workers');
$node->safe_psql('postgres', 'ALTER DATABASE second RENAME TO another');
is(stats_of(in('postgres'), 'another')->{built}, 2, 'a database that was renamed');
$node->safe_psql('postgres', 'DROP DATABASE another');
is($node->safe_psql('postgres', "SELECT string_agg(database, ',') FROM cuckoofilter_join_stats"), 'postgres', 'one that was dropped has no row');
is($node->safe_psql('postgres', 'SELECT count(*) FROM cuckoofilter_join_stats()'), '1', 'and takes no room');

# Sessions at the same time lose nothing.
$node->safe_psql('postgres', 'SELECT cuckoofilter_join_stats_reset()');
is_stats(stats_of(in('postgres'), 'postgres'), 'reset for all');
my @sessions = map { CuckooSession->new($node) } (1 .. 4);
$_->ask('DO $$BEGIN FOR i IN 1..200 LOOP PERFORM FROM dim a JOIN dim b USING (k) JOIN dim c USING (k); END LOOP; END$$') foreach @sessions;
$_->answer foreach @sessions;
$_->quit foreach @sessions;
is(stats_of(in('postgres'), 'postgres')->{planned}, 1600, 'four sessions, 200 joins of two filters each');

# The view of an older version has fewer columns, and gets the others under the views of users.
$node->safe_psql('postgres', 'CREATE DATABASE older');
$node->safe_psql('older', "DROP EXTENSION IF EXISTS cuckoofilter; CREATE EXTENSION cuckoofilter VERSION '1.5.1'; CREATE VIEW mine AS SELECT * FROM cuckoofilter_join_stats");
$node->safe_psql('older', 'SELECT count(*) FROM pg_class a JOIN pg_attribute b ON b.attrelid = a.oid');
foreach my $after (qw(before after))
{
	is($node->safe_psql('older', "SELECT planned > 0 FROM mine WHERE database = 'older'"), 't', "a view of a user, $after the update");
	$node->safe_psql('older', 'ALTER EXTENSION cuckoofilter UPDATE');
}
is($node->safe_psql('older', "SELECT lookups_skipped FROM cuckoofilter_join_stats WHERE database = 'older'"), '0', 'the new column');
$node->safe_psql('postgres', 'DROP DATABASE older');

# ---------------------------------------------------------------------- permissions

$node->safe_psql('postgres', 'CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; GRANT EXECUTE ON FUNCTION cuckoofilter_join_stats_reset() TO bob');
my @alice = (extra_params => [ '-U', 'alice', '-v', 'VERBOSITY=verbose' ]);
my @bob = (extra_params => [ '-U', 'bob' ]);
($status, $out, $err) = $node->psql('postgres', 'SELECT cuckoofilter_join_stats_reset()', @alice);
like($err, qr/42501: permission denied for function cuckoofilter_join_stats_reset/, 'not everybody may reset');
is($node->safe_psql('postgres', 'SELECT planned FROM cuckoofilter_join_stats', @alice), '1600', 'but read');
$node->safe_psql('postgres', 'SELECT cuckoofilter_join_stats_reset()', @bob);
is($node->safe_psql('postgres', 'SELECT planned FROM cuckoofilter_join_stats', @bob), '0', 'whom it was granted may');

# ---------------------------------------------------------------------------- crash

$node->safe_psql('postgres', $join);
$session = CuckooSession->new($node);
my $victim = CuckooSession->new($node);
is($session->query("SELECT built FROM cuckoofilter_join_stats WHERE database = 'postgres'"), '1', 'before a crash');
$_->ask('SELECT pg_sleep(600)') foreach ($victim, $session);
kill('KILL', $victim->{pid});
$_->answer foreach ($victim, $session); # the server ends all sessions
$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
is_stats(stats_of(in('postgres'), 'postgres'), 'after a crash they begin again');
$node->safe_psql('postgres', $join);
is(stats_of(in('postgres'), 'postgres')->{built}, 1, 'and count');
$node->restart;
is_stats(stats_of(in('postgres'), 'postgres'), 'after a restart too');

$node->stop;
done_testing();
