# The shared vectors: hashes of values, and filters byte for byte.
use CuckooCluster;
use CuckooVectors;

my $node = new_cluster('main');

# Hashes: all in one query, each with its expression.
my @hashes = grep { defined $_->[5] } lines('hashes.tsv');
cmp_ok(scalar @hashes, '>=', 50, 'values for PostgreSQL');
my @got = split /\n/, $node->safe_psql('postgres', join("\n", map { "SELECT cuckoofilter_hash($_->[5], $_->[2]);" } @hashes));
foreach my $i (0 .. $#hashes)
{
	is($got[$i], $hashes[$i][3], "class $hashes[$i][0], seed $hashes[$i][2]: $hashes[$i][5]");
}

# The same for values that consist of others. citext belongs to an extension.
my $citext = $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'");
$node->safe_psql('postgres', 'CREATE EXTENSION citext') if $citext;
my @containers = grep { $citext || $_->[4] !~ /citext/ } lines('containers.tsv');
cmp_ok(scalar @containers, '>=', 50, 'values that consist of others');
@got = split /\n/, $node->safe_psql('postgres', join("\n", map { "SELECT cuckoofilter_hash($_->[4], $_->[1]);" } @containers));
foreach my $i (0 .. $#containers)
{
	is($got[$i], $containers[$i][3], "seed $containers[$i][1]: $containers[$i][4]");
}

# An item with a value, as a record and as a pair.
my @pairs = lines('pairs.tsv');
cmp_ok(scalar @pairs, '>=', 20, 'pairs');
@got = split /\n/, $node->safe_psql(
	'postgres',
	join("\n", map {
		"SELECT cuckoofilter_hash(ROW($_->[5]), $_->[2]), cuckoofilter_add_pair(f, $_->[5]) = f + ROW($_->[5]), cuckoofilter_contains_hash(cuckoofilter_add_pair(f, $_->[5]), $_->[3])
			FROM cuckoofilter_create(9, 0.01, 'seed=$_->[2]') AS f;"
	} @pairs));
foreach my $i (0 .. $#pairs)
{
	is($got[$i], "$pairs[$i][3]|t|t", "seed $pairs[$i][2]: $pairs[$i][5]");
}

# The part of an item.
my @parts = lines('parts.tsv');
cmp_ok(scalar @parts, '>=', 50, 'parts');
@got = split /\n/, $node->safe_psql('postgres', join("\n", map { "SELECT cuckoofilter_part($_->[4], $_->[1]);" } @parts));
foreach my $i (0 .. $#parts)
{
	is($got[$i], $parts[$i][2], "$parts[$i][4] in $parts[$i][1] parts");
}

# A recipe as SQL: a plain block whose variable f ends as the filter.
sub block
{
	my ($recipe) = @_;
	my $seed = $recipe =~ /seed=(-?\d+)/ ? $1 : 0;
	my $steps = '';

	foreach my $step (split /; /, $recipe)
	{
		my ($verb, @words) = split / /, $step;
		@words = map { $_ eq '-' ? '' : $_ } @words;
		$steps .=
		    $verb eq 'create' ? "f := cuckoofilter_create($words[0], $words[1], '$words[2]');"
		  : $verb eq 'agg' ? "SELECT cuckoofilter_agg_hash(h, $words[0], $words[1], '$words[2]') INTO f FROM " . hashes_of($words[3], $seed) . ' s;'
		  : $verb =~ /^(add|remove)$/ ? "FOR hash IN SELECT * FROM " . hashes_of($words[0], $seed) . " s LOOP f := cuckoofilter_${verb}_hash(f, hash); END LOOP;"
		  : $verb =~ /^(union|sum|intersect)$/ ? "f := cuckoofilter_$verb(f, (SELECT v.f FROM vectors v WHERE name = '$words[0]'));"
		  : $verb eq 'compact' ? 'f := cuckoofilter_compact(f);'
		  : die "step $step";
	}
	return $steps;
}

$node->safe_psql('postgres', 'CREATE TABLE vectors (name text PRIMARY KEY, f cuckoofilter)');
my @filters = lines('filters.tsv');
cmp_ok(scalar @filters, '>=', 20, 'filters');
foreach my $vector (@filters)
{
	my ($name, $recipe, $count, $hex, $in, $out) = @$vector;
	my $seed = $recipe =~ /seed=(-?\d+)/ ? $1 : 0;

	# here hashes are added, which are a class of their own: byte 14
	substr($hex, 28, 2) = '40' if substr($hex, 28, 2) ne '00';
	# and may be exact or rounded, each, in an intersection of two that have some: byte 15 of version 3
	(substr($hex, 6, 2), substr($hex, 30, 2)) = ('03', $count > 0 ? '06' : '04') if $recipe =~ /intersect (?!empty)/;
	$node->safe_psql('postgres', "DO \$do\$ DECLARE f cuckoofilter; hash bigint; BEGIN " . block($recipe) . " INSERT INTO vectors VALUES ('$name', f); END \$do\$");
	# not is(), which would print thousands of bytes
	ok($node->safe_psql('postgres', "SELECT encode(f::bytea, 'hex') FROM vectors WHERE name = '$name'") eq $hex, "$name: bytes");
	is($node->safe_psql('postgres', "SELECT cuckoofilter_count('\\x$hex'::bytea::cuckoofilter)"), $count, "$name: count");
	is($node->safe_psql('postgres', "SELECT count(*) FROM vectors, " . hashes_of($in, $seed) . " s WHERE name = '$name' AND NOT cuckoofilter_contains_hash(f, h)"),
		'0', "$name: what is in")
	  if defined $in;
	is($node->safe_psql('postgres', "SELECT count(*) FROM vectors, " . hashes_of($out, $seed) . " s WHERE name = '$name' AND cuckoofilter_contains_hash(f, h)"),
		'0', "$name: what is out")
	  if defined $out;
}

# The overlaps of the filters.
foreach my $pair (lines('overlaps.tsv'))
{
	my ($x, $y, $overlap, $jaccard) = @$pair;
	if ($overlap eq 'sizes')
	{
		foreach my $name ('overlap', 'jaccard')
		{
			is( error_state($node, "SELECT cuckoofilter_$name(x.f, y.f) FROM vectors x, vectors y WHERE x.name = '$x' AND y.name = '$y'"),
				'22023', "$name of $x and $y is refused");
		}
		next;
	}
	my $near = defined $jaccard ? "abs(j - $jaccard) < 1e-8" : 'j IS NULL';
	is( $node->safe_psql(
			'postgres',
			"SELECT abs(o - $overlap) < 1e-8 AND $near FROM vectors x, vectors y, cuckoofilter_overlap(x.f, y.f) o, cuckoofilter_jaccard(x.f, y.f) j
				WHERE x.name = '$x' AND y.name = '$y'"),
		't',
		"what $x and $y have in common");
}

$node->stop;
done_testing();
