# Numbers that are neither integers of 64 bits nor doubles are hashed by their exact value; filters of
# older versions, which hashed them as the nearest double, never deny them.
use CuckooCluster;
use CuckooRandom;
use CuckooVectors;

my $node = new_cluster('main');
my $seed = seed();

sub one
{
	return $node->safe_psql('postgres', $_[0]);
}

$node->safe_psql('postgres', "CREATE TABLE two AS SELECT unnest('{12345678901234567.12,12345678901234567.11}'::numeric[]) AS x");
is(one('SELECT (cuckoofilter_agg(x) - 12345678901234567.12) @> 12345678901234567.11 FROM two'), 't', 'a removal leaves its neighbour in');
is(one('SELECT (cuckoofilter_agg(x) - 12345678901234567.12) @> 12345678901234567.12 FROM two'), 'f', 'and takes the number');
is(one("SELECT cuckoofilter_info(cuckoofilter_agg(x)) ->> 'format_version' FROM two"), '3', 'such a filter has version 3');
is(one("SELECT cuckoofilter_info(cuckoofilter_agg(g + 0.25)) ->> 'format_version' FROM generate_series(1, 9) g"), '2', 'other numerics have version 2');

# Ids above 2^63: each has a hash of its own, and those between them are absent.
$node->safe_psql('postgres', 'CREATE TABLE ids AS SELECT 18446744073709000003 + 3 * g::numeric AS id FROM generate_series(1, 100000) g');
# A double is two numerics, its value and its shortest text: these are one item.
cmp_ok(one('SELECT count(DISTINCT cuckoofilter_hash(id)) FROM ids'), '>=', 99950, 'hashes of ids');
is(one('SELECT count(*) FROM ids WHERE NOT (SELECT cuckoofilter_agg(id) FROM ids) @> id'), '0', 'all are in');
cmp_ok(one('SELECT count(*) FROM ids WHERE (SELECT cuckoofilter_agg(id) FROM ids) @> (id + 1)'), '<', 1500, 'the rate of ids between them');

# Doubles and their shortest texts, in both directions.
$node->safe_psql('postgres', q{CREATE TABLE doubles AS SELECT x FROM (
	SELECT random() * power(10::float8, (random() * 40 - 20)::int) AS x FROM generate_series(1, 5000)
	UNION ALL SELECT power(2::float8, g) FROM generate_series(-1022, 1023) g
	UNION ALL SELECT unnest('{0.1,1e23,9.999999999999999e22,5e-324,1.7976931348623157e308}'::float8[])) s});
# below 2^63 a double is the integer that it exactly is
is(one("SELECT count(*) FROM doubles WHERE cuckoofilter_hash(x) <> cuckoofilter_hash(x::text::numeric) AND (x < 2 ^ 53 OR x >= 2 ^ 63)"), '0', 'the hash of a double is that of its text');
is(one('SELECT cuckoofilter_agg(0.1::float8) @> 0.1, cuckoofilter_agg(0.1) @> 0.1::float8'), 't|t', '0.1');

# Random numerics: equal hashes exactly if they are equal.  Rows, arrays and jsonb agree with them.
my $numbers = join(',', map { my $d = join('', map { int(rand(3)) } 1 .. 1 + rand(30)); $d . ('', '.0', '.10', ".$d")[ int(rand(4)) ] } 1 .. 400);
$node->safe_psql('postgres', "CREATE TABLE numbers AS SELECT unnest('{$numbers}'::numeric[]) AS x");
foreach my $of ('x', 'ROW(x, 1)', 'ARRAY[x, 5]', "jsonb_build_object('a', x)")
{
	is(one("SELECT count(*) FROM numbers a, numbers b WHERE (a.x = b.x) <> (cuckoofilter_hash(" . ($of =~ s/\bx\b/a.x/r) . ') = cuckoofilter_hash(' . ($of =~ s/\bx\b/b.x/r) . '))'),
		'0', "SEED=$seed equality of $of");
}

# The same bytes in any order, in one process and in several.
$node->safe_psql('postgres', 'CREATE TABLE many AS SELECT g / 8.0 AS x FROM generate_series(1, 20000) g UNION ALL SELECT x FROM two; ANALYZE many');
my $whole = one("SELECT md5(cuckoofilter_agg(x)::bytea) FROM many");
is(one("SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET max_parallel_workers_per_gather = 3; SELECT md5(cuckoofilter_agg(x)::bytea) FROM many"), $whole, 'in parallel');
is(one("SELECT md5(cuckoofilter_agg(x)::bytea) FROM (SELECT x FROM many ORDER BY x DESC) s"), $whole, 'in another order');
is(one("SELECT md5(cuckoofilter_agg(x)::bytea) FROM (SELECT x FROM many ORDER BY random()) s"), $whole, 'in random order');

# Filters of 1.7.
foreach my $vector (lines('golden/decimals.tsv'))
{
	my ($name, $info, $in, $out, $copies, $hex) = @$vector;
	my $f = "'\\x$hex'::bytea::cuckoofilter";
	my ($all, $none) = map { "unnest('{" . join(',', map { s/^n://r } split /,/, $_ // '') . "}'::numeric[]) x" } $in, $out;
	my $array = "'{" . join(',', map { s/^n://r } split /,/, $in) . "}'::numeric[]";

	is(one("SELECT count(*) FROM $all WHERE NOT $f \@> x"), '0', "$name: none is denied");
	is(one("SELECT cuckoofilter_contains_all($f, VARIADIC $array)"), 't', "$name: nor together");
	is(one("SELECT count(*) FROM $none WHERE $f \@> x"), '0', "$name: none that is not in");
	is(one("SELECT count(*) FROM $all WHERE NOT ($f | (SELECT cuckoofilter_agg(x, NULL, NULL, 'seed=' || (cuckoofilter_info($f) ->> 'seed')) FROM two)) \@> x"), '0', "$name: after a union");
	is(one("SELECT count(*) FROM $all WHERE NOT ($f & (SELECT cuckoofilter_agg(y, NULL, NULL, 'seed=' || (cuckoofilter_info($f) ->> 'seed')) FROM unnest($array) y)) \@> x"), '0', "$name: after an intersection");
	is(one("SELECT count(*) FROM $all WHERE cuckoofilter_copies($f, x) = 0"), '0', "$name: all have copies");
	foreach my $copy (split /,/, $copies // '')
	{
		my ($number, $n) = $copy =~ /^n:(.*)=(\d+)$/;
		is(one("SELECT cuckoofilter_copies($f, $number)"), $n, "$name: copies of $number");
	}
	next if $info =~ /"kind":"set"/;
	is(one("SELECT count(*) FROM $all WHERE NOT (cuckoofilter_remove_all($f, 12345678901234567.11, 18446744073709551615)) \@> x"), '0', "$name: removals of decimals deny nothing");
}

# Few items of add_agg are added one by one: these say that the filter has decimals, too.
foreach my $n (1, 2, 3, 40)
{
	my $added = "SELECT cuckoofilter_add_agg(f, 12345678901234567.12 + i / 100.0) AS f FROM generate_series(0, $n - 1) i, (SELECT cuckoofilter_agg(g::numeric) AS f FROM generate_series(1, 1000) g) s";
	my $old = 'SELECT cuckoofilter_agg(12345678901234568::numeric) AS f';

	is(one("SELECT cuckoofilter_info(f) ->> 'format_version' FROM ($added) s"), '3', "add_agg of $n decimals gives version 3");
	is(one("SELECT (a.f & b.f) \@> 12345678901234567.12 FROM ($added) a, ($old) b"), 't', "add_agg of $n decimals, and an intersection with an old filter");
}

# A hash of one's own is of the exact value, an old filter has the rounded one.
foreach my $of ('%s & %s', 'cuckoofilter_intersect(%2$s, %1$s)', '(SELECT cuckoofilter_intersect_agg(f) FROM (VALUES (%s), (%s)) v(f))')
{
	my $both = sprintf($of, '(SELECT cuckoofilter_agg_hash(cuckoofilter_hash(12345678901234567.12)))', '(SELECT cuckoofilter_agg(12345678901234568::numeric))');

	is(one("SELECT $both \@> 12345678901234567.12, cuckoofilter_info($both) ->> 'format_version'"), 't|3', "hashes and an old filter, $of");
}
is(one("SELECT cuckoofilter_info(f & f) ->> 'format_version' FROM (SELECT cuckoofilter_agg_hash(cuckoofilter_hash(g)) AS f FROM generate_series(1, 9) g) s"), '3', 'hashes may be of either kind');
is(one("SELECT cuckoofilter_info(f & g) ->> 'format_version' FROM (SELECT cuckoofilter_agg_hash(cuckoofilter_hash('a'::text)) AS f, cuckoofilter_agg('a'::text) AS g) s"), '2', 'but text is no number');

# Rows, arrays and jsonb that 1.7 hashed with the nearest double, which is an integer here.
foreach my $of ('ROW(%s, 1)', 'ARRAY[%s, 5]', "'{\"a\": [%s]}'::jsonb", "numrange(%s, NULL)")
{
	my ($old, $new) = map { sprintf($of, $_) } '12345678901234568', '12345678901234567.12';
	$old =~ s/68, 1\)/68::numeric, 1)/;
	is(one("SELECT f \@> $new, cuckoofilter_contains_any(f, $new, $new), (f - $new) \@> $new, (f + $new) \@> $new, cuckoofilter_copies(f, $new) FROM (SELECT cuckoofilter_agg($old) AS f) s"),
		't|t|t|t|1', "old $of");
}
is(one("SELECT cuckoofilter_contains_pair(f, 12345678901234567.12, 'a'::text), cuckoofilter_which(f, 12345678901234567.12, '{a,b}'::text[]) FROM (SELECT cuckoofilter_agg_pair(12345678901234568::numeric, 'a'::text) AS f) s"), 't|{a}', 'old pairs');
is(one("SELECT cuckoofilter_contains_pair(f, 12345678901234567.12, 'a'::text), cuckoofilter_contains_pair(f, 12345678901234567.13, 'a'::text) FROM (SELECT cuckoofilter_agg_pair(12345678901234567.12, 'a'::text) AS f) s"), 't|f', 'pairs');

# Byte 15 of version 3 says what version 2 cannot, or is refused.
my $hex = one("SELECT encode(cuckoofilter_agg(x)::bytea, 'hex') FROM two");
is(substr($hex, 6, 2) . substr($hex, 30, 2), '0301', 'version and forms');
foreach my $forms (0 .. 255)
{
	my $bytes = $hex;
	substr($bytes, 30, 2) = sprintf('%02x', $forms);
	my $sound = $forms < 8 && $forms != 2;
	my ($rc, $stdout, $stderr) = $node->psql('postgres', "SELECT '\\x$bytes'::bytea::cuckoofilter \@> 12345678901234567.12");
	is($rc == 0 ? 1 : 0, $sound ? 1 : 0, "forms $forms") if $forms < 9 || $forms % 50 == 0;
}

$node->stop;
done_testing();
