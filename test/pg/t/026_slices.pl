# Lookups in large stored values: a few slices give the same answer as the whole value, for every
# storage and every kind of call, and read only a few blocks. SEED=n replays a run.
use CuckooCluster;
use CuckooSession;

seed();
my $node = new_cluster('main', sessions => 0, conf => "max_parallel_workers_per_gather = 0\nshared_buffers = 256MB\nautovacuum = off\n");

sub one
{
	my ($sql) = @_;
	my ($ret, $out, $err) = $node->psql('postgres', $sql);

	return $ret == 0 ? $out : $err;
}

# ---------------------------------------------- filters of all kinds, all storages

# n items, of which some have copies, in every encoding and layout; the last two stay hashes
my $large = 150_000 + int(rand(100_000));
my @kinds = (
	[ $large, q{0.01, 0, ''} ],
	[ 60_000 + int(rand(50_000)), q{0.0001, 0, 'bucket_size=2'} ],
	[ 60_000 + int(rand(50_000)), q{1e-12, 0, 'bucket_size=8'} ],
	[ $large, q{0.01, 0, 'kind=set'} ],
	[ $large, q{0.001, 0, 'layout=plain, seed=77'} ],
	[ 20_000 + int(rand(5000)), q{1e-18, 0, ''} ],
	[ 4000 + int(rand(96)), q{0.01, 0, ''} ],
	[ 3000, q{0.01, 0, ''} ],
	[ 40, q{0.01, 0, ''} ],
	[ 0, q{0.01, 100, ''} ]);
$node->safe_psql(
	'postgres', q{
	CREATE DOMAIN filter AS cuckoofilter CHECK (cuckoofilter_count(VALUE) >= 0);
	CREATE TABLE t (id integer, apart cuckoofilter, compressed cuckoofilter, main cuckoofilter, of_domain filter);
	ALTER TABLE t ALTER compressed SET STORAGE EXTENDED, ALTER main SET STORAGE MAIN;
	CREATE TABLE flat (id integer, f bytea)});
foreach my $id (0 .. $#kinds)
{
	my ($n, $parameters) = @{ $kinds[$id] };

	# removals leave zeros, which compress
	$node->safe_psql('postgres', qq{
		WITH made AS MATERIALIZED (SELECT cuckoofilter_agg(g, $parameters) AS f FROM generate_series(1, $n) g),
		copied AS MATERIALIZED (SELECT CASE WHEN cuckoofilter_info(f) ->> 'kind' = 'set' THEN f
			ELSE cuckoofilter_add_all(cuckoofilter_remove_all(f, VARIADIC (SELECT coalesce(array_agg(g), '{}') FROM generate_series(1, $n) g WHERE $id = 4 AND g > 5000)),
				1, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3) END AS f FROM made)
		INSERT INTO flat SELECT $id, f::bytea FROM copied;
		INSERT INTO t SELECT id, f::cuckoofilter, f::cuckoofilter, f::cuckoofilter, f::cuckoofilter FROM flat WHERE id = $id});
}
my $stored = one(q{SELECT string_agg(CASE WHEN pg_column_size(compressed) < pg_column_size(apart) * 0.9 THEN 'compressed' WHEN pg_column_size(apart) > 100000 THEN 'apart'
	WHEN pg_column_size(apart) > 2100 THEN 'some' WHEN pg_column_size(apart) < 127 THEN 'short' ELSE 'inline' END, ' ' ORDER BY id) FROM t});
is(join(' ', sort keys %{ { map { $_ => 1 } split / /, $stored } }), 'apart compressed inline short some', "stored: $stored");

# Compare a filter in memory with the same filter in storage, by items that it has and others.
$node->safe_psql('postgres', seed_of_session() . q{CREATE TABLE items AS SELECT DISTINCT ON (g) g FROM (SELECT (random() * 300000)::integer AS g FROM generate_series(1, 300)
	UNION ALL SELECT generate_series(0, 20) UNION ALL SELECT -generate_series(1, 100)) g});

# expressions of a stored filter and an item, and the same of one in hand
my @questions = (
	'cuckoofilter_contains(%s, g)', '%s @> g', 'g <@ %s', 'cuckoofilter_copies(%s, g)', 'cuckoofilter_contains_hash(%s, cuckoofilter_hash(g, 77))',
	'cuckoofilter_contains_hash(%s, cuckoofilter_hash(g))', 'cuckoofilter_contains_any(%s, g, -g, NULL)', 'cuckoofilter_contains_all(%s, g, 1, NULL::bigint)',
	'cuckoofilter_contains_any(%s, -g - 1, -g - 2)', 'cuckoofilter_contains_any(%s, VARIADIC ARRAY[-g, g, NULL, g / 2])', 'cuckoofilter_contains_all(%s, VARIADIC ARRAY[g, NULL, 1, 2, 3])',
	q{cuckoofilter_contains_all(%s, VARIADIC '{}'::integer[])}, q{cuckoofilter_contains_any(%s, VARIADIC ARRAY[NULL, NULL]::integer[])});
foreach my $question (@questions)
{
	my $of = sub { return sprintf($question, $_[0]) };
	my @wrong;

	foreach my $column ('apart', 'compressed', 'main', 'of_domain')
	{
		my $differs = $of->("t.$column") . ' IS DISTINCT FROM ' . $of->('hand.f');

		# a value that is asked again and again, and values that take turns
		foreach my $order ('id, g', 'g, id')
		{
			my $answers = one(seed_of_session() . qq{
				SET enable_hashjoin = off; SET enable_mergejoin = off;
				WITH hand AS MATERIALIZED (SELECT id, f::cuckoofilter AS f FROM flat),
				few AS MATERIALIZED (SELECT g FROM items ORDER BY random() LIMIT 40)
				SELECT count(*) FILTER (WHERE $differs) || ' of ' || count(*)
					FROM (SELECT t.*, g FROM t, few ORDER BY $order) AS t JOIN hand USING (id)});

			push @wrong, "$column by $order: $answers" if $answers ne '0 of 400';
		}
	}
	is("@wrong", '', $question);
}

# Each lookup has its own call site, which first reads the header.
is(one(seed_of_session() . q{
	CREATE FUNCTION singly(rounds integer) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		stored record; item integer; yes boolean; wrong integer := 0; asked integer := 0; n integer; one_is boolean;
		hand cuckoofilter;
	BEGIN
		FOR stored IN SELECT id, f::cuckoofilter AS f FROM flat LOOP
			FOR i IN 1 .. rounds LOOP
				SELECT g INTO item FROM items ORDER BY random() LIMIT 1;
				EXECUTE 'SELECT apart @> $1, cuckoofilter_copies(compressed, $1), cuckoofilter_contains_any(main, $1, -$1) FROM t WHERE id = $2' INTO yes, n, one_is USING item, stored.id;
				wrong := wrong + (yes IS DISTINCT FROM stored.f @> item OR n <> cuckoofilter_copies(stored.f, item) OR one_is <> cuckoofilter_contains_any(stored.f, item, -item))::integer;
				asked := asked + 1;
			END LOOP;
		END LOOP;
		RETURN wrong || ' of ' || asked;
	END$$;
	SELECT singly(100)}), '0 of 1000', 'a call site for each question');

# So many lookups of one call site that it fetches the whole filter after some of them; then all items in one
# call.
foreach my $id (0 .. $#kinds)
{
	my $n = $kinds[$id][0];
	my $first = $id == 4 ? 5000 : $n;

	is(one("SELECT count(*) FROM generate_series(1, $n) g WHERE g <= $first AND (SELECT apart FROM t WHERE id = $id) @> g"), $first, "all items of filter $id, one by one");
	is(one("SELECT cuckoofilter_contains_all(apart, VARIADIC (SELECT coalesce(array_agg(g), '{}') FROM generate_series(1, $first) g)) FROM t WHERE id = $id"), 't', 'and at once');
}

# ---------------------------------------------------- NULLs, classes, call sites

is(one('SELECT count(NULL::cuckoofilter @> 1), count(apart @> NULL::integer), count(cuckoofilter_contains_any(apart, VARIADIC NULL::integer[])), count(cuckoofilter_copies(apart, NULL::bigint)) FROM t'), '0|0|0|0', 'NULLs');
foreach my $question (q{apart @> 'x'::text}, q{'x'::text <@ apart}, q{cuckoofilter_copies(apart, 'x'::text)}, q{cuckoofilter_contains_any(apart, 1, 'x')},
	q{cuckoofilter_contains_all(apart, VARIADIC ARRAY['a', 'b'])}, q{apart @> now()})
{
	foreach my $id (0, 5, 8)
	{
		is(error_state($node, "SELECT $question FROM t WHERE id = $id"), '42804', "$question of filter $id");
	}
}
is(error_state($node, 'SELECT apart @> ROW(1, NULL::unknown) FROM t WHERE id = 0'), error_state($node, 'SELECT f::cuckoofilter @> ROW(1, NULL::unknown) FROM flat WHERE id = 0'), 'other errors');

my $text = one(q{
	CREATE TABLE words AS SELECT cuckoofilter_agg('word' || g) AS f, 1 AS version FROM generate_series(1, 100000) g;
	PREPARE ask(text) AS SELECT f @> $1 FROM words;
	EXECUTE ask('word7'); EXECUTE ask('word0'); EXECUTE ask('word99999');
	UPDATE words SET f = f + 'word0'::text, version = 2;
	EXECUTE ask('word0'); EXECUTE ask('word100000');
	UPDATE words SET f = f - 'word7'::text;
	EXECUTE ask('word7'); EXECUTE ask('word8');
	BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; EXECUTE ask('word7'); UPDATE words SET f = f + 'word7'::text; EXECUTE ask('word7'); ROLLBACK;
	EXECUTE ask('word7')});
is($text =~ s/\n/ /gr, 't f t t t f t f t f', 'a prepared statement and updates between');

is(one(q{
	BEGIN;
	DECLARE c CURSOR FOR SELECT version, f @> 'word8'::text, f @> 'word7'::text FROM words, generate_series(1, 3);
	FETCH 1 FROM c; UPDATE words SET f = cuckoofilter_create(10), version = 3; FETCH 2 FROM c; COMMIT}) =~ s/\n/ /gr, '2|t|f 2|t|f 2|t|f', 'a cursor sees its value to the end');

# plpgsql keeps a call site through a transaction, while the values that it asks change
is(one(q{
	UPDATE words SET f = (SELECT cuckoofilter_agg('word' || g) FROM generate_series(1, 100000) g);
	DO $$
	DECLARE f cuckoofilter; yes boolean; wrong integer := 0;
	BEGIN
		FOR i IN 1 .. 60 LOOP
			SELECT words.f INTO f FROM words;
			yes := f @> ('new' || i);
			wrong := wrong + (yes AND cuckoofilter_copies(f, 'new' || i) = 0)::integer;
			IF i % 20 = 0 THEN
				UPDATE words SET f = words.f + ('new' || i);
				SELECT words.f INTO f FROM words;
				yes := f @> ('new' || i);
				wrong := wrong + (NOT yes)::integer;
			END IF;
			yes := f @> ('word' || i);
			wrong := wrong + (NOT yes)::integer;
		END LOOP;
		IF wrong > 0 THEN RAISE '% are wrong', wrong; END IF;
	END$$;
	CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$
	DECLARE f cuckoofilter; n integer := 0;
	BEGIN
		FOR i IN 1 .. 20 LOOP
			SELECT words.f INTO f FROM words;
			n := n + (f @> ('word' || i))::integer + (cuckoofilter_contains_all(f, 'word1', 'word' || i))::integer;
			COMMIT;
			n := n + (f @> ('word' || i + 1))::integer;
		END LOOP;
		IF n <> 60 THEN RAISE '% of 60', n; END IF;
	END$$;
	CALL commits();
	SELECT 'right'}), 'right', 'loops, and commits between');
is(one(q{CREATE FUNCTION is_word(w text) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT f @> w FROM words';
	CREATE VIEW asked AS SELECT g, (SELECT f FROM words) @> ('word' || g) AS yes FROM generate_series(99001, 101000) g;
	SELECT (SELECT count(*) FROM generate_series(1, 200) g WHERE is_word('word' || g)), (SELECT count(*) FROM asked WHERE yes AND g <= 100000)}), '200|1000', 'functions and views');

# ------------------------------------------------------------- blocks are few

$node->safe_psql(
	'postgres', q{
	CREATE TABLE million AS SELECT cuckoofilter_agg(g) AS f FROM generate_series(1, 3000000) g;
	VACUUM million;
	CREATE FUNCTION blocks(query text) RETURNS integer LANGUAGE plpgsql AS $$
	DECLARE plan json;
	BEGIN
		EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
		RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::integer + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::integer;
	END$$});
my $base = one('SELECT blocks($$SELECT f IS NULL FROM million$$) FROM generate_series(1, 2) ORDER BY 1 LIMIT 1');
my $whole = one('SELECT blocks($$SELECT cuckoofilter_compact(f) FROM million$$)') - $base;

# A slice goes down the index, of two levels, and reads a chunk or two; the end of its range may
# be on the index' next leaf.
foreach my $question ('f @> %s', '%s <@ f', 'cuckoofilter_copies(f, %s)', 'cuckoofilter_contains_hash(f, cuckoofilter_hash(%s))', 'cuckoofilter_contains_any(f, NULL, %s)')
{
	my $asked = sprintf($question, q{$$ || g || $$});
	my ($most, $mean) = split /\|/, one(seed_of_session() . qq{
		SELECT max(n) - $base, round(avg(n) - $base) FROM (SELECT blocks(\$\$SELECT $asked FROM million\$\$) AS n
			FROM (SELECT (random() * 6000000)::integer + 1 AS g FROM generate_series(1, 200)) g OFFSET 5) b});
	cmp_ok($most, '<=', 5 + 3 * 3, "$question: $most blocks of $whole at most, $mean on average");
	cmp_ok($mean, '<=', 3 + 3 * 2, 'three slices as a rule');
}
SKIP:
{
	skip 'statistics come late', 2 if server_version($node) < 150000;
	$node->safe_psql('postgres', 'SELECT pg_stat_reset_single_table_counters(oid) FROM (SELECT reltoastrelid AS oid FROM pg_class WHERE relname = $$million$$) c; SELECT pg_stat_reset()');
	$node->safe_psql('postgres', join(';', (map { 'SELECT f @> ' . int(rand(6_000_000)) . ' FROM million' } 1 .. 100), 'SELECT pg_stat_force_next_flush()'));
	my ($chunks, $slices) = split /\|/, one('SELECT heap_blks_hit + heap_blks_read, idx_scan FROM pg_class c, pg_statio_all_tables io, pg_stat_all_tables s WHERE c.relname = $$million$$ AND io.relid = c.reltoastrelid AND s.relid = c.reltoastrelid');
	cmp_ok($slices, '<=', 300, "100 questions take $slices slices");
	cmp_ok($chunks, '<=', 330, "$chunks blocks of chunks");
}

# Many at once read neighbouring chunks once: fewer than two slices a question.
my $many = one('SELECT blocks($$SELECT cuckoofilter_contains_all(f, VARIADIC (SELECT array_agg(g * 10) FROM generate_series(1, 500) g)) FROM million$$)') - $base;
my $singly = one('SELECT sum(blocks($$SELECT f @> $$ || g * 10 || $$ FROM million$$) - ' . $base . ') FROM generate_series(1, 500) g');
cmp_ok($many, '<', 0.75 * $singly, "500 at once read $many blocks, singly $singly");

# A call site of many lookups reads the whole filter once, and at most as many bytes in slices.
my $all = one('SELECT blocks($$SELECT count(*) FROM generate_series(1, 100000) g WHERE (SELECT f FROM million) @> g$$)');
cmp_ok($all, '<', 20 * $whole, "100,000 questions read $all blocks; the whole is $whole");

# --------------------------------------------------------- one copy of each filter

# Call sites share the copy of a filter that they have fetched, and the last of them frees it.
my $copies = q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'cuckoofilter detoasted'};
my $session = CuckooSession->new($node);

$session->query(
	q{CREATE TABLE parted (p integer, k integer) PARTITION BY LIST (p);
	DO $$BEGIN FOR i IN 1 .. 50 LOOP EXECUTE format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES IN (%s)', i, i); END LOOP; END$$;
	INSERT INTO parted SELECT 1 + k % 50, k FROM generate_series(1, 50000) k; ANALYZE parted;
	CREATE TABLE filters AS SELECT n, f::cuckoofilter AS f FROM flat, generate_series(1, 100) n WHERE id = 1; ALTER TABLE filters ALTER f SET STORAGE EXTERNAL});
is($session->query("BEGIN; DECLARE c CURSOR FOR SELECT count(*) FROM parted WHERE (SELECT apart FROM t WHERE id = 0) @> k UNION ALL SELECT 1; FETCH 1 FROM c; $copies; COMMIT; $copies"), "50000\n1\n0",
	'50 partitions have one copy');
is($session->query("BEGIN; DECLARE c CURSOR FOR SELECT count(*) FILTER (WHERE f \@> g AND cuckoofilter_copies(f, g) > 0 AND g <@ f) FROM filters, generate_series(1 + 0 * n, 300) g GROUP BY n; FETCH 50 FROM c; $copies; COMMIT; $copies")
	  =~ s/^300\n//gmr, "1\n0", 'a table of filters has the copy of one row');

# Queries that begin, go on and end in any order, by COMMIT or errors, savepoints among them. A copy is of a filter that an open query uses.
foreach my $round (1 .. rounds(15))
{
	my (%open, @saved, @wrong);

	$session->query('BEGIN');
	foreach my $step (1 .. 25)
	{
		my $what = rand();

		if ($what < 0.4)
		{
			my @ids = map { (0, 1, 2, 3, 4, 5, 6)[ rand 7 ] } 1 .. 1 + rand 6;
			my $wrong = join(' + ', map { "((SELECT apart FROM t WHERE id = $_) \@> g IS DISTINCT FROM (SELECT f::cuckoofilter FROM flat WHERE id = $_) \@> g)::integer" } @ids);

			$open{"c$step"} = \@ids;
			$session->query("DECLARE c$step NO SCROLL CURSOR FOR SELECT $wrong FROM generate_series(1, 300) g");
		}
		elsif ($what < 0.75 && %open)
		{
			my $name = (sort keys %open)[ rand keys %open ];

			push @wrong, "$name: $_" foreach grep { $_ ne '0' } split /\n/, $session->query('FETCH ' . (1 + int(rand(60))) . " FROM $name");
		}
		elsif ($what < 0.85 && %open)
		{
			my $name = (sort keys %open)[ rand keys %open ];

			$session->query("CLOSE $name");
			delete $open{$name};
			delete $_->{$name} foreach @saved;
		}
		elsif ($what < 0.93)
		{
			push @saved, {%open};
			$session->query("SAVEPOINT s$#saved");
		}
		elsif (@saved)
		{
			my $saved = pop @saved;

			# a cursor that an error ends is gone
			$session->ask('SELECT (SELECT apart FROM t WHERE id = 0) @> g AND 1 / (2000 - g) > -2 FROM generate_series(1, 3000) g; ROLLBACK TO s' . @saved . '; RELEASE s' . @saved);
			(undef) = $session->answer;
			%open = %$saved;
		}
		my %used = map { $_ => 1 } map { @$_ } values %open;
		my $kept = $session->query($copies);

		push @wrong, "$kept copies of " . keys %used if $kept > keys %used;
	}
	$session->query(rand() < 0.5 ? 'COMMIT' : 'ROLLBACK');
	is(join(', ', @wrong, $session->query($copies)), '0', "round $round: copies of filters that are used, and none at the end");
}
is($session->query(qq{CREATE FUNCTION copies() RETURNS bigint LANGUAGE sql AS \$\$$copies\$\$;
	DO \$\$
	DECLARE f cuckoofilter; n integer := 0; most integer := 0;
	BEGIN
		FOR i IN 1 .. 40 LOOP
			BEGIN
				SELECT filters.f INTO f FROM filters WHERE filters.n = i;
				FOR k IN 1 .. 100 LOOP n := n + (f \@> k)::integer + (k <@ f)::integer; END LOOP;
				most := greatest(most, copies());
				IF i % 3 = 0 THEN n := n / 0; END IF;
			EXCEPTION WHEN division_by_zero THEN NULL;
			END;
		END LOOP;
		IF n <> 8000 OR most > 2 THEN RAISE '% rows, % copies', n, most; END IF;
	END\$\$; $copies}), '0', 'a loop with errors in PL/pgSQL');
$session->quit;

# ------------------------------------------------------------------ hostile bytes

# A column of bytea becomes one of filters without validation.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE stored (id integer, good boolean, f bytea);
	ALTER TABLE stored ALTER f SET STORAGE EXTERNAL;
	INSERT INTO stored SELECT id, true, f FROM flat WHERE length(f) > 20000;
	INSERT INTO stored SELECT 100 + id, NULL, f FROM stored;
	UPDATE stored SET f = substr(f, 1, length(f) - 1), good = false WHERE id % 100 = 0 AND id >= 100;
	UPDATE stored SET f = f || '\x00', good = false WHERE id % 100 = 1 AND id >= 100;
	UPDATE stored SET f = set_byte(f, 16, 255 - get_byte(f, 16)), good = false WHERE id % 100 = 5 AND id >= 100;
	UPDATE stored SET f = set_byte(f, 12, 255 - get_byte(f, 12)), good = false WHERE id % 100 = 2 AND id >= 100;
	UPDATE stored SET f = set_byte(f, 3, 9), good = false WHERE id % 100 = 3 AND id >= 100;
	UPDATE stored SET f = overlay(f PLACING decode(repeat('ff', 15000), 'hex') FROM 60) WHERE id % 100 = 4 AND id >= 100;
	INSERT INTO stored SELECT 200, false, decode(repeat('00', 30000), 'hex')});
my @damaged;
foreach my $round (1 .. rounds(60))
{
	my $id = (0, 1, 2, 4, 5)[ int(rand(5)) ];
	my $bytes = mutate(pack('H*', one("SELECT encode(substr(f, 1, 60), 'hex') FROM flat WHERE id = $id")));

	push @damaged, "(1000 + $round, (SELECT decode('" . unpack('H*', $bytes) . "', 'hex') || substr(f, 61) FROM flat WHERE id = $id))";
}
$node->safe_psql('postgres', 'INSERT INTO stored (id, f) VALUES ' . join(',', @damaged));
$node->safe_psql('postgres', q{UPDATE pg_attribute SET atttypid = 'cuckoofilter'::regtype WHERE attrelid = 'stored'::regclass AND attname = 'f'});
foreach my $id (split /\n/, one('SELECT id FROM stored WHERE NOT good'))
{
	foreach my $question ('f @> 5', 'cuckoofilter_copies(f, 5)', 'cuckoofilter_contains_any(f, 5, 6)', 'cuckoofilter_contains_all(f, VARIADIC (SELECT array_agg(g) FROM generate_series(1, 100000) g))')
	{
		is(error_state($node, "SELECT $question FROM stored WHERE id = $id"), 'XX001', "$question of damaged filter $id");
	}
}
my %states;
foreach my $id (split /\n/, one('SELECT id FROM stored WHERE good IS NULL'))
{
	foreach my $question ('f @> 5', 'cuckoofilter_contains_all(f, VARIADIC ARRAY[1, 2, 3, 4])', 'cuckoofilter_copies(f, 7)')
	{
		$states{ error_state($node, "SELECT $question FROM stored WHERE id = $id") }++;
	}
}
is(join(' ', grep { !/^(XX001|55000|42804)?$/ } keys %states), '', 'random damage: ' . join(', ', map { ($_ || 'an answer') . " $states{$_}" } sort keys %states));
is(one('SELECT count(*) FROM stored, generate_series(1, 5) g WHERE good AND f @> g'), one('SELECT 5 * count(*) FROM stored WHERE good'), 'sound ones among them');

$node->stop;
done_testing();
