# Filters that differ in size, capacity, rate, bucket size, layout, kind, version and history are
# built, merged, compared and changed. Serial, parallel, partitionwise and nested plans give the
# bytes, or the error, that the core gives: test/core/tool/writes.c draws the cases, as it does for
# test/sqlite/unlike.py. SEED=n ROUNDS=percent.
use CuckooCluster;
use CuckooSession;
use CuckooUnlike;
use Digest::MD5 qw(md5_hex);
use FindBin;
use List::Util qw(min shuffle);

my $seed = seed();
my $node = new_cluster('main', conf => "max_parallel_workers = 4\nmax_worker_processes = 8\nshared_buffers = '128MB'\n");
my $session = CuckooSession->new($node);
my $dir = PostgreSQL::Test::Utils::tempdir();

# Filters fill a page each, so that parallel workers take turns.
$session->query(
	q{
	CREATE TABLE input (id integer, part integer, f cuckoofilter, page char(7000)) PARTITION BY LIST (part);
	CREATE TABLE input0 PARTITION OF input FOR VALUES IN (0);
	CREATE TABLE input1 PARTITION OF input FOR VALUES IN (1);
	CREATE TABLE flat (LIKE input);
	CREATE UNLOGGED TABLE drawn (id integer, inputs text[]);
	CREATE UNLOGGED TABLE step (f cuckoofilter);
	CREATE UNLOGGED TABLE hashes (h bigint);
	CREATE UNLOGGED TABLE items (grp integer, x bigint);
	ALTER TABLE input0 ALTER page SET STORAGE plain;
	ALTER TABLE input1 ALTER page SET STORAGE plain;
	ALTER TABLE flat ALTER page SET STORAGE plain;
	ALTER TABLE input0 SET (autovacuum_enabled = off, parallel_workers = 4);
	ALTER TABLE input1 SET (autovacuum_enabled = off, parallel_workers = 4);
	ALTER TABLE flat SET (autovacuum_enabled = off, parallel_workers = 4);
	ALTER TABLE hashes SET (autovacuum_enabled = off, parallel_workers = 4)});

my $serial = 'SET max_parallel_workers_per_gather = 0; SET enable_partitionwise_aggregate = off';
my $parallel = 'SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; '
  . 'SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off; SET enable_partitionwise_aggregate = off';
my $partitionwise = 'SET max_parallel_workers_per_gather = 0; SET enable_partitionwise_aggregate = on';
$session->query($serial);

my %errors = (
	precision => qr/^54000 (cuckoofilter has no precision left|cannot merge cuckoofilters: (the \w+ is too coarse|at least one was built for only)|cuckoofilter cannot store so many)/,
	seeds => qr/^22023 cannot merge cuckoofilters with different seeds/,
	sizes => qr/^22023 .*is too coarse/);

# ------------------------------------------------------------------- the checks

# The md5 of the bytes that a query returns, or its SQLSTATE and message.
sub outcome
{
	my ($query) = @_;
	$session->ask("SELECT 'md5 ' || md5(f::bytea) FROM ($query) AS q(f)");
	my ($out, $err, $alive) = $session->answer;
	die "the server is gone: $query" if !$alive;
	return $err =~ /ERROR:  (\w{5}): (.*)/ ? "$1 $2" : $err || $out;
}

# The query has the result of a case: these bytes, or this error.
sub gives
{
	my ($what, $query, $result) = @_;
	my $got = outcome($query);

	return like($got, $errors{$result}, "$what: $result") if $errors{$result};
	return is($got, 'md5 ' . md5_hex(pack('H*', $result)), $what);
}

# The planner overestimates a table of a few rows, so that dividing the work seems to pay.
sub pretend_many
{
	return "ANALYZE $_[0]; UPDATE pg_class SET reltuples = 100000 WHERE relname = ANY('{$_[0]}')";
}

# The plan of a query has this form.
sub plan_is
{
	my ($what, $query, $pattern) = @_;
	like($session->query("EXPLAIN (COSTS OFF) $query"), $pattern, "$what: the plan");
	return;
}

# The queries that aggregate all filters at once, with the form of their plans.
sub roads
{
	my ($aggregate) = @_;
	my $order = one_of('id', 'id DESC', 'md5(id::text)');
	my $all = "SELECT $aggregate(f)";

	return (
		'parallel' => [ $parallel, "$all FROM flat", qr/Finalize Aggregate.*Gather.*Partial Aggregate.*Parallel Seq Scan/s ],
		'partitionwise' => [ $partitionwise, "$all FROM input", qr/Finalize Aggregate.*Append.*Partial Aggregate.*input0.*Partial Aggregate.*input1/s ],
		'both' => [ "$parallel; SET enable_partitionwise_aggregate = on", "$all FROM input", qr/Finalize Aggregate.*Gather.*Partial Aggregate/s ],
		"by $order" => [ $serial, "SELECT $aggregate(f ORDER BY $order) FROM input", qr/Aggregate/ ],
		'a window' => [ $serial, "SELECT m FROM (SELECT id, $aggregate(f) OVER (ORDER BY id) AS m FROM input) w ORDER BY id DESC LIMIT 1", qr/WindowAgg/ ]);
}

# Filters that a query makes, and merges at once, give what they give as stored values.
sub check_nested
{
	my ($what, $name) = @_;
	my $pairs = "SELECT $name(a.f, b.f) AS f FROM input a JOIN input b ON b.id = a.id + 1";

	foreach my $nested (
		[ "SELECT ${name}_agg(f) AS f FROM input GROUP BY " . one_of('id % 2', 'id % 3', 'part'), "${name}_agg(f)" ],
		[ $pairs, "${name}_agg(f)" ], [ "$pairs WHERE a.id = 1", "$name(f, f)" ])
	{
		my ($first, $then) = @$nested;
		$session->ask("TRUNCATE step; INSERT INTO step $first");
		my (undef, $refused) = $session->answer;
		is(outcome("SELECT $then FROM ($first) q"), outcome("SELECT $then FROM step"), "$what: $then of $first") if !$refused;
	}
	return;
}

# -------------------------------------------------------------------- the cases

sub merge
{
	my ($what, $kind, $result, $id) = @_;
	my $name = "cuckoofilter_$kind" =~ s/_agg$//r;
	my @two = map { "(SELECT f FROM input WHERE id = $_)" } shuffle(1, 2);

	$session->query(
		"TRUNCATE input, flat; INSERT INTO input SELECT n, random()::integer, decode(f, 'hex')::cuckoofilter, 'x' FROM drawn, unnest(inputs) WITH ORDINALITY u(f, n)
			WHERE drawn.id = $id; INSERT INTO flat SELECT * FROM input ORDER BY id; " . pretend_many('flat,input0,input1,input'));
	return gives($what, "SELECT $name($two[0], $two[1])", $result) if $kind !~ /_agg/;
	gives("$what in order", "SELECT ${name}_agg(f ORDER BY id) FROM input", $result);
	return if $kind eq 'intersect_agg'; # which chance matches remain depends on the order
	my $want = outcome("SELECT ${name}_agg(f ORDER BY id) FROM input");
	my %roads = roads("${name}_agg");
	foreach my $road (sort keys %roads)
	{
		my ($settings, $query, $pattern) = @{ $roads{$road} };

		$session->query($settings);
		plan_is("$what, $road", $query, $pattern);
		my $got = outcome($query);
		# an error names seeds as they come, and a window is refused where the filters so far are too many for their rate
		is($got, ($result eq 'seeds' && $got =~ $errors{seeds}) || ($road eq 'a window' && $got =~ /^54000 /) ? $got : $want, "$what, $road: as in order");
		$session->query($serial);
	}
	check_nested($what, $name);
	return;
}

sub aggregate
{
	my ($what, undef, $result, $id, $capacity, $rate, $its_seed, $is_set, $is_plain, $b) = @_;
	my $options = join(',', shuffle("bucket_size=$b", 'seed=' . unpack('q', pack('Q', hex $its_seed)), $is_set ? 'kind=set' : (), $is_plain ? 'layout=plain' : ()));
	my $query = sprintf("SELECT cuckoofilter_agg_hash(h, %.17g, $capacity, '$options') FROM hashes", unpack('d', pack('Q', hex $rate)));

	# over no rows the options would not count
	$session->query(
		"TRUNCATE hashes; WITH bytes AS MATERIALIZED (SELECT CASE inputs[7] WHEN '-' THEN '' ELSE decode(inputs[7], 'hex') END AS b FROM drawn WHERE id = $id)
		INSERT INTO hashes SELECT ('x' || encode(substr(b, 8 * i + 1, 8), 'hex'))::bit(64)::bigint FROM bytes, generate_series(0, length(b) / 8 - 1) i UNION ALL SELECT NULL; "
		  . pretend_many('hashes'));
	gives($what, $query, $result);
	$session->query($parallel);
	gives("$what in parallel", $query, $result);
	$session->query($serial);
	return;
}

sub compare
{
	my ($what, undef, $result, $id) = @_;
	my @want = split /:/, $result;

	foreach my $call ('overlap', 'jaccard')
	{
		my $query = "SELECT cuckoofilter_$call(decode(inputs[1], 'hex')::cuckoofilter, decode(inputs[2], 'hex')::cuckoofilter) FROM drawn WHERE id = $id";
		$session->ask("SELECT coalesce(x, 0) FROM ($query) q(x)");
		my ($got, $err) = $session->answer;
		my ($error) = $err =~ /ERROR:  (\w{5}: .*)/;
		like($error =~ s/://r, $errors{$result}, "$what, $call: $result") if $error;
		cmp_ok(abs($got - $want[ $call eq 'jaccard' ]), '<', 1e-8, "$what, $call: $got") if !$error;
	}
	return;
}

sub compact
{
	my ($what, undef, $result, $id) = @_;
	return gives($what, "SELECT cuckoofilter_compact(decode(inputs[1], 'hex')::cuckoofilter) FROM drawn WHERE id = $id", $result);
}

sub integers
{
	my ($what, $kind, $result, $id, undef, $from, $span, $n) = @_;
	my $items = "coalesce((SELECT array_agg($from\::bigint + i % $span) FROM generate_series(0, $n - 1) i), '{}')";
	return gives("$what, $n", 'SELECT cuckoofilter_' . ($kind =~ s/integers/all/r) . "(decode(inputs[1], 'hex')::cuckoofilter, VARIADIC $items) FROM drawn WHERE id = $id", $result);
}

my %replay = (
	union => \&merge, sum => \&merge, union_agg => \&merge, sum_agg => \&merge, intersect_agg => \&merge, aggregate => \&aggregate,
	compare => \&compare, compact => \&compact, add_integers => \&integers, remove_integers => \&integers);
my ($id, $drawn, @cases) = (0, '');
$ENV{SEED} = $seed;
open(my $writes, '-|', $ENV{CUCKOOFILTER_WRITES} // "$FindBin::Bin/../../../build/test/core/tool/writes", 'sql', rounds(240)) or die "no cases: $!";
while (my $line = <$writes>)
{
	my (undef, $kind, $result, @inputs) = split ' ', $line;
	next if $line !~ /^case / || !$replay{$kind};
	push @cases, [ "case $id, $kind", $kind, $result, $id, map { length > 100 ? '' : $_ } @inputs ];
	$drawn .= $id++ . "\t{" . join(',', @inputs) . "}\n";
}
close($writes) or die "no cases: $!";
append_to_file("$dir/drawn", $drawn);
$session->query("COPY drawn FROM '$dir/drawn'");
foreach my $case (@cases)
{
	$replay{ $case->[1] }->(@$case);
}

# A merge of tables that lost all items is a header, whatever the size of the tables (core/FORMAT.md, section 8).
foreach my $size (60, 2000, 20_000)
{
	foreach my $options ('', 'layout=plain', 'bucket_size=2', 'bucket_size=8')
	{
		my $emptied = "(SELECT cuckoofilter_remove_all(cuckoofilter_agg(x, 1e-4, NULL, '$options'), VARIADIC array_agg(x)) FROM generate_series(1, $size) x)";
		$session->query("TRUNCATE input, flat; INSERT INTO input SELECT 1, 0, $emptied, 'x'; INSERT INTO flat SELECT * FROM input; " . pretend_many('flat,input0,input1,input'));
		is($session->query("SELECT cuckoofilter_count(f) = 0 AND length(f::bytea) > 48 FROM input"), 't', "$size items, $options: an empty table");
		foreach my $function (qw(union sum intersect))
		{
			my $two = "cuckoofilter_$function(f, f)";
			my %roads = roads("cuckoofilter_${function}_agg");
			foreach my $road (sort keys %roads)
			{
				my ($settings, $query) = @{ $roads{$road} };
				next if $function eq 'intersect' && $road !~ /^by|window/;    # has no partial states
				$session->query($settings);
				is($session->query("SELECT length(${two}::bytea), m.m::bytea = ${two}::bytea FROM input, ($query) AS m(m)"), '48|t', "$size items, $options: $function, $road");
				$session->query($serial);
			}
		}
	}
}

# Aggregates over items: the sizes of groups and of parallel states are drawn independently.
foreach my $round (1 .. rounds(2))
{
	my @groups = map { my $size = min(draw_size(), 120_000); "($_, $size)" } 1 .. 5;
	my $options = draw_options(one_of(0, 5));
	my $parameters = one_of('', ', 0.003', ", 0.02, NULL, '$options'", ", 0.001, 50000, '$options'");

	$session->query("TRUNCATE items; INSERT INTO items SELECT grp, x FROM (VALUES " . join(',', @groups) . ') v(grp, size), LATERAL generate_series(1, size) x; ANALYZE items');
	my $query = "SELECT grp, md5(cuckoofilter_agg(x$parameters)::bytea), md5(cuckoofilter_agg_hash(cuckoofilter_hash(x * 3)$parameters)::bytea) FROM items GROUP BY grp";
	my $want = $session->query("SELECT * FROM ($query) q ORDER BY grp");
	$session->query($parallel);
	plan_is("round $round, items", $query, qr/Finalize (Group|Hash)Aggregate.*Gather.*Partial (Group|Hash)Aggregate/s);
	is($session->query("SELECT * FROM ($query) q ORDER BY grp"), $want, "round $round: items of @groups$parameters in parallel");
	my $whole = "SELECT md5(cuckoofilter_agg(grp * 1000000 + x$parameters)::bytea) FROM items";
	plan_is("round $round, all items", $whole, qr/Finalize Aggregate.*Gather.*Partial Aggregate/s);
	my $got = $session->query($whole);
	is($got, $session->query("$serial; $whole"), "round $round: all of them in parallel");
}

# Over no rows: the empty default filter, in every plan.
$session->query('TRUNCATE items, flat; ' . pretend_many('flat,items'));
my $none = q{
	SELECT bool_and(f = cuckoofilter_create(1)) FROM (
		SELECT cuckoofilter_agg(x) AS f FROM items
		UNION ALL SELECT cuckoofilter_agg(x, 0.2, 5000, 'kind=set,seed=9') FROM items
		UNION ALL SELECT cuckoofilter_agg_hash(x) FROM items
		UNION ALL SELECT cuckoofilter_agg_hash(x, 0.2, 5000, 'kind=set,seed=9') FROM items
		UNION ALL SELECT cuckoofilter_union_agg(f) FROM flat
		UNION ALL SELECT cuckoofilter_sum_agg(f) FROM flat
		UNION ALL SELECT cuckoofilter_union_agg(NULL::cuckoofilter) FROM generate_series(1, 3)
		UNION ALL SELECT cuckoofilter_agg(x, 0.2, 5000, 'kind=set') FILTER (WHERE x > 1) FROM (VALUES (1)) v(x)
		UNION ALL SELECT cuckoofilter_sum_agg(f) OVER (ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING) FROM (SELECT cuckoofilter_create(7)) v(f)) e};
is($session->query("$serial; $none"), 't', 'no rows: the empty default filter');
is($session->query("$parallel; $none"), 't', 'no rows in parallel: the same');
is($session->query(q{SELECT cuckoofilter_info(cuckoofilter_union_agg(f)) ->> 'kind' || (cuckoofilter_info(cuckoofilter_sum_agg(f)) ->> 'kind') FROM (SELECT cuckoofilter_create(7)) v(f)}),
	'setdeletable', 'one empty filter: a union is a set');

$session->quit;
$node->stop;
done_testing();
