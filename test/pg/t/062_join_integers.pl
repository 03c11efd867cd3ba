# Random sets of integers, dates and timestamps as keys of a join: the rows are the same with filters and ranges of keys as
# without, and verify finds nothing. The keys are near each other and apart, in ascending, descending and any order, and at
# the ends of their types, so that the set of integers becomes wider, moves and becomes coarser. What it removes is counted:
# all rows without a match while it is exact, else most.  SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooJoin;
use CuckooRandom;
use CuckooSession;

my $node = random_cluster("enable_mergejoin = off\n");
my $seed = seed();

# Types whose values are integers, from `low` to `high`; %s is one of these.
my %types = (
	smallint => { low => '-32768', high => '32767' },
	integer => { low => '-2147483648', high => '2147483647' },
	bigint => { low => '-9223372036854775808', high => '9223372036854775807' },
	date => { low => '-2400000', high => '2000000000', value => "date '2000-01-01' + (%s)::integer", ends => 1 },
	timestamp => { low => '-200000000000000000', high => '9000000000000000000', value => "timestamp '2000-01-01' + (%s)::float8 * interval '1 microsecond'", ends => 1 },
	timestamptz => { low => '-200000000000000000', high => '9000000000000000000', value => "timestamptz '2000-01-01 00:00+00' + (%s)::float8 * interval '1 microsecond'", ends => 1 });
my @integers = ('smallint', 'integer', 'integer', 'bigint', 'bigint', 'bigint');

# SQL of a value of a type.
sub value_sql
{
	my ($type, $number) = @_;
	return sprintf($types{$type}{value} // "(%s)::$type", $number);
}

my %seen;

# The tables of a round: the keys, and rows with these keys and with others near them.
sub tables_sql
{
	my ($build, $probe) = chance(0.7) ? (pick(@integers), pick(@integers)) : (pick('date', 'timestamp', 'timestamptz')) x 2;
	my $type = $types{$build};
	my $n = pick(2, 100, 1022 + int(rand(4)), 5000, 30000);
	my ($step, $groups, $apart) = (pick(1, 1, 2, 3, 37, 70, 1000, 1048576, 4294967296), pick(1, 1, 2, 5), pick(100000, 786400, 1048570, 2000000, 3000000000));
	my $base = pick(0, int(rand(200000)) - 100000, $type->{low}, "$type->{high} - " . int(rand(3)), "$type->{high} - $step * ${n}::numeric", -$apart);
	my $ends = pick(0, 0, 0, 0, 1);
	my $extra = chance(0.2) ? ' UNION ALL SELECT -1, NULL' : '';

	$extra .= " UNION ALL SELECT -2, $type->{low} UNION ALL SELECT $n, $type->{high}" if $ends;
	$extra .= " UNION ALL SELECT 1, $base" x 3 if chance(0.2);
	# a number of numeric, as it may not fit into the type
	my $numbers = "SELECT o, x FROM (SELECT o, $base + ${step}::numeric * (o / $groups) + ${apart}::numeric * (o % $groups) AS x FROM generate_series(0, $n - 1) o$extra) y WHERE x IS NULL OR x BETWEEN $type->{low} AND $type->{high}";
	my $near = 'VALUES (0), (1), (-1), (2), (7), (-8), (64), (-1000), (4096), (1048576), (-786432), (5000000000)';

	return (
		'DROP TABLE IF EXISTS numbers, keys, probe',
		"CREATE TABLE numbers AS $numbers",
		'CREATE TABLE keys AS SELECT o, ' . value_sql($build, 'x') . ' AS k FROM numbers ORDER BY ' . pick('o', 'o', 'x', 'x DESC', 'hashint4(o)'),
		"CREATE TABLE probe AS SELECT row_number() OVER () AS id, p FROM (SELECT " . value_sql($probe, 'x + d.column1') . " AS p FROM (SELECT x FROM numbers ORDER BY hashint4(o) LIMIT 700) z, ($near) d WHERE x IS NULL OR x + d.column1 BETWEEN greatest($type->{low}, $types{$probe}{low}) AND least($type->{high}, $types{$probe}{high})) w" . pick(' ORDER BY p', ' ORDER BY p', ''),
		$type->{ends} && $ends ? ("INSERT INTO keys SELECT 5, unnest(array['infinity', '-infinity']::$build\[])", "INSERT INTO probe SELECT -1, unnest(array['infinity', '-infinity']::$probe\[])") : (),
		'CREATE INDEX ON probe USING ' . pick('brin (p) WITH (pages_per_range = 1)', 'brin (p) WITH (pages_per_range = 4)', 'btree (p)'),
		'CREATE INDEX ON keys (k)',
		'ANALYZE keys, probe');
}

sub settings_sql
{
	my $loops = chance(0.25);

	return join('; ',
		'SET enable_nestloop = ' . ($loops ? 'on' : 'off'),
		'SET enable_hashjoin = ' . ($loops ? 'off' : 'on'),
		'SET max_parallel_workers_per_gather = ' . pick(0, 0, 2),
		'SET cuckoofilter.join_filter_blocks = ' . pick('on', 'off'),
		'SET cuckoofilter.join_filter_max_pass = ' . pick(1, 1, 0.5),
		'SET cuckoofilter.join_filter_memory = ' . pick("'64kB'", "'300kB'", "'1MB'", "'64MB'"));
}

sub query_sql
{
	my $what = 'count(*), sum(probe.id)';
	my $of = pick('', '', ' AND o % 2 = 0', ' AND o < 100');

	return pick(
		"SELECT $what FROM probe JOIN keys ON p = k$of",
		"SELECT $what FROM probe WHERE EXISTS (SELECT FROM keys WHERE p = k$of)",
		"SELECT $what, count(k), sum(o) FROM probe LEFT JOIN keys ON p = k$of",
		"SELECT $what FROM probe WHERE NOT EXISTS (SELECT FROM keys WHERE p = k$of)",
		"SELECT g, x.* FROM generate_series(1, 4) g, LATERAL (SELECT $what FROM probe JOIN keys ON p = k AND o % 4 < g$of OFFSET g - g) x",
		"SELECT g, x.* FROM generate_series(1, 4) g, LATERAL (SELECT $what FROM probe JOIN keys ON p = k AND o / 20 % 4 = g OFFSET 0) x");
}

my $session = CuckooSession->new($node);
$session->query('SET client_min_messages = error; LOAD $$cuckoofilter_join$$; SET cuckoofilter.join_filter_min_rows = 0');

# A query gives the same rows in all modes.
sub compare
{
	my ($name, $query) = @_;
	my %rows;

	foreach my $mode (qw(off on auto verify))
	{
		$session->ask("SET cuckoofilter.join_filter = $mode; $query");
		my ($out, $err) = $session->answer;
		$rows{$mode} = $err eq '' ? $out : "error: $err";
	}
	my @unlike = grep { $rows{$_} ne $rows{off} } qw(on auto verify);
	$seen{queries}++;
	return 1 if !@unlike;
	fail($name);
	diag("SEED=$seed $query\n" . join("\n", map { "$_: $rows{$_}" } ('off', @unlike)));
	return 0;
}

# Settings by which a filter of all keys tests all rows.
my $all_rows = "SET enable_nestloop = off; SET enable_hashjoin = on; SET max_parallel_workers_per_gather = 0; SET cuckoofilter.join_filter_blocks = off; SET cuckoofilter.join_filter_max_pass = 1; SET cuckoofilter.join_filter_memory = '64MB'";

# A filter of all keys removes the rows without a match: all if its set is exact, but one that the join may fetch before it.
sub count_removed
{
	my ($name) = @_;
	my $semi = 'FROM probe WHERE p IN (SELECT k FROM keys)';

	$session->query("$all_rows; SET cuckoofilter.join_filter = off");
	my ($all, $span) = split(/\|/, $session->query("SELECT (SELECT count(*) FROM probe) - (SELECT count(*) $semi), (SELECT coalesce(max(x) - min(x), 0) FROM numbers)"));
	my ($infinite) = $session->query("SELECT count(*) FROM keys WHERE k::text LIKE '%infinity'");
	my ($removed) = $session->query("SET cuckoofilter.join_filter = on; EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF) SELECT count(*) $semi") =~ /Rows Tested: \d+  Removed: (\d+)/;

	return if !defined $removed; # the rows of `probe` are hashed
	my $exact = $infinite == 0 && $span < 500000;
	$seen{ $exact ? 'exact' : 'coarse' }++;
	cmp_ok($removed, '>=', $exact ? $all - 1 : 0.93 * $all - 20, "$name: rows without a match are removed, " . ($exact ? 'all' : 'most'));
}

foreach my $round (1 .. rounds(30))
{
	my @sql = tables_sql();

	$session->query($_) foreach @sql;
	count_removed("round $round");
	foreach (1 .. 5)
	{
		my $settings = settings_sql();

		$session->query($settings);
		next if compare("round $round: the same rows", query_sql());
		diag(join(";\n", @sql, $settings));
		last;
	}
}
note("$seen{queries} queries, " . ($seen{exact} // 0) . ' exact sets, ' . ($seen{coarse} // 0) . ' coarse ones');
cmp_ok($seen{exact} // 0, '>', 0, 'there are exact sets');
cmp_ok($seen{coarse} // 0, '>', 0, 'there are coarse sets');

# The table of a set is made when the first keys are known: of few keys that are far apart it is small, in any order of theirs.
$session->query("$all_rows; SET cuckoofilter.join_filter = on");
foreach my $n (1, 2, 1000, 1023, 1024, 1025, 4000)
{
	foreach my $order ('o', '-o', 'hashint4(o)')
	{
		$session->query($_) foreach (
			'DROP TABLE IF EXISTS keys, probe',
			"CREATE TABLE keys AS SELECT timestamp '2020-01-01' + o * interval '2041.123 seconds' AS k FROM generate_series(1, $n) o ORDER BY $order",
			"CREATE TABLE probe AS SELECT timestamp '2020-01-01' + g * interval '204.1123 seconds' AS p FROM generate_series(1, 10 * $n) g",
			'ANALYZE keys, probe');
		my $plan = $session->query('EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF) SELECT count(*) FROM probe JOIN keys ON p = k');
		my ($memory, $removed) = $plan =~ /Memory: (\d+)kB.*Removed: (\d+)/s;

		cmp_ok($removed, '>=', 0.97 * 9 * $n - 1, "$n keys in the order of $order: rows without a match are removed") or diag($plan);
		cmp_ok($memory, '<=', $n < 1024 ? 40 : 300, "$n keys in the order of $order: the memory") or diag($plan);
	}
}
$session->quit;

done_testing();
