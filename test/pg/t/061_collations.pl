# The collation of each item: functions and aggregates of items and of pairs, called in every kind of
# place, with columns of several collations and with untyped literals. A pair has the bytes of the
# record ROW(item, value), wherever it is hashed. Text of a nondeterministic collation in a record or a
# pair is an error, so that the planner, which may change the collation there, hides no item.
use CuckooCluster;

my $node = new_cluster(
	'main',
	conf => "max_worker_processes = 16\nmax_parallel_workers = 16\nmax_parallel_workers_per_gather = 2\nmin_parallel_table_scan_size = 0\n"
	  . "parallel_setup_cost = 0\nparallel_tuple_cost = 0\n");

if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collprovider = 'i'}) eq '0')
{
	$node->stop;
	plan(skip_all => 'no ICU');
}
seed();

# A statement's rows, or its error.
sub one
{
	my ($sql) = @_;
	my ($ret, $out, $err) = $node->psql('postgres', $sql);

	return $ret == 0 ? $out : $err;
}

# loose calls upper and lower case equal; looser also calls letters with and without an accent equal.
$node->safe_psql(
	'postgres', q{
	CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE COLLATION looser (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
	CREATE DOMAIN loose_word AS text COLLATE loose;
	CREATE DOMAIN c_word AS varchar COLLATE "C";
	CREATE TABLE word (i integer, plain text, c text COLLATE "C", posix varchar COLLATE "POSIX", loose text COLLATE loose, looser varchar COLLATE looser,
		loose_domain loose_word, c_domain c_word, loose_array text[] COLLATE loose, c_array text[] COLLATE "C", again text COLLATE loose);
	INSERT INTO word SELECT i, 'Word ' || i % 20, 'Word ' || i % 17, 'Word ' || i % 13, (ARRAY['WORD ', 'word '])[1 + i % 2] || i % 19,
		(ARRAY['WÖRD ', 'word '])[1 + i % 2] || i % 15, 'Word ' || i % 23, 'Word ' || i % 11, ARRAY['A' || i % 9, NULL], ARRAY['A', 'b' || i % 9], 'Again ' || i % 7
		FROM generate_series(1, 60) i;
	UPDATE word SET loose = NULL WHERE i % 15 = 0;
	UPDATE word SET plain = NULL WHERE i % 14 = 0;
	ANALYZE word});

# Columns, and what can be instead of one. A literal is text; whatever is computed has a collation, too.
my @columns = qw(plain c posix loose looser loose_domain c_domain loose_array c_array again i);
my @others = (
	q{'Literal'}, q{'Literal' COLLATE loose}, '7', 'plain COLLATE loose', 'loose COLLATE "C"', q{plain || '!'}, q{loose || '!'}, 'upper(c)', 'NULLIF(posix, c_domain::text COLLATE "POSIX")',
	'ROW(loose, c)', 'ARRAY[loose, loose]', '(ARRAY[c])[1]', 'CASE WHEN i > 5 THEN looser END', 'to_jsonb(i)');

sub part
{
	return rand() < 0.7 ? $columns[ rand @columns ] : $others[ rand @others ];
}

# An item and a value. PostgreSQL refuses two explicit collations in a call.
sub pair
{
	my ($item, $value) = (part(), part());

	($item, $value) = (part(), part()) while ($item =~ /COLLATE/ && $value =~ /COLLATE/);
	return ($item, $value);
}

# Is text in an expression, or in a column of a type, of a nondeterministic collation? Then a pair of it is refused.
sub refused
{
	return scalar(grep { /loose|again/ && !/ COLLATE "C"$/ } @_) > 0;
}

# The rows where neither part is NULL.  ROW(..) IS NOT NULL would ask for each of its columns.
sub both
{
	my ($item, $value) = @_;

	return "num_nulls($item, $value) = 0";
}

# ------------------------------------------------------------ aggregates of pairs

my $refused = qr/text of a nondeterministic collation cannot be a part of a cuckoofilter item/;

# What is true, or refused.
sub whole_or_refused
{
	my ($sql, $is_refused, $name) = @_;

	like(one($sql), $is_refused ? $refused : qr/^t$/, $name);
	return;
}

$node->safe_psql(
	'postgres', q{
	CREATE AGGREGATE added (text, text) (SFUNC = cuckoofilter_add_pair, STYPE = cuckoofilter, INITCOND = '}
	  . $node->safe_psql('postgres', 'SELECT cuckoofilter_create(100)')
	  . q{');
	CREATE AGGREGATE moving (text, text) (SFUNC = cuckoofilter_add_pair, STYPE = cuckoofilter, INITCOND = '}
	  . $node->safe_psql('postgres', 'SELECT cuckoofilter_create(100)')
	  . q{', MSFUNC = cuckoofilter_add_pair, MINVFUNC = cuckoofilter_remove_pair, MSTYPE = cuckoofilter, MINITCOND = '}
	  . $node->safe_psql('postgres', 'SELECT cuckoofilter_create(100)')
	  . q{')});

foreach my $round (1 .. rounds(50))
{
	my ($item, $value) = pair();
	my ($second_item, $second_value) = rand() < 0.3 ? ($value, $item) : pair();
	my $options = ('', ', 0.001', ', 0.02, 500', q{, 0.01, 1e3, 'kind=set'}, q{, 0.3, NULL, 'seed=-5'})[ rand 5 ];
	my $call = "cuckoofilter_agg_pair($item, $value$options)";
	my $second = "cuckoofilter_agg_pair($second_item, $second_value$options)";
	my $record = "cuckoofilter_agg(ROW($item, $value)$options)";
	my $rows = "$item, $value$options";
	my $serial = 'SET max_parallel_workers_per_gather = 0';
	my $frame = ('ROWS 3 PRECEDING', 'ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING', 'ROWS UNBOUNDED PRECEDING', 'ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING',
		'RANGE BETWEEN 5 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW')[ rand 5 ];
	my $nulls = both($item, $value);
	my $is_refused = refused($item, $value);

	whole_or_refused("$serial; SELECT $call = $record FILTER (WHERE $nulls) OR count(*) FILTER (WHERE $nulls) = 0 FROM word", $is_refused, "aggregate: $rows");
	whole_or_refused("$serial; SELECT $record IS NOT NULL FROM word WHERE $nulls", 1, "record: $rows") if $is_refused;
	whole_or_refused("SELECT $call = (SELECT $call FROM word OFFSET 0) FROM (SELECT w.* FROM word w UNION ALL SELECT w.* FROM word w) word", $is_refused, "parallel: $rows");
	whole_or_refused("$serial; SELECT bool_and(f = (SELECT $call FROM word b WHERE b.i % 3 = a.k)) FROM (SELECT i % 3 AS k, $call AS f FROM word GROUP BY GROUPING SETS ((1))) a",
		$is_refused, "groups: $rows");
	whole_or_refused("SELECT cuckoofilter_agg_pair($item, $value$options ORDER BY i DESC) = $call FROM word", $is_refused, "in order: $rows");
	whole_or_refused("$serial; SELECT bool_and(f = (SELECT $call FROM word)) FROM (SELECT $call OVER () AS f FROM word) t", $is_refused, "window: $rows");
	whole_or_refused(
		"$serial; SELECT bool_and(f = (SELECT $call FROM word)) FROM (SELECT $call OVER (), string_agg(plain, c) OVER (), count(*) OVER (), $record OVER () FROM word) t(f)",
		$is_refused, "window beside others: $rows");
	whole_or_refused(
		"$serial; SELECT bool_and(f = (SELECT coalesce((SELECT $call FROM word b WHERE b.i = ANY (t.frame)), f))) FROM
			(SELECT $call OVER w AS f, array_agg(i) OVER w AS frame FROM word WINDOW w AS (ORDER BY i $frame)) t",
		$is_refused, "window $frame: $rows");
	whole_or_refused(
		"$serial; SELECT bool_and(f = (SELECT $call FROM word) AND g = (SELECT $second FROM word)) FROM (SELECT $call OVER () AS f, $second OVER () AS g FROM word) t",
		$is_refused || refused($second_item, $second_value), "two in a window: $rows, $second_item, $second_value");
	whole_or_refused(
		"$serial; SELECT bool_and(cuckoofilter_contains_pair(f, $item, $value) IS NOT FALSE) FROM (SELECT *, $call OVER (PARTITION BY i % 2) AS f FROM word) word",
		$is_refused, "asked in a window: $rows");
	foreach my $aggregate ('added', 'moving')
	{
		my ($a, $b) = map { $_->[ rand @$_ ] } ([qw(plain c posix loose looser)]) x 2;
		whole_or_refused(
			"$serial; SELECT bool_and(f = (SELECT $aggregate($a, $b) FROM word b WHERE b.i BETWEEN t.i - 2 AND t.i)) FROM
				(SELECT i, $aggregate($a, $b) OVER (ORDER BY i ROWS 2 PRECEDING) AS f FROM word) t",
			refused($a, $b), "an aggregate $aggregate: $a, $b");
	}
}
is(one('SELECT DISTINCT cuckoofilter_agg_pair(posix, c) OVER () = cuckoofilter_agg(ROW(posix, c)) OVER (), string_agg(loose, again) OVER () > $$$$ FROM word'), 't|t', 'deterministic text beside other text in a window');
is(one('SELECT DISTINCT cuckoofilter_agg_pair(posix COLLATE "C", c) OVER () IS NULL, string_agg(posix COLLATE "C", loose) OVER () > $$$$ FROM word'), 'f|t', 'and beside another aggregate of the same types and collation');

# ------------------------------------------------------------- calls of functions

# What takes the place of the columns in a table of two columns, for places that have no others.
my @typed = (
	'text', 'text COLLATE "C"', 'varchar(30) COLLATE loose', 'text COLLATE loose', 'text COLLATE looser', 'loose_word', 'c_word', 'char(30) COLLATE loose', 'name', 'integer',
	'text[] COLLATE loose', 'loose_word[]');

# A value of a type, of a number or of an expression of it.
sub value_of
{
	my ($type, $i) = @_;

	return $type =~ /\[\]/ ? "ARRAY['Word ' || $i]::" . ($type =~ s/ .*//r) : $type eq 'integer' ? $i : "('Word ' || $i)::" . ($type =~ s/ COLLATE .*//r);
}

# A filter of pairs asked with an item and a value: whether each of its pairs is in it.
my $asked = 'cuckoofilter_contains_pair(%1$s, %2$s, %3$s)';
my @asks = (
	$asked, 'cuckoofilter_add_pair(cuckoofilter_create(10), %2$s, %3$s) = cuckoofilter_create(10) + ROW(%2$s, %3$s)',
	'cuckoofilter_remove_pair(cuckoofilter_create(10) + ROW(%2$s, %3$s), %2$s, %3$s) = cuckoofilter_create(10)', 'cardinality(cuckoofilter_which(%1$s, %2$s, ARRAY[%3$s])) = 1',
	"NOT NOT $asked", '%1$s @> ROW(%2$s, %3$s)');

foreach my $round (1 .. rounds(30))
{
	my ($a, $b) = map { $typed[ rand @typed ] } 1 .. 2;
	my $ask = $asks[ rand @asks ];
	$ask = $asked if $ask =~ /which/ && $b =~ /\[\]/; # candidates are no arrays
	my ($item, $value) = rand() < 0.8 ? qw(a b) : rand() < 0.5 ? ('a', q{'Literal'}) : (q{'Literal'}, 'b');
	my $name = sprintf($ask, 'f', $item, $value) . " of $a and $b";

	$node->safe_psql('postgres',
		"DROP TABLE IF EXISTS two CASCADE; CREATE TABLE two (i integer, a $a, b $b);
		INSERT INTO two SELECT i, " . value_of($a, 'i % 9') . ', ' . value_of($b, 'i % 8') . ' FROM generate_series(1, 40) i; ANALYZE two');

	if (refused($item eq 'a' ? $a : (), $value eq 'b' ? $b : ()))
	{
		my $row = "ROW($item, $value)";

		$row = "ROW(ARRAY[$row])" if rand() < 0.2;
		foreach my $of ("cuckoofilter_agg_pair($item, $value)", "cuckoofilter_agg($row)", "cuckoofilter_agg(two)", sprintf("bool_and($ask)", 'cuckoofilter_create(10)', $item, $value),
			"cuckoofilter_add_agg(cuckoofilter_create(10), $row)", "max(cuckoofilter_hash($row))", "bool_or(cuckoofilter_contains_any(cuckoofilter_create(10), 1, $row))",
			"bool_or(cuckoofilter_create(10) \@> ARRAY[$row])")
		{
			like(one("SELECT $of FROM two"), $refused, "refused: $of, $name");
		}
		next;
	}

	# a filter of these pairs as a constant
	my $f = "'" . one("SELECT cuckoofilter_agg_pair($item, $value) FROM two") . "'::cuckoofilter";
	my $true = sprintf($ask, $f, $item, $value);

	is(one("SELECT bool_and($true), count(*) FROM two"), 't|40', "rows: $name");
	unless ($a =~ /COLLATE/ && $b =~ /COLLATE/) # PostgreSQL refuses two explicit collations
	{
		my %typed = (a => $a, b => $b);
		my @constants = map { /^'/ ? $_ : value_of($typed{$_}, '1') . ($typed{$_} =~ /( COLLATE .*)/ ? $1 : '') } ($item, $value);

		is(one('CREATE TABLE given (i integer, answer boolean DEFAULT (' . sprintf($ask, $f, @constants) . ')); INSERT INTO given VALUES (1); SELECT answer FROM given; DROP TABLE given'),
			't', "DEFAULT: $name");
	}
	is(one("SELECT count(*) FROM two WHERE $true"), '40', "condition: $name");
	is(one("SELECT count(*) FROM two WHERE " . sprintf($ask, "(SELECT cuckoofilter_agg_pair($item, $value) FROM two)", $item, $value)), '40', "subquery: $name");
	is(one("ALTER TABLE two ADD CHECK ($true), ADD asked boolean GENERATED ALWAYS AS ($true) STORED; SELECT bool_and(asked) FROM two"), 't', "CHECK and generated: $name");
	is( one("CREATE INDEX by_answer ON two (($true)); CREATE INDEX where_true ON two (i) WHERE $true; SET enable_seqscan = off;
			SELECT (SELECT count(*) FROM two WHERE $true), (SELECT count(*) FROM two WHERE $true AND i > 30)"),
		'40|10', "indexes: $name");
	is( one("DO \$\$DECLARE r record; a $a; b $b; n integer := 0; BEGIN FOR r IN SELECT * FROM two LOOP a := r.a; b := r.b; IF $true THEN n := n + 1; END IF; END LOOP;
			IF n <> 40 THEN RAISE '% of 40', n; END IF; END\$\$"),
		'', "variables: $name");
	is( one("CREATE FUNCTION asks(r two) RETURNS boolean IMMUTABLE LANGUAGE sql AS \$\$SELECT " . sprintf($ask, $f, map { /^'/ ? $_ : "r.$_" } ($item, $value)) . "\$\$;
			SELECT count(*) FROM two WHERE asks(two)"),
		'40', "an SQL function: $name");
	is(one("CREATE VIEW answers AS SELECT $true AS answer FROM two; SELECT count(*) FROM answers WHERE answer"), '40', "a view: $name");
	is(one("PREPARE p (cuckoofilter) AS SELECT count(*) FROM two WHERE " . sprintf($ask, '$1', $item, $value) . "; EXECUTE p ($f); EXECUTE p ($f)"), "40\n40", "prepared: $name");
	is( one("CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN IF NOT (" . sprintf($ask, $f, map { /^'/ ? $_ : "new.$_" } ($item, $value)) . ") THEN
				RAISE 'denied'; END IF; RETURN new; END\$\$;
			CREATE TRIGGER refuse BEFORE UPDATE ON two FOR EACH ROW EXECUTE FUNCTION refuse(); UPDATE two SET i = i"),
		'', "a trigger: $name");
}

# The collation of a column of a UNION is that of one branch, or none: then a string is an error. The planner moves conditions into the
# branches, whose columns have other collations.
my @items = (
	'ROW(a, b)', 'ROW(1, ROW(b, a), a)', 'ARRAY[ROW(a, b)]', 'ROW(ARRAY[a], b)', 'ROW(ARRAY[ROW(b, a)], NULL)', 'ROW(lower(a), b)', 'ROW(a::loose_word, b::varchar)', 'coalesce(NULL, ROW(a, b))',
	q{CASE WHEN length(a) > 6 THEN ROW(a, b) ELSE ROW(b, a) END}, 'array_append(ARRAY[ROW(b, a)], ROW(a, b))', 'ROW(u.*)', 'made(a, b)', 'a', 'ARRAY[a, b]');
my @asks_of_items = (
	'%s @> %s', 'cuckoofilter_contains(%s, %s)', 'cuckoofilter_contained(item => %2$s, filter => %1$s)', 'cuckoofilter_contains_any(%s, %s, NULL)', 'cuckoofilter_contains_all(%s, VARIADIC ARRAY[%s])',
	'cuckoofilter_copies(%s, %s) > 0', 'cuckoofilter_contains_hash(%s, cuckoofilter_hash(%s))', 'cuckoofilter_remove(%1$s, %2$s) <> %1$s', 'cuckoofilter_remove_all(%1$s, %2$s, NULL) <> %1$s',
	'NOT %s @> %s IS NOT TRUE', 'EXISTS (SELECT 1 FROM (SELECT %1$s) q(f) WHERE f @> %2$s)');
my @sources = (
	('%s u') x 4, '(SELECT DISTINCT a, b FROM %s x) u', '(SELECT a, b FROM %s x GROUP BY GROUPING SETS ((a, b))) u', '(WITH x AS MATERIALIZED (SELECT * FROM %s x) SELECT * FROM x) u',
	'(SELECT y.* FROM %s x, LATERAL (SELECT x.a, x.b) y) u', '(SELECT y.* FROM %s x, LATERAL (SELECT x.a, x.b OFFSET 0) y) u', '(SELECT a, b FROM two FULL JOIN other USING (a, b)) u',
	'(SELECT a, other.b FROM two JOIN other USING (a)) u', 'both_of u', 'listed() u', '(SELECT x.* FROM %s x LEFT JOIN (SELECT 1 AS one) o ON true) u', '(SELECT a, b FROM parent) u');
my ($answered, $all) = (0, rounds(90));

$node->safe_psql('postgres', q{CREATE FUNCTION made(text, text) RETURNS record IMMUTABLE LANGUAGE sql AS 'SELECT ROW($1, $2)'});
foreach my $round (1 .. $all)
{
	my @strings = ('text', 'text', 'text', 'text COLLATE "C"', 'varchar COLLATE "POSIX"', 'text COLLATE loose', 'varchar COLLATE looser', 'loose_word', 'c_word');
	my ($a, $b, @other) = map { $strings[ rand @strings ] } 1 .. 4;
	my ($other_a, $other_b) = map { rand() < 0.6 ? 'text' : $_ } @other; # seldom two that leave the column without a collation
	my ($source, $item, $ask) = map { $_->[ rand @$_ ] } (\@sources, \@items, \@asks_of_items);
	my $pairs = rand() < 0.3 ? $asks[ rand(@asks - 1) ] : undef;

	($a, $b, $other_a, $other_b, $source, $pairs) = ('text COLLATE loose', 'text', 'text', 'text', '%s u', $round == 1 ? $asked : undef) if $round <= 1 + @asks_of_items;
	($item, $ask) = ('ROW(a, b)', $asks_of_items[ $round - 2 ]) if $round > 1 && $round <= 1 + @asks_of_items;
	$item = 'ROW(a, b)' if $ask =~ /ARRAY/ && $item =~ /arr/i; # an array of arrays has their elements
	my $setop = $round <= 1 + @asks_of_items ? 'UNION ALL' : ('UNION', 'UNION ALL', 'UNION ALL', 'EXCEPT', 'INTERSECT ALL')[ rand 5 ];
	my $union = "(SELECT a, b FROM two $setop SELECT a, b FROM other" . (rand() < 0.2 ? ' ORDER BY 1 LIMIT 1000' : '') . ')';
	my $from = sprintf($source, $union);
	my $question = $pairs ? sprintf($pairs, "(SELECT cuckoofilter_agg_pair(a, b) FROM $from)", 'a', 'b') : sprintf($ask, "(SELECT cuckoofilter_agg($item) FROM $from)", $item);
	my $name = "$question FROM $from; $a, $b; $other_a, $other_b";
	my $has_loose = refused($a, $b, $other_a, $other_b, $item);
	my $error = qr/could not determine which collation|collation mismatch|does not exist|FULL JOIN is only supported/;

	$error = qr/$error|$refused/ if $has_loose;

	$node->safe_psql('postgres',
		"DROP TABLE IF EXISTS two, other, parent CASCADE; CREATE TABLE two (i integer, a $a, b $b); CREATE TABLE other (i integer, a $other_a, b $other_b);
		INSERT INTO two SELECT i, 'Word ' || i % 9, 'Word ' || i % 8 FROM generate_series(1, 40) i; INSERT INTO other SELECT i, upper(a), b || i % 3 FROM two;
		INSERT INTO other SELECT * FROM two LIMIT 5; CREATE TABLE parent (LIKE two); CREATE TABLE child () INHERITS (parent); INSERT INTO parent SELECT * FROM two; INSERT INTO child SELECT * FROM two");
	one("CREATE VIEW both_of AS SELECT a, b FROM two UNION ALL SELECT a, b FROM other");
	one("CREATE FUNCTION listed() RETURNS SETOF both_of STABLE LANGUAGE sql AS 'SELECT a, b FROM two UNION ALL SELECT a, b FROM other'");
	foreach my $sql ("SELECT count(*) FILTER (WHERE $question) - count(*) FROM $from", "SELECT count(*) - (SELECT count(*) FROM $from) FROM $from WHERE $question",
		"SELECT count(*) - (SELECT count(*) FROM $from) FROM (SELECT u.* FROM $from LEFT JOIN (SELECT 1 AS one) o ON true) u WHERE $question",
		"SELECT count(*) - (SELECT count(*) FROM (SELECT 1 FROM $from GROUP BY a, b) v) FROM (SELECT 1 FROM $from GROUP BY a, b HAVING $question) v")
	{
		my $out = one($sql);

		$answered++ if $out eq '0';
		like($out, $round <= 1 + @asks_of_items ? $refused : qr/^0$|$error/, "a union: $name");
	}
}
cmp_ok($answered, '>', $all, 'many unions have an answer');

# The planner leaves one argument of coalesce() or of CASE, or replaces the parameter of a function by an argument, which may have another
# collation; and it reads only one branch of a union. Nothing that was added there is denied: it could not be added.
$node->safe_psql('postgres', q{
	CREATE TABLE plain_words AS SELECT i, plain AS a, c AS b FROM word;
	CREATE TYPE loose_pair AS (a text COLLATE loose, i integer);
	CREATE VIEW unlike AS SELECT 1 AS branch, i, loose AS a, c AS b FROM word UNION ALL SELECT 2, i, plain, plain FROM word;
	CREATE FUNCTION asks_body(f cuckoofilter, a text, b text) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT cuckoofilter_contains_pair(f, a, b)';
	CREATE FUNCTION asks_atomic(f cuckoofilter, a text, b text) RETURNS boolean IMMUTABLE BEGIN ATOMIC SELECT cuckoofilter_contains_pair(f, a, b); END;
	CREATE FUNCTION asks_row(f cuckoofilter, a text, b text) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT f @> ROW(a, b)'});
foreach my $add ('agg_pair(a COLLATE loose, b)', 'agg_pair(a COLLATE loose, i)', 'agg_pair(i, a COLLATE loose)', 'agg(ROW(a COLLATE loose, i))', 'agg(ROW(a, i)::loose_pair)', 'agg(ROW(ROW(a, i)::loose_pair))')
{
	like(one("SELECT cuckoofilter_$add FROM plain_words"), $refused, "refused: $add");
}
foreach my $plan ('force_custom_plan', 'force_generic_plan')
{
	foreach my $ask ('cuckoofilter_contains_pair(f, CASE WHEN $1 THEN a ELSE a COLLATE loose END, b)', 'cuckoofilter_contains_pair(f, b, CASE WHEN $1 THEN a ELSE a COLLATE loose END)',
		'cuckoofilter_contains_pair(f, CASE WHEN $1 THEN a ELSE a COLLATE loose END, i)', 'asks_body(f, CASE WHEN $1 THEN a ELSE a COLLATE loose END, b)',
		'asks_atomic(f, CASE WHEN $1 THEN a COLLATE loose ELSE a END, b)', 'asks_body(f, coalesce(a COLLATE loose, CASE WHEN $1 THEN a END), b)')
	{
		my $f = $ask =~ /, i\)/ ? 'agg_pair(a, i)' : $ask =~ /f, b/ ? 'agg_pair(b, a)' : 'agg_pair(a, b)';

		like(one("SET plan_cache_mode = $plan; PREPARE p (boolean) AS SELECT count(*) FROM plain_words, (SELECT cuckoofilter_$f FROM plain_words) q(f) WHERE a > '' AND $ask; EXECUTE p (true)"),
			$ask =~ /atomic/ ? qr/$refused|^56$/ : $refused, "$ask, $plan");
	}
	foreach my $ask ('f @> ROW(CASE WHEN $1 THEN a ELSE a COLLATE loose END, b)', 'asks_row(f, CASE WHEN $1 THEN a ELSE a COLLATE loose END, b)')
	{
		like(one("SET plan_cache_mode = $plan; PREPARE p (boolean) AS SELECT count(*) FROM plain_words, (SELECT cuckoofilter_agg(ROW(a, b)) FROM plain_words) q(f) WHERE a > '' AND $ask; EXECUTE p (true)"),
			qr/$refused|^56$/, "$ask, $plan");
	}
	is( one("SET plan_cache_mode = $plan; PREPARE p (text) AS SELECT count(*) FROM word, (SELECT cuckoofilter_agg_pair(c, i) FROM word) q(f)
			WHERE cuckoofilter_contains_pair(f, coalesce(\$1, c), i); EXECUTE p (NULL); EXECUTE p ('Word 1')"),
		"60\n4", "one deterministic string, $plan");
}
foreach my $group ('', 'GROUP BY ROW(a, b)', 'GROUP BY a, b', 'GROUP BY GROUPING SETS ((ROW(a, b)), ())')
{
	foreach my $branch ('true', 'branch = 1', 'branch = 2')
	{
		like(one("SELECT count(*) > 10 FROM (SELECT count(*) FROM unlike WHERE $branch AND a > '' AND (SELECT cuckoofilter_agg(ROW(plain, plain)) FROM word) \@> ROW(a, b) "
				. ($group || 'GROUP BY i') . ') v'),
			$branch eq 'branch = 2' ? qr/^t$/ : $refused, "rows of a union, $branch $group");
	}
}
foreach my $string (qw(plain c posix))
{
	is( one("SELECT cuckoofilter_agg_pair('Literal' COLLATE \"POSIX\", $string) = cuckoofilter_agg(ROW('Literal', $string)) FILTER (WHERE $string IS NOT NULL)
			AND bool_and(cuckoofilter_contains_pair(cuckoofilter_create(9) + ROW($string, 'Literal'), $string, 'Literal' COLLATE \"C\")) FROM word"),
		't', "an untyped literal with COLLATE, and $string");
}

# -------------------------------------------- items, in functions with one collation

# A function of items takes the collation of the call: where it has none, a string is an error.
foreach my $round (1 .. rounds(30))
{
	my ($a, $b) = map { $columns[ rand @columns ] } 1 .. 2;
	my $f = "(SELECT cuckoofilter_agg($a) FROM word)";
	my ($any, $every) = map { "cuckoofilter_$_(f, $a" . ($a =~ /array/ ? ', NULL)' : ')') } qw(contains_any contains_all);
	my $none = qr/could not determine which collation|^t$|^$/;

	is( one("SELECT bool_and((f \@> $a IS TRUE) = ($a IS NOT NULL) AND ($a <@ f) IS NOT DISTINCT FROM (f \@> $a) AND ($any OR $a IS NULL)
			AND $every AND (cuckoofilter_copies(f, $a) > 0) IS NOT FALSE AND cuckoofilter_contains_hash(f, cuckoofilter_hash($a)) IS NOT FALSE) FROM word, $f AS q(f)"),
		't', "items: $a");
	is( one("SELECT bool_and(f = (SELECT cuckoofilter_agg($a) FROM word WHERE i = ANY (frame))) FROM (SELECT array_agg(i) OVER w AS frame, cuckoofilter_agg($a) OVER w AS f FROM word
			WINDOW w AS (ORDER BY i ROWS 4 PRECEDING)) t"),
		't', "items in a window: $a");
	is( one("SELECT bool_and(f = (SELECT cuckoofilter_add_agg(cuckoofilter_create(99), $a) FROM word)) FROM (SELECT cuckoofilter_add_agg(cuckoofilter_create(99), $a) OVER () AS f FROM word) t"),
		't', "a batch in a window: $a");
	is( one("SELECT cuckoofilter_add_all(cuckoofilter_create(99), VARIADIC array_agg($a)) = cuckoofilter_add_agg(cuckoofilter_create(99), $a ORDER BY i) FROM word"),
		't', "an array of them: $a")
	  unless $a =~ /array/;
	like(one("SELECT bool_and(cuckoofilter_contains_all(cuckoofilter_add_all(cuckoofilter_create(99), $a, $b, 'literal'), $a, $b, 'literal')) FROM word"), $none, "many items: $a, $b");
	whole_or_refused("SELECT cuckoofilter_which(f, 5, array_agg(DISTINCT $a)) = (SELECT array_agg(DISTINCT $a) FILTER (WHERE $a IS NOT NULL) FROM word)
			FROM word, (SELECT cuckoofilter_agg_pair(5, $a) FROM word) q(f) GROUP BY f",
		refused($a), "candidates: $a")
	  unless $a =~ /array/;
}

# ------------------------------------------------------------- calls without types

# An operator class calls its functions without an expression: the type of an item is unknown.
like(
	one(q{CREATE TYPE mine; CREATE FUNCTION mine_in(cstring) RETURNS mine IMMUTABLE STRICT LANGUAGE internal AS 'int4in'; CREATE FUNCTION mine_out(mine) RETURNS cstring IMMUTABLE STRICT
		LANGUAGE internal AS 'int4out'; CREATE TYPE mine (INPUT = mine_in, OUTPUT = mine_out, LIKE = integer);
		CREATE FUNCTION mine_eq(mine, mine) RETURNS boolean IMMUTABLE STRICT LANGUAGE internal AS 'int4eq'; CREATE OPERATOR = (LEFTARG = mine, RIGHTARG = mine, FUNCTION = mine_eq, HASHES);
		CREATE FUNCTION mine_hash(mine) RETURNS integer IMMUTABLE STRICT LANGUAGE internal AS 'hashint4';
		CREATE OPERATOR CLASS mine_ops DEFAULT FOR TYPE mine USING hash AS OPERATOR 1 =, FUNCTION 1 mine_hash(mine), FUNCTION 2 (mine, mine) cuckoofilter_hash(anycompatible, bigint);
		CREATE TABLE parted (m mine) PARTITION BY HASH (m); CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 1, REMAINDER 0); INSERT INTO parted VALUES ('1')}),
	qr/could not determine the type of the cuckoofilter item/, 'a call without an expression');

$node->stop;
done_testing();
