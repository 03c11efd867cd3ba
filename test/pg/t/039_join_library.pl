# The library of join filters: the library of the type has no hooks; each way to load the other one.
use CuckooCluster;
use CuckooSession;
use File::Copy;

my $node = new_cluster('main', conf => "max_parallel_workers_per_gather = 0\n");
my $tables = q{
	CREATE TABLE fact AS SELECT i, i % 5000 AS k FROM generate_series(1, 50000) i;
	CREATE TABLE dim AS SELECT i AS k FROM generate_series(1, 50) i;
	ANALYZE};
my $settings = 'SET cuckoofilter.join_filter = on; SET cuckoofilter.join_filter_min_rows = 0; SET enable_nestloop = off; SET enable_mergejoin = off;';
my $explain = "$settings EXPLAIN (COSTS OFF) SELECT count(*) FROM fact JOIN dim USING (k)";

$node->safe_psql('postgres', "$tables; CREATE ROLE alice LOGIN; GRANT SELECT ON fact, dim TO alice");

# The plan, in a session that does some SQL first.
sub plan_after
{
	my ($before, $user) = @_;
	return $node->safe_psql('postgres', "$before; $explain", extra_params => [ '-U', $user // $node->safe_psql('postgres', 'SELECT current_user') ]);
}

my $filter = qr/Custom Scan \(Cuckoo Join Filter\)/;

unlike(plan_after('SELECT cuckoofilter_version()'), $filter, 'the library of the type changes no plan');
unlike(plan_after('SELECT cuckoofilter_create(10) @> 1'), $filter, 'a question changes no plan');
is($node->safe_psql('postgres', 'SELECT cuckoofilter_version(); SET cuckoofilter.join_filter = on; SHOW cuckoofilter.join_filter') =~ s/.*\n//r,
	'on', 'the settings are taken without the library');
like(plan_after("LOAD 'cuckoofilter_join'"), $filter, 'LOAD, by a superuser');
like(plan_after("$settings LOAD 'cuckoofilter_join'"), $filter, 'settings that were made before stay');
like(plan_after('SELECT cuckoofilter_join_load()'), $filter, 'cuckoofilter_join_load()');
like(plan_after('SELECT cuckoofilter_join_load()', 'alice'), $filter, 'the same by a user who may not LOAD it');
my ($status, undef, $error) = $node->psql('postgres', "LOAD 'cuckoofilter_join'", extra_params => [ '-U', 'alice' ]);
isnt($status, 0, 'who may not LOAD it, indeed');
like(plan_after("SELECT cuckoofilter_join_load(), cuckoofilter_join_load(), cuckoofilter_create(10) @> 1"), $filter, 'both libraries in a session, loaded twice');

# A session that makes, updates or restores the extension keeps its plans.
foreach my $sql (
	'CREATE EXTENSION cuckoofilter',
	"CREATE EXTENSION cuckoofilter VERSION '1.1.0'; ALTER EXTENSION cuckoofilter UPDATE",
	"CREATE EXTENSION cuckoofilter VERSION '1.5.1'; ALTER EXTENSION cuckoofilter UPDATE")
{
	unlike(plan_after("SET client_min_messages = warning; DROP EXTENSION cuckoofilter; $sql"), $filter, "$sql does not load the library");
}

# Whoever loads it wants it.
is($node->safe_psql('postgres', 'SELECT cuckoofilter_join_load(); SHOW cuckoofilter.join_filter') =~ s/^\n//r, 'auto', 'the default is auto');
my ($ret, $out, $err) = $node->psql('postgres', "SET cuckoofilter.join_filter = sometimes; SELECT cuckoofilter_join_load(); SHOW cuckoofilter.join_filter");
like($out, qr/auto$/, 'a value that the library does not know becomes the default');

# Files of another version are installed while a session is open: its workers load those.
my ($loaded) = $node->safe_psql('postgres', q{SELECT cuckoofilter_join_load(), pg_read_file('/proc/self/maps')}) =~ m{(/\S+/cuckoofilter_join\.so)};
my $version = $node->safe_psql('postgres', 'SELECT cuckoofilter_version()');
my $copy = $node->basedir . '/copy.so';
my $other = $version =~ tr{0-9}{1-90}r;
my $another = slurp_file($loaded) =~ s/\x00\Q$version\E\x00/\x00$other\x00/gr;
my $session = CuckooSession->new($node);

copy($loaded, $copy);
$session->query("LOAD '$copy'; $settings SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0");
is($session->query('SELECT count(*) FROM fact JOIN dim USING (k)'), '500', 'two workers');
unlink $copy;
append_to_file($copy, $another);
$session->ask('SELECT count(*) FROM fact JOIN dim USING (k)');
like(($session->answer)[1], qr/another version of cuckoofilter_join\n.*Connect again/, 'two workers, which load another version');
is($session->query('SET max_parallel_workers_per_gather = 0; SELECT count(*) FROM fact JOIN dim USING (k)'), '500', 'one process goes on');
$session->quit;

# Preloading.
foreach my $setting (qw(session_preload_libraries shared_preload_libraries))
{
	foreach my $library (qw(cuckoofilter_join cuckoofilter))
	{
		my $size = -s $node->logfile;

		$node->append_conf('postgresql.conf', "$setting = '$library'\n");
		$node->restart;
		my $plan = plan_after('SELECT 1');
		my $log = slurp_file($node->logfile, $size);

		if ($library eq 'cuckoofilter_join')
		{
			like($plan, $filter, "$setting = $library");
			unlike($log, qr/preloading "cuckoofilter"/, 'the log says nothing');
		}
		else
		{
			unlike($plan, $filter, "$setting = $library: no join filters");
			like($log, qr/LOG:  preloading "cuckoofilter" has no effect\n.*HINT:  Join filters are in the library "cuckoofilter_join"/, 'the log says what to load');
		}
	}
	$node->append_conf('postgresql.conf', "$setting = ''\n");
}
$node->stop;
done_testing();
