# The planner's estimates raise no error, whatever the filter and the item are.
use CuckooCluster;

my $node = new_cluster('main');

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# A table with a column of each type that is a special case.
my %columns = (
	number => 'g', point => 'point(g, g)', points => 'ARRAY[point(g, g)]', json => 'to_json(g)', bits => 'g::bit(8)',
	vector => "to_tsvector('simple', g::text)", box => 'box(point(g, g), point(0, 0))', record => "ROW(g, 'a')::plain_row",
	no_hash => "ROW(g, point(g, g))::odd_row", odd_range => 'odd_range(g::text::odd_number, NULL)', label => "(CASE WHEN g % 2 = 0 THEN 'a' ELSE 'b' END)::label",
	small => 'g::small', place => 'point(g, g)::place', failing => 'ROW(g)::failing', words => "'w' || g", name => "('n' || g)::name",
	nothing => 'NULL::int', day => "date '2000-01-01' + g", document => 'jsonb_build_object(g::text, g)', whole => 'oid(g)', posix => '(g::text) COLLATE "POSIX"', plain_c => '(g::text) COLLATE "C"', filter => 'cuckoofilter_create(9) + g');
my @names = sort keys %columns;
sql("CREATE TYPE plain_row AS (a int, b text);
	CREATE TYPE odd_row AS (a int, b point);
	CREATE TYPE label AS ENUM ('a', 'b');
	CREATE DOMAIN small AS int;
	CREATE DOMAIN odd_number AS text;
	CREATE DOMAIN place AS point;
	CREATE TYPE odd_range AS RANGE (subtype = odd_number, subtype_opclass = text_ops);
	CREATE TYPE failing AS (a int);
	CREATE FUNCTION failing_eq(failing, failing) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT (\$1).a = (\$2).a';
	CREATE FUNCTION failing_lt(failing, failing) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT (\$1).a < (\$2).a';
	CREATE FUNCTION failing_cmp(failing, failing) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT (\$1).a - (\$2).a';
	CREATE FUNCTION failing_hash(failing) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE EXCEPTION ''no hash today''; END';
	CREATE FUNCTION failing_hash(failing, int8) RETURNS int8 LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE EXCEPTION ''no hash today''; END';
	CREATE OPERATOR === (LEFTARG = failing, RIGHTARG = failing, FUNCTION = failing_eq, COMMUTATOR = ===, HASHES);
	CREATE OPERATOR <<< (LEFTARG = failing, RIGHTARG = failing, FUNCTION = failing_lt);
	CREATE OPERATOR CLASS failing_ops DEFAULT FOR TYPE failing USING btree AS OPERATOR 1 <<<, OPERATOR 3 ===, FUNCTION 1 failing_cmp(failing, failing);
	CREATE OPERATOR CLASS failing_hash_ops DEFAULT FOR TYPE failing USING hash AS OPERATOR 1 ===, FUNCTION 1 failing_hash(failing), FUNCTION 2 failing_hash(failing, int8);
	CREATE TABLE odd AS SELECT " . join(', ', map { "$columns{$_} AS $_" } @names) . " FROM generate_series(1, 2000) g;
	INSERT INTO odd SELECT * FROM odd LIMIT 300;
	ANALYZE odd;");

# Filters that are constants: of their own kind, of none, of another one, none at all, damaged.
sql("CREATE TABLE damaged (b bytea); ALTER TABLE damaged ALTER b SET STORAGE external;
	INSERT INTO damaged SELECT set_byte(f::bytea, 5, 200) FROM (SELECT cuckoofilter_agg(g) FROM generate_series(1, 100000) g) t(f);
	INSERT INTO damaged SELECT set_byte(f::bytea, 5, 200) FROM (SELECT cuckoofilter_agg(g) FROM generate_series(1, 10) g) t(f);
	INSERT INTO damaged SELECT substr(f::bytea, 1, n) FROM (SELECT cuckoofilter_agg(g) FROM generate_series(1, 100000) g) t(f), unnest(ARRAY[0, 1, 47, 48, 60, 3000, 80000]) n;
	UPDATE pg_attribute SET atttypid = 'cuckoofilter'::regtype WHERE attrelid = 'damaged'::regclass AND attname = 'b';
	CREATE DOMAIN own_filter AS cuckoofilter;
	-- plans with the constant that the filter is, and executes nothing; a function keeps a value's TOAST pointer
	CREATE FUNCTION planned(f cuckoofilter, condition text) RETURNS text LANGUAGE plpgsql AS \$\$
		DECLARE line json;
		BEGIN
			EXECUTE 'EXPLAIN (FORMAT JSON, BUFFERS) SELECT FROM odd WHERE ' || condition INTO line USING f;
			EXECUTE 'SELECT FROM odd WHERE ' || condition || ' LIMIT 0' USING f;
			RETURN line -> 0 -> 'Plan' ->> 'Plan Rows';
		EXCEPTION WHEN OTHERS THEN RETURN SQLERRM;
		END \$\$;");
my %filters = (
	'numbers' => '(SELECT cuckoofilter_agg(g) FROM generate_series(1, 1000) g)',
	'texts' => "(SELECT cuckoofilter_agg('w' || g) FROM generate_series(1, 1000) g)",
	'nothing' => 'cuckoofilter_create(10)',
	'a domain' => '(cuckoofilter_create(10) + 1)::own_filter',
	'NULL' => 'NULL::cuckoofilter');
foreach my $filter (sort keys %filters)
{
	my $conditions = join(', ', map { my $item = $_; map { "('$_')" } ("\$1 @> $item", "$item <@ \$1", "cuckoofilter_contains(\$1, $item)") } @names);
	is(sql("SELECT string_agg(c || ': ' || r, '; ') FROM (VALUES $conditions) v(c), LATERAL planned($filters{$filter}, c) r WHERE r !~ '^[0-9]+\$'"),
		'', "every type, and a filter of $filter");
}
is(sql("SELECT string_agg(r, '; ') FROM damaged d, LATERAL planned(b, '\$1 @> number') r WHERE r !~ '^[0-9]+\$'"), '', 'damaged constants');
is(sql("SELECT count(*) FROM damaged"), '9', 'there were some');

# An expression that fails when it is executed does not fail in the planner.
my $numbers = "cuckoofilter_create(9) + 1";
foreach my $case (
	[ "($numbers) @> point", qr/42883/ ], [ "($numbers) @> failing", qr/P0001/ ], [ "($numbers) @> words", qr/42804/ ],
	[ "($numbers) @> (posix || plain_c)", qr/42P22/ ])
{
	is(error_state($node, "EXPLAIN SELECT FROM odd WHERE $case->[0]"), '', "EXPLAIN of $case->[0]");
	is(error_state($node, "SELECT FROM odd WHERE $case->[0] LIMIT 0"), '', "nothing executed of $case->[0]");
	like(error_state($node, "SELECT FROM odd WHERE $case->[0]"), $case->[1], "executed: $case->[0]");
}

# An estimate that fails leaves the transaction as it was.
is(sql("BEGIN; CREATE TABLE kept AS SELECT 1 AS one; SET LOCAL work_mem = '3MB'; DECLARE c CURSOR FOR SELECT FROM odd WHERE ($numbers) @> point;
	SELECT one FROM kept; SHOW work_mem; COMMIT; SELECT count(*) FROM kept"), "1\n3MB\n1", 'a transaction with an estimate that failed');

# Where it is possible the estimate is good: half of the rows are in.
cmp_ok(sql("SELECT planned($filters{numbers}, '\$1 @> number')"), '>', 800, 'half of the numbers');
cmp_ok(sql("SELECT planned($filters{numbers}, '\$1 @> number')"), '<', 1800, 'half of the numbers');

# While a query is executed in parallel no subtransaction can be begun.
sql("CREATE FUNCTION within(f cuckoofilter) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS \$\$
		BEGIN RETURN (SELECT count(*) FROM odd WHERE f @> number); END \$\$;
	CREATE TABLE few AS SELECT cuckoofilter_create(9) + g AS f FROM generate_series(1, 20) g; ANALYZE few; ALTER TABLE few SET (parallel_workers = 2)");
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
like(sql("$parallel EXPLAIN SELECT sum(within(f)) FROM few"), qr/Gather/, 'a parallel plan');
is(sql("$parallel SELECT sum(within(f)) >= 20 FROM few"), 't', 'planned within a parallel query');

# A large constant.  PostgreSQL fetches a parameter's value when it makes a constant of it; the
# estimate reads no more.
sql("CREATE TABLE large (f cuckoofilter); INSERT INTO large (f) SELECT cuckoofilter_agg(g, 1e-9) FROM generate_series(1, 1000000, 2) g;
	CREATE TABLE items AS SELECT g AS x, g % 40 AS y FROM generate_series(1, 100000) g; ANALYZE items;
	CREATE FUNCTION blocks(f cuckoofilter, condition text, OUT blocks int, OUT share float8) LANGUAGE plpgsql AS \$\$
		DECLARE line json;
		BEGIN
			EXECUTE 'EXPLAIN (FORMAT JSON, BUFFERS) SELECT FROM items WHERE ' || condition INTO line USING f;
			blocks := (line -> 0 -> 'Planning' ->> 'Shared Hit Blocks')::int + (line -> 0 -> 'Planning' ->> 'Shared Read Blocks')::int;
			share := (line -> 0 -> 'Plan' ->> 'Plan Rows')::float8 / 100000;
		END \$\$;");
foreach my $item ('x', 'y')
{
	# the third time the catalogs' blocks are known
	my ($nothing, $blocks, $share) = split /\|/, sql("SELECT n.blocks, b.* FROM large, LATERAL blocks(f, '\$1 @> $item') a, LATERAL blocks(f, 'cuckoofilter_count(\$1) > $item') c,
		LATERAL blocks(f, 'cuckoofilter_count(\$1) > $item') n, LATERAL blocks(f, '\$1 @> $item') b");
	cmp_ok($nothing, '>', 100, "PostgreSQL reads $nothing blocks to make a constant");
	cmp_ok($blocks - $nothing, '<', 20, "an estimate with $item reads $blocks blocks");
	cmp_ok(abs($share - 0.5), '<', 0.25, "half of $item: $share");
}

$node->stop;
done_testing();
