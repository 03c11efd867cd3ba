# Random values of random types: their hashes are equal exactly if "=" says that the values are.
use CuckooCluster;
use CuckooRandom;

no warnings 'qw'; # commas in values

my $node = new_cluster('main');

seed();
$node->safe_psql(
	'postgres', q{
	CREATE TYPE mood AS ENUM ('bad', 'fair', 'good');
	CREATE DOMAIN small AS integer CHECK (VALUE < 1000);
	CREATE TYPE moods AS RANGE (subtype = mood);
	CREATE TYPE texts AS RANGE (subtype = text, collation = "C");
	CREATE TYPE floats AS RANGE (subtype = float8)});

# Types: their name, and what draws a value of them, as an expression.
sub scalar_of
{
	my ($name, @values) = @_;
	return { name => $name, draw => sub { my $value = pick(@values); return defined $value ? "'$value'::$name" : "NULL::$name" } };
}

my @ordered = (
	scalar_of('integer', -1, 0, 1, 2),
	scalar_of('bigint', -1, 0, 1, 5000000000),
	scalar_of('smallint', 1, 2, 3),
	scalar_of('numeric', qw(0 0.0 1 1.0 1.00 1.5 -1.50 NaN 1e20 100000000000000000000.00 18446744073709551615 18446744073709551614 12345678901234567.12 12345678901234567.120 12345678901234567.11 0.1 0.10000000000000001 1e-400)),
	scalar_of('float8', qw(0 -0 1 1.5 NaN Infinity)),
	scalar_of('real', qw(0 -0 1 1.5 NaN)),
	scalar_of('text', '', 'a', 'A', 'a ', 'b', 'ab', 'NULL', '{}', '"', '(,)', "\x{c3}\x{a9}"),
	scalar_of('varchar(2)', '', 'a', 'b'),
	scalar_of('char(3)', '', 'a', 'a ', 'A'),
	scalar_of('name', 'a', 'A', ''),
	scalar_of('"char"', 'a', 'A', ''),
	scalar_of('mood', qw(bad fair good)),
	scalar_of('small', 1, 2, 3),
	scalar_of('boolean', qw(t f)),
	scalar_of('date', qw(2024-01-01 2024-01-02 infinity)),
	scalar_of('timestamptz', '2024-01-01 12:00+00', '2024-01-01 13:00+01', '-infinity'),
	scalar_of('time', '12:00', '12:00:00.000', '13:00'),
	scalar_of('timetz', '12:00+00', '13:00+01', '12:00:00+00'),
	scalar_of('interval', '1 month', '30 days', '720 hours', '1 day'),
	scalar_of('inet', '10.0.0.1', '10.0.0.1/32', '10.0.0.1/8', '::1'),
	scalar_of('macaddr', '08:00:2b:01:02:03', '08002b010203', '08:00:2b:01:02:04'),
	scalar_of('bytea', '\x', '\x00', '\x0000', '\x61'),
	scalar_of('uuid', '00112233-4455-6677-8899-aabbccddeeff', '00112233445566778899AABBCCDDEEFF', '10112233-4455-6677-8899-aabbccddeeff'),
	scalar_of('regclass', 'pg_class', 'pg_type'),
	scalar_of('jsonb', qw(1 1.0 "1" true null [] {} [1] [1.00,2] {"a":1} {"a":1.0} {"a":2,"a":1} {"b":[null,{}],"a":1} {"a":1,"b":[null,{}]} [[]])),
	map { scalar_of($_, 'empty', '[1,2]', '[1,3)', '(1,2)', '(,)', '(,2]', '[1,)', '[1,1]') } qw(int4range int8range numrange floats));
my @types = (@ordered, scalar_of('texts', 'empty', '[a,b)', '[a,b]', '[a,)', '["a ",b)'), scalar_of('moods', 'empty', '[bad,good)', '[bad,good]', '[bad,)', '(,good)'));
push @types, map { scalar_of($_, '{}', '{[1,2],[5,7)}', '{[5,6],[1,3)}', '{[1,3),[3,4)}', '{[1,4)}', '{(,)}', '{[1,)}', '{(1,1]}') } qw(int4multirange int8multirange nummultirange);
push @types, scalar_of('citext', 'a', 'A', 'b', '', 'ab', 'AB', 'aB')
  if $node->psql('postgres', 'CREATE EXTENSION citext') == 0;
if ($node->psql('postgres', q{CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) == 0)
{
	$node->safe_psql('postgres', 'CREATE DOMAIN loose AS text COLLATE nocase');
	my ($rc, $out, $err) = $node->psql('postgres', q{SELECT cuckoofilter_agg('a'::text) @> 'a'::text COLLATE nocase});
	like($err, qr/HINT:  Cast the item to the type of the items that were added, such as text. A string also needs their collation: use COLLATE./, 'a hint about collations');
	($rc, $out, $err) = $node->psql('postgres', q{SELECT cuckoofilter_agg('a'::text COLLATE nocase) @> 'a'::text});
	like($err, qr/HINT:  Cast the item to the type of the items that were added. A string also needs their collation: use COLLATE. If they/, 'and where the filter has the other one');
	push @types, scalar_of('loose', 'a', 'A', 'b', '', 'ab', 'AB', 'aB');
}
else
{
	note('no ICU collation');
}

sub maybe_null
{
	my ($type) = @_;
	return rand() < 0.15 ? "NULL::$type->{name}" : $type->{draw}->();
}

# An array of up to two dimensions, seldom one that begins at 1.
sub draw_array
{
	my ($type) = @_;
	my $name = "$type->{name}\[]";
	my @sizes = map { int(rand(3)) } 0 .. int(rand(2));
	my ($bounds, $elements) = ('', '');

	return "'{}'::$name" if grep { $_ == 0 } @sizes;
	foreach my $size (@sizes)
	{
		my $lower = pick(1, 1, 1, 0, -1);
		$bounds .= "[$lower:" . ($lower + $size - 1) . ']';
	}
	my @rows = map { '[' . join(', ', map { maybe_null($type) } 1 .. $sizes[-1]) . ']' } 1 .. (@sizes > 1 ? $sizes[0] : 1);
	$elements = 'ARRAY' . (@sizes > 1 ? '[' . join(', ', @rows) . ']' : $rows[0]);
	return "('$bounds=' || ($elements\::$name)::text)::$name";
}

sub array_of
{
	my ($type) = @_;
	return { name => "$type->{name}\[]", draw => sub { draw_array($type) } };
}

# A composite type, now and then with a column that is gone; anonymous ones are
# drawn with it. Text of a nondeterministic collation is refused in them.
my $made = 0;

sub composite_of
{
	my @columns = map { $_->{name} =~ /^loose/ ? $types[0] : $_ } @_;
	my $name = 'made_' . ++$made;
	my $list = join(', ', map { "c$_ $columns[$_]->{name}" } 0 .. $#columns);
	my $where = $made % 3;
	my $before = $where == 1 ? 'gone integer, ' : '';
	my $after = $where == 2 ? ', gone text' : '';

	$node->safe_psql('postgres', "CREATE TYPE $name AS ($before$list$after)");
	$node->safe_psql('postgres', "ALTER TYPE $name DROP ATTRIBUTE gone") if $where > 0;
	return {
		name => $name,
		row => sub { 'ROW(' . join(', ', map { maybe_null($_) } @columns) . ')' },
		draw => sub { 'ROW(' . join(', ', map { maybe_null($_) } @columns) . ")::$name" } };
}

# There is no type for an array of arrays.
sub any_type
{
	my ($depth) = @_;
	my $kind = $depth > 0 ? int(rand(3)) : 0;

	return $kind == 0 ? pick(@types)
	  : $kind == 1 ? composite_of(map { any_type($depth - 1) } 0 .. int(rand(3)))
	  :              array_of(pick(@types, composite_of(map { any_type($depth - 1) } 0 .. int(rand(2)))));
}

# Pairs of values of a type. Half of the second values are the first ones, converted to text and back. Compares
# "=" with the equality of hashes.
my ($equal, $unlike) = (0, 0);

sub check_pairs
{
	my ($type, $draw) = @_;
	my (@pairs, @wrong);

	foreach (1 .. 40)
	{
		my $a = $draw->();
		my $b = $type && rand() < 0.3 ? "($a)::text::$type" : $draw->();
		push @pairs, "($a, $b)";
	}
	my $query = 'SELECT a = b, cuckoofilter_hash(a) = cuckoofilter_hash(b) FROM (VALUES ' . join(', ', @pairs) . ') t(a, b)';
	my $i = 0;
	foreach my $answer (split /\n/, $node->safe_psql('postgres', $query))
	{
		push @wrong, "$pairs[$i]: $answer" if $answer !~ /^(t\|t|f\|f)$/;
		$equal++ if $answer =~ /^t/;
		$unlike++ if $answer =~ /^f/;
		$i++;
	}
	ok($i == 40 && !@wrong, 'pairs of ' . ($type || 'anonymous rows'));
	diag(join("\n", @wrong)) if @wrong;
	return;
}

check_pairs($_->{name}, $_->{draw}) foreach (@types);
check_pairs($_->{name}, $_->{draw}) foreach (map { array_of($_) } @types);
foreach (1 .. rounds(60))
{
	my $type = composite_of(map { any_type(2) } 0 .. int(rand(3)));
	check_pairs($type->{name}, $type->{draw});
	check_pairs(undef, $type->{row});
	$type = array_of($type);
	check_pairs($type->{name}, $type->{draw});
}
# ranges over what is no scalar
my $row = composite_of($ordered[0], scalar_of('text', 'a', 'b'));
$node->safe_psql('postgres', "CREATE TYPE row_range AS RANGE (subtype = $row->{name}); CREATE TYPE list_range AS RANGE (subtype = numeric[])");
check_pairs('row_range', sub { my $n = int(rand(3)); 'row_range(' . "ROW($n, 'a')::$row->{name}, ROW(" . ($n + int(rand(2))) . ", 'b')::$row->{name}, '" . pick('[)', '[]', '()') . "')" });
check_pairs('list_range', sub { "list_range('{1.0," . pick(1, '1.00', 2) . "}', '{" . pick(3, '3.0', '3,1') . "}', '" . pick('[)', '[]', '()') . "')" });

cmp_ok($equal, '>=', 1000, "$equal pairs were equal");
cmp_ok($unlike, '>=', 1000, "$unlike were not");

$node->stop;
done_testing();
