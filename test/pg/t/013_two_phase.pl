# Aggregation in two phases, as in engines that distribute a table over servers: partial states are
# sent as text or in binary, arrive as filters, and are combined by random trees. The result has the
# bytes of one server. SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooSession;
use CuckooUnlike;
use List::Util qw(min shuffle);

seed();
my $node = new_cluster('main', conf => "max_parallel_workers_per_gather = 0\nshared_buffers = '128MB'\n");
my $session = CuckooSession->new($node);
my $file = PostgreSQL::Test::Utils::tempdir() . '/states';

# partial_NAME ends with the state, combine_NAME begins with states and ends with
# a filter, between_NAME begins and ends with states.
my %combine = (agg => 'agg', agg_hash => 'agg', union_agg => 'union_agg', sum_agg => 'sum_agg');
my %final = (agg => 'agg', agg_hash => 'agg', union_agg => 'merge_agg', sum_agg => 'merge_agg');
my %partial = (
	agg => [ 'bigint', 'bigint, double precision', 'bigint, double precision, bigint', 'bigint, double precision, bigint, text' ],
	agg_hash => [ 'bigint', 'bigint, double precision', 'bigint, double precision, bigint', 'bigint, double precision, bigint, text' ],
	union_agg => ['cuckoofilter'],
	sum_agg => ['cuckoofilter']);
foreach my $name (sort keys %partial)
{
	$session->query("CREATE AGGREGATE partial_$name($_) (SFUNC = cuckoofilter_${name}_transition, STYPE = cuckoofilter)") foreach @{ $partial{$name} };
	$session->query("CREATE AGGREGATE between_$name(cuckoofilter) (SFUNC = cuckoofilter_$combine{$name}_combine, STYPE = cuckoofilter)");
	$session->query("CREATE AGGREGATE combine_$name(cuckoofilter) (SFUNC = cuckoofilter_$combine{$name}_combine, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_$final{$name}_final)");
}
$session->query(
	q{
	CREATE TABLE leaf (id integer, first bigint, last bigint, f cuckoofilter);
	CREATE TABLE state (id serial, node integer, f cuckoofilter);
	CREATE TABLE next_state (id serial, node integer, f cuckoofilter);});

# Run SQL. Returns its output, or its SQLSTATE and message.
sub try
{
	my ($sql) = @_;
	$session->ask($sql);
	my ($out, $err, $alive) = $session->answer;

	die "the server is gone: $sql" if !$alive;
	return $err =~ /ERROR:  (\w{5}): (.*)/ ? "$1 $2" : $err ne '' ? $err : $out;
}

sub state_of
{
	my ($got) = @_;
	return $got =~ /^(\w{5}) / ? $1 : $got;
}

# Send the states to another process, each as text, in binary, or as a value. Returns '' or the error.
sub carry
{
	unlink $file;
	return try("UPDATE state SET f = f::text::cuckoofilter WHERE hashint4(id) % 3 = 0;
		COPY (SELECT id, node, f FROM state WHERE hashint4(id) % 3 = 1) TO '$file' (FORMAT binary);
		DELETE FROM state WHERE hashint4(id) % 3 = 1;
		COPY state FROM '$file' (FORMAT binary)");
}

# Combine the states by a random tree, carried at each step.  The md5 of the
# filter, or what went wrong.
sub combine
{
	my ($name) = @_;
	my $wrong = carry();

	while ($wrong eq '' && $session->query('SELECT count(*) FROM state') > 3 && rand() < 0.8)
	{
		my $nodes = 1 + int(rand($session->query('SELECT count(*) FROM state')));
		$wrong = try("TRUNCATE next_state; UPDATE state SET node = random() * $nodes;
			INSERT INTO next_state (node, f) SELECT node, between_$name(f ORDER BY random()) FROM state GROUP BY node;
			TRUNCATE state; INSERT INTO state SELECT * FROM next_state");
		$wrong = carry() if $wrong eq '';
	}
	return $wrong ne '' ? $wrong : try("SELECT md5(combine_$name(f ORDER BY random())::bytea) FROM state");
}

# --------------------------------------------------------- items and hashes

# States of a few items combine to a filter that has each item once, also if all states have the same item.
is( $session->query(
		q{WITH states AS MATERIALIZED (SELECT g, partial_agg(x::bigint) AS s FROM generate_series(1, 60) g, generate_series(1, g) x GROUP BY g, x % 5)
		SELECT count(*), string_agg(format('%s of %s', cuckoofilter_count(s), g), ', ') FILTER (WHERE cuckoofilter_count(s) <> g)
		FROM (SELECT g, between_agg(s) AS s FROM (SELECT * FROM states UNION ALL SELECT * FROM states) twice GROUP BY g
			UNION ALL SELECT g, between_agg(s) FROM states GROUP BY g) combined}),
	'120|', 'combined states have each item once');

foreach my $round (1 .. rounds(6))
{
	my $id = 0;
	my @leaves = map
	{
		my $first = one_of(1, 1 + int(rand(200_000)));
		sprintf('(%d, %d, %d)', $id++, $first, $first + min(draw_size(), 100_000) - 1);
	} 1 .. 1 + int(rand(7));
	my $options = draw_options(one_of(0, 5));
	my $parameters = one_of('', '', ', 0.003', ', 0.02, 50000', ", 0.02, NULL, '$options'", ", 0.001, 50000, '$options'");

	# states over no rows are NULL
	push @leaves, map { sprintf('(%d, 1, 0)', $id++) } 1 .. int(rand(3));
	@leaves = shuffle(@leaves);
	$session->query('TRUNCATE leaf; INSERT INTO leaf VALUES ' . join(',', @leaves));
	foreach my $name (qw(agg agg_hash))
	{
		my $item = $name eq 'agg' ? 'nullif(x % 150000, 7)' : 'cuckoofilter_hash(nullif(x % 150000, 7), 11)';
		my $what = "round $round, $name($parameters) of @leaves";
		my $want = $session->query("SELECT md5(cuckoofilter_$name($item$parameters)::bytea) FROM leaf, generate_series(first, last) x");

		$session->query("TRUNCATE state; INSERT INTO state (node, f) SELECT 0, NULL");
		my $nodes = 1 + int(rand(6));
		$session->query(
			"INSERT INTO state (node, f) SELECT node, partial_$name($item$parameters)
				FROM (SELECT first, last, (random() * $nodes)::integer AS node FROM leaf OFFSET 0) leaf, generate_series(first, last) x GROUP BY node");
		is(combine($name), $want, $what);
	}
}

# ------------------------------------------------------------------- filters

# Fill table leaf with filters.
sub draw_leaves
{
	my (%how) = @_;
	my $its_seed = one_of(0, 0, 77, -1);
	my $first = 1;
	my @rows;

	my $n = 2 + int(rand($how{narrow} ? 40 : 6));

	foreach my $i (1 .. $n)
	{
		my $size = $how{narrow} ? 1 + int(rand($how{narrow})) : min(draw_size(), 100_000);
		my $seed_of_this = $how{unlike} && $i == 2 ? $its_seed + 1 : $its_seed;
		$first = 1 + int(rand(100_000)) if $how{common};
		push @rows, $how{narrow} ? draw_narrow($seed_of_this, $first, $first + $size - 1, $n) : draw_filter($seed_of_this, $first, $first + $size - 1, $how{roomy});
		$first += $size;
		push @rows, draw_empty() if rand() < 0.4;
	}
	push @rows, 'NULL' if rand() < 0.3;
	@rows = map { draw_empty() } 1 .. 5 if $how{empty};
	my $id = 0;
	$session->query('TRUNCATE leaf; INSERT INTO leaf VALUES ' . join(",\n", map { '(' . $id++ . ", 0, 0, $_)" } shuffle(@rows)));
	return $session->query(q{SELECT string_agg(coalesce(format('[%s items capacity=%s fpr=%s b=%s %s %s seed=%s w=%s]', i ->> 'count', i ->> 'capacity', i ->> 'target_fpr',
		i ->> 'bucket_size', i ->> 'layout', i ->> 'kind', i ->> 'seed', i ->> 'prefix_bits'), 'NULL'), ', ' ORDER BY id) FROM leaf LEFT JOIN LATERAL cuckoofilter_info(f) i ON true});
}

sub partial_filters
{
	my ($name) = @_;
	my $nodes = 1 + int(rand(6));

	return try("TRUNCATE state; INSERT INTO state (node, f) SELECT node, partial_$name(f ORDER BY random()) FROM (SELECT f, (random() * $nodes)::integer AS node FROM leaf OFFSET 0) leaf GROUP BY node");
}

# Partial states over any partition of the filters give the filter, or the error, of one aggregate over all of
# them. Every second round has filters near the limit of their precision.
foreach my $round (1 .. rounds(12))
{
	foreach my $name (qw(union_agg sum_agg))
	{
		my $leaves = draw_leaves(common => rand() < 0.3, roomy => rand() < 0.7, empty => $round % 6 == 0, narrow => $round % 2 ? 0 : one_of(10, 60, 200, 800));
		my $want = try("SELECT md5(cuckoofilter_$name(f ORDER BY id)::bytea) FROM leaf");

		my $wrong = partial_filters($name);
		my $got = state_of($wrong || combine($name));

		is($got, state_of($want), "round $round, $name of $leaves");
	}
}

# Unlike seeds, in one state or in several.
foreach my $round (1 .. rounds(3))
{
	foreach my $name (qw(union_agg sum_agg))
	{
		my $leaves = draw_leaves(unlike => 1, narrow => one_of(0, 100));
		like(partial_filters($name) || combine($name), qr/^22023 cannot merge cuckoofilters with different seeds/, "round $round, $name, unlike seeds: $leaves");
	}
}

# ------------------------------------------- a state is a filter on its way

# What a partial state of n items is as text: an ordinary filter.
foreach my $n (1, 9, 57, 900, 4096, 4097, 30_000, 66_000, 150_000)
{
	my $filters = "(SELECT cuckoofilter_agg(x, 0.01, 200000) AS f FROM generate_series(1, $n) x GROUP BY x % 3)";
	my %states = (
		agg => "SELECT partial_agg(x) FROM generate_series(1, $n) x",
		agg_hash => "SELECT partial_agg_hash(cuckoofilter_hash(x)) FROM generate_series(1, $n) x",
		union_agg => "SELECT partial_union_agg(f) FROM $filters filters",
		sum_agg => "SELECT partial_sum_agg(f) FROM $filters filters");

	foreach my $name (sort keys %states)
	{
		is( try("TRUNCATE leaf, state; INSERT INTO state (f) $states{$name}; INSERT INTO leaf (f) SELECT f::text::cuckoofilter FROM state;
				SELECT cuckoofilter_count(f) BETWEEN $n * 0.98 AND $n, cuckoofilter_info(f) ->> 'encoding' IN ('hashes', 'table'), cuckoofilter_fpr(f) < 0.02,
					f = f::bytea::cuckoofilter, f = f::text::cuckoofilter, (SELECT count(*) FROM generate_series(1, $n) x WHERE NOT f \@> x),
					cuckoofilter_compact(f) \@> 1, f + -5 \@> -5, cuckoofilter_union(f, f) \@> 1, cuckoofilter_sum(f, cuckoofilter_create(5)) \@> $n\::bigint FROM leaf"),
			't|t|t|t|t|0|t|t|t|t', "$name of $n items: its state, as text, is an ordinary filter");
	}
}

$session->quit;
$node->stop;
done_testing();
