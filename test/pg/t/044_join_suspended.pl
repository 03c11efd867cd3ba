# Scans that stop to ask a join filter for a while, where too many rows pass: the rows that
# are tested and those that pass untested are counted beside a model.  SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooJoin;
use List::Util qw(min sum);

my $node = join_cluster('main', conf => "enable_mergejoin = off\nenable_nestloop = off\nsynchronize_seqscans = off\n");
my $seed = seed();

$node->safe_psql('postgres', 'CREATE TABLE dim AS SELECT g AS k FROM generate_series(0, 999) g; ANALYZE dim');

# Tables of stretches of rows, [rows, how many of ten rows match] each.
sub new_table
{
	my ($name, @stretches) = @_;
	my $sql = "CREATE TABLE $name (id integer, k integer); ALTER TABLE $name SET (autovacuum_enabled = off);";

	foreach my $stretch (@stretches)
	{
		my ($rows, $matches) = @$stretch;
		$sql .= "INSERT INTO $name SELECT g, CASE WHEN g % 10 < $matches THEN g % 1000 ELSE -g END FROM generate_series(0, $rows - 1) g ORDER BY g;";
	}
	$node->safe_psql('postgres', "$sql ANALYZE $name");
	return [ map { my ($rows, $matches) = @$_; map { $_ % 10 < $matches ? 1 : 0 } (0 .. $rows - 1) } @stretches ];
}

# What scans of these tables do, one after the other.  The first row of all passes before there is
# a filter.  A filter also lets 1 % of other rows pass, so a window whose share is close to
# the limit may count either way: then there is no answer.
sub model
{
	my ($max_pass, @tables) = @_;
	my ($tested, $untested, $bad_before, $length_before, $first) = (0, 0, 0, 4096, 1);

	foreach my $table (@tables)
	{
		my ($length, $window, $n, $passed, $suspended, $bad) = ($bad_before ? $length_before : 4096, 512, 0, 0, 0, $bad_before);

		foreach my $match (@$table)
		{
			if ($first)
			{
				$first = 0;
				next;
			}
			if ($suspended > 0)
			{
				$suspended--;
				$untested++;
				next;
			}
			$tested++;
			$passed += $match;
			next if ++$n < $window;
			return if $passed <= $max_pass * $window && $passed + ($window - $passed) * 0.06 > $max_pass * $window;
			if ($passed > $max_pass * $window)
			{
				if ($bad)
				{
					($suspended, $length, $window) = ($length, min(2 * $length, 65536), 512);
				}
				else
				{
					$window = 4096;
				}
				$bad = 1;
			}
			else
			{
				($length, $window, $bad) = (4096, 4096, 0);
			}
			($bad_before, $length_before) = ($bad, $length);
			($n, $passed) = (0, 0);
		}
	}
	return ($tested, $untested);
}

# The counts of a query's filter.
sub counts
{
	my ($plan) = @_;
	my ($tested) = $plan =~ /Rows Tested: (\d+)/;
	my ($untested) = $plan =~ /Rows Passed Untested: (\d+)/;
	return ($tested // 0, $untested // 0);
}

sub from
{
	my $all = join(' UNION ALL ', map { "SELECT id, k FROM $_" } @_);
	return @_ == 1 ? $_[0] : "($all)";
}

# -------------------------------------------------------------- what people have

sub check
{
	my ($name, $max_pass, @stretches) = @_;
	my $rows = new_table($name, @stretches);
	my $query = "SET cuckoofilter.join_filter_max_pass = $max_pass; SELECT count(*), sum(id) FROM $name f JOIN dim USING (k)";
	my $plan = explained($query);
	my @expected = model($max_pass, $rows);

	is("@{[counts($plan)]}", "@expected", "$name: tested and untested") or diag($plan);
	same_rows($name, $query, 1);
	return ($plan, @expected);
}

# In the order of time, where the first stretch all matches.
my ($plan, $tested, $untested) = check('ordered', 0.7, [ 30_000, 10 ], [ 170_000, 0 ]);
my ($removed) = $plan =~ /Removed: (\d+)/;
cmp_ok($removed, '>', 150_000, 'where all rows match at first, the filter is still asked later') or diag($plan);
cmp_ok($untested, '<', 50_000, 'after a while');

# One month of many, later ones and the first.
check('later', 0.7, [ 60_000, 0 ], [ 20_000, 10 ], [ 80_000, 0 ]);

# All match: few rows are tested, and each suspension is twice as long, up to 65,536 rows.
(undef, $tested, $untested) = check('everything', 0.7, [ 400_000, 10 ]);
cmp_ok($tested, '<', 11_000, 'all match: one row of forty is tested');

# The scan's own condition: rows that it drops are not counted, neither while tests are suspended. The scan begins anew
# with the hash table that there is, while its test is suspended.
my $filtered = 'SET cuckoofilter.join_filter_max_pass = 0.7; SELECT count(*), sum(id) FROM everything f JOIN dim USING (k) WHERE f.id % 4 <> 1';
is("@{[counts(explained($filtered))]}", "@{[model(0.7, [ (1) x 300_000 ])]}", 'a condition that drops a quarter: tested and untested');
same_rows('a condition, and suspended tests', $filtered, 1);
same_rows('scans that begin anew while their tests are suspended',
	'SET cuckoofilter.join_filter_max_pass = 0.7; SELECT g, n, s FROM generate_series(0, 3) g, LATERAL (SELECT count(*) AS n, sum(x.id) AS s FROM (SELECT id FROM everything f JOIN dim USING (k) WHERE f.id % 5 <> g ORDER BY f.id LIMIT 30000 + g) x) y', 1);

# In no order.
(undef, undef, $untested) = check('random_few', 0.7, [ 100_000, 3 ]);
is($untested, 0, 'no row passes untested where the filter drops enough');
(undef, $tested) = check('random_many', 0.7, [ 100_000, 9 ]);
cmp_ok($tested, '<', 10_000, 'few are tested where it drops too few');

# One window is not enough.
(undef, undef, $untested) = check('one', 0.7, [ 514, 0 ], [ 4_096, 10 ], [ 10_000, 0 ], [ 4_090, 10 ], [ 10_000, 0 ]);
is($untested, 0, 'no suspension after one window');
(undef, undef, $untested) = check('two', 0.7, [ 514, 0 ], [ 8_300, 10 ], [ 10_000, 0 ]);
is($untested, 4096, 'a suspension after two');

# Scans of small tables, as of partitions: each one goes on with the suspension that the one before has learned.
my $small = new_table('small', [ 10_000, 10 ]);
my $many = 'SET cuckoofilter.join_filter_max_pass = 0.7; SELECT count(*), sum(id) FROM ' . from(('small') x 8) . ' f JOIN dim USING (k)';
my @many = model(0.7, ($small) x 8);
is("@{[counts(explained($many))]}", "@many", 'small tables that all match: tested and untested');
cmp_ok($many[0], '<', 9_000, 'one window of each but the first');
same_rows('small tables that all match', $many, 1);

# Tests drop no row and are never suspended.
like(explained("SET cuckoofilter.join_filter = verify; SET cuckoofilter.join_filter_max_pass = 0.7; SELECT count(*) FROM everything JOIN dim USING (k)"),
	qr/Rows Tested: 399999  Denied: 0 \(0\.0 %\)\n(?!\s*Rows Passed)/, 'verify tests all rows');

# Two filters of a scan: one is suspended while the other drops rows.
$node->safe_psql('postgres', 'CREATE TABLE ids AS SELECT g AS id FROM generate_series(0, 399999) g WHERE g % 5 < 3; CREATE TABLE all_ids AS SELECT g AS id FROM generate_series(0, 399999) g; ANALYZE ids, all_ids');
my $two = 'SET cuckoofilter.join_filter_max_pass = 0.7; SET join_collapse_limit = 1; SELECT count(*), sum(f.id) FROM everything f JOIN dim USING (k) JOIN %s i USING (id)';
$plan = explained(sprintf($two, 'ids'));
my @tested = $plan =~ /Rows Tested: (\d+)/g;
is(scalar(@tested), 2, 'two filters');
is((sort { $b <=> $a } @tested)[0], 399_999, 'one is asked for each row') or diag($plan);
cmp_ok((sort { $a <=> $b } @tested)[0], '<', 12_000, 'the other is suspended');
like($plan, qr/Rows Passed Untested: \d+/, 'and counts the rows that it would have been asked for');
same_rows('two filters', sprintf($two, 'ids'), 2);
$plan = explained(sprintf($two, 'all_ids'));
is(scalar(() = $plan =~ /Rows Passed Untested: 3\d{5}\n/g), 2, 'both are suspended') or diag($plan);
same_rows('two filters that are suspended', sprintf($two, 'all_ids'), 2);

# Another run begins anew: its first windows are tested.
$node->safe_psql('postgres', 'CREATE TABLE twenty AS SELECT id, k FROM everything LIMIT 20000; ANALYZE twenty');
my $again = "SET cuckoofilter.join_filter_max_pass = 0.7; SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT count(*) FROM twenty JOIN dim USING (k); EXECUTE p; EXECUTE p;";
my ($once) = counts(explained("SET cuckoofilter.join_filter_max_pass = 0.7; SELECT count(*) FROM twenty JOIN dim USING (k)"));
my ($third) = counts(explained("$again EXECUTE p"));
is($third, $once, 'each execution begins anew');

# ------------------------------------------------------------------------- random

my ($rounds, $exact, $sleepers) = (rounds(12), 0, 0);
foreach my $round (1 .. $rounds)
{
	my (@tables, @names);

	foreach my $i (1 .. 1 + int(rand(3)))
	{
		my @stretches = map { [ ($_ == 1 ? 3_000 : 1) + int(rand() < 0.5 ? rand(3_000) : rand(60_000)), (0, 2, 9, 10, 10)[ int(rand(5)) ] ] } (1 .. 1 + int(rand(4)));

		push(@names, "r${round}_$i");
		push(@tables, new_table($names[-1], @stretches));
	}
	my $max_pass = (0.5, 0.6, 0.7)[ int(rand(3)) ];
	my $query = "SET cuckoofilter.join_filter_max_pass = $max_pass; SELECT count(*), sum(id) FROM " . from(@names) . ' f JOIN dim USING (k)';
	my @expected = model($max_pass, @tables);

	same_rows("round $round", $query, 1);
	if (@expected)
	{
		my $plan = explained($query);
		is("@{[counts($plan)]}", "@expected", "round $round: counts") or diag("SEED=$seed\n$plan");
		$exact++;
		$sleepers++ if $expected[1] > 0;
	}
	$node->safe_psql('postgres', 'DROP TABLE ' . join(', ', @names));
}
note("$exact of $rounds rounds counted beside the model, $sleepers with sleeping scans");
diag("$exact of $rounds rounds counted beside the model, $sleepers with sleeping scans") if $ENV{SEED};

done_testing();
