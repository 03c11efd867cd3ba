# A filter is copied from PostgreSQL to SQLite and back, and gives the same answers.
use CuckooCluster;
use FindBin;

my $module = $ENV{CUCKOOFILTER_SQLITE} // "$FindBin::Bin/../../../build/sqlite/cuckoofilter.so";
plan skip_all => "no SQLite module at $module" if !-e $module;
plan skip_all => 'no sqlite3' if system('sqlite3 -version > /dev/null 2>&1') != 0;

my $node = new_cluster('main');
my $dir = PostgreSQL::Test::Utils::tempdir();

# Run SQL in the sqlite3 shell.
sub sqlite
{
	my ($sql) = @_;
	append_to_file("$dir/script", ".load $module\n$sql\n");
	my $result = `sqlite3 -batch $dir/db < $dir/script 2>&1`;
	unlink "$dir/script";
	chomp $result;
	return $result;
}

# SQL that both databases understand, over the same values.
my $values = q{
	CREATE TABLE t (id integer, s text, r double precision);
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
		INSERT INTO t SELECT i, 'item ' || i, i / 8.0 FROM n;
};
$node->safe_psql('postgres', "$values CREATE TABLE f (name text, f cuckoofilter)");
sqlite("$values CREATE TABLE f (name text, f blob);");

my %columns = (id => 'id', s => 's', r => 'r', 'id, 0.001' => 'id', "s, 0.01, 100000, 'kind=set'" => 's', "r, 0.02, 0, 'layout=plain, seed=-7'" => 'r');
my $n = 0;
foreach my $arguments (sort keys %columns)
{
	my $column = $columns{$arguments};
	my $name = 'f' . $n++;
	my $hex = lc $node->safe_psql('postgres', "INSERT INTO f SELECT '$name', cuckoofilter_agg($arguments) FROM t; SELECT encode(f::bytea, 'hex') FROM f WHERE name = '$name'");

	is(lc sqlite("SELECT hex(cuckoofilter_agg($arguments)) FROM t;"), $hex, "agg($arguments): the same bytes in both");

	# to SQLite, where it is asked, changed and merged (PostgreSQL accepts items of any class after hashes were
	# added)
	my $change = "cuckoofilter_add(cuckoofilter_add(cuckoofilter_add_hash(f, 7), 'new'), 424242)";
	my $other = $column eq 's' ? "s || 'x'" : 'id + 1000000';
	my $probe = "count(*) FILTER (WHERE cuckoofilter_contains(f, $column)), count(*) FILTER (WHERE cuckoofilter_contains(f, $other)), max(cuckoofilter_count(f))";
	sqlite("INSERT INTO f VALUES ('$name', x'$hex');");
	is(sqlite("SELECT $probe FROM f, t WHERE name = '$name';"), $node->safe_psql('postgres', "SELECT $probe FROM f, t WHERE name = '$name'"),
		"$name: the same answers in both");
	my $changed = lc sqlite("UPDATE f SET f = $change WHERE name = '$name'; SELECT hex(f) FROM f WHERE name = '$name';");

	# and back
	is( $node->safe_psql(
			'postgres',
			"SELECT g.c = $change, g.c \@> 'new', g.c \@> 424242 FROM f, (SELECT '\\x$changed'::bytea::cuckoofilter) AS g(c) WHERE name = '$name'"),
		't|t|t',
		"$name: changed in SQLite, it is what PostgreSQL makes of it");
}
is( lc sqlite(q{SELECT hex(cuckoofilter_union_agg(f)) FROM f WHERE name IN ('f0', 'f1');}),
	$node->safe_psql(
		'postgres', q{SELECT encode(cuckoofilter_union_agg(cuckoofilter_add(cuckoofilter_add(cuckoofilter_add_hash(f, 7), 'new'), 424242))::bytea, 'hex') FROM f WHERE name IN ('f0', 'f1')}),
	'union_agg: the same bytes in both');

# both databases have the same message for the same error
foreach my $call ('cuckoofilter_create(0)', 'cuckoofilter_create(1, 2)', q{cuckoofilter_create(1, 0.1, 'x=1')}, q{cuckoofilter_remove(cuckoofilter_create(1, 0.1, 'kind=set'), 1)})
{
	my ($ret, $stdout, $stderr) = $node->psql('postgres', "SELECT $call");
	my ($sentence) = $stderr =~ /ERROR:  (.*)/;
	like(sqlite("SELECT $call;"), qr/\Q$sentence\E/, "the same error: $sentence");
}

$node->stop;
done_testing();
