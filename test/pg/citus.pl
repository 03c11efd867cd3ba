# Filters in Citus, which test/pg/citus.sh builds: a coordinator and two workers run the Citus section of
# pg/SERVERS.md, then random rows; each answer is that of a server without Citus, `alone`. SEED=n.
use CuckooCluster;
use CuckooPages;

my $alone = new_cluster('alone');
my %node = map {
	$_ => new_cluster($_, extension => 0,
		conf => "shared_preload_libraries = 'citus'\nwal_level = logical\nmax_prepared_transactions = 100\ncitus.node_conninfo = 'sslmode=prefer'\n" .
		  # Citus looks for its own version among the extensions that the server lists, which are not those of a stage.
		  "citus.enable_version_checks = off\n")
} ('coordinator', 'west', 'east');
my $coordinator = $node{coordinator};
seed();

sub host_and_port
{
	return "'" . $_[0]->host . "', " . $_[0]->port;
}

foreach my $name ('coordinator', 'west', 'east')
{
	$node{$name}->append_conf('postgresql.conf', "citus.local_hostname = '" . $node{$name}->host . "'");
	$node{$name}->restart;
	$node{$name}->safe_psql('postgres', 'CREATE EXTENSION citus');
	$coordinator->safe_psql('postgres', 'SELECT citus_set_coordinator_host(' . host_and_port($coordinator) . ')') if $name eq 'coordinator';
	$coordinator->safe_psql('postgres', 'SELECT citus_add_node(' . host_and_port($node{$name}) . ')') if $name ne 'coordinator';
}
note('Citus: ' . $coordinator->safe_psql('postgres', 'SELECT citus_version()'));

# A query on the coordinator and alone.
sub is_same
{
	my ($name, $sql, $settings) = @_;
	my $got = $coordinator->safe_psql('postgres', ($settings // '') . $sql);

	isnt($got, '', "$name: has an answer");
	is($got, $alone->safe_psql('postgres', $sql), "$name: as on one server");
	return;
}

# The plan, with those of all shards.
sub plan_of
{
	my ($sql, $settings) = @_;
	return $coordinator->safe_psql('postgres', ($settings // '') . "SET citus.explain_all_tasks = on; EXPLAIN (VERBOSE, COSTS OFF) $sql");
}

# ---------------------------------------------------------- the page, as it stands

my @blocks = blocks(page('pg/SERVERS.md'), 'sql citus');
cmp_ok(check_blocks('the page', $coordinator, 'postgres', @blocks), '>=', 12, 'the page has its SQL');
is($node{$_}->safe_psql('postgres', q{SELECT extversion = cuckoofilter_version() FROM pg_extension WHERE extname = 'cuckoofilter'}), 't', "the extension is on $_") foreach 'west', 'east';
$coordinator->safe_psql('postgres', 'DROP TABLE sales, daily, members, customers');

# ------------------------------------------------------------------ random rows

my $rows = 20_000 + int(rand(20_000));
my $customers = 1000 + int(rand(8000));
my $nth = 40 + int(rand(20));
my $first = int(rand(1 << 40));
note("$rows rows, $customers customers, one in $nth is a member, ids from $first");
foreach my $server ($alone, $coordinator)
{
	my $distribute = sub { $server == $coordinator ? "SELECT create_distributed_table('$_[0]', '$_[1]', colocate_with => 'none')" : 'SELECT' };

	$server->safe_psql(
		'postgres', "CREATE TABLE sales (id bigint, customer bigint, day integer); @{[ $distribute->('sales', 'id') ]};
		INSERT INTO sales SELECT $first + g, abs(hashint4(g)::bigint) % $customers, g % 100 FROM generate_series(1, $rows) g;
		CREATE TABLE customers (customer bigint, name text); @{[ $distribute->('customers', 'customer') ]};
		INSERT INTO customers SELECT g, 'customer ' || g FROM generate_series(0, $customers - 1, $nth) g;
		CREATE TABLE returned (id bigint, why text, number bigint); @{[ $distribute->('returned', 'id') =~ s/'none'/'sales'/r ]};
		INSERT INTO returned SELECT $first + g, 'why ' || g, g % $customers FROM generate_series(1, $rows, $nth) g;
		CREATE TABLE members (customer bigint);
		@{[ $server == $coordinator ? q{SELECT create_reference_table('members')} : 'SELECT' ]};
		INSERT INTO members SELECT customer FROM customers; ANALYZE");
}

# two phases
my $hashes = 'cuckoofilter_agg_hash(cuckoofilter_hash(customer), 0.01, 100000)';
is_same('two phases over hashes', "SELECT md5($hashes\::bytea) FROM sales");
like(plan_of("SELECT $hashes FROM sales"), qr/worker_partial_agg\('[^']*cuckoofilter_agg_hash/, 'two phases over hashes: the shards aggregate');
is_same('two phases over hashes, by group', "SELECT day, md5($hashes\::bytea) FROM sales GROUP BY day ORDER BY day");
like(($coordinator->psql('postgres', 'SELECT cuckoofilter_agg(customer, 0.01, 100000) FROM sales'))[2], qr/could not confirm type correctness/, 'an aggregate of items: refused');
is_same('an aggregate of items by the distribution column', 'SELECT id, md5(cuckoofilter_agg(customer, 0.01, 100)::bytea) FROM sales GROUP BY id ORDER BY id LIMIT 100');

# stored filters
$coordinator->safe_psql('postgres', q{CREATE TABLE daily (day integer, f cuckoofilter); SELECT create_distributed_table('daily', 'day', colocate_with => 'none')});
$alone->safe_psql('postgres', 'CREATE TABLE daily (day integer, f cuckoofilter)');
$_->safe_psql('postgres', "INSERT INTO daily SELECT day, $hashes FROM sales GROUP BY day") foreach $coordinator, $alone;
is_same('filters in a distributed table', 'SELECT day, md5(f::bytea) FROM daily ORDER BY day');
is_same('union of distributed filters', 'SELECT md5(cuckoofilter_union_agg(f)::bytea) FROM daily');
like(plan_of('SELECT cuckoofilter_union_agg(f) FROM daily'), qr/worker_partial_agg\('[^']*cuckoofilter_union_agg/, 'union of distributed filters: the shards merge');
is_same('sum of distributed filters', 'SELECT cuckoofilter_count(cuckoofilter_sum_agg(f)) FROM daily WHERE day < 4');
is_same('changes of distributed filters', 'SELECT day, md5((f + (-7)::bigint)::bytea) FROM daily ORDER BY day');
is_same('lookups in distributed filters', "SELECT count(*), sum(day) FROM daily WHERE f @> 77::bigint");
my $merged = '(SELECT cuckoofilter_union_agg(result::cuckoofilter) FROM run_command_on_shards(\'sales\', \'SELECT cuckoofilter_agg(customer, 0.01, 100000) FROM %s\'))';
is($coordinator->safe_psql('postgres', "SELECT count(*) FROM (SELECT DISTINCT customer FROM sales) s WHERE NOT cuckoofilter_contains($merged, customer)"), 0, 'a filter of each shard, merged: has all customers');
is_same('a filter in WHERE', 'SELECT count(*), sum(id) FROM sales WHERE cuckoofilter_contains((SELECT cuckoofilter_agg(customer, 0.001) FROM members), customer)');

# join filters on workers, over shards and over what a repartition join has sent
my $on = "SET citus.enable_repartition_joins = on; ";
my %joins = (
	'a join of shards' => 'SELECT count(*), sum(id), md5(string_agg(why, \',\' ORDER BY id)) FROM sales JOIN returned USING (id)',
	'a join with a reference table' => 'SELECT count(*), sum(id) FROM sales JOIN members USING (customer)',
	'a repartition join' => 'SELECT count(*), sum(id), min(name) FROM sales JOIN customers USING (customer)',
	'a join of two repartitions' => 'SELECT count(*), sum(s.id) FROM sales s JOIN returned r ON s.customer = r.number');
is_same("$_, without join filters", $joins{$_}, $on) foreach sort keys %joins;
foreach my $mode ('on', 'verify')
{
	foreach my $worker (@node{ 'west', 'east' })
	{
		$worker->append_conf('postgresql.conf', "session_preload_libraries = 'cuckoofilter_join'\ncuckoofilter.join_filter = $mode\ncuckoofilter.join_filter_min_rows = 0");
		$worker->restart;
	}
	is($coordinator->safe_psql('postgres', q{SELECT string_agg(DISTINCT result, ' ') FROM run_command_on_workers('SHOW cuckoofilter.join_filter')}), $mode, "the workers have join_filter = $mode");
	foreach my $join (sort keys %joins)
	{
		is_same("$join, join_filter = $mode", $joins{$join}, $on);
		my $plan = plan_of($joins{$join}, $on);
		my $filters = () = $plan =~ /Cuckoo Join Filter/g;
		note("$join: $filters filters in the plan");
		note($plan) if $ENV{CUCKOO_PLANS};
		cmp_ok($filters, '>', 0, "$join, join_filter = $mode: the shards' plans have filters") if $join !~ /repartition/;
	}
}

# ---------------------------------------------------------------- dump and restore

my $dump = PostgreSQL::Test::Utils::tempdir_short() . '/dump.sql';
$coordinator->command_ok([ 'pg_dump', '-t', 'daily', '-f', $dump, '-d', $coordinator->connstr('postgres') ], 'dump of a distributed table');
$alone->safe_psql('postgres', 'CREATE DATABASE restored');
$alone->safe_psql('restored', 'CREATE EXTENSION cuckoofilter');
$alone->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $alone->connstr('restored') ], 'dump: restored on one server');
my $filters = 'SELECT day, md5(f::bytea) FROM daily ORDER BY day';
is($alone->safe_psql('restored', $filters), $alone->safe_psql('postgres', $filters), 'dump: the same filters on one server');
$coordinator->safe_psql('postgres', 'DROP TABLE daily');
$coordinator->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $coordinator->connstr('postgres') ], 'dump: restored on the coordinator');
$coordinator->safe_psql('postgres', q{SELECT create_distributed_table('daily', 'day', colocate_with => 'none')});
is_same('dump, restored and distributed again', $filters);
is_same('dump, restored and distributed again, union', 'SELECT md5(cuckoofilter_union_agg(f)::bytea) FROM daily');

$_->stop foreach ($coordinator, @node{ 'west', 'east' }, $alone);
done_testing();
