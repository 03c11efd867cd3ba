# The same items give the same bytes in PostgreSQL, SQLite, C, Python and JavaScript; and psycopg loads
# and dumps a filter as Python's Filter.
use CuckooCluster;
use FindBin;

my $bindings = $ENV{CUCKOOFILTER_BINDINGS} // "$FindBin::Bin/../../../build/test/bindings/pg";
my %made = (
	C => [ "$bindings/make_filter" ],
	Python => [ '/usr/bin/python3', "$bindings/make_filter.py", "$bindings/python", 'python' ],
	SQLite => [ '/usr/bin/python3', "$bindings/make_filter.py", "$bindings/python", 'sqlite' ],
	JavaScript => [ 'node', "$bindings/make_filter.mjs", "$bindings/javascript" ]);
my %needs = (C => 'make_filter', Python => 'python', SQLite => 'python', JavaScript => 'javascript');

# An item as an SQL literal.
my %sql = (
	i => sub { "'$_[0]'::numeric" },
	r => sub { "'$_[0]'::numeric" },
	x => sub { "'$_[0]'::numeric" },
	y => sub { "'$_[0]'::numeric" },
	t => sub { "convert_from('\\x$_[0]', 'UTF8')" },
	b => sub { "'\\x$_[0]'::bytea" },
	u => sub { "'$_[0]'::uuid" },
	d => sub { "date '1970-01-01' + $_[0]" },
	s => sub { "timestamp '1970-01-01' + $_[0] * interval '1 microsecond'" },
	z => sub { "timestamptz '1970-01-01 UTC' + $_[0] * interval '1 microsecond'" },
	n => sub { 'NULL' });

sub random_hex
{
	my ($n) = @_;
	return unpack('H*', random_bytes($n));
}

# The shortest text of a double.
sub shortest
{
	my ($double) = @_;
	my ($text) = grep { $_ == $double } map { sprintf("%.${_}g", $double) } 15 .. 17;
	return $text;
}

my %item = (
	numbers => sub {
		my $kind = int(rand(4));
		return 'i:' . int(rand(200) - 100) if $kind == 0;
		return 'i:' . (int(rand(1 << 31)) * int(rand(1 << 31)) - (1 << 61)) if $kind == 1;
		return 'r:' . (int(rand(4000)) / 8) if $kind == 2; # also integers
		# past 2^53 a numeric of the same digits is another integer
		return 'r:' . shortest((rand() - 0.5) * 10**(int(rand(36)) - 20));
	},
	decimals => sub {
		my $kind = int(rand(4));
		return 'x:' . shortest((rand() - 0.5) * 10**(int(rand(500)) - 250)) if $kind == 0;
		my $digits = join('', map { int(rand(10)) } 1 .. 1 + rand(40));
		return "x:$digits" . ('', '.0', '.5', ".0$digits")[ int(rand(4)) ] if $kind == 1;
		return 'x:' . (-1)**int(rand(2)) * 1 . "$digits.$digits";
	},
	integers => sub {
		my $digits = join('', map { int(rand(10)) } 1 .. 1 + rand(40));
		return 'y:' . ('', '-')[ int(rand(2)) ] . (1 + int(rand(9))) . $digits;
	},
	texts => sub {
		my $text = join('', map { ('a' .. 'z', 'ä', '→', '𝄞')[ int(rand(29)) ] } 1 .. 1 + rand(12));
		return 't:' . unpack('H*', $text);
	},
	bytes => sub { 'b:' . random_hex(int(rand(20))) },
	uuids => sub { 'u:' . random_hex(16) },
	dates => sub { 'd:' . int(rand(40000) - 20000) },
	stamps => sub { 's:' . int(rand(4e15) - 2e15) },
	zoned => sub { 'z:' . 1000 * int(rand(4e12) - 2e12) });

seed();
my $node = new_cluster('main', conf => "timezone = 'UTC'\n");
my (@cases, @filters, @kinds);
foreach my $round (1 .. rounds(40))
{
	my $kind = (sort keys %item)[ $round % keys %item ];
	my $n = (1, 2, 7, 300, 2000)[ int(rand(5)) ];
	my $fpr = (0.3, 0.01, 0.0001)[ int(rand(3)) ];
	my $capacity = (0, $n, 100000)[ int(rand(3)) ];
	my $options = ('', 'kind=set', 'bucket_size=8', 'bucket_size=2,seed=-' . int(rand(1 << 31)), 'layout=plain,kind=set')[ int(rand(5)) ];
	my @items = map { $item{$kind}->() } 1 .. $n;

	push @items, 'n:', @items[ map { int(rand($n)) } 1 .. $n / 3 ];
	push @cases, join("\t", $fpr, $capacity, $options, join(',', @items));
	push @kinds, "$n $kind, fpr $fpr, capacity $capacity, '$options'";
	my $values = join(', ', map { /^(.):(.*)$/; '(' . $sql{$1}->($2) . ')' } reverse @items);
	push @filters, $node->safe_psql('postgres', "SELECT encode(cuckoofilter_agg(x, $fpr, $capacity, '$options')::bytea, 'hex') FROM (VALUES $values) s (x)");
}
cmp_ok(scalar(grep { /^434b46/ } @filters), '==', scalar @cases, 'PostgreSQL builds a filter of each case');

foreach my $name (sort keys %made)
{
	my ($out, $err) = ('', '');

	if (!-e "$bindings/$needs{$name}" || ($name eq 'JavaScript' && system('node -e 0 2> /dev/null') != 0))
	{
		note("skipped: filters of $name, which is not built");
		next;
	}
	ok(IPC::Run::run($made{$name}, '<', \join("\n", @cases, ''), '>', \$out, '2>', \$err), "$name: builds them") or diag($err);
	my @got = split /\n/, $out;
	my $same = 0;
	foreach my $i (0 .. $#cases)
	{
		next if ($got[$i] // '') eq '-';
		ok(($got[$i] // '') eq $filters[$i], "$name: $kinds[$i]") or diag($cases[$i]);
		$same++;
	}
	cmp_ok($same, '>', @cases / 3, "$name: enough cases");
}

# psycopg
$ENV{$_->[0]} = $_->[1] foreach ([ PGHOST => $node->host ], [ PGPORT => $node->port ], [ PGDATABASE => 'postgres' ], [ TZ => 'UTC' ]);
$ENV{PGUSER} = $node->safe_psql('postgres', 'SELECT current_user');
my $out = '';
if (-e "$bindings/python")
{
	IPC::Run::run([ '/usr/bin/python3', "$bindings/psycopg_filter.py", "$bindings/python", "$bindings/README.md" ], '>', \$out, '2>&1');
	foreach (split(/\n/, $out))
	{
		ok($1 eq 'ok', "psycopg: $2") if /^(ok|not ok) (.*)/;
		note($_) if /^skipped: /;
	}
	ok($out =~ /^(end|skipped: .*)$/m, 'psycopg: to its end') or diag($out);
}

$node->stop;
done_testing();
