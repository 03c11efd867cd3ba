# A table of items for each kind of type, filters of them, and the answers of the filters, on this
# server and wherever the tables were copied.
package CuckooItems;

use CuckooCluster;
use Exporter 'import';

our @EXPORT = qw(has_items create_items create_filters items_answer junk new_database);

# How many of a kind's items are in its filter; as many are not.
my $items = 400;

# name => [type, item number i].  word(i) is text.
my %kinds = (
	enum => ['mood', 'mood(i)'],
	enum_domain => ['mood_domain', 'mood(i)'],
	enum_array => ['mood[]', 'ARRAY[mood(i), mood(1)]'],
	enum_matrix => ['mood[]', 'ARRAY[ARRAY[mood(1), mood(i)], ARRAY[mood(2), NULL]]'],
	enum_array_of_null => ['mood[]', 'ARRAY[NULL, mood(i), NULL]'],
	enum_array_domain => ['moods', 'ARRAY[mood(i)]'],
	enum_range => ['moodrange', 'moodrange(mood(i), NULL)'],
	enum_range_closed => ['moodrange', q{moodrange(mood(i), mood(800), '[]')}],
	enum_range_array => ['moodrange[]', 'ARRAY[moodrange(mood(i), NULL), NULL]'],
	enum_multirange => ['moodmultirange', 'moodmultirange(moodrange(mood(i), NULL))'],
	composite => ['pair', 'ROW(mood(i), i, word(i))::pair'],
	composite_of_null => ['pair', 'ROW(NULL, NULL, word(i))::pair'],
	composite_domain => ['pair_domain', 'ROW(mood(i), i, NULL)::pair'],
	composite_array => ['pair[]', 'ARRAY[ROW(mood(i), 1, NULL)::pair, NULL]'],
	composite_nested => ['nest', 'ROW(ROW(mood(i), NULL, word(1))::pair, ARRAY[mood(1)], moodrange(mood(2), mood(3)))::nest'],
	composite_dropped => ['shrunk', 'ROW(i, word(i))::shrunk'],
	table_row => ['pairs', 'ROW(i, mood(i))::pairs'],
	smallint_array => ['smallint[]', 'ARRAY[i, -i]'],
	int_array => ['int[]', 'ARRAY[i, NULL, 7]'],
	int_array_bounds => ['int[]', q{('[5:6]={' || i || ',2}')::int[]}],
	bigint_array => ['bigint[]', 'ARRAY[i * 10000000000]'],
	oid_array => ['oid[]', 'ARRAY[i]'],
	numeric_array => ['numeric[]', 'ARRAY[i / 8.0, i]'],
	float_array => ['float8[]', q{ARRAY[i / 3.0, 'NaN', '-0']}],
	bool_array => ['boolean[]', 'ARRAY[i % 2 = 0, i / 2 % 2 = 0, i / 4 % 2 = 0, i / 8 % 2 = 0, i / 16 % 2 = 0, i / 32 % 2 = 0, i / 64 % 2 = 0, i / 128 % 2 = 0, i / 256 % 2 = 0, i / 512 % 2 = 0, NULL]'],
	text_array => ['text[]', q{ARRAY[word(i), '', 'x']}],
	varchar_array => ['varchar(40)[]', 'ARRAY[word(i)]'],
	char_array => ['char(40)[]', 'ARRAY[word(i)]'],
	name_array => ['name[]', 'ARRAY[word(i)::name]'],
	uuid_array => ['uuid[]', 'ARRAY[md5(word(i))::uuid]'],
	date_array => ['date[]', q{ARRAY['2000-01-01'::date + i]}],
	timestamptz_array => ['timestamptz[]', q{ARRAY['2000-01-01 UTC'::timestamptz + i * interval '1 hour']}],
	bytea_array => ['bytea[]', q{ARRAY[int4send(i), '']}],
	inet_array => ['inet[]', q{ARRAY['10.0.0.0'::inet + i]}],
	int4range => ['int4range', 'int4range(i, i + 5)'],
	numrange => ['numrange', q{numrange(i / 8.0, i, '()')}],
	daterange => ['daterange', q{daterange('2000-01-01'::date + i, NULL)}],
	tstzrange => ['tstzrange', q{tstzrange('2000-01-01 UTC'::timestamptz + i * interval '1 hour', NULL)}],
	text_range => ['textrange', 'textrange(word(i), NULL)'],
	int4multirange => ['int4multirange', 'int4multirange(int4range(i, i + 2), int4range(i + 4, i + 5))'],
	text => ['text', 'word(i)'],
	text_domain => ['word_domain', 'word(i)'],
	varchar => ['varchar(40)', 'word(i)'],
	char => ['char(40)', 'word(i)'],
	name => ['name', 'word(i)::name'],
	nondeterministic => ['text COLLATE loose', 'word(i)'],
	citext => ['citext', 'word(i)'],
	jsonb => ['jsonb', q{jsonb_build_object(word(1), word(i), 'a', jsonb_build_array(i, NULL, i / 8.0, true))}],
	jsonb_text => ['jsonb', 'to_jsonb(word(i))'],
	smallint => ['smallint', 'i'],
	integer => ['integer', 'i'],
	bigint => ['bigint', '-i'],
	oid => ['oid', 'i'],
	real => ['real', 'i / 8.0'],
	float8 => ['float8', 'i / 3.0'],
	numeric => ['numeric', 'i * 1000000000000000000000'],
	uuid => ['uuid', 'md5(word(i))::uuid'],
	bytea => ['bytea', 'int4send(i)'],
	date => ['date', q{'2000-01-01'::date + i}],
	time => ['time', q{'00:00'::time + i * interval '1 second'}],
	timetz => ['timetz', q{'00:00 UTC'::timetz + i * interval '1 second'}],
	timestamp => ['timestamp', q{'2000-01-01'::timestamp + i * interval '1 hour'}],
	timestamptz => ['timestamptz', q{'2000-01-01 UTC'::timestamptz + i * interval '1 hour'}],
	interval => ['interval', q{i * interval '1 minute'}],
	inet => ['inet', q{'10.0.0.0'::inet + i}],
	cidr => ['cidr', q{set_masklen('10.0.0.0'::inet + i, 32)::cidr}],
	macaddr => ['macaddr', q{lpad(to_hex(i), 12, '0')::macaddr}],
	pg_lsn => ['pg_lsn', q{('0/' || to_hex(i))::pg_lsn}]);

# Nondeterministic collations come with ICU, citext with contrib.
sub has_items
{
	my ($node) = @_;
	my %has = map { $_ => 1 } keys %kinds;

	delete $has{nondeterministic}
	  if !$node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collprovider = 'i'});
	delete $has{citext}
	  if !$node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'});
	return sort keys %has;
}

sub new_database
{
	my ($node, $name, $encoding) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0 ENCODING '" . ($encoding // 'UTF8') . "'");
	return;
}

# Types of another's, so that the OIDs of what comes after them are others.
sub junk
{
	my ($node, $database) = @_;

	$node->safe_psql($database,
		qq{CREATE SCHEMA junk_$database; SET search_path = junk_$database;
		CREATE TYPE label AS ENUM ('a', 'b'); CREATE TYPE row AS (a label); CREATE TYPE range AS RANGE (subtype = label);
		DO \$\$ BEGIN FOR i IN 1 .. 300 LOOP EXECUTE format('ALTER TYPE label ADD VALUE %L', 'j' || i); END LOOP; END \$\$});
	return;
}

# Types, and a table item_KIND (v, present) for each kind.  The words in them
# begin with the character that is given as UTF-8 in hex.
sub create_items
{
	my ($node, $database, $utf8) = @_;

	$node->safe_psql(
		$database, qq{
		CREATE FUNCTION word(integer) RETURNS text IMMUTABLE LANGUAGE sql AS \$\$SELECT convert_from('\\x$utf8', 'UTF8') || \$1\$\$;
		DO \$\$ BEGIN EXECUTE (SELECT 'CREATE TYPE mood AS ENUM (' || string_agg(quote_literal(word(i)), ', ') || ')' FROM generate_series(1, 800) i); END \$\$;
		CREATE FUNCTION mood(integer) RETURNS mood IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN word(\$1); END';
		CREATE DOMAIN mood_domain AS mood;
		CREATE DOMAIN moods AS mood[];
		CREATE DOMAIN word_domain AS text CHECK (VALUE <> '');
		CREATE TYPE moodrange AS RANGE (subtype = mood);
		CREATE TYPE textrange AS RANGE (subtype = text, collation = "C");
		CREATE TYPE pair AS (m mood, i integer, t text);
		CREATE DOMAIN pair_domain AS pair;
		CREATE TYPE nest AS (p pair, ms mood[], r moodrange);
		CREATE TYPE shrunk AS (a integer, gone text, b text);
		ALTER TYPE shrunk DROP ATTRIBUTE gone;
		CREATE TABLE pairs (i integer, m mood)});
	my %before = (
		citext => 'CREATE EXTENSION citext;',
		nondeterministic => q{CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);});
	$node->safe_psql($database, join("\n", map {
		my ($type, $item) = @{ $kinds{$_} };
		($before{$_} // '') . "CREATE TABLE item_$_ (v $type, present boolean); INSERT INTO item_$_ SELECT $item, i <= $items FROM generate_series(1, 2 * $items) i;"
	} has_items($node)));
	return;
}

# filter (kind, f): a filter of each table's items that are present.
sub create_filters
{
	my ($node, $database) = @_;

	$node->safe_psql($database, join(";\n", 'CREATE TABLE filter (kind text PRIMARY KEY, f cuckoofilter)',
		map { "INSERT INTO filter SELECT '$_', cuckoofilter_agg(v, 0.001) FROM item_$_ WHERE present" } has_items($node)));
	return;
}

# A check for each kind: none of the items that are in is denied, almost all others are, and the
# filter is the one that would be built here.
sub items_answer
{
	my ($node, $database, $where, $filter) = @_;
	my @kinds = has_items($node);
	$filter //= q{(SELECT f FROM filter WHERE kind = '%s')};
	my $sql = join(";\n", map {
		my $f = sprintf($filter, $_);
		"SELECT '$_', count(*) FILTER (WHERE present AND (f \@> v) IS NOT TRUE) || ' of ' || count(*) FILTER (WHERE present) || ' denied', " .
			"CASE WHEN count(*) FILTER (WHERE NOT present AND f \@> v) > 8 THEN count(*) FILTER (WHERE NOT present AND f \@> v) || ' wrong yes' ELSE 'others denied' END, " .
			"CASE WHEN f = cuckoofilter_agg(v, 0.001) FILTER (WHERE present) THEN 'same' ELSE 'other' END || ' bytes' " .
			"FROM item_$_, (SELECT $f AS f) AS one GROUP BY f"
	} @kinds);
	my ($ret, $out, $err) = $node->psql($database, $sql, on_error_stop => 0);
	my %answer = map { split(/\|/, $_, 2) } split(/\n/, $out);

	is($answer{$_} // 'an error', "0 of $items denied|others denied|same bytes", "$where: $_") foreach @kinds;
	diag($err) if $err ne '';
	return;
}

1;
