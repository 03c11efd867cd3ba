# Golden filters (test/vectors/golden) enter through every input and give the same answers; bytes
# that a later version may write are refused with a clear error.
use CuckooCluster;
use CuckooVectors;
use MIME::Base64;

my $node = new_cluster('main');
my @golden = (lines('golden/format-1.tsv'), lines('golden/format-2.tsv'));
cmp_ok(scalar @golden, '>=', 160, 'golden filters');

# A file that COPY reads in binary: a row of a name and a filter for each.
sub copy_file
{
	my ($file, @rows) = @_;
	my $name = PostgreSQL::Test::Utils::tempdir() . "/$file";
	my $content = "PGCOPY\n\377\r\n\0" . pack('N N', 0, 0);
	$content .= pack('n N/a* N/a*', 2, $_->[0], $_->[1]) foreach @rows;
	append_to_file($name, $content . pack('n', 0xffff));
	return $name;
}

# A table for each way to load the filters.
my %doors = (
	text => sub { "INSERT INTO by_text VALUES " . join(', ', map { "('$_->[0]', '" . encode_base64($_->[1], '') . "')" } @_) },
	bytea => sub { "INSERT INTO by_bytea VALUES " . join(', ', map { "('$_->[0]', '\\x" . unpack('H*', $_->[1]) . "'::bytea::cuckoofilter)" } @_) },
	binary => sub { "COPY by_binary FROM '" . copy_file("copy-$_[0][0]", @_) . "' (FORMAT binary)" });
my @rows = map { [ $_->[0], pack('H*', $_->[5]) ] } @golden;
foreach my $door (sort keys %doors)
{
	$node->safe_psql('postgres', "CREATE TABLE by_$door (name text PRIMARY KEY, f cuckoofilter)");
	is(error_state($node, $doors{$door}->(@rows)), '', "$door: all enter");
}
foreach my $door (qw(text binary))
{
	is($node->safe_psql('postgres', "SELECT count(*) FROM by_bytea JOIN by_$door USING (name) WHERE by_bytea.f = by_$door.f"),
		scalar @golden, "$door: the same filters");
}

# Answers, a query for each filter: info, what is in and out, copies.
foreach my $vector (@golden)
{
	my ($name, $info, $in, $out, $copies, $hex) = @$vector;
	my $seed = $info =~ /"seed":(-?\d+)/ ? $1 : 0;
	my $denied = "(SELECT count(*) FROM " . hashes_of($in, $seed) . " s WHERE NOT cuckoofilter_contains_hash(f, h))";
	my $denied_after = "(SELECT count(*) FROM " . hashes_of($in, $seed) . " s WHERE NOT cuckoofilter_contains_hash(cuckoofilter_compact(f), h))";
	my $present = "(SELECT count(*) FROM " . hashes_of($out, $seed) . " s WHERE cuckoofilter_contains_hash(f, h))";
	my @copies = map { [ split /=/ ] } split /,/, $copies // '';
	my $wrong = join(' + ', '0', map { "(cuckoofilter_copies(f, (" . join('', items($_->[0])) . ")) <> $_->[1])::int" } @copies);

	is($node->safe_psql('postgres', "SELECT cuckoofilter_info(f) \@> '$info', encode(f::bytea, 'hex') = '$hex', $denied, $denied_after, $present, $wrong FROM by_text WHERE name = '$name'"),
		't|t|0|0|0|0', "$name: info, bytes, denied, denied after a compaction, not in but told so, wrong copies");
}

# A byte, values that a later version might store in it, and the error of this version.
my $version = qr/cuckoofilter of an unknown format or hash version/;
my $damaged = qr/not a cuckoofilter: the bytes are damaged or are something else/;
my @unknown = (
	[ 3, [ 0, 4, 255 ], $version ], [ 4, [ 0, 2, 255 ], $version ],
	[ 5, [ 3, 4, 255 ], $damaged ], [ 6, [ 4, 8, 16, 32, 64, 128 ], $damaged ],
	[ 14, [ 1, 64 ], $damaged ], [ 15, [ 1, 4 ], $damaged ]);
my %sqlstates = (text => '22P02', bytea => '22P03', binary => '22P03');
my ($semi) = map { $_->[1] } grep { $_->[0] eq 'semi' } @rows;
foreach my $case (@unknown)
{
	my ($at, $values, $sentence) = @$case;
	foreach my $value (@$values)
	{
		my $changed = $semi;
		substr($changed, $at, 1) = chr($value);
		foreach my $door (sort keys %doors)
		{
			my ($ret, $stdout, $stderr) = $node->psql(
				'postgres', $doors{$door}->([ "unknown-$at-$value", $changed ]),
				extra_params => [ '-v', 'VERBOSITY=verbose' ]);
			like($stderr, qr/ERROR:  $sqlstates{$door}: $sentence/, "$door: byte $at is $value");
		}
	}
}

$node->stop;
done_testing();
