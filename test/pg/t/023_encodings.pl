# The same values have the same hashes in databases of other encodings, where types and labels have
# other OIDs. Strings with characters that UTF-8 lacks are hashed, too.
use CuckooCluster;

my $node = new_cluster('main');
my $citext = $node->safe_psql('postgres', 'SELECT count(*) FROM pg_available_extensions WHERE name = $$citext$$');
my $databases = 0;

# A database, with some types that take OIDs.
sub database
{
	my ($encoding) = @_;
	my $name = 'database_' . ++$databases;
	my $others = join(' ', map { "CREATE TYPE other_$_ AS ENUM ('x', 'y', 'z');" } 1 .. $databases);

	$node->safe_psql('postgres', "CREATE DATABASE $name ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
	$node->safe_psql($name, "$others CREATE EXTENSION cuckoofilter");
	return $name;
}

# Values with a letter, which takes one byte to three, so that jsonb orders its
# keys in other ways.
sub values_of
{
	my ($letter, $icu) = @_;
	my @values = (
		"text '$letter'", "name '$letter'", "char(5) '$letter'", "'$letter'::mood", "ARRAY['$letter', 'a']", "'{$letter,a}'::varchar(9)[]", "'{$letter,a}'::mood[]",
		"ROW(1, '$letter'::mood, '$letter')::pair", "moods('a', '$letter')", "texts('a', '$letter')", "ARRAY[moods('a', '$letter'), NULL]", "jsonb '\"$letter\"'",
		"jsonb '{\"$letter\": 1, \"zz\": {\"b\": \"$letter\", \"a\": []}, \"z\": 2, \"$letter$letter\": 3}'");

	push @values, "'A$letter'::citext", "'{A$letter}'::citext[]", "ROW('A$letter'::citext)" if $citext;
	push @values, "'A$letter' COLLATE nocase", "ARRAY['A$letter' COLLATE nocase]" if $icu;
	return @values;
}

# The hash of each.  Not every encoding has ICU's collations.
sub hashes_in
{
	my ($encoding, $letter) = @_;
	my $name = database($encoding);
	my $utf8 = "SET client_encoding = 'UTF8';";

	$node->safe_psql(
		$name, "$utf8 CREATE TYPE mood AS ENUM ('a', '$letter'); CREATE TYPE pair AS (a integer, m mood, t text);"
		  . 'CREATE TYPE moods AS RANGE (subtype = mood); CREATE TYPE texts AS RANGE (subtype = text, collation = "C");');
	$node->safe_psql($name, 'CREATE EXTENSION citext') if $citext;
	my $icu = $node->psql($name, q{CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) == 0;
	my @values = values_of($letter, $icu);
	my %hashes;

	@hashes{@values} = split /\n/, $node->safe_psql($name, "$utf8 " . join(' ', map { "SELECT cuckoofilter_hash($_);" } @values));
	return \%hashes;
}

my %letters = (
	"\xc3\xa9" => [qw(LATIN1 LATIN2 LATIN9 WIN1252)],
	"\xce\xb1" => [qw(EUC_JP EUC_CN EUC_KR EUC_TW EUC_JIS_2004 ISO_8859_7 WIN1253)],
	"\xd0\xb6" => [qw(KOI8R WIN1251 ISO_8859_5)]);
foreach my $letter (sort keys %letters)
{
	my $expected = hashes_in('UTF8', $letter);

	foreach my $encoding (@{ $letters{$letter} })
	{
		my $got = hashes_in($encoding, $letter);
		my @unlike = grep { $got->{$_} ne $expected->{$_} } sort keys %$got;

		is("@unlike", '', "$encoding: the hashes of UTF8");
		cmp_ok(scalar keys %$got, '>=', 13, "$encoding: values");
	}
}

# EUC_JP has codes without a character. Their bytes are hashed, as in a database without an encoding.
my $euc = database('EUC_JP');
my $ascii = database('SQL_ASCII');
my $strings = "SELECT convert_from(decode(b, 'hex'), current_setting('server_encoding')) AS t FROM unnest('{a9a1,a9a2,61a9a1,a4a2a9a1,8feea1}'::text[]) b";
my $hashes = "SELECT string_agg(cuckoofilter_hash(t)::text, ' ') FROM ($strings) s";

like(error_state_in($euc, "SELECT convert_to(t, 'UTF8') FROM ($strings) s"), qr/^22P05$/, 'EUC_JP: strings without UTF-8');
my $got = $node->safe_psql($euc, $hashes);
like($got, qr/^(-?\d+ ?){5}$/, 'they have hashes');
is($got, $node->safe_psql($ascii, $hashes), 'those of their bytes');
is($node->safe_psql($euc, "SELECT count(DISTINCT cuckoofilter_hash(t)) FROM ($strings) s"), '5', 'each its own');
is($node->safe_psql($euc, "SELECT cuckoofilter_count(f), (SELECT bool_and(f @> t) FROM ($strings) s) FROM (SELECT cuckoofilter_agg(t) AS f FROM ($strings) s) a"),
	'5|t', 'a filter has them');
is( $node->safe_psql(
		$euc, "SELECT bool_and(cuckoofilter_hash(t) IS NOT NULL AND cuckoofilter_hash(ARRAY[t]) IS NOT NULL AND cuckoofilter_hash(to_jsonb(t)) IS NOT NULL) FROM ($strings) s"),
	't', 'and so have what they are in');
is( $node->safe_psql($euc, "SELECT count(*) FROM (SELECT cuckoofilter_hash(t), cuckoofilter_hash(repeat(convert_from('\\xa4a2', 'EUC_JP'), 1000)) FROM ($strings) s, generate_series(1, 10000)) a"),
	'50000', 'many of them, among others');

# MULE_INTERNAL cannot be converted to UTF-8. PostgreSQL 19 does not have it any more.
if (server_version($node) < 190000)
{
	my $mule = database('MULE_INTERNAL');
	is( $node->safe_psql($mule, q{SELECT cuckoofilter_hash(t) IS NOT NULL, cuckoofilter_hash('a') = -6514421779281667172 FROM (SELECT convert('\xe9', 'LATIN1', 'MULE_INTERNAL')) s(b), convert_from(b, 'MULE_INTERNAL') t}),
		't|t', 'MULE_INTERNAL');
}

sub error_state_in
{
	my ($database, $query) = @_;
	my (undef, undef, $stderr) = $node->psql($database, $query, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	return $stderr =~ /ERROR:  (\w{5}):/ ? $1 : '';
}

$node->stop;
done_testing();
