# Damaged bytes through every input: each gives the error of this input or an answer, and never a
# crash. SEED=n replays a run.
use CuckooCluster;
use MIME::Base64;

seed();
my $node = new_cluster('main', conf => "autovacuum = off\nrestart_after_crash = off\nignore_checksum_failure = on\n");

# Good filters of every encoding and kind, as bytes.
my @good = map { pack('H*', $_) } split /\n/, $node->safe_psql(
	'postgres', q{
	SELECT encode(cuckoofilter_agg(g, 0.01, 0, o)::bytea, 'hex')
		FROM unnest('{"",kind=set,layout=plain,bucket_size=2,bucket_size=8}'::text[]) o, (VALUES (0), (3), (100), (2000), (40000)) v(n),
			LATERAL generate_series(1, n) g GROUP BY o, n});
is(scalar @good, 20, 'filters to damage');

# Operations on a value that was accepted.
my $use = q{
	CREATE FUNCTION use_it(f cuckoofilter) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		calls text[] := ARRAY['f + 1', 'f - 1', 'f @> 2', 'cuckoofilter_copies(f, 3)', 'f | f', 'cuckoofilter_sum(f, f)',
			'cuckoofilter_compact(f)', 'cuckoofilter_info(f)', 'cuckoofilter_fpr(f)', 'cuckoofilter_add_all(f, 1, 2, 3)',
			'cuckoofilter_remove_all(f, 1, 2)', 'cuckoofilter_contains_all(f, 1, 2)', 'f::text::cuckoofilter = f',
			'cuckoofilter_intersect(f, f)', 'cuckoofilter_overlap(f, f)', 'cuckoofilter_overlap_error(f, f)', 'cuckoofilter_jaccard(f, f)'];
		call text;
		done integer := 0;
	BEGIN
		FOREACH call IN ARRAY calls LOOP
			BEGIN
				EXECUTE 'SELECT ' || call || ' FROM (SELECT $1) AS t(f)' USING f;
				done := done + 1;
			EXCEPTION WHEN data_corrupted OR program_limit_exceeded OR object_not_in_prerequisite_state
				OR invalid_text_representation OR invalid_parameter_value OR datatype_mismatch THEN
				NULL;
			END;
		END LOOP;
		PERFORM cuckoofilter_union_agg(g), cuckoofilter_sum_agg(g), cuckoofilter_intersect_agg(g) FROM (VALUES (f), (f)) AS t(g);
		RETURN done;
	EXCEPTION WHEN data_corrupted OR program_limit_exceeded OR object_not_in_prerequisite_state THEN
		RETURN done;
	END
	$$};
$node->safe_psql('postgres', $use);

# Doors: text, bytea, COPY in binary.  One session for many values, an
# exception block for each.
$node->safe_psql(
	'postgres', q{
	CREATE FUNCTION enter(value text, door text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		f cuckoofilter;
	BEGIN
		IF door = 'text' THEN
			f := value::cuckoofilter;
		ELSE
			f := decode(value, 'base64')::cuckoofilter;
		END IF;
		RETURN 'in ' || use_it(f);
	EXCEPTION
		WHEN invalid_text_representation THEN RETURN 'refused 22P02';
		WHEN invalid_binary_representation THEN RETURN 'refused 22P03';
	END
	$$;
	CREATE TABLE hostile (id integer, value text)});

my @hostile = map { mutate($good[ int(rand(@good)) ]) } 1 .. 1500;
push @hostile, map { random_bytes(int(rand(200))) } 1 .. 100;
push @hostile, map { "CKF\2\1" . random_bytes(43 + int(rand(200))) } 1 .. 300;
my $file = PostgreSQL::Test::Utils::tempdir() . '/hostile';
my $id = 0;
append_to_file($file, join('', map { $id++ . "\t" . encode_base64($_, '') . "\n" } @hostile));
$node->safe_psql('postgres', "COPY hostile FROM '$file'");
$node->safe_psql('postgres', q{CREATE TABLE entered AS SELECT enter(value, 'text') AS text, enter(value, 'bytea') AS bytea FROM hostile});
my %refused = (text => '22P02', bytea => '22P03');
foreach my $door (sort keys %refused)
{
	my %results;
	foreach my $line (split /\n/, $node->safe_psql('postgres', "SELECT $door, count(*) FROM entered GROUP BY 1"))
	{
		my ($result, $count) = split /\|/, $line;
		$results{ $result =~ /^in/ ? 'in' : $result } += $count;
	}
	is(join(' ', sort grep { $_ ne 'in' } keys %results), "refused $refused{$door}", "$door: refusals have the door's SQLSTATE");
	cmp_ok($results{"refused $refused{$door}"}, '>', 1000, "$door: most are refused ($results{in} are filters still)");
}
is( $node->safe_psql('postgres', q{SELECT count(*) FROM entered WHERE (text LIKE 'in%') <> (bytea LIKE 'in%')}),
	'0', 'both doors let the same in');

# Text that is nearly base64.
my @texts = ('=', '====', 'QQ=', 'Q Q=', "Q0tGAQEAAAQA\n", 'Q0tG' x 11, '-' x 64, 'é' x 32, 'Q0tGAQEAAAQAQAAHAAAAAAAAAAAAAAAAAAAAAAAAAAAKAAAAAAAAAHsUrkfheoQ/=');
foreach my $text (@texts, map { my $t = encode_base64($good[ int(rand(@good)) ], ''); substr($t, int(rand(length $t)), 1) = (' ', '=', '!', "\t", '_')[ int(rand(5)) ]; $t } 1 .. 20)
{
	is(error_state($node, "SELECT \$a\$$text\$a\$::cuckoofilter"), '22P02', 'text of ' . length($text) . ' letters');
}

# COPY in binary: a file with one damaged field.
sub copy_file
{
	my ($bytes) = @_;
	my $name = PostgreSQL::Test::Utils::tempdir() . '/copy';
	append_to_file($name, "PGCOPY\n\377\r\n\0" . pack('N N n N', 0, 0, 1, length $bytes) . $bytes . pack('n', 0xffff));
	return $name;
}
$node->safe_psql('postgres', 'CREATE TABLE door (f cuckoofilter)');
is(error_state($node, "COPY door FROM '" . copy_file($good[0]) . "' (FORMAT binary)"), '', 'binary: a good one gets in');
foreach my $bytes (@hostile[ 0 .. 24 ])
{
	like(error_state($node, "COPY door FROM '" . copy_file($bytes) . "' (FORMAT binary)"), qr/^(22P03)?$/, 'binary: ' . length($bytes) . ' bytes');
}

# Damaged storage: bytes change while the server is down.
$node->safe_psql('postgres', 'CREATE TABLE stored (id integer, f cuckoofilter)');
$node->safe_psql('postgres', sprintf('INSERT INTO stored VALUES (%d, decode(%s, $$hex$$)::cuckoofilter)', $_, '$$' . unpack('H*', $good[ $_ % @good ]) . '$$'))
  foreach (0 .. 59);
my @files = split /\n/, $node->safe_psql('postgres',
	q{CHECKPOINT; SELECT pg_relation_filepath(oid) FROM pg_class WHERE oid = 'stored'::regclass UNION SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = 'stored'::regclass});
$node->stop;
my $damaged = 0;
foreach my $path (map { $node->data_dir . "/$_" } @files)
{
	my $content = slurp_file($path);
	while ($content =~ /CKF\x02\x01/g)
	{
		next if rand() < 0.2;
		my $at = pos($content) - 5 + int(rand(48));
		substr($content, $at, 1) = chr(int(rand(256)));
		pos($content) = $at + 48;
		$damaged++;
	}
	open(my $handle, '>:raw', $path) or die "$path: $!";
	print $handle $content;
	close $handle;
}
cmp_ok($damaged, '>', 30, "stored: $damaged headers damaged");
$node->start;
my $answers = 0;
foreach my $row (0 .. 59)
{
	my $state = error_state($node, "SELECT use_it(f) FROM stored WHERE id = $row");
	$answers++ if $state eq '';
	like($state, qr/^(XX001)?$/, "stored: row $row");
}
is($node->safe_psql('postgres', 'SELECT 1'), '1', "stored: the server is there ($answers of 60 rows answer)");
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC|TRAP/, 'no backend crashed');

$node->stop;
done_testing();
