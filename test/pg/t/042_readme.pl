# README.md's SQL for PostgreSQL runs as it stands, and does what the page says: "PostgreSQL", the
# recipes, and "Join filters".  024_compare and 040_servers have the sections of their subjects.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use CuckooCluster;
use Cwd;
use PostgreSQL::Test::Utils;
use Test::More;

my $page = slurp_file("$FindBin::Bin/../../../README.md");
my $module = $ENV{CUCKOOFILTER_SQLITE} // "$FindBin::Bin/../../../build/sqlite/cuckoofilter.so";
my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = new_cluster('main', conf => "max_parallel_workers_per_gather = 0\n");

# The one block of SQL that follows these words.
sub block
{
	my ($words) = @_;

	return $page =~ /\Q$words\E(?:(?!```).)*?```sql\n(.*?)```/s ? $1 : die "README.md has no SQL after '$words'";
}

# What psql prints, a line each; an error fails the test.
sub run_psql
{
	my ($script) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "\\cd $dir\n$script", on_error_stop => 1);

	is("$status $err", '0 ', 'runs: ' . ($script =~ /(.*)/)[0]);
	return split /\n/, $out;
}

sub one
{
	return $node->safe_psql('postgres', $_[0]);
}

# As many as there are, and not many more: the promise of a filter that is asked with no NOT.
sub nearly
{
	my ($got, $least, $asked, $what) = @_;

	cmp_ok($got, '>=', $least, "$what: none is lost");
	cmp_ok($got, '<=', $least + 0.02 * $asked, "$what: few others");
}

# ------------------------------------------------------------------ two minutes

my @lines = run_psql(block("\n## PostgreSQL\n"));
cmp_ok($lines[0], '>', 9800, "$lines[0] of 10,000 orders by new customers");
cmp_ok($lines[0], '<=', 10000, 'and no others');
is($lines[-1], 't|t', 'learns a key, which a bigint and a numeric find');
is( one('SELECT count(*) FROM orders, filters WHERE year = 2023 AND NOT f @> customer_id'), 0, 'denies no customer');
is(one('SELECT count(*) FROM filters WHERE f @> 98765::bigint'), 0, 'forgets the key');

# ---------------------------------------------------------------------- recipes

one(q{
	CREATE TABLE events AS SELECT current_date - g % 60 AS day, (g * 31)::bigint AS user_id FROM generate_series(1, 30000) g;
	INSERT INTO filters SELECT 'known', cuckoofilter_agg(user_id) FROM events WHERE day > current_date - 20});
my $users = one('SELECT count(*) FROM events WHERE day > current_date - 20');
nearly(run_psql(block('*Membership.*')), $users, 30000 - $users, 'membership');

one("INSERT INTO events VALUES (current_date - 20, 4711), (current_date - 45, -4711)");
is((run_psql(block('*Rollups.*')))[-1], 't', 'a rollup finds a user of the last 30 days');
is(one('SELECT cuckoofilter_union_agg(f) @> (-4711)::bigint FROM daily WHERE day >= current_date - 30'), 'f', 'and not one of before');
is( one(q{SELECT count(*) FROM events WHERE day >= current_date - 30
		AND NOT (SELECT cuckoofilter_union_agg(f) FROM daily WHERE day >= current_date - 30) @> user_id}),
	0, 'and denies none');

one(q{
	CREATE TABLE facts AS SELECT g AS id, g % 7919 AS key FROM generate_series(1, 40000) g;
	CREATE TABLE dimension AS SELECT g * 5 AS key, CASE g % 10 WHEN 3 THEN 'north' ELSE 'other' END AS region FROM generate_series(1, 2000) g});
my @joined = run_psql(block('*Join prefilter.*'));
is( join(',', sort @joined),
	join(',', sort split /\n/, one("SELECT key, id, region FROM facts JOIN dimension USING (key) WHERE region = 'north'")),
	'a prefiltered join has its ' . @joined . ' rows');

one(q{
	CREATE TABLE staging AS SELECT g::bigint AS id, 'row ' || g AS data FROM generate_series(1, 10000) g;
	CREATE TABLE target (LIKE staging)});
my ($create, $insert) = block('*Seen before.*') =~ /(INSERT.*?)\n(WITH.*)/s;
run_psql("$create\n$insert");
cmp_ok(one('SELECT count(*) FROM target'), '>=', 9900, 'of rows that are new nearly all are taken');
my $taken = one('SELECT count(*) FROM target');
run_psql($insert);
is(one('SELECT count(*) FROM target'), $taken, 'a second time none is');
one("INSERT INTO staging SELECT g, 'later' FROM generate_series(20001, 21000) g, generate_series(1, 2)");
run_psql($insert);
cmp_ok(one('SELECT count(*) FROM target WHERE id > 20000'), '>=', 970, 'but later ones');
is(one('SELECT count(*) - count(DISTINCT id) FROM target'), 0, 'each once, though they come twice');

one('CREATE TABLE batch (key bigint)');
my $before = one("SELECT md5(f::text) FROM filters WHERE name = 'known'");
run_psql(block('*A batch.*'));
is(one("SELECT md5(f::text) FROM filters WHERE name = 'known'"), $before, 'an empty batch changes nothing');
one('INSERT INTO batch SELECT -g FROM generate_series(1, 3000) g; INSERT INTO batch VALUES (4711), (NULL)');
run_psql(block('*A batch.*'));
is(one("SELECT count(*) FROM batch, filters WHERE name = 'known' AND f @> key"), 3001, 'a batch is in the filter');

my ($filter) = run_psql(block('*Options of an aggregate.*'));
is(one("SELECT cuckoofilter_info('$filter')->>'kind'"), 'set', 'an option of an aggregate');

# ------------------------------------------------------------ to SQLite and back

SKIP:
{
	skip "no SQLite module at $module", 6 if !-e $module;
	skip 'no sqlite3', 6 if system('sqlite3 -version > /dev/null 2>&1') != 0;

	my ($copy, $shell, $back) = block('*To SQLite and back.*') =~ /(.*?\n)(--.*?\n)(UPDATE.*)/s;
	run_psql($copy);
	$shell =~ s/^-- (sqlite3:)? *//mg;
	$shell =~ s/^\.load build\/sqlite\/cuckoofilter$/.load $module/m or die 'README.md loads another module';
	append_to_file("$dir/script", $shell . "SELECT lower(hex(cuckoofilter_add(f, 8.5))) FROM filters;\n");
	my @out = split /\n/, `cd $dir && sqlite3 -batch db < script 2>&1`;
	is($out[0], 1, 'SQLite finds what PostgreSQL added');
	like($out[1], qr/^[0-9a-f]+$/, 'and gives its bytes');
	$back =~ s/\.\.hex from SQLite\.\./$out[1]/ or die 'README.md has another place for the bytes';
	run_psql($back);
	is(one("SELECT f @> 8.5, f @> 4711 FROM filters WHERE name = 'known'"), 't|t', 'PostgreSQL finds what SQLite added');
}

# -------------------------------------------------------- many filters instead of one

one('CREATE TABLE big AS SELECT g::bigint AS key FROM generate_series(1, 200000) g; ALTER TABLE filters RENAME TO stored_filters');
my ($make, $primary, $ask, $change) = block('### One question to a large stored filter') =~ /^(.*?;)[^\n]*\n(.*?;)\n(.*?;)\n(.*?;)/s;
run_psql("$make\n$primary");
is(one("PREPARE ask AS $ask PREPARE change AS $change EXECUTE ask(77); EXECUTE ask(-5); EXECUTE change(-5); EXECUTE ask(-5)"),
	"t\nf\nt", 'a filter in parts is asked and changed');
is(one('SELECT count(*), sum(cuckoofilter_count(f)) FROM seen'), '256|200001', 'of 256 parts');
my $part = 'JOIN seen ON part = cuckoofilter_hash(g) & 255 WHERE f @> g';
is(one("SELECT count(*) FROM generate_series(1, 200000::bigint) g $part"), 200000, 'they have all items');
cmp_ok(one("SELECT count(*) FROM generate_series(200001, 400000::bigint) g $part"), '<', 4000, 'and few others');

# ------------------------------------------------------------------- good to know

# What `=` converts before it compares: denied, and found by the cast that the page names.
foreach (
	[ q{'a'::char(3)}, q{'a '::varchar}, 'bpchar' ],
	[ '9007199254740992::float8', '9007199254740993::bigint', 'float8' ],
	[ '9007199254740993::numeric', '9007199254740992::float8', 'float8' ],
	[ q{'12:00+00'::timetz}, q{'12:00'::time}, 'timetz' ])
{
	my ($added, $asked, $cast) = @$_;

	is(one("SET timezone = 'UTC'; SELECT a = b, cuckoofilter_agg(a) @> b, cuckoofilter_agg(a::$cast) @> b::$cast FROM (SELECT $added, $asked) t (a, b) GROUP BY a, b"),
		't|f|t', "$added and $asked");
}
one(q{CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE TABLE moods AS SELECT cuckoofilter_agg('sad'::mood) AS f; ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'});
is(one(q{SELECT f @> 'blue'::mood, f @> 'sad'::text FROM moods}), 'f|t', 'an enum is its label');
is(one('SELECT cuckoofilter_count(cuckoofilter_create(10) + f), cuckoofilter_count(cuckoofilter_create(10) | f) > 1 FROM seen LIMIT 1'), '1|t', 'a filter is added as an item, or merged');

# ------------------------------------------------------------------ join filters

my ($join, $plan) = block("\n## Join filters\n") =~ /(.*?;\n)(--  .*)/s;
my @want = map { /^--  (.*?\S)(?:  {4,}only .*)?$/ ? $1 : () } split /\n/, $plan;
# the page leaves out the version, the hash table, the times, and what 18 tells of buffers
my @got = grep { !/^[\d.]+$|Buckets:|Buffers:|Planning|Time:/ } run_psql($join);
s/^\s+|\s+$//g, s/(rows=\d+)\.00/$1/ foreach @got, @want;
is(join("\n", @got), join("\n", @want), 'the plan of a join filter');

$node->stop;
done_testing();
