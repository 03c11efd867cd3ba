# Large values are read and written in pieces. They are not fetched if the header is enough, and
# their memory is freed when a larger filter replaces them. SEED=n replays a run.
use CuckooCluster;
use MIME::Base64;

seed();
my $node = new_cluster('main', conf => "max_parallel_workers_per_gather = 0\n");

# base64 travels in pieces of 49,152 bytes, 65,536 letters.  Filters of up to two
# and a half pieces, each of a size drawn by itself; Perl's base64 is the judge.  Few sizes are
# multiples of three, so one of each padding is among them.
my $numbers = join(',', 7743, 5000, 5844, map { 5000 + int(rand(25_000)) } 1 .. 40);
$node->safe_psql(
	'postgres', qq{
	CREATE TABLE texts AS SELECT n, cuckoofilter_agg(g, 1e-9, 0, 'bucket_size=2') AS f
		FROM unnest(ARRAY[$numbers]) n, generate_series(1, n) g GROUP BY n});
my %rests;
my $wrong = 0;
my $long;
foreach my $line (split /\n/, $node->safe_psql('postgres', q{SELECT encode(f::bytea, 'hex'), f::text, f::text::cuckoofilter = f FROM texts}))
{
	my ($hex, $text, $same) = split /\|/, $line;
	my $bytes = pack('H*', $hex);
	$rests{ length($bytes) % 3 }++;
	$long = $text if length($bytes) > 98_304;
	$wrong++ if $text ne encode_base64($bytes, '') || $same ne 't';
}
is(join(' ', sort keys %rests), '0 1 2', 'texts with every padding');
is($wrong, 0, 'each is base64, and read back');

# Damaged characters near the borders of pieces, also characters that are valid base64 elsewhere.
my $file = PostgreSQL::Test::Utils::tempdir() . '/text';
foreach my $at (65_534, 65_535, 65_536, 131_071, 131_072)
{
	foreach my $letter ('=', ' ', '!')
	{
		my $damaged = $long;
		substr($damaged, $at, 1) = $letter;
		unlink $file;
		append_to_file($file, "$damaged\n");
		is(error_state($node, "CREATE TEMP TABLE door (f cuckoofilter); COPY door FROM '$file'"),
			'22P02', "'$letter' at letter $at is refused");
	}
}
foreach my $cut (65_536, 65_537, 65_538, 65_539, 131_072)
{
	unlink $file;
	append_to_file($file, substr($long, 0, $cut) . "\n");
	is(error_state($node, "CREATE TEMP TABLE door (f cuckoofilter); COPY door FROM '$file'"), '22P02', "cut to $cut letters");
}

# The header of a large value is some pages of its hundreds: what count reads.
$node->safe_psql('postgres', 'CREATE TABLE large AS SELECT cuckoofilter_agg(g) AS f FROM generate_series(1, 1000000) g');

sub pages
{
	my ($function) = @_;
	my $plan = $node->safe_psql('postgres', "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) SELECT $function(f) FROM large");
	return $plan =~ /Buffers: shared hit=(\d+)/ ? $1 : die "no pages: $plan";
}
my $most = pages('cuckoofilter_count') + 5;
cmp_ok($most, '<', 100, "cuckoofilter_count reads at most $most pages");
cmp_ok(pages('cuckoofilter_fpr'), '<', $most, 'and cuckoofilter_fpr no more');
cmp_ok(pages('cuckoofilter_compact'), '>', $most + 100, 'of the many that there are');

# An addition keeps in memory only the value that it fetched and its result, and frees a copy that became too
# small. First, a filter that grows by the next addition.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE full_one (f cuckoofilter, item integer);
	DO $$
	DECLARE
		f cuckoofilter := cuckoofilter_agg(g) FROM generate_series(1, 300000) g;
		larger cuckoofilter;
	BEGIN
		FOR i IN 1 .. 100000 LOOP
			larger := f + -i;
			IF octet_length(larger::bytea) > octet_length(f::bytea) THEN
				INSERT INTO full_one VALUES (f, -i);
				EXIT;
			END IF;
			f := larger;
		END LOOP;
	END
	$$});
my ($old, $new) = split /\|/,
  $node->safe_psql('postgres', 'SELECT octet_length(f::bytea), octet_length((f + item)::bytea) FROM full_one');
cmp_ok($new, '>', 1.1 * $old, "a filter of $old bytes grows by an add");
my $used = used_bytes($node);
my ($count, $after) = split /\|/, $node->safe_psql('postgres', "SELECT cuckoofilter_count(f + item), $used FROM full_one");
my ($before) = split /\|/, $node->safe_psql('postgres', "SELECT $used, cuckoofilter_count(f + item) FROM full_one");
cmp_ok($after - $before, '<', $new + 1.5 * $old, 'its outgrown copy does not wait');

# A state of more than 16 MB has a memory context of its own. Its filter is the same as that of many small
# states that are merged.
my $items = 2_200_000 + int(rand(1000));
my $rows = "generate_series(1, $items) g";
$node->safe_psql(
	'postgres', qq{
	CREATE AGGREGATE state_of(integer) (SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter);
	CREATE AGGREGATE agg_of_states(cuckoofilter) (SFUNC = cuckoofilter_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_agg_final);
	CREATE TABLE expected AS SELECT agg_of_states(s) AS f FROM (SELECT state_of(g) AS s FROM $rows GROUP BY g % 7) p});
is($node->safe_psql('postgres', 'SELECT cuckoofilter_count(f) FROM expected'), $items, 'many states as one');
my %roads = (
	'an aggregate' => "(SELECT cuckoofilter_agg(g) FROM $rows)",
	'a window' => "(SELECT cuckoofilter_agg(g) OVER () FROM $rows LIMIT 1)",
	'two large states' => "(SELECT agg_of_states(s) FROM (SELECT state_of(g) AS s FROM $rows, generate_series(1, 2) i GROUP BY i) p)",
	'a state as a value' => "(SELECT agg_of_states(s::bytea::cuckoofilter) FROM (SELECT state_of(g) AS s FROM $rows) p)",
	'a state written out' => "(SELECT agg_of_states(s::text::cuckoofilter) FROM (SELECT state_of(g) AS s FROM $rows) p)",
	'two aggregates of one state' => "(SELECT CASE WHEN cuckoofilter_agg(g) = cuckoofilter_agg(g) THEN cuckoofilter_agg(g) END FROM $rows)");
foreach my $road (sort keys %roads)
{
	is($node->safe_psql('postgres', "SELECT f = $roads{$road} FROM expected"), 't', "$road of $items items");
}
is($node->safe_psql('postgres', "SELECT cuckoofilter_count(state_of(g)) FROM $rows"), $items, 'a large state is a filter');
is($node->safe_psql('postgres', "WITH more AS MATERIALIZED (SELECT cuckoofilter_agg(-g) AS f FROM $rows) SELECT cuckoofilter_union_agg(u.f) = (SELECT cuckoofilter_compact(e.f | m.f) FROM expected e, more m)
	FROM (SELECT f FROM expected UNION ALL SELECT f FROM more) u"), 't', 'large filters into a large state');

# The longest arrays: their words are more than 1 GB.
is($node->safe_psql('postgres', 'SELECT cuckoofilter_hash(array_fill(true, ARRAY[134217727])) = cuckoofilter_hash(array_fill(1::smallint, ARRAY[134217727]))'),
	't', 'an array as long as they get');

$node->stop;
done_testing();
