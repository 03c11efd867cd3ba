# Items of citext, whose equality is not that of their bytes, and of types without a hash of 64 bits. Collations are in
# 061_collations, encodings in 023_encodings.
use CuckooCluster;

my $node = new_cluster('main');

sub true
{
	my ($query, $name) = @_;
	return is($node->safe_psql('postgres', "SELECT $query"), 't', $name);
}

SKIP:
{
	skip 'citext is not installed', 12
	  if $node->safe_psql('postgres', 'SELECT count(*) FROM pg_available_extensions WHERE name = $$citext$$') eq '0';

	$node->safe_psql('postgres', 'CREATE EXTENSION citext');
	$node->safe_psql(
		'postgres', q{
		CREATE TABLE c (v citext);
		INSERT INTO c VALUES ('Hello'), ('WORLD'), ('hello');
		CREATE TABLE f AS SELECT cuckoofilter_agg(v) AS f FROM c;
		CREATE DOMAIN mail AS citext});
	true('cuckoofilter_count(f) = 2 FROM f', 'citext: equal values are one item');
	true('f @> $$HELLO$$::citext FROM f', 'citext: a constant');
	true('cuckoofilter_contains(f, $$hElLo$$::citext) FROM f', 'citext: a constant of the function');
	true('bool_and(f @> upper(v::text)::citext) FROM f, c', 'citext: a column');
	true('f @> $$HELLO$$::mail FROM f', 'citext: a domain over it');
	is(error_state($node, 'SELECT f @> $$Hello$$ FROM f'), '42804', 'citext: an untyped literal is text, another item');
	true('cuckoofilter_contains_all(f, $$HELLO$$::citext, $$world$$::citext) FROM f', 'citext: variadic');
	true('(f + $$New$$::citext) @> $$NEW$$::citext FROM f', 'citext: added');
	true('cuckoofilter_count(f - $$HELLO$$::citext) = 1 FROM f', 'citext: removed');
	true('cuckoofilter_hash($$A$$::citext) = cuckoofilter_hash($$a$$::citext)', 'citext: hash');
	foreach my $mode (qw(custom generic))
	{
		is( $node->safe_psql(
				'postgres',
				"SET plan_cache_mode = force_${mode}_plan; PREPARE p(citext) AS SELECT f @> \$1 FROM f; EXECUTE p('HELLO')"),
			't',
			"citext: a parameter, $mode plan");
	}
}

SKIP:
{
	skip 'no ICU collation', 1
	  if $node->psql('postgres', q{CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) != 0;
	$node->safe_psql(
		'postgres', q{
		CREATE TABLE n (t text COLLATE nocase, c char(9) COLLATE nocase);
		INSERT INTO n VALUES ('Straße', 'Straße'), ('STRASSE', 'STRASSE'), ('straße', 'straße');
		CREATE TABLE g AS SELECT cuckoofilter_agg(t) AS t, cuckoofilter_agg(c) AS c FROM n});
	true('bool_and(g.c @> n.c) AND bool_and(g.t @> n.c) FROM g, n', 'nondeterministic: char(n), as text');
}

# A type whose hash operator class has only the function of 32 bits is refused, in containers and pairs too, by an error
# that says so; text of it is an item.
$node->safe_psql(
	'postgres', q{
	CREATE TYPE short;
	CREATE FUNCTION short_in(cstring) RETURNS short IMMUTABLE STRICT LANGUAGE internal AS 'int4in';
	CREATE FUNCTION short_out(short) RETURNS cstring IMMUTABLE STRICT LANGUAGE internal AS 'int4out';
	CREATE TYPE short (INPUT = short_in, OUTPUT = short_out, LIKE = integer);
	CREATE FUNCTION short_eq(short, short) RETURNS boolean IMMUTABLE STRICT LANGUAGE internal AS 'int4eq';
	CREATE FUNCTION short_hash(short) RETURNS integer IMMUTABLE STRICT LANGUAGE internal AS 'hashint4';
	CREATE OPERATOR = (LEFTARG = short, RIGHTARG = short, FUNCTION = short_eq, HASHES);
	CREATE OPERATOR CLASS short_ops DEFAULT FOR TYPE short USING hash AS OPERATOR 1 =, FUNCTION 1 short_hash(short);
	CREATE DOMAIN shorter AS short});
my %short = (short => q{'5'::short});
if ($node->safe_psql('postgres', 'SELECT count(*) FROM pg_available_extensions WHERE name = $$isn$$') ne '0')
{
	$node->safe_psql('postgres', 'CREATE EXTENSION isn');
	$short{ean13} = q{'9783161484100'::ean13};
	$short{isbn} = q{'9783161484100'::isbn};
}
foreach my $type (sort keys %short)
{
	my $item = $short{$type};

	foreach my $call ("cuckoofilter_hash($item)", "cuckoofilter_agg($item)", "cuckoofilter_agg_pair(1, $item)", "cuckoofilter_hash(ARRAY[$item])", "cuckoofilter_hash(ROW(1, $item))",
		"cuckoofilter_create(10) + $item", "cuckoofilter_create(10) \@> $item")
	{
		my (undef, undef, $stderr) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT $call");
		like($stderr, qr/ERROR:  42883: type $type has no extended \(64-bit\) hash function for cuckoofilter\n/, "32 bits: $call");
	}
	true("cuckoofilter_agg(${item}::text) \@> ${item}::text", "32 bits: text of $type");
}
is(error_state($node, q{SELECT cuckoofilter_hash('5'::shorter)}), '42883', '32 bits: a domain');
$node->stop;
done_testing();
