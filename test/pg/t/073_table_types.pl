# Filter tables of each kind of type, asked by items of each other: an answer of "no" is right, or it
# is an error. SQL's = is the truth; text is what the type's input function reads.
use CuckooCluster;
use CuckooItems;
use CuckooRandom;

seed();
my $node = new_cluster('main');
my $pairs = rounds(1600);

create_items($node, 'postgres', 'c3a9');
my @kinds = has_items($node);

# A filter table of what is present of each kind, made for the collation of the column; and one that is empty.
$node->safe_psql('postgres', join(";\n", map {
	"SELECT cuckoofilter_table_follow('item_$_', 'v', 0.000001, 10000, 'all_$_');
	 CREATE TABLE new_$_ (LIKE all_$_ INCLUDING ALL);
	 SELECT count(cuckoofilter_table_remove('all_$_', v)) FROM item_$_ WHERE NOT present" } @kinds));

# items as they are, as text, and as parameters without a type
foreach my $kind (@kinds)
{
	my $asked = "FILTER (WHERE NOT cuckoofilter_table_contains('all_$kind', %s)) FROM item_$kind WHERE present AND %s";

	is($node->safe_psql('postgres', 'SELECT count(*) ' . sprintf($asked, 'v', 'true')), 0, "$kind: as they are");
	# what a type does not read back is no item as text
	is($node->safe_psql('postgres', 'SELECT count(*) ' . sprintf($asked, 'v::text', "(v::text::" . type_of($kind) . ')::text = v::text')), 0, "$kind: as text");
	cmp_ok($node->safe_psql('postgres', "SELECT count(*) FROM item_$kind WHERE NOT present AND cuckoofilter_table_contains('all_$kind', v)"), '<', 5, "$kind: others");
	my $text = $node->safe_psql('postgres', "SELECT quote_literal(v::text) FROM item_$kind WHERE present AND (v::text::" . type_of($kind) . ')::text = v::text LIMIT 1 OFFSET ' . int(rand(300)));
	next if $text eq '';
	is($node->safe_psql('postgres', "PREPARE asked AS SELECT cuckoofilter_table_contains('all_$kind', \$1); EXECUTE asked($text); SELECT cuckoofilter_table_contains('all_$kind', $text)"), "t\nt", "$kind: a parameter and a literal without a type");
	is($node->safe_psql('postgres', "SELECT cuckoofilter_table_contains('all_$kind', NULL) IS NULL"), 't', "$kind: NULL");
}

sub type_of
{
	return $node->safe_psql('postgres', "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'item_$_[0]'::regclass AND attname = 'v'");
}

# --------------------------------------------------------------- other types

# Items of a filter table, cast to another type: each that it takes has the answer of =, and is found
# as the type of the table once it was added.
$node->safe_psql('postgres', q{
	CREATE FUNCTION holds(condition text, item text) RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE
		answer boolean;
	BEGIN
		EXECUTE 'SELECT ' || condition INTO answer USING item;
		RETURN answer;
	EXCEPTION WHEN OTHERS THEN
		IF SQLSTATE IN ('XX000', 'XX001') THEN RAISE; END IF;
		RETURN NULL;
	END $$;
	CREATE FUNCTION compare(kind text, type text, given text) RETURNS SETOF text LANGUAGE plpgsql AS $$
	DECLARE
		item text;
		equal text = format('EXISTS (SELECT FROM item_%s WHERE present AND v = %s)', kind, '%s');
		found boolean;
		added boolean;
	BEGIN
		FOR item IN EXECUTE format('SELECT v::text FROM item_%s ORDER BY random() LIMIT 6', kind) LOOP
			found = holds(format('cuckoofilter_table_contains(''all_%s'', $1::text::%s)', kind, given), item);
			added = holds(format('cuckoofilter_table_add(''new_%s'', $1::text::%s) IS NOT NULL', kind, given), item);
			IF found IS NULL <> (added IS NULL) THEN
				RETURN NEXT format('%s as %s in %s: asked %s, added %s', item, given, type, found, added);
			END IF;
			CONTINUE WHEN found IS NULL;
			RETURN NEXT 'taken';
			IF NOT found AND coalesce(holds(format(equal, '$1::text::' || given), item), holds(format(equal, '($1::text::' || given || ')::text::' || type), item)) THEN
				RETURN NEXT format('%s as %s is not in %s', item, given, type);
			END IF;
			IF coalesce(holds(format('$1::text::%s = $1::text::%s', type, given), item), holds(format('$1::text::%s = ($1::text::%s)::text::%s', type, given, type), item))
				AND NOT holds(format('cuckoofilter_table_contains(''new_%s'', $1::text::%s)', kind, type), item) THEN
				RETURN NEXT format('%s, which was added as %s, is not in %s', item, given, type);
			END IF;
		END LOOP;
	END $$});
my %types = map { $_ => type_of($_) } @kinds;
my ($taken, %wrong) = (0);
foreach my $pair (1 .. $pairs)
{
	my $kind = pick(@kinds);
	my $given = chance(0.6) ? pick('numeric(9,2)', qw(smallint integer bigint numeric real float8 text varchar(30) char(60) name "char" citext oid date timestamp timestamptz timestamp(0) boolean bytea uuid jsonb word_domain)) : $types{ pick(@kinds) };
	next if $given eq 'citext' && !exists $types{citext};

	foreach my $line (split /\n/, $node->safe_psql('postgres', seed_of_session() . "SELECT compare('$kind', \$\$$types{$kind}\$\$, \$\$$given\$\$)"))
	{
		$taken++ if $line eq 'taken';
		$wrong{$line}++ if $line ne 'taken';
	}
}
is(join("\n", sort keys %wrong), '', 'no item is denied because of its type');
cmp_ok($taken, '>', $pairs / 2, "$taken items of other types were taken");

# ------------------------------------------------- collations, and what numbers are

SKIP:
{
	skip('no ICU', 3) if !exists $types{nondeterministic};
	is($node->safe_psql('postgres', "SELECT bool_and(cuckoofilter_table_contains('all_nondeterministic', upper(v))), bool_and(cuckoofilter_table_contains('all_nondeterministic', upper(v)::text)), bool_and(cuckoofilter_table_contains('all_nondeterministic', upper(v) COLLATE loose)) FROM item_nondeterministic WHERE present"),
		't|t|t', 'a collation that ignores case');
	is(error_state($node, "SELECT cuckoofilter_table_contains('all_text', v) FROM item_nondeterministic"), '42P21', 'a collation of another equality');
	is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE NOT cuckoofilter_table_contains('all_text', v COLLATE \"POSIX\")) FROM item_text WHERE present"), 0, 'a collation of the same equality');
}
SKIP:
{
	skip('no citext', 1) if !exists $types{citext};
	is($node->safe_psql('postgres', "SELECT bool_and(cuckoofilter_table_contains('all_citext', upper(v::text))), bool_and(cuckoofilter_table_contains('all_citext', upper(v::text)::citext)) FROM item_citext WHERE present"), 't|t', 'citext');
}
$node->safe_psql('postgres', q{SELECT cuckoofilter_table_create('ints', 'int', 1000, 0.000001), cuckoofilter_table_create('numerics', 'numeric', 1000, 0.000001), cuckoofilter_table_create('doubles', 'float8', 1000, 0.000001), cuckoofilter_table_create('stamps', 'timestamptz', 1000, 0.000001);
	SELECT cuckoofilter_table_add('ints', 7), cuckoofilter_table_add('numerics', 7.50), cuckoofilter_table_add('doubles', 0.1::float8), cuckoofilter_table_add('doubles', 7), cuckoofilter_table_add('stamps', '2026-01-01 00:00+00')});
is($node->safe_psql('postgres', "SELECT cuckoofilter_table_contains('ints', 7.0), cuckoofilter_table_contains('ints', 7::float8), cuckoofilter_table_contains('ints', ' 7 '), cuckoofilter_table_contains('numerics', 7.5), cuckoofilter_table_contains('numerics', '75e-1'), cuckoofilter_table_contains('doubles', '.1'), cuckoofilter_table_contains('doubles', 7::smallint)"),
	join('|', ('t') x 7), 'numbers');
is(error_state($node, "SELECT cuckoofilter_table_contains('doubles', 0.1)"), '42804', 'a decimal in a table of doubles');
is($node->safe_psql('postgres', "SET timezone = 'Asia/Tokyo'; SELECT cuckoofilter_table_contains('stamps', '2026-01-01 09:00'), cuckoofilter_table_contains('stamps', '2026-01-01 00:00')"), 't|f', 'a literal in the zone of the session');

$node->stop;
done_testing();
