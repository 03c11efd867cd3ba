# Merges of unlike filters: each input has its own random size, capacity, rate, bucket size, layout
# and kind, and an exact model says what the result must have, in serial, parallel, partitionwise
# and nested plans. SEED=n ROUNDS=percent.
#
# The model of a filter is the multiset of prefixes (core/FORMAT.md, section 1) of the hashes of its
# items, which SQL counts.
use CuckooCluster;
use CuckooSession;
use CuckooUnlike;
use List::Util qw(max min shuffle);

my $seed = seed();
my $node = new_cluster('main', conf => "max_parallel_workers = 4\nmax_worker_processes = 8\nshared_buffers = '128MB'\n");
my $session = CuckooSession->new($node);

# Filters fill a page each, so that parallel workers take turns.
$session->query(
	q{
	CREATE TABLE input (id integer, part integer, first integer, last integer, f cuckoofilter, page char(7000)) PARTITION BY LIST (part);
	CREATE TABLE input0 PARTITION OF input FOR VALUES IN (0);
	CREATE TABLE input1 PARTITION OF input FOR VALUES IN (1);
	CREATE TABLE flat (LIKE input);
	CREATE UNLOGGED TABLE hashed (id integer, x bigint, hash bigint);
	CREATE UNLOGGED TABLE model (p bigint, n integer);
	CREATE UNLOGGED TABLE result (f cuckoofilter);
	CREATE UNLOGGED TABLE more (f cuckoofilter);
	CREATE UNLOGGED TABLE items (grp integer, x bigint);
	ALTER TABLE input0 ALTER page SET STORAGE plain;
	ALTER TABLE input1 ALTER page SET STORAGE plain;
	ALTER TABLE flat ALTER page SET STORAGE plain;
	ALTER TABLE input0 SET (autovacuum_enabled = off, parallel_workers = 4);
	ALTER TABLE input1 SET (autovacuum_enabled = off, parallel_workers = 4);
	ALTER TABLE flat SET (autovacuum_enabled = off, parallel_workers = 4);

	-- a prefix of so many bits, or a whole hash (64), cut to w bits
	CREATE FUNCTION cut(prefix bigint, bits integer, w integer, c integer) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
		SELECT CASE WHEN w = 64 THEN CASE prefix WHEN 0 THEN 1 ELSE prefix END
			WHEN (prefix >> (bits - w)) & ((1 << c) - 1) = 0 THEN ((prefix >> (bits - w)) & ((1::bigint << w) - 1)) | 1
			ELSE (prefix >> (bits - w)) & ((1::bigint << w) - 1) END $$;
	-- the header (FORMAT.md, section 2)
	CREATE FUNCTION head(f cuckoofilter, OUT count bigint, OUT seed bigint, OUT capacity bigint, OUT fpr float8, OUT b integer, OUT w integer, OUT c integer,
		OUT is_set boolean, OUT plain boolean, OUT most integer) LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
	DECLARE
		info jsonb := cuckoofilter_info(f);
		bytes bytea := substr(f::bytea, 1, 48);
	BEGIN
		count := cuckoofilter_count(f);
		seed := info ->> 'seed';
		capacity := info ->> 'capacity';
		fpr := info ->> 'target_fpr';
		b := get_byte(bytes, 7);
		w := get_byte(bytes, 9);
		c := get_byte(bytes, 11);
		is_set := get_byte(bytes, 6) & 1 = 1;
		plain := get_byte(bytes, 6) & 2 = 2;
		most := CASE WHEN is_set THEN 1 ELSE 2 * b END;
	END $$});

my $serial = 'SET max_parallel_workers_per_gather = 0; SET enable_partitionwise_aggregate = off';
my $parallel = 'SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; '
  . 'SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off; SET enable_partitionwise_aggregate = off';
my $partitionwise = 'SET max_parallel_workers_per_gather = 0; SET enable_partitionwise_aggregate = on';
$session->query($serial);

# ---------------------------------------------------------------- the generator

# The planner overestimates a table of a few filters, so that dividing the work seems to pay.
sub pretend_many
{
	return "ANALYZE $_[0]; UPDATE pg_class SET reltuples = 100000 WHERE relname = ANY('{$_[0]}')";
}

# Fill table input. Returns a description of its filters.
sub draw_inputs
{
	my (%how) = @_;
	my $its_seed = one_of(0, 0, 77, -1);
	my $n = $how{narrow} ? 2 + int(rand(40)) : 2 + int(rand(5));
	my $first = 1 + int(rand(1000));
	my @rows;

	foreach my $i (1 .. $n)
	{
		my $size = $how{narrow} ? 1 + int(rand($how{narrow})) : draw_size();
		$its_seed++ if $how{unlike} && $i == $n;
		$first = 1 + int(rand(100_000)) if $how{common};
		push @rows, sprintf('(%%d, %d, %d, %d, %s)', int(rand(2)), $first, $first + $size - 1, $how{narrow} ? draw_narrow($its_seed, $first, $first + $size - 1, $n) : draw_filter($its_seed, $first, $first + $size - 1, $how{roomy}));
		$first += $size + int(rand(1000));
		push @rows, sprintf('(%%d, %d, 1, 0, %s)', int(rand(2)), draw_empty($how{empty})) if rand() < 0.3;
	}
	@rows = shuffle(@rows);
	my $id = 0;
	my $values = join(",\n", map { sprintf($_, $id++) } @rows);
	$session->query(
		"TRUNCATE input, flat, hashed; INSERT INTO input SELECT id, part, first, last, f, 'x' FROM (VALUES $values) v(id, part, first, last, f);
		INSERT INTO flat SELECT * FROM input ORDER BY id; " . pretend_many('flat,input0,input1,input') . ";
		INSERT INTO hashed SELECT id, x, cuckoofilter_hash(x, seed) FROM (SELECT id, first, last, seed FROM input, head(f) WHERE last > 0 OFFSET 0) i,
			LATERAL generate_series(first, last) x; ANALYZE hashed");
	return $session->query(q{SELECT string_agg(format('[%s items from %s capacity=%s fpr=%s b=%s%s%s seed=%s w=%s]', count, first, capacity, fpr, b,
		CASE WHEN plain THEN ' plain' END, CASE WHEN is_set THEN ' set' END, seed, w), ', ' ORDER BY id) FROM input, head(f)});
}

# ------------------------------------------------------------------- the checks

# Keep a query's filter as the result.  The md5 of its bytes, or the SQLSTATE.
sub keep
{
	my ($query) = @_;
	$session->ask("TRUNCATE result; CREATE TEMP TABLE fresh AS $query; INSERT INTO result SELECT * FROM fresh; SELECT 'md5 ' || md5(f::bytea) FROM result; DROP TABLE fresh");
	my ($out, $err, $alive) = $session->answer;
	die "the server is gone: $query" if !$alive;
	return $out =~ /md5/ ? $out : $err =~ /ERROR:  (\w{5}): (.*)/ ? "$1 $2" : $err;
}

# How many items a table must take (FORMAT.md, section 5): those that the rate
# allows, in tags of at least c bits.  And where many prefixes are taken, small
# buckets run full of equal ones.
sub taken_to
{
	my ($w, $c, $b, $fpr, $most) = @_;
	my %loads = (2 => [ 788, 829, 850, 860, 875 ], 4 => [ 850, 942, 964, 972, 980 ], 8 => [ 913, 985, 1006, 1011, 1014 ]);
	my $taken = min(min(1, max(8 * $fpr, 0.03)) * 2**$w, 0.96 * $loads{$b}[ $c - 4 ] / 1024 * 2 * $b * 2**($w - $c + 1) - 8);

	return $most > 1 ? min($taken, { 2 => 0.05, 4 => 0.3, 8 => 0.6 }->{$b} * 2**$w) : $taken;
}

# May prefixes of more copies than a bucket has slots be too many for any table?
# A table places few of these: three whose buckets hang together have no place.
sub crowded
{
	return $session->query('SELECT count(*) FILTER (WHERE n > (SELECT min(b) FROM input, head(f) WHERE count > 0)) > sum(n) / 200 FROM model') eq 't';
}

# The result beside the model of the inputs.  True where there is one.
sub check_result
{
	my ($what, $result, $is_union, $share) = @_;
	my ($capacity, $fpr, $b, $w, $c, $plain, $set, $its_seed) = split /\|/, $session->query(
		q{WITH h AS MATERIALIZED (SELECT h.* FROM input, head(f) h), live AS (SELECT * FROM h WHERE count > 0 OR (SELECT max(count) FROM h) = 0)
		SELECT max(capacity), max(fpr), min(b), min(w) FILTER (WHERE count > 0), min(c), bool_or(plain), (SELECT bool_or(is_set) FROM h),
			(array_agg(seed ORDER BY seed < 0 DESC, seed DESC))[1] FROM live});
	$set = 't' if $is_union;
	my $most = $set eq 't' ? 1 : 2 * $b;
	my $kind = $set eq 't' ? 'set' : 'deletable';
	my $layout = $plain eq 't' || $b != 4 ? 'plain' : 'semi_sorted';
	my $least_w = $w || 64;

	($w, $c) = split /\|/, $session->query('SELECT w, c FROM result, head(f)') if $least_w == 64 && $result =~ /^md5/;
	$w ||= 64;
	my $items = $session->query(
		"TRUNCATE model;
		INSERT INTO model SELECT p, least(sum(n), $most) FROM
			(SELECT cut(p, w, $w, $c) AS p, n FROM
				(SELECT cut(hash, 64, w, c) AS p, w, least(count(*), most) AS n
					FROM hashed JOIN (SELECT id, w, c, most FROM input, head(f) OFFSET 0) i USING (id) GROUP BY id, 1, w, most) whole) cut GROUP BY p;
		ANALYZE model;
		SELECT coalesce(sum(n), 0) FROM model");
	if ($result !~ /^md5/)
	{
		ok($result =~ /^54000 (cuckoofilter has no precision left|cannot merge cuckoofilters: the \w+ .*is too coarse|cuckoofilter cannot store so many)/ && ($least_w < 64 && $items > ($share // 1) * taken_to($w, $c, $b, $fpr, $most) || crowded()), "$what: $items items")
		  or diag("$what: $items items, $result");
		return 0;
	}
	my $answers = $session->query(
		"WITH absent AS MATERIALIZED (SELECT x, cuckoofilter_hash(x, seed) AS hash FROM (SELECT seed FROM result, head(f) OFFSET 0) h, generate_series(100000001, 100005000) x),
			yes AS (SELECT count(*) AS n FROM absent, result WHERE f \@> x)
		SELECT (SELECT count(*) FROM hashed, result WHERE NOT f \@> x),
			(SELECT count(*) FROM hashed, result, model WHERE p = cut(hash, 64, $w, $c) AND cuckoofilter_copies(f, x) <> n),
			(SELECT n FROM yes) - (SELECT count(*) FROM absent, model WHERE p = cut(hash, 64, $w, $c)),
			(SELECT n <= 1.1 * 5000 * cuckoofilter_fpr(f) + 6 * sqrt(5000 * cuckoofilter_fpr(f)) + 6 FROM yes),
			cuckoofilter_count(f), i ->> 'capacity', (i ->> 'target_fpr')::float8, i ->> 'bucket_size', i ->> 'kind', i ->> 'layout', i ->> 'seed', i ->> 'prefix_bits'
			FROM result, cuckoofilter_info(f) i");
	is($answers, join('|', 0, 0, 0, 't', $items, $capacity, $fpr, $b, $kind, $layout, $its_seed, $w),
		"$what: lost, wrong copies, more false answers, rate, count, promise");
	return 1;
}

# Intermediate merges have other parameters, but the result has the same items. A merge in parts may be refused
# if one part is too coarse.
sub check_nested
{
	my ($what, $query, $is_union) = @_;
	my $got = keep($query);

	if ($got !~ /^md5/)
	{
		ok( $got =~ /^54000 /
			  && ($session->query('SELECT sum(count) > 0.02 * 2::float8 ^ min(w) FILTER (WHERE count > 0) FROM input, head(f)') eq 't' || crowded()), "$what: $got");
		return;
	}
	is($session->query('SELECT count(*) FROM result, hashed WHERE NOT f @> x'), 0, "$what: none lost");
	is( $session->query(
			'SELECT h.is_set = ' . ($is_union ? 'true' : '(SELECT bool_or(h.is_set) FROM input, head(f) h)')
			  . ', (SELECT count(*) FROM hashed WHERE cuckoofilter_copies(f, x) NOT BETWEEN 1 AND h.most) FROM result, head(f) h'),
		't|0', "$what: kind, wrong copies");
	return;
}

# The plan of a query has this form.
sub plan_is
{
	my ($what, $query, $pattern) = @_;
	like($session->query("EXPLAIN (COSTS OFF) $query"), $pattern, "$what: the plan");
	return;
}

# The queries that merge all inputs at once, with the form of their plans.
sub roads
{
	my ($function) = @_;
	my $order = one_of('id', 'id DESC', 'md5(id::text)');
	my $all = "SELECT cuckoofilter_${function}_agg(f)";

	return (
		'parallel' => [ $parallel, "$all FROM flat", qr/Finalize Aggregate.*Gather.*Partial Aggregate.*Parallel Seq Scan/s ],
		'partitionwise' => [ $partitionwise, "$all FROM input", qr/Finalize Aggregate.*Append.*Partial Aggregate.*input0.*Partial Aggregate.*input1/s ],
		'both' => [ "$parallel; SET enable_partitionwise_aggregate = on", "$all FROM input", qr/Finalize Aggregate.*Gather.*Partial Aggregate/s ],
		"by $order" => [ $serial, "SELECT cuckoofilter_${function}_agg(f ORDER BY $order) FROM input", qr/Aggregate/ ],
		'a window' => [ $serial, "SELECT m FROM (SELECT id, cuckoofilter_${function}_agg(f) OVER (ORDER BY id) AS m FROM input) w ORDER BY id DESC LIMIT 1", qr/WindowAgg/ ]);
}

# Queries that make filters of some and merge those.
sub nested_roads
{
	my ($function) = @_;
	my $agg = "cuckoofilter_${function}_agg";
	my $fold = $session->query("SELECT count(*) FROM input");
	my $by = one_of('id % 2', 'id % 3', 'part');
	my $tree = '(SELECT f FROM input WHERE id = 0)';

	foreach my $id (1 .. $fold - 1)
	{
		my @two = ($tree, "(SELECT f FROM input WHERE id = $id)");
		@two = reverse @two if rand() < 0.5;
		$tree = "cuckoofilter_$function($two[0], $two[1])";
	}
	return (
		"of groups by $by" => "SELECT $agg(g) FROM (SELECT $agg(f) AS g FROM input GROUP BY $by) groups",
		'of scalars' => "SELECT $tree");
}

# -------------------------------------------------------------------- the tests

# The query that first showed the error, and the README's rollup without a capacity.
$session->query(
	q{CREATE TABLE daily AS SELECT day, cuckoofilter_agg(x, 0.01) AS f
		FROM generate_series(0, 5) day, LATERAL generate_series(day * 70000 + 1, day * 70000 + 30000 + 6000 * day) x GROUP BY day});
foreach my $function (qw(union_agg sum_agg))
{
	is( $session->query(
			"SELECT count(*) FROM (SELECT cuckoofilter_$function(f ORDER BY id) AS f FROM (
				SELECT 1 AS id, cuckoofilter_agg(x, 0.01) AS f FROM generate_series(1, 30000) x
				UNION ALL SELECT 2, cuckoofilter_agg(x, 0.01) FROM generate_series(100001, 160000) x) two) m, generate_series(1, 30000) x WHERE NOT f \@> x"),
		0, "$function of 30,000 and 60,000 items: none lost");
	is( $session->query(
			"SELECT count(*) FROM (SELECT cuckoofilter_$function(f) AS f FROM daily) m, generate_series(0, 5) day,
				LATERAL generate_series(day * 70000 + 1, day * 70000 + 30000 + 6000 * day) x WHERE NOT f \@> x"),
		0, "$function of days of their own sizes: none lost");
}

foreach my $round (1 .. rounds(8))
{
	foreach my $function (qw(union sum))
	{
		my $is_union = $function eq 'union';
		# every second round has filters near the limit of their precision.  Tables of a few dozen
		# items vary more, so they may be refused earlier.
		my $narrow = $round % 2 ? 0 : one_of(10, 60, 200, 800);
		my $inputs = draw_inputs(common => rand() < ($is_union ? 0.5 : 0.2), roomy => rand() < 0.5, narrow => $narrow);
		my $what = "round $round, $function";

		note("$what of $inputs");
		my $want = keep("SELECT cuckoofilter_${function}_agg(f ORDER BY id) FROM input");
		check_result("$what in order", $want, $is_union, $narrow ? 0.25 : 1);
		my %roads = roads($function);
		foreach my $road (sort keys %roads)
		{
			my ($settings, $query, $pattern) = @{ $roads{$road} };

			$session->query($settings);
			plan_is("$what, $road", $query, $pattern);
			my $got = keep($query);
			# a window is refused where the filters so far are too many for their rate
			is($got, $road eq 'a window' && $got =~ /^54000 / ? $got : $want, "$what, $road: as in order");
			$session->query($serial);
		}
		my %nested = nested_roads($function);
		my $road = one_of(sort keys %nested);
		check_nested("$what, $road", $nested{$road}, $is_union);
	}
}

# An empty filter does not change a merge, whatever its seed and position.
foreach my $round (1 .. rounds(2))
{
	foreach my $function (qw(union sum))
	{
		draw_inputs(empty => 'deletable', roomy => rand() < 0.7);
		my $all = "SELECT cuckoofilter_${function}_agg(f ORDER BY id) FROM";
		my $without = keep("$all (SELECT * FROM input WHERE cuckoofilter_count(f) > 0) i");
		my $kind = $function eq 'sum' ? 'deletable' : undef;
		foreach my $place (-1, 0.5, 1000)
		{
			my $empty = draw_empty($kind);
			is(keep("$all (SELECT id, f FROM input UNION ALL SELECT $place, $empty) i"), $without, "round $round, $function: an empty one at $place is neutral");
		}
		my @empties = (draw_empty($kind), draw_empty($kind));
		is( $session->query(
				"SELECT bool_and(cuckoofilter_$function(f, $empties[0]) = cuckoofilter_$function($empties[1], f)) FROM input WHERE cuckoofilter_count(f) > 0"),
			't', "round $round, $function of two: either is neutral");
	}
}

# A merge of tables that lost all items is a header, whatever the size of the tables (core/FORMAT.md, section 8).
foreach my $size (60, 2000, 20_000)
{
	foreach my $options ('', 'layout=plain', 'bucket_size=2', 'bucket_size=8')
	{
		my $emptied = "(SELECT cuckoofilter_remove_all(cuckoofilter_agg(x, 1e-4, NULL, '$options'), VARIADIC array_agg(x)) FROM generate_series(1, $size) x)";
		$session->query("TRUNCATE input, flat; INSERT INTO input SELECT 1, 1, 1, 0, $emptied, 'x'; INSERT INTO flat SELECT * FROM input; " . pretend_many('flat,input0,input1,input'));
		is($session->query("SELECT cuckoofilter_count(f) = 0 AND length(f::bytea) > 48 FROM input"), 't', "$size items, $options: an empty table");
		foreach my $function (qw(union sum intersect))
		{
			my $two = "cuckoofilter_$function(f, f)";
			my %roads = roads($function);
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

# Merges of different seeds are refused in every way of merging.
foreach my $round (1 .. rounds(2))
{
	my $inputs = draw_inputs(unlike => 1, narrow => one_of(0, 60, 400));
	note("unlike seeds: $inputs");
	foreach my $function (qw(union sum))
	{
		my %roads = roads($function);
		my %nested = nested_roads($function);

		$roads{$_} = [ $serial, $nested{$_} ] foreach keys %nested;
		foreach my $road (sort keys %roads)
		{
			$session->query($roads{$road}[0]);
			my $got = keep($roads{$road}[1]);
			# a merge before that of different seeds may be refused for another reason
			my $pattern = $nested{$road} || $road eq 'a window' ? qr/^(22023 cannot merge cuckoofilters with different seeds|54000 )/ : qr/^22023 cannot merge cuckoofilters with different seeds/;
			like($got, $pattern, "round $round: unlike seeds, $function, $road");
			$session->query($serial);
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

# Many items at once: more and fewer than a sixteenth of those that are there.
foreach my $round (1 .. rounds(5))
{
	my $size = draw_size();
	my $more = one_of(1, 7, int($size / 16), int($size / 16) + 1, int($size / 16) + 2, draw_size());
	my $filter = draw_filter(one_of(0, 9), 1, $size);
	my ($from, $to) = ($size - int($more / 3), $size - int($more / 3) + $more);
	my $what = "round $round, $more items more than $filter";

	$session->query("TRUNCATE input; INSERT INTO input SELECT 0, 0, 1, $size, $filter");
	my $got = keep("SELECT cuckoofilter_add_all(f, VARIADIC (SELECT array_agg(x ORDER BY md5(x::text)) FROM generate_series($from, $to) x)) FROM input");
	my ($w, $c, $b, $fpr, $most) = split /\|/, $session->query('SELECT w, c, b, fpr, most FROM input, head(f)');
	if ($got !~ /^md5/)
	{
		# A third of the items has two copies. So many prefixes are those of two of these and of another item: more copies
		# than two buckets of two slots have room for.
		my $crowds = $b == 2 && $most > 1 ? ($more / 3)**2 * ($size + $more) / 2 / 4**$w : 0;

		ok($got =~ /^54000 / && $w < 64 && ($size + $more > taken_to($w, $c, $b, $fpr, $most) || $crowds > 1e-6), "$what: $got");
		next;
	}
	is($session->query("SELECT count(*) FROM result, generate_series(1, $to) x WHERE NOT f \@> x"), 0, "$what: none lost");
	is( $session->query(
			"SELECT (r.w = $w OR $w = 64) AND (r.capacity, r.fpr, r.b, r.seed, r.is_set) = (i.capacity, i.fpr, i.b, i.seed, i.is_set)
				FROM (SELECT h.* FROM result, head(f) h) r, (SELECT h.* FROM input, head(f) h) i"),
		't', "$what: its promise stays");
	is( $session->query(
			"SELECT count(*) FROM result r, generate_series(1, $to) x,
				LATERAL (SELECT count(*) AS n FROM (SELECT x BETWEEN 1 AND $size AS had UNION ALL SELECT x BETWEEN $from AND $to) h WHERE had) h
				WHERE cuckoofilter_copies(r.f, x) < least(n, $most)"),
		0, "$what: as many copies as went in");
	next if $most == 1;
	# remove the items again: those that were there before stay, and saturated ones
	$session->query('TRUNCATE more; INSERT INTO more SELECT f FROM result');
	like(keep("SELECT cuckoofilter_remove_all(f, VARIADIC (SELECT array_agg(x) FROM generate_series($from, $to) x)) FROM more"), qr/^md5/, "$what: taken out again");
	is( $session->query(
			"SELECT (SELECT count(*) FROM generate_series(1, $size) x WHERE NOT result.f \@> x),
				cuckoofilter_count(result.f) - cuckoofilter_count(input.f) BETWEEN 0 AND CASE WHEN $fpr > 0.04 OR $b = 2 THEN $size + $more ELSE 10 END
				FROM result, input"),
		'0|t', "$what: taken out again, none of the others lost, and as many as before");
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
