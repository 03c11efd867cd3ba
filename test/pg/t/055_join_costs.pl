# What join filters cost, counted and not timed: how often keys are compared with the bounds of partitions, in which
# order the filters of a scan are asked, and what happens when there is no memory, or an error at the start of a query.
use CuckooCluster;
use CuckooJoin;
use CuckooSession;

my $node = join_cluster('main', conf => "enable_mergejoin = off\nenable_nestloop = off\n");

# ---------------------------------------------------------- keys and partitions

# 40 tables of 4 partitions each, with equal bounds or with different ones; keys are compared by a function that
# counts its calls.
$node->safe_psql(
	'postgres', q{
	CREATE SEQUENCE calls;
	CREATE FUNCTION counted(integer, integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM nextval($$calls$$); RETURN btint4cmp($1, $2); END';
	CREATE OPERATOR CLASS counted FOR TYPE integer USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 counted(integer, integer);
	CREATE TABLE dim AS SELECT g AS k FROM generate_series(0, 399) g ORDER BY hashint4(g)} . join('', map {
			my ($table, $step) = @$_;
			"; CREATE TABLE $table (id integer, k integer) PARTITION BY RANGE (id)" . join('', map {
					my $part = $_;
					"; CREATE TABLE $table$part PARTITION OF $table FOR VALUES FROM (" . $part * 500 . ') TO (' . ($part + 1) * 500 . ') PARTITION BY RANGE (k counted)'
					  . join('', map { "; CREATE TABLE $table${part}_$_ PARTITION OF $table$part FOR VALUES FROM (" . $_ * (1000 + $step * $part) . ') TO (' . ($_ + 1) * (1000 + $step * $part) . ')' } (0 .. 3))
				} (0 .. 39)) . "; INSERT INTO $table SELECT g, g * 7 % 4000 FROM generate_series(0, 19999) g"
		} ([ 'alike', 0 ], [ 'unlike', 1 ])) . '; ANALYZE');

# How often keys were compared in a query, the partitions that were skipped, and its plan.
sub compared
{
	my ($query) = @_;
	my $before = $node->safe_psql('postgres', "SELECT nextval('calls')");
	my $plan = explained($query);
	my $calls = $node->safe_psql('postgres', "SELECT nextval('calls')") - $before - 1;

	return ($calls, $plan =~ /Partitions Skipped: (\d+ of \d+)/, $plan);
}

foreach my $mode ('on', 'auto')
{
	my $set = "SET cuckoofilter.join_filter = $mode;";
	my ($calls, $skipped, $plan) = compared("$set SELECT count(*), sum(id) FROM alike JOIN dim USING (k)");

	is($skipped, '120 of 160', "$mode, tables with equal bounds: skipped") or diag($plan);
	cmp_ok($calls, '<', 400 * 10, "$mode: a key is compared for all of them at once");
}

my $unlike = 'SELECT count(*), sum(id) FROM unlike JOIN dim USING (k)';
same_rows('tables with different bounds', $unlike);
same_rows('a key that is in the first partition of some, in the second one of others', 'SELECT count(*), sum(id) FROM unlike JOIN (SELECT k + 1020 AS k FROM dim WHERE k = 0) d USING (k)');
my ($calls, $skipped, $plan) = compared("SET cuckoofilter.join_filter = on; $unlike");
is($skipped, '120 of 160', 'on, tables with different bounds: skipped') or diag($plan);
cmp_ok($calls, '>=', 400 * 40, 'on: a key is compared for each of them');
($calls, $skipped, $plan) = compared("SET cuckoofilter.join_filter = auto; $unlike");
is($skipped, '0 of 160', 'auto: that does not pay, so all partitions are read') or diag($plan);
cmp_ok($calls, '<', 400 * 40 / 4, 'auto: and it is noticed soon');
($calls, $skipped, $plan) = compared("SET cuckoofilter.join_filter = auto; $unlike WHERE dim.k IN (5, 17, 30)");
is($skipped, '120 of 160', 'auto, few keys: skipped') or diag($plan);
is($node->safe_psql('postgres', "SET cuckoofilter.join_filter = auto; $unlike"), $node->safe_psql('postgres', "SET cuckoofilter.join_filter = off; $unlike"), 'auto: the same rows');

# ------------------------------------------------------- the order of questions

# Of a row of many columns, the first one is reached sooner than the last, whose filter drops a few rows more.
$node->safe_psql(
	'postgres', 'CREATE TABLE wide AS SELECT ' . join(', ', map { "g * $_ % 1000 AS c$_" } (1 .. 31, 33)) . ' FROM generate_series(1, 20000) g;
	CREATE TABLE near AS SELECT g AS k FROM generate_series(0, 999) g; CREATE TABLE far AS SELECT g AS k FROM generate_series(0, 999) g; ANALYZE');

# The rows that the filters of the two columns are asked for.
sub asked
{
	my ($condition) = @_;
	my $plan = explained("SET join_collapse_limit = 1; SELECT count(*) FROM wide JOIN far ON c33 = far.k JOIN near ON c1 = near.k WHERE far.k < 40 AND near.k < 80 $condition");
	my %tested = reverse $plan =~ /Filtered Scan: wide\.(c\d+) .*?Rows Tested: (\d+)/gs;

	%tested = reverse %tested;
	return ($tested{c1}, $tested{c33}, $plan);
}

my ($near, $far, $asked_plan) = asked('');
cmp_ok($near, '>', 19000, 'the filter of the first column is asked first') or diag($asked_plan);
cmp_ok($far, '<', 3000, 'and that of the last one for the rows that pass') or diag($asked_plan);
($near, $far, $asked_plan) = asked('AND c33 >= 0');
cmp_ok($far, '>', 19000, 'if a condition has reached the last column, the filter that drops more comes first') or diag($asked_plan);
cmp_ok($near, '<', 3000, 'and the other for the rows that pass') or diag($asked_plan);

# --------------------------------------------------------------------- no memory

# Four million hashes are gathered, until the process gets no more memory. The hash join itself writes its rows to files.
$node->safe_psql('postgres', "CREATE FUNCTION many() RETURNS SETOF integer LANGUAGE plpgsql STABLE ROWS 100 AS 'BEGIN RETURN QUERY SELECT * FROM generate_series(1, 4000000); END'");
my $session = CuckooSession->new($node);
my $pid = $session->query('SELECT pg_backend_pid()');
my $much = 'SELECT count(*) FROM wide JOIN many() g(k) ON c1 = g.k';

$session->query("SET work_mem = '1MB'; SET cuckoofilter.join_filter_memory = '1GB'; SELECT count(*) FROM wide JOIN near ON c1 = k");
SKIP:
{
	my ($pages) = -r "/proc/$pid/statm" ? slurp_file("/proc/$pid/statm") =~ /^(\d+)/ : ();
	my $limit = ($pages // 0) * 4096 + 24 * 1048576;

	skip('no limits of other processes here', 1) if !$pages || system("prlimit --pid $pid --as=$limit: 2>/dev/null") != 0;
	$session->ask("EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF, SUMMARY OFF) $much");
	my ($out, $err) = $session->answer;
	like($out, qr/Given Up: memory/, 'a filter that gets no memory is given up') or diag("$out\n$err");
}

# ------------------------------------------------------------------------ an error

# While a query starts, it runs a function to prune partitions. That starts another query with join_filter = off, which
# fails at its start. The first one still has its filter.
$node->safe_psql(
	'postgres', q{
	CREATE ROLE nobody;
	CREATE FUNCTION survives() RETURNS integer LANGUAGE plpgsql STABLE SET cuckoofilter.join_filter = off SET role = nobody AS
		'BEGIN PERFORM FROM alike JOIN near USING (k); RETURN 5; EXCEPTION WHEN insufficient_privilege THEN RETURN 10; END'});
like(explained('SELECT count(*) FROM alike JOIN dim USING (k) WHERE alike.id > survives()'), qr/Filter Keys: 400/, 'an error at the start of a query within another one');

done_testing();
