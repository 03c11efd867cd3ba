# Pairs of an item and its value: a pair has the bytes of the item ROW(item, value), and
# cuckoofilter_which answers for each candidate like cuckoofilter_contains_pair.
use CuckooCluster;

my $node = new_cluster('main');

sub one
{
	my ($sql) = @_;
	my ($ret, $out, $err) = $node->psql('postgres', $sql);

	return $ret == 0 ? $out : $err;
}

seed();

# ------------------------------------------------------- pairs are records

# Expressions of many types, by a number i; some are NULL now and then.
my @types = (
	'i', 'i::bigint', '(i % 7)::smallint', 'i / 4.0', '(i / 8.0)::real', 'sqrt(i)', q{'item ' || i}, q{('c' || i)::char(9)}, q{('n' || i)::name},
	q{('v' || i)::varchar COLLATE "C"}, q{decode(md5(i::text), 'hex')}, 'md5(i::text)::uuid', q{DATE '2024-01-01' + i}, q{TIMESTAMP '2024-01-01' + i * INTERVAL '1 s'},
	q{TIMESTAMPTZ '2024-01-01' + i * INTERVAL '1 s'}, 'i % 2 = 0', 'ARRAY[i, NULL]', 'ROW(i, i + 1)', 'int4range(i, NULL)', q{to_jsonb(i)}, q{('192.0.2.' || i % 250)::inet},
	'(i % 3)::small', q{(ARRAY['red', 'blue'])[1 + i % 2]::color}, 'NULLIF(i % 5, 0)', q{NULLIF('t' || i % 4, 't1')}, q{'literal'}, '42');
my @options = ('', ', 0.001', ', 0.02, 5000', q{, 0.01, 1e4, 'kind=set'}, q{, 0.3, NULL, 'bucket_size=2, seed=-5'}, q{, NULL, 100::bigint, 'layout=plain'});
$node->safe_psql('postgres', q{CREATE DOMAIN small AS integer CHECK (VALUE < 10); CREATE TYPE color AS ENUM ('red', 'blue')});
foreach my $round (1 .. rounds(120))
{
	my ($item, $value) = map { $types[ rand @types ] } 1 .. 2;
	my ($options, $n) = ($options[ rand @options ], (0, 1, 3, 60, 700, 9000)[ rand 6 ]);
	my $rows = "generate_series(1, $n) i";
	my $not_null = "($item) IS NOT NULL AND ($value) IS NOT NULL";
	my $what = "$item, $value$options, $n rows";

	# ROW(1, NULL) IS NOT NULL is false, and so is that of ARRAY[..] not: the types above have no such values but NULL
	is(one("SELECT cuckoofilter_agg_pair($item, $value$options) = cuckoofilter_agg(ROW($item, $value)$options) FILTER (WHERE $not_null)
			OR count(*) FILTER (WHERE $not_null) = 0 FROM $rows"),
		't', "aggregate over $what");
	is( one("WITH f AS MATERIALIZED (SELECT cuckoofilter_agg_pair($item, $value$options) AS f FROM $rows)
			SELECT count(*) FILTER (WHERE cuckoofilter_contains_pair(f, $item, $value) IS NOT TRUE AND $not_null),
				count(*) FILTER (WHERE cuckoofilter_contains_pair(f, $item, $value) IS NOT NULL AND NOT ($not_null)),
				count(*) FILTER (WHERE cuckoofilter_contains_pair(f, $item, $value) IS DISTINCT FROM f @> ROW($item, $value) AND $not_null) FROM f, $rows"),
		'0|0|0', "questions about $what");
	is( one("SELECT bool_and(a IS NOT DISTINCT FROM CASE WHEN $not_null THEN f + ROW($item, $value) ELSE f END)
			AND bool_and(cuckoofilter_remove_pair(a, $item, $value) IS NOT DISTINCT FROM CASE WHEN $not_null THEN a - ROW($item, $value) ELSE f END)
			FROM generate_series(1, 20) i, cuckoofilter_create(1000, 0.01, 'seed=3') f, cuckoofilter_add_pair(f, $item, $value) a"),
		't', "changes by $what");
}

# Pairs that are not equal have different hashes.
is(one(q{SELECT cuckoofilter_add_pair(cuckoofilter_create(9), 1, 2) = cuckoofilter_add_pair(cuckoofilter_create(9), 2, 1)}), 'f', 'the order matters');
is(one(q{SELECT cuckoofilter_add_pair(cuckoofilter_create(9), 1, '2') = cuckoofilter_add_pair(cuckoofilter_create(9), 1, 2)}), 'f', 'a literal is text');
is(one(q{SELECT cuckoofilter_add_pair(cuckoofilter_create(9), 1, 2) = cuckoofilter_add_pair(cuckoofilter_create(9), 1.0, 2::bigint)}), 't', 'equal numbers are equal');

# Each part has its own collation, as a column of a record has, and none is nondeterministic.
my $icu = one(q{SELECT count(*) > 0 FROM pg_collation WHERE collprovider = 'i'});
SKIP:
{
	skip 'no ICU', 5 unless $icu eq 't';
	$node->safe_psql('postgres', q{CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		CREATE TABLE words AS SELECT ('Word ' || i) COLLATE folded AS item, ('Value ' || i) COLLATE "C" AS value FROM generate_series(1, 50) i});
	like(one('SELECT cuckoofilter_agg_pair(item, value) FROM words'), qr/ERROR:  text of a nondeterministic collation cannot be a part of a cuckoofilter item\nDETAIL.*\nHINT/, 'a nondeterministic collation');
	$node->safe_psql('postgres', 'ALTER TABLE words ALTER item TYPE text COLLATE "POSIX"');
	foreach my $pair ('item, value', 'value, item', q{item, 'Literal'}, q{item, value COLLATE "POSIX"})
	{
		is( one("WITH f AS (SELECT cuckoofilter_agg_pair($pair) AS f, cuckoofilter_agg(ROW($pair)) AS rows FROM words)
				SELECT f = rows AND bool_and(cuckoofilter_contains_pair(f, $pair)) FROM f, words GROUP BY f, rows"),
			't', "collations of $pair");
	}
}

# ----------------------------------------------------------- NULL and errors

my $pairs = q{(SELECT cuckoofilter_agg_pair(i, 'p' || i % 5) AS f FROM generate_series(1, 100) i) AS t};
is(one("SELECT cuckoofilter_contains_pair(f, NULL::integer, 'p1') IS NULL, cuckoofilter_contains_pair(f, 1, NULL::text) IS NULL, cuckoofilter_contains_pair(NULL, 1, 2) IS NULL FROM $pairs"),
	't|t|t', 'a question about NULL is NULL');
is(one("SELECT cuckoofilter_add_pair(f, NULL, 'p1') = f, cuckoofilter_add_pair(f, 1, NULL) = f, cuckoofilter_add_pair(NULL, 1, 2) IS NULL,
		cuckoofilter_remove_pair(f, NULL, 'p1') = f, cuckoofilter_remove_pair(f, 1, NULL) = f, cuckoofilter_remove_pair(NULL, 1, 2) IS NULL FROM $pairs"),
	't|t|t|t|t|t', 'a NULL changes nothing');
is(one("SELECT cuckoofilter_which(f, NULL::integer, ARRAY['p1']) IS NULL, cuckoofilter_which(f, 1, NULL::text[]) IS NULL, cuckoofilter_which(NULL, 1, ARRAY['p1']) IS NULL FROM $pairs"),
	't|t|t', 'and so is which');
is(one("SELECT cuckoofilter_count(cuckoofilter_agg_pair(i, i)), cuckoofilter_info(cuckoofilter_agg_pair(i, i)) ->> 'capacity' FROM generate_series(1, 0) i"), '0|1', 'over no rows');
my $without = "HINT:  The items were added without a value: look up an item by cuckoofilter_contains(filter, item), or build a filter of pairs with "
	. 'cuckoofilter_agg_pair.';
foreach my $call ('contains_pair(f, 1, 1)', 'add_pair(f, 1, 1)', 'remove_pair(f, 1, 1)', 'which(f, 1, ARRAY[1])')
{
	like(one("SELECT cuckoofilter_$call FROM (SELECT cuckoofilter_agg(i) AS f FROM generate_series(1, 9) i) t"),
		qr/the cuckoofilter holds numbers, the item is of another type\n\Q$without\E/, "a filter of other items: $call");
}
like(one("SELECT cuckoofilter_contains(f, 1) FROM $pairs"),
	qr/values of other types, the item is a number\nHINT:  Cast the item .* If they were added with a value, call cuckoofilter_contains_pair\(filter, item, value\)/,
	'a filter of pairs, asked for an item');
unlike(one(q{SELECT cuckoofilter_contains(cuckoofilter_agg(i), 'a') FROM generate_series(1, 9) i}), qr/pair/, 'no word of pairs where there are none');
like(one(q{SELECT cuckoofilter_which(cuckoofilter_agg(i), 1, ARRAY[1]) FROM generate_series(1, 9) i}), qr/the cuckoofilter holds numbers/, 'and with candidates');
is(one(q{SELECT cuckoofilter_which(cuckoofilter_agg(i), 1, '{NULL}'::integer[]) FROM generate_series(1, 9) i}), '{}', 'none of which asks nothing');
like(one(q{SELECT cuckoofilter_add_pair(cuckoofilter_create(9), 1, point '(1,2)')}), qr/type point has no hash function/, 'a value without a hash');
like(one(q{SELECT cuckoofilter_remove_pair(cuckoofilter_agg_pair(1, 2, 0.01, 9, 'kind=set'), 1, 2)}), qr/cannot remove from a cuckoofilter of kind set/, 'removal from a set');
like(one(q{PREPARE p AS SELECT cuckoofilter_contains_pair(cuckoofilter_create(9), $1, 2)}), qr/could not determine data type of parameter/, 'an untyped parameter');
like(one('SELECT cuckoofilter_agg_pair_transition(NULL, 1, 2)'), qr/support function of a cuckoofilter aggregate/, 'a transition alone');
my $order = 'cuckoofilter_agg_pair(item, value, fpr, capacity)';
foreach my $call ('i, i, 10000, 0.01', 'i, i, 10000, 5', 'i, i, 10000, 0.01::float8', 'i, 0.01, 10000', q{i, i, 10000, NULL::bigint, 'kind=set'})
{
	like(one("SELECT cuckoofilter_agg_pair($call) FROM generate_series(1, 3) i"),
		qr/less than 1, not 10000\nHINT:  Aggregates take the rate, 0\.01 for 1 %, before the capacity: \Q$order\E\./, "agg_pair($call)");
}
like(one(q{SELECT cuckoofilter_create(5, 0.1, 'kind=set, kind=set')}), qr/invalid cuckoofilter option "kind=set"\nHINT:  Give this option once\.$/, 'an option twice');
foreach my $call ('cuckoofilter_agg(i, 10000, 0.01)', 'cuckoofilter_agg(i, 10000)', 'cuckoofilter_agg(i, 10000, 5)', 'cuckoofilter_agg(i, 1)', 'cuckoofilter_agg_hash(i, 1, 0.5)', q{cuckoofilter_agg(i, 1e6, 1e-3, 'kind=set')})
{
	like(one("SELECT $call FROM generate_series(1, 3) i"),
		qr/false positive rate must be greater than 0 and less than 1, not 1(0000(00)?)?\nHINT:  Aggregates take the rate, 0\.01 for 1 %, before the capacity: cuckoofilter_agg\(item, fpr, capacity\)\./, $call);
}
foreach my $call ('agg(i, 0.01, 0.5)', 'create(0.5, i)', 'bytes(0.5, i)')
{
	like(one("SELECT cuckoofilter_$call FROM generate_series(1, 3) i"),
		qr/capacity must be an integer, not 0.5\nHINT:  cuckoofilter_create and cuckoofilter_bytes take the capacity before the rate, aggregates after it\./, $call);
}
foreach my $call ('agg(i, 0)', 'create(9, 0)', 'create(1.5)', 'create(-0.5)')
{
	unlike(one("SELECT cuckoofilter_$call FROM generate_series(1, 3) i"), qr/HINT/, "no HINT of $call");
}

# ---------------------------------------------------- planned bytes, in brief

is(one(q{SELECT bool_and(octet_length(f::bytea) = cuckoofilter_bytes(n, fpr, options)) FROM (VALUES (1), (100), (9000), (50000)) AS s(n),
	(VALUES (0.01::float8), (0.0001)) AS r(fpr), (VALUES (''), ('layout=plain, bucket_size=8'), ('kind=set')) AS o(options),
	LATERAL (SELECT cuckoofilter_agg(i, fpr, NULL::bigint, options) AS f FROM generate_series(1, n) i) AS a}), 't', 'planned bytes');
is(one('SELECT cuckoofilter_bytes(1000000), cuckoofilter_bytes(1e6), cuckoofilter_bytes(1e6, 0.01), cuckoofilter_bytes(NULL::bigint) IS NULL') =~ s/^(\d+)\|\1\|\1/same/r, 'same|t', 'defaults');
like(one('SELECT cuckoofilter_bytes(0)'), qr/capacity must be from 1 to/, 'no capacity');
like(one('SELECT cuckoofilter_bytes(1.5)'), qr/capacity must be an integer/, 'a broken one');
like(one('SELECT cuckoofilter_bytes(5, 1)'), qr/false positive rate must be .*not 1\nHINT:  A rate of 1 % is 0\.01\./, 'rate 1');
like(one(q{SELECT cuckoofilter_bytes(5, 0.1, 'colour=red')}), qr/invalid cuckoofilter option "colour=red"/, 'a bad option');

# -------------------------------------------------------------------- which

# Filters in a row, toasted and not, in hashes, tables and sets; candidates of many types.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE stored (name text, f cuckoofilter);
	INSERT INTO stored SELECT 'few', cuckoofilter_agg_pair(i, i % 3) FROM generate_series(1, 20) i;
	INSERT INTO stored SELECT 'table', cuckoofilter_agg_pair(i % 900, i % 7, 0.1) FROM generate_series(1, 30000) i;
	INSERT INTO stored SELECT 'large', cuckoofilter_agg_pair(i % 9000, i % 367, 0.01, NULL::bigint, 'kind=set') FROM generate_series(1, 900000) i;
	INSERT INTO stored VALUES ('empty', cuckoofilter_create(100)), ('none', NULL)});
my @arrays = (
	q{ARRAY(SELECT generate_series(0, 400))}, q{ARRAY(SELECT generate_series(0, 120))}, q{ARRAY(SELECT generate_series(400, -400, -1)::bigint)}, q{'{}'::integer[]}, q{ARRAY[NULL, 3, NULL, 1, 1, 2]}, q{ARRAY[[1, 2, NULL], [3, 0, 9]]},
	q{'[-1:1]={2,1,0}'::smallint[]}, q{ARRAY[1.0, 2.5, 0]}, q{ARRAY(SELECT i::float8 FROM generate_series(0, 9) i)}, q{ARRAY[1, 2, 0]::small[]}, q{ARRAY(SELECT i % 500 FROM generate_series(1, 70000) i)},
	q{ARRAY['1', '2']}, q{ARRAY[1, 2, 5]::oid[]});
foreach my $array (@arrays)
{
	is( one("SELECT count(*), count(*) FILTER (WHERE cuckoofilter_which(f, i, a) IS DISTINCT FROM
				coalesce((SELECT array_agg(c ORDER BY n) FROM unnest(a) WITH ORDINALITY AS u(c, n) WHERE cuckoofilter_contains_pair(f, i, c)), '{}'))
			FROM stored, (SELECT $array AS a) AS arrays, (VALUES (1), (17), (4711), (100000)) AS items(i) WHERE f IS NOT NULL"),
		'16|0', "which of $array");
}
is(one(q{SELECT cuckoofilter_which(f, 5, ARRAY[[1, 2], [5, 4]]), array_ndims(cuckoofilter_which(f, 5, ARRAY[[2], [5 % 3]])), pg_typeof(cuckoofilter_which(f, 5, ARRAY[1::small])) FROM stored WHERE name = 'few'}),
	'{2}|1|small[]', 'one dimension, of the same type');
is( one(q{SELECT count(*) FROM generate_series(1, 9000) i, stored WHERE name = 'large'
		AND NOT ARRAY(SELECT DISTINCT k % 367 FROM generate_series(i % 9000, 900000, 9000) k WHERE k > 0) <@ cuckoofilter_which(f, i % 9000, ARRAY(SELECT generate_series(0, 366)))}),
	'0', 'no value is missing');
is(one(q{SELECT cuckoofilter_which(cuckoofilter_agg_pair(k, v), 'kiwi', ARRAY['y', 'x', 'z']) FROM (VALUES ('kiwi', 'x'), ('kiwi', 'y'), ('fig', 'z')) AS t(k, v)}), '{y,x}', 'texts, in order');
is(one(q{DO $$ DECLARE g cuckoofilter; a integer[]; BEGIN FOR i IN 1 .. 50 LOOP SELECT f INTO g FROM stored WHERE name = 'large';
		a := cuckoofilter_which(g, i, ARRAY(SELECT generate_series(0, 366))); IF NOT a @> ARRAY[i % 367] THEN RAISE 'missing'; END IF; END LOOP; END $$}), '', 'in PL/pgSQL');

# Of a large filter that lies apart some slices are read: fewer blocks than the whole has.
sub blocks
{
	my ($array) = @_;
	my $plan = $node->safe_psql('postgres', "EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off, SUMMARY off) SELECT cuckoofilter_which(f, 17, $array) FROM stored WHERE name = 'large'");

	return ($plan =~ /Buffers: shared hit=(\d+)/)[0] + (($plan =~ /Buffers: shared.* read=(\d+)/)[0] // 0);
}
my $whole = one(q{SELECT octet_length(f::bytea) / 8192 FROM stored WHERE name = 'large'});
cmp_ok(blocks('ARRAY[5]'), '<', $whole * 0.6, "slices for one candidate, of $whole blocks");
cmp_ok(blocks('ARRAY(SELECT generate_series(0, 40000))'), '>', $whole, 'the whole for very many');

# --------------------------------------------- plans, and a model of what is in

$node->safe_psql('postgres', q{CREATE TABLE facts AS SELECT i % 5000 AS item, 'part ' || i % 50 AS value FROM generate_series(1, 200000) i; ANALYZE facts});
my $serial = one('SELECT md5(cuckoofilter_agg_pair(item, value)::text) FROM facts');
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;';
like(one("$parallel EXPLAIN SELECT cuckoofilter_agg_pair(item, value) FROM facts"), qr/Partial Aggregate/, 'a parallel plan');
is(one("$parallel SELECT md5(cuckoofilter_agg_pair(item, value)::text) FROM facts"), $serial, 'its bytes');
is(one(q{SELECT md5((cuckoofilter_agg_pair(item, value) OVER ())::text) FROM facts LIMIT 1}), $serial, 'of a window');
is(one(q{SELECT md5(cuckoofilter_agg_pair(DISTINCT item, value)::text) FROM facts}), $serial, 'with DISTINCT');
is(one(q{SELECT md5(cuckoofilter_agg_pair(item, value ORDER BY value DESC)::text) FROM facts}), $serial, 'with ORDER BY');

# Random adds and removals beside a table of how many copies there are.
my (%copies, @script);
foreach my $step (1 .. rounds(1500))
{
	my ($item, $value) = (int(rand(40)), int(rand(6)));
	my $key = "$item, 'v$value'";

	next if ($copies{$key} // 0) > 5;
	my $remove = ($copies{$key} // 0) > 0 && rand() < 0.45;
	push @script, 'f := cuckoofilter_' . ($remove ? 'remove' : 'add') . "_pair(f, $key);";
	$copies{$key} += $remove ? -1 : 1;
	push @script, "IF NOT cuckoofilter_contains_pair(f, $key) THEN RAISE 'lost at $step'; END IF;" if $copies{$key} > 0;
}
my $present = join ' AND ', map { "cuckoofilter_contains_pair(f, $_)" } grep { $copies{$_} > 0 } sort keys %copies;
my $sum = 0;
$sum += $_ foreach values %copies;
my $block = join "\n", @script;
is(one("DO \$\$ DECLARE f cuckoofilter := cuckoofilter_create(1000, 0.0001); BEGIN $block IF NOT ($present) THEN RAISE 'lost'; END IF;
		IF cuckoofilter_count(f) <> $sum THEN RAISE 'count %', cuckoofilter_count(f); END IF; END \$\$"), '', 'random adds and removals');

$node->stop;
done_testing();
