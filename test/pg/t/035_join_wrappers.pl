# Plan nodes of other extensions: no join filter is tested below such a node, whether our planner
# hook is the first or the last one, and all other scans test their filters.
use CuckooCluster;
use CuckooJoin;
use FindBin;

# An extension whose planner hook wraps nodes in its own, "Wrapper".
my $library = "$PostgreSQL::Test::Utils::tmp_check/wrap.so";
chomp(my $include = `pg_config --includedir-server`);
is(system('gcc', '-Wall', '-Werror', '-shared', '-fPIC', "-I$include", '-o', $library, "$FindBin::Bin/../wrap.c"), 0, 'the other extension is built');

my $hash = 'SET enable_mergejoin = off; SET enable_nestloop = off; SET join_collapse_limit = 1;';

# What a plan's only scan of a table handed on, and the node above where it is a wrapper.
sub rows_of
{
	my ($plan, $table) = @_;
	my ($wrapper, $rows) = $plan =~ /(?:Custom Scan \((Wrapper)\) \(actual rows=\d+ loops=\d+\)\n\s*->  )?(?:Parallel )?Seq Scan on $table \(actual rows=(\d+) /;

	return ($wrapper ? 'wrapped, ' : '') . ($rows // 'no scan');
}

# A scan hands on the rows that join, and few others.
sub drops
{
	my ($plan, $table, $joining, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	like(rows_of($plan, $table), qr/^\d+$/, "$name: by itself");
	cmp_ok(rows_of($plan, $table) - $joining, '<', 2000, "$name: drops rows");
	return;
}

# Rows that were asked for, and of whom, for each filter.
sub asked
{
	my ($plan) = @_;
	return join(', ', map { /Rows Tested: (\d+)/ ? $1 : 'none' } $plan =~ /Cuckoo Join Filter\).*?\n((?:(?!\s*->).*\n)*)/g);
}

foreach my $libraries ("$library, cuckoofilter_join", "cuckoofilter_join, $library")
{
	my $first = $libraries =~ /cuckoofilter_join, /; # our hook runs before the other
	my $order = $first ? 'ours first' : 'ours last';
	my $node = join_cluster($first ? 'first' : 'last', conf => "shared_preload_libraries = '$libraries'\n");

	$node->safe_psql(
		'postgres', q{
		CREATE TABLE fact AS SELECT g AS id, g % 2000 AS k FROM generate_series(1, 20000) g;
		CREATE TABLE fact2 AS SELECT g AS id, g % 4000 AS k FROM generate_series(20001, 50000) g;
		CREATE TABLE dim AS SELECT g * 10 AS k, g AS id FROM generate_series(1, 100) g;
		CREATE TABLE other AS SELECT g * 3 AS id FROM generate_series(1, 1000) g;
		ANALYZE});

	my $join = 'SELECT count(*), sum(fact.id) FROM fact JOIN dim USING (k)';
	my $plan = explained("$hash $join");
	is(asked($plan), '19999', "$order: no wrapper"); # one row comes before the filter
	drops($plan, 'fact', 1000, "$order: no wrapper");

	# The scan that has the key is a wrapper's.
	my $wrap = "$hash SET wrap.scans = fact;";
	same_rows("$order: a wrapper's scan", "$wrap $join", $first ? 1 : 0);
	$plan = explained("$wrap $join");
	is(rows_of($plan, 'fact'), 'wrapped, 20000', "$order: a wrapper's scan drops nothing");
	is(asked($plan), $first ? 'none' : '', "$order: a wrapper's scan asks nothing");
	unlike($plan, qr/Filter Keys/, "$order: a wrapper's scan: nor is a filter made");

	# Among other scans with the key.
	my $union = 'SELECT count(*), sum(f.id) FROM (SELECT id, k FROM fact UNION ALL SELECT id, k FROM fact2) f JOIN dim USING (k)';
	same_rows("$order: a wrapper and another", "$wrap $union", 1);
	$plan = explained("$wrap $union");
	is(rows_of($plan, 'fact'), 'wrapped, 20000', "$order: a wrapper and another: it drops nothing");
	drops($plan, 'fact2', 750, "$order: a wrapper and another: the other");
	is(asked($plan), '30000', "$order: a wrapper and another: the other asks");

	# On the other side of a join.
	my $star = 'SELECT count(*), sum(fact.id) FROM other JOIN (fact JOIN dim USING (k)) ON other.id = fact.id';
	same_rows("$order: a wrapper beside a join", "$hash SET wrap.scans = other; $star", 2);
	like(asked(explained("$hash SET wrap.scans = other; $star")), qr/^\d{3,4}, 199\d\d$/, "$order: a wrapper beside a join: both joins have their filters");

	# The build side is a wrapper's: its rows fill the filter.
	$wrap = "$hash SET wrap.scans = dim;";
	same_rows("$order: a wrapper's keys", "$wrap $join", 1);
	$plan = explained("$wrap $join");
	is(rows_of($plan, 'dim'), 'wrapped, 100', "$order: a wrapper's keys: it is there");
	drops($plan, 'fact', 1000, "$order: a wrapper's keys");

	# The join is a wrapper's.
	$wrap = "$hash SET wrap.scans = dim; SET wrap.joins = on;";
	same_rows("$order: a wrapper's join", "$wrap $join", $first ? 1 : 0);
	$plan = explained("$wrap $join");
	like($plan, qr/Wrapper\).*\n *->  Hash Join/, "$order: a wrapper's join: it is there");
	is(rows_of($plan, 'fact'), '20000', "$order: a wrapper's join drops nothing early");
	is(asked($plan), $first ? 'none' : '', "$order: a wrapper's join asks nothing");
	my $above = 'SELECT count(*), sum(fact.id) FROM fact2 JOIN (fact JOIN dim USING (k)) ON fact2.k = fact.k';
	same_rows("$order: a join above a wrapper's", "$wrap $above");
	$plan = explained("$wrap $above");
	is(rows_of($plan, 'fact'), '20000', "$order: a join above a wrapper's: nothing is dropped in there");
	like(asked($plan), qr/\b29999\b/, "$order: a join above a wrapper's has its filter");

	# Read again, and by workers.
	same_rows("$order: a wrapper that is read again",
		"SET enable_mergejoin = off; SET wrap.scans = fact; SELECT v.g, x.* FROM (VALUES (10), (500), (60)) v(g), LATERAL (SELECT count(*), sum(f.id) FROM ($union) s, fact f JOIN dim USING (k) WHERE f.id % 100 < v.g OFFSET 0) x");
	my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET wrap.scans = fact;';
	foreach my $query ($join, $union)
	{
		like(explained("$hash $parallel $query", 'COSTS OFF'), qr/Gather.*Wrapper/s, "$order: a wrapper among workers: it is there");
		same_rows("$order: a wrapper among workers", "$hash $parallel $query", $query eq $join && !$first ? 0 : 1);
	}
	$node->stop;
}

done_testing();
