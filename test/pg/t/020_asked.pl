# NULL, and items of a type that was not meant, in lookups and changes. A NULL changes nothing, and
# a wrong type is an error and never a "no".
use CuckooCluster;
use FindBin;

my $node = new_cluster('main');

sub one
{
	my ($sql) = @_;
	my ($ret, $out, $err) = $node->psql('postgres', $sql);

	return $ret == 0 ? $out : $err;
}

# -------------------------------------------------------------- items of NULL

$node->safe_psql(
	'postgres', q{
	CREATE TABLE t (name text PRIMARY KEY, f cuckoofilter);
	INSERT INTO t SELECT 'few', cuckoofilter_agg(i) FROM generate_series(1, 3) i;
	INSERT INTO t SELECT 'many', cuckoofilter_agg(i) FROM generate_series(1, 3000) i;
	INSERT INTO t SELECT 'set', cuckoofilter_agg(i, 0.01, 5000, 'kind=set') FROM generate_series(1, 3000) i;
	INSERT INTO t VALUES ('empty', cuckoofilter_create(1000)), ('none', NULL);
	CREATE VIEW no_rows AS SELECT i FROM generate_series(1, 3) i WHERE i > 3});

my @adds = (
	'f + NULL', 'f + NULL::integer', 'cuckoofilter_add(f, NULL)', 'cuckoofilter_add(f, NULL::text[])', 'cuckoofilter_add_hash(f, NULL)',
	'cuckoofilter_add_all(f, NULL::integer)', 'cuckoofilter_add_all(f, NULL, NULL::integer)', 'cuckoofilter_add_all(f, VARIADIC NULL::integer[])',
	q{cuckoofilter_add_all(f, VARIADIC ARRAY[NULL, NULL]::text[])}, q{cuckoofilter_add_all(f, VARIADIC '{}'::text[])},
	'cuckoofilter_add_all(f, VARIADIC (SELECT array_agg(i) FROM no_rows))', 'f + (SELECT i FROM no_rows)', 'cuckoofilter_add_hash(f, cuckoofilter_hash(NULL::text))');
my @changes = (@adds, map { s/_add/_remove/r =~ s/f \+/f -/r } @adds);
foreach my $change (@changes)
{
	my $where = $change =~ /remove| - / ? q{name <> 'set'} : 'true';
	is(one("SELECT string_agg(name || coalesce(($change) = f, ($change) IS NULL AND f IS NULL), ' ' ORDER BY name) FROM t WHERE $where"),
		$change =~ /remove| - / ? 'emptytrue fewtrue manytrue nonetrue' : 'emptytrue fewtrue manytrue nonetrue settrue', "a change by NULL: $change");
}
is(one('UPDATE t SET f = f + NULL; UPDATE t SET f = cuckoofilter_add(f, NULL::integer); SELECT count(f), sum(cuckoofilter_count(f)) > 5900 FROM t'), '4|t', 'UPDATE .. f + NULL wipes none');
is(one('SELECT cuckoofilter_contains_all(cuckoofilter_add_all(f, NULL, 77, NULL, 78), 77, 78, NULL, 1) FROM t WHERE name = $$many$$'), 't', 'NULL among others is passed over');

foreach my $question ('f @> NULL', 'NULL::integer <@ f', 'f @> NULL::integer', 'cuckoofilter_contains(f, NULL::integer)', 'cuckoofilter_copies(f, NULL::integer)',
	'cuckoofilter_contains_hash(f, NULL)', 'cuckoofilter_contains_any(f, VARIADIC NULL::integer[])', 'cuckoofilter_contains_all(f, VARIADIC NULL::integer[])',
	'cuckoofilter_contains_any(f, VARIADIC (SELECT array_agg(i) FROM no_rows))')
{
	is(one("SELECT count($question) FROM t"), '0', "a question about NULL: $question");
}
is( one('SELECT DISTINCT cuckoofilter_contains_any(f, NULL::integer), cuckoofilter_contains_all(f, NULL::integer), cuckoofilter_contains_any(f, VARIADIC $${}$$::int[]), cuckoofilter_contains_all(f, VARIADIC $${}$$::int[]) FROM t WHERE f IS NOT NULL'),
	'f|t|f|t', 'any and all over no items');

# triggers, over rows with and without
$node->safe_psql(
	'postgres', q{
	CREATE TABLE users (id serial, email text, age integer);
	CREATE TABLE seen (emails cuckoofilter DEFAULT cuckoofilter_create(1000), ages cuckoofilter DEFAULT cuckoofilter_create(1000));
	INSERT INTO seen DEFAULT VALUES;
	CREATE FUNCTION learn() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
		IF TG_OP <> 'INSERT' THEN UPDATE seen SET emails = emails - OLD.email, ages = cuckoofilter_remove_all(ages, OLD.age); END IF;
		IF TG_OP <> 'DELETE' THEN UPDATE seen SET emails = emails + NEW.email, ages = cuckoofilter_add_all(ages, NEW.age); END IF;
		RETURN NULL;
	END$$;
	CREATE TRIGGER learn AFTER INSERT OR UPDATE OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION learn();
	INSERT INTO users (email, age) SELECT CASE WHEN i % 3 > 0 THEN 'user' || i END, CASE WHEN i % 5 > 0 THEN i END FROM generate_series(1, 300) i;
	UPDATE users SET email = CASE WHEN email IS NULL THEN 'late' || id WHEN id % 3 = 2 THEN email END;
	DELETE FROM users WHERE id % 7 = 0});
is( one('SELECT (SELECT count(*) FROM users WHERE emails @> email), (SELECT count(email) FROM users), (SELECT count(*) FROM users WHERE ages @> age), (SELECT count(age) FROM users), cuckoofilter_count(emails), cuckoofilter_count(ages) FROM seen'),
	one('SELECT count(email), count(email), count(age), count(age), count(email), count(age) FROM users'), 'a trigger whose columns are NULL now and then');

# aggregates
is(one('SELECT cuckoofilter_agg(NULL::integer) = cuckoofilter_agg(i) FROM no_rows'), 't', 'an aggregate over NULL is the empty filter');
is(one('SELECT count(*) FROM generate_series(1, 3) i WHERE NOT (SELECT cuckoofilter_agg(i) FROM no_rows) @> i'), '3', 'NOT contains of an empty filter keeps its rows');
is( one('SELECT cuckoofilter_count(a), a @> 3001, a @> 3000, cuckoofilter_info(a) -> $$target_fpr$$ FROM (SELECT cuckoofilter_add_agg(f, CASE WHEN i % 2 = 0 THEN i END) AS a FROM (SELECT f FROM t WHERE name = $$few$$) AS few, generate_series(3001, 3100) i) AS added'),
	'53|f|f|0.01', 'add_agg passes over NULL items');
is( one('SELECT cuckoofilter_count(cuckoofilter_add_agg(CASE WHEN i > 10 THEN f END, i)) FROM (SELECT f FROM t WHERE name = $$few$$) AS few, generate_series(1, 100) i'),
	'103', 'add_agg: the first filter that is not NULL, all the items');
is(one('SELECT cuckoofilter_add_agg(f, i) IS NULL FROM t, no_rows'), 't', 'add_agg over no rows is NULL');

# --------------------------------------------------- items of the wrong class

# Each list has values that may be looked up in the same filter.
my %classes = (
	numbers => [ '7', '7::smallint', '7::bigint', '7.5', '7.5::float8', '7::real', 'true', '7::oid' ],
	text => [ q{'7'}, q{'7'::text}, q{'7'::varchar}, q{'7'::name}, q{'7'::char(3)}, q{'happy'::mood} ],
	bytes => [ q{'\x07'::bytea}, q{'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid} ],
	timestamp => [ q{'2024-01-01'::date}, q{'2024-01-01'::timestamp} ],
	timestamptz => [ q{'2024-01-01'::timestamptz}, 'now()' ],
	other => [ 'ARRAY[7]', q{'{"a": 7}'::jsonb}, 'int4range(1, 7)', q{'10.0.0.1'::inet}, 'ROW(7, 8)::point_of', q{'1 day'::interval} ]);
my %filled = (
	numbers => 'i',
	text => 'i::text',
	bytes => 'int4send(i)',
	timestamp => q{'2000-01-01'::date + i},
	timestamptz => q{'2000-01-01'::timestamptz + i * interval '1 hour'},
	other => 'ARRAY[i]');
my @calls = (
	'f @> %s', '%s <@ f', 'cuckoofilter_contains(f, %s)', 'NOT cuckoofilter_contains(f, %s)', 'cuckoofilter_copies(f, %s)', 'f + %s', 'f - %s', 'cuckoofilter_add(f, %s)',
	'cuckoofilter_remove(f, %s)', 'cuckoofilter_contains_any(f, VARIADIC ARRAY[%s])', 'cuckoofilter_contains_all(f, VARIADIC ARRAY[%s])',
	'cuckoofilter_add_all(f, VARIADIC ARRAY[%s])', 'cuckoofilter_remove_all(f, VARIADIC ARRAY[%s])');

$node->safe_psql('postgres', q{CREATE TYPE mood AS ENUM ('happy', 'sad'); CREATE TYPE point_of AS (x integer, y integer)});
$node->safe_psql('postgres', "CREATE TABLE $_ AS SELECT cuckoofilter_agg($filled{$_}) AS f FROM generate_series(1, 3) i
	UNION ALL SELECT cuckoofilter_agg($filled{$_}) FROM generate_series(1, 3000) i") foreach sort keys %filled;

# Each statement by itself: how many end with each SQLSTATE ('' where none).
sub states
{
	my (@statements) = @_;
	my $sql = q{DO $do$ DECLARE s text; states text[] = '{}'; found text; wrong text; BEGIN
		FOREACH s IN ARRAY $list$%s$list$::text[] LOOP
			BEGIN EXECUTE s; states = array_append(states, 'none'); EXCEPTION WHEN OTHERS THEN states = array_append(states, SQLSTATE); END;
		END LOOP;
		SELECT string_agg(n || ' ' || state, ', ' ORDER BY state) INTO found FROM (SELECT state, count(*) AS n FROM unnest(states) state GROUP BY 1) AS counts;
		RAISE NOTICE 'states: %%', found; END $do$};
	my $list = '{' . join(',', map { '"' . s/(["\\])/\\$1/gr . '"' } @statements) . '}';
	my ($ret, $out, $err) = $node->psql('postgres', sprintf($sql, $list));
	return $err =~ /states: (.*)/ ? $1 : $err;
}

foreach my $holds (sort keys %classes)
{
	foreach my $asked (sort keys %classes)
	{
		my @statements;
		foreach my $item (@{ $classes{$asked} })
		{
			# An array of arrays is an array of their elements.
			push(@statements, map { "SELECT " . sprintf($_, $item) . " FROM $holds" } grep { $item !~ /^ARRAY/ || !/VARIADIC/ } @calls);
		}
		is(states(@statements), @statements . ($holds eq $asked ? ' none' : ' 42804'), "of a filter of $holds: an item of $asked");
	}
}

my ($ret, $out, $err) = $node->psql('postgres', q{SELECT f @> '7' FROM numbers});
like($err, qr/the cuckoofilter holds numbers, the item is text/, 'the sentence');
like($err, qr/HINT:.*\bcast\b/i, 'and its cure');
is(one($_), 't', "the cure: $_")
  foreach ('SELECT bool_and(f @> $$3$$::bigint) FROM numbers', 'SELECT bool_and(f @> 3::text) FROM text', 'SELECT bool_and(f @> $$2000-01-02$$::date) FROM timestamp');

# The errors as they were reported.
is(error_state($node, $_), '42804', $_)
  foreach (
	q{SELECT cuckoofilter_agg(md5(i::text)::uuid) @> 'c4ca4238-a0b9-2382-0dcc-509a6f75849b' FROM generate_series(1, 5) i},
	q{SELECT cuckoofilter_agg('2024-01-01'::date + i) @> '2024-01-02' FROM generate_series(1, 5) i},
	q{SELECT cuckoofilter_agg('2024-01-01'::timestamptz) @> '2024-01-01'},
	q{PREPARE p AS SELECT f @> $1 FROM numbers; EXECUTE p(3)},
	q{PREPARE p AS SELECT count(*) FROM numbers WHERE NOT f @> $1; EXECUTE p('3')},
	q{PREPARE p AS UPDATE numbers SET f = f + $1; EXECUTE p(4)},
	q{SELECT count(*) FROM generate_series(1, 3) i WHERE NOT EXISTS (SELECT FROM numbers WHERE f @> i::text)},
	q{SELECT count(*) FROM generate_series(1, 3) i LEFT JOIN numbers ON f @> i::text WHERE f IS NULL},
	q{SELECT cuckoofilter_add_agg(f, i::text) FROM numbers, generate_series(1, 3) i},
	q{UPDATE numbers SET f = f + 'x'},
	q{DO $$ BEGIN EXECUTE 'SELECT f @> $1 FROM numbers' USING '3'::text; END $$});
is(one('SELECT bool_and(f @> 3) FROM numbers'), 't', 'and nothing was changed by them');
isnt(error_state($node, $_), '', "an error, never a no: $_")
  foreach (
	q{PREPARE p AS SELECT cuckoofilter_contains_any(f, $1, $2) FROM numbers; EXECUTE p(3, 4)},
	q{PREPARE p AS SELECT cuckoofilter_contains_all(f, $1) FROM numbers; EXECUTE p(3)},
	q{PREPARE p AS UPDATE numbers SET f = cuckoofilter_add_all(f, $1); EXECUTE p(3)},
	q{SELECT cuckoofilter_contains_any(f, '3', '4') FROM numbers});
foreach my $mode (qw(force_custom_plan force_generic_plan))
{
	is(one("SET plan_cache_mode = $mode; PREPARE p(bigint) AS SELECT bool_and(f \@> \$1) FROM numbers; EXECUTE p(3)"), 't', "$mode: a typed parameter");
	is(one("SET plan_cache_mode = $mode; PREPARE p AS SELECT bool_and(f \@> \$1::bigint) FROM numbers; EXECUTE p(3)"), 't', "$mode: a parameter with a cast");
	is(one("SET plan_cache_mode = $mode; PREPARE p AS SELECT bool_and(f \@> \$1) FROM text; EXECUTE p(3)"), 't', "$mode: text where text was meant");
	is(one("SET plan_cache_mode = $mode; PREPARE p(bigint[]) AS SELECT bool_and(cuckoofilter_contains_all(f, VARIADIC \$1)) FROM numbers; EXECUTE p('{1,2,3}')"), 't', "$mode: an array");
}
is(one(q{DO $$ DECLARE yes boolean; BEGIN EXECUTE 'SELECT bool_and(f @> $1) FROM numbers' INTO yes USING 3::numeric; ASSERT yes; END $$; SELECT 1}), '1', 'EXECUTE .. USING');

# Allowed: a caller's hashes, merges of two classes, lookups after a caller's hash was added, and empty filters.
is(one('SELECT bool_and(cuckoofilter_contains_hash(f, cuckoofilter_hash(3))), bool_or(cuckoofilter_contains_hash(f, cuckoofilter_hash($$3$$))) FROM numbers'), 't|f', '_contains_hash is never refused');
is(states('SELECT cuckoofilter_remove_hash(f, cuckoofilter_hash($$3$$)) FROM numbers', 'SELECT f | cuckoofilter_agg($$x$$::text) FROM numbers, generate_series(1, 3) GROUP BY f'), '2 none', '_remove_hash and merges neither');
is( one('SELECT f @> 3, f @> $$x$$, NOT f @> 77777, NOT f @> $$y$$ FROM (SELECT cuckoofilter_union(a.f, cuckoofilter_agg($$x$$::text)) AS f FROM (SELECT f FROM numbers LIMIT 1) AS a GROUP BY a.f) AS united'),
	't|t|t|t', 'a merge of two classes may be asked for both');
is( one('SELECT cuckoofilter_contains(f, $$x$$), f @> ARRAY[1], f @> 3 FROM (SELECT cuckoofilter_add_hash(f, 12345) AS f FROM numbers LIMIT 1) AS own'),
	'f|f|t', 'where a hash of one\'s own is among them all are allowed');
foreach my $empty ('cuckoofilter_create(10)', 'cuckoofilter_agg(NULL::integer)', 'cuckoofilter_create(10) + 7 - 7')
{
	is(one("SELECT f \@> 7, f \@> '7', f \@> now(), (f + 'seven'::text) \@> 'seven', f - ARRAY[7] = f FROM (SELECT $empty AS f) AS one"), 'f|f|f|t|t', "an empty filter is of no class yet: $empty");
}
is(one("SELECT cuckoofilter_info(f) -> 'item_classes' FROM $_->[0] LIMIT 1"), $_->[1], "item_classes of $_->[0]")
  foreach ([ 'numbers', '["number"]' ], [ 'text', '["text"]' ], [ 'bytes', '["bytes"]' ], [ 'timestamp', '["timestamp"]' ], [ 'timestamptz', '["timestamptz"]' ], [ 'other', '["other"]' ]);

# Tables of mixed filters, and the planner, which looks up items before the query runs.
$node->safe_psql(
	'postgres', join(';', 'CREATE TABLE mixed (kind text, f cuckoofilter)', map { "INSERT INTO mixed SELECT '$_', f FROM $_" } sort keys %filled) . q{;
	CREATE TABLE names (name text);
	INSERT INTO names SELECT CASE WHEN i < 500 THEN 'frequent' ELSE 'name' || i END FROM generate_series(1, 1000) i;
	ANALYZE names, mixed});
is(one(q{SELECT count(*) FROM mixed WHERE kind = 'numbers' AND f @> 3}), '2', 'of a mixed table the rows that are meant');
is(one(q{SELECT count(*) FROM mixed WHERE CASE kind WHEN 'numbers' THEN f @> 3 WHEN 'text' THEN f @> '3' END}), '4', 'CASE');
my $constant = one('SELECT f FROM numbers WHERE cuckoofilter_count(f) = 3');
is(states("EXPLAIN SELECT * FROM names WHERE '$constant'::cuckoofilter \@> name", "EXPLAIN SELECT * FROM names JOIN numbers ON f \@> name",
		"SELECT * FROM names WHERE name = 'nobody' AND '$constant'::cuckoofilter \@> name"),
	'3 none', 'estimates are never refused');
is(error_state($node, "SELECT count(*) FROM names WHERE NOT '$constant'::cuckoofilter \@> name"), '42804', 'what is asked is');

# ------------------------------------------------------------ lists of items

is(one($_->[0]), $_->[1], $_->[0])
  foreach (
	[ 'SELECT cuckoofilter_count(cuckoofilter_add_all(f, ARRAY[11, 12, 13])) FROM numbers WHERE cuckoofilter_count(f) = 3', '6' ],
	[ 'SELECT cuckoofilter_contains_all(f, ARRAY[1, 2, 3]), cuckoofilter_contains_any(f, ARRAY[3]), cuckoofilter_contains_all(f, ARRAY[1, 99999]) FROM numbers WHERE cuckoofilter_count(f) = 3', 't|t|f' ],
	[ 'SELECT cuckoofilter_count(cuckoofilter_remove_all(f, ARRAY[1, 2])) FROM numbers WHERE cuckoofilter_count(f) = 3', '1' ],
	[ 'SELECT cuckoofilter_contains_any(cuckoofilter_create(10) + 16777217, 16777217, 1.5::real)', 't' ],
	[ 'SELECT cuckoofilter_contains_all(cuckoofilter_create(10) + 9007199254740993, 9007199254740993, 9007199254740993::numeric)', 't' ],
	[ 'SELECT cuckoofilter_contains_all(cuckoofilter_create(10) + $$a$$::text + $$b$$::name, $$a$$, $$b$$)', 't' ],
	[ 'SELECT cuckoofilter_count(cuckoofilter_create(10) + ARRAY[1, 2]), (cuckoofilter_create(10) + ARRAY[1, 2]) @> ARRAY[1::bigint, 2::bigint]', '1|t' ],
	[ 'SELECT count(*) FROM generate_series(1, 3000) i, other WHERE f @> ARRAY[i::bigint] AND f @> ARRAY[i::numeric]', one('SELECT 3003') ]);

# A filter of 1.0.0 can be asked for items of all classes except 7, whose hashes have changed.
my %golden = map { (split(/\t/))[ 0, -1 ] } grep { !/^#/ } split(/\n/, slurp_file("$FindBin::Bin/../../vectors/golden/format-1.tsv"));
my $old = "'\\x$golden{hashes}'::bytea::cuckoofilter";
is(one("SELECT f \@> 1 AND f \@> 5 AND f \@> 'abc', f \@> 1001, f \@> 'x', f \@> now(), f + NULL = f, (f + 'x'::text) \@> 'x' FROM (SELECT $old AS f) AS one"), 't|f|f|f|t|t', 'a filter of 1.0.0 may be asked');
foreach my $item ('ARRAY[1]', q{'{}'::jsonb}, 'int4range(1, 2)', q{'10.0.0.1'::inet})
{
	like(one("SELECT $_ FROM (SELECT $old AS f) AS one"), qr/build the filter again/i, "but not so: $_")
	  foreach ("f \@> $item", "cuckoofilter_copies(f, $item)", "f - $item", "(f + 9) \@> $item");
}
is(one("SELECT '\\x$golden{'hashes-empty'}'::bytea::cuckoofilter \@> ARRAY[1]"), 'f', 'an empty one may be asked for anything');

$node->stop;
done_testing();
