# The SQL for PostgreSQL in README.md, sql/FAQ.md, pg/README.md and sql/JOIN_FILTERS.md runs from top
# to bottom, one page after the other in one database with the settings of a new server, and gives the
# results that are shown. 040_servers runs pg/SERVERS.md.
use CuckooCluster;
use CuckooPages;
use FindBin;

my $module = $ENV{CUCKOOFILTER_SQLITE} // "$FindBin::Bin/../../../build/sqlite/cuckoofilter.so";
my $node = new_cluster('main');
my $page = page('pg/README.md');

sub one
{
	return $node->safe_psql('postgres', $_[0]);
}

# A reader follows one page after the other, so no name is used twice.
cmp_ok(check_page('README.md', $node), '>=', 12, 'README.md has examples');
my ($first) = blocks(page('README.md'), 'sql postgresql');
my (undef, $twice) = $node->psql('postgres', "$first\n$first", on_error_stop => 0);
is_deeply([ $twice =~ /^(?:7\d{3}|t.*)$/mg ], [ ('t|f|1187192', '7541') x 2 ], 'the first block of README, pasted twice');
cmp_ok(check_page('sql/FAQ.md', $node), '>=', 8, 'sql/FAQ.md has examples');
cmp_ok(check_page('pg/README.md', $node), '>=', 70, 'pg/README.md has examples');
cmp_ok(check_page('sql/JOIN_FILTERS.md', $node), '>=', 20, 'sql/JOIN_FILTERS.md has examples');

# ------------------------------------------------- what the page promises and shows no rows of

is(one(q{SELECT count(*) FROM orders, filter WHERE name = 'customers of 2025' AND year = 2025 AND NOT f @> customer}), 0, 'denies no customer');
is(one('SELECT count(*), sum(cuckoofilter_count(f)) FROM part'), '256|33000', 'a filter in parts has all items');
is(one('SELECT count(*) FROM visit JOIN part ON part = cuckoofilter_part(person, 256) WHERE NOT f @> person'), 0, 'and denies none');

# The foreign server of the page is this database, whatever the environment of the server names.
is( one(q{SELECT (SELECT string_agg(option_value, ' ' ORDER BY option_name) FROM pg_options_to_table(srvoptions)) =
		concat_ws(' ', current_database(), split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'))
		FROM pg_foreign_server WHERE srvname = 'other'}), 't', 'the other server is this database');

# Rows that were seen before are not returned again; each later row is returned once.
my ($seen) = $page =~ /\n(INSERT INTO target .*?;)\n/s;
one($seen);
is(one('SELECT count(*) FROM target'), 1000, 'no row is taken a second time');
one("INSERT INTO staging SELECT g, 'later' FROM generate_series(20001, 21000) g, generate_series(1, 2); $seen");
cmp_ok(one('SELECT count(*) FROM target WHERE id > 20000'), '>=', 970, 'but later ones');
is(one('SELECT count(*) - count(DISTINCT id) FROM target'), 0, 'each once, though they come twice');
my ($wanted) = $page =~ /\n(WITH wanted .*?;)\n/s;
my $known = q{SELECT (cuckoofilter_table_info('seen') -> 'count')::int};
my ($taken, $items) = (one('SELECT count(*) FROM target'), one($known));
one("INSERT INTO staging SELECT g, 'joined' FROM generate_series(60001, 60500) g; $wanted");
$taken = one('SELECT count(*) FROM target') - $taken;
cmp_ok($taken, '>=', 90, 'rows that are joined and limited first');
is(one($known) - $items, $taken, 'and no other row is remembered');
my ($large) = $page =~ /\n(BEGIN;\nLOCK TABLE seen .*?COMMIT;)\n/s;
one("INSERT INTO staging SELECT g, 'large' FROM generate_series(30001, 31000) g, generate_series(1, 2); $large");
cmp_ok(one('SELECT count(*) FROM target WHERE id BETWEEN 30001 AND 31000'), '>=', 970, 'a large batch');
my $rows_taken = one('SELECT count(*) FROM target');
one($large);
is(one('SELECT count(*), count(DISTINCT id) FROM target'), "$rows_taken|$rows_taken", 'each once');

# A batch of no rows changes nothing.
my ($batch) = $page =~ /\n(UPDATE filter SET f = coalesce\(\(SELECT cuckoofilter_add_agg.*?;)\n/s;
my $before = one("SELECT md5(f::text) FROM filter WHERE name = 'keys'");
one("TRUNCATE batch; $batch");
is(one("SELECT md5(f::text) FROM filter WHERE name = 'keys'"), $before, 'an empty batch changes nothing');

# A filter follows its table.
my $exact = q{cuckoofilter_count(cuckoofilter_export('account_email_filter')) = (SELECT count(*) FROM account)};
my $denied = q{SELECT count(*) FROM account WHERE NOT cuckoofilter_table_contains('account_email_filter', email)};
one(join '', map { "INSERT INTO account SELECT g, 'user' || g FROM generate_series($_ * 100, $_ * 100 + 9) g;\n" } 1 .. 20);
is(one($denied), 0, 'a filter follows its table');
one('DELETE FROM account WHERE id % 2 = 0; DELETE FROM account WHERE id = 101; INSERT INTO account VALUES (101, \'user101\')');
is(one($denied), 0, 'one that was removed and added again');
is(one("SELECT $exact"), 't', 'and forgets what was deleted');
# Rows that change often.
my $written = q{SELECT md5(string_agg(ctid::text || xmin, ',' ORDER BY id)) FROM account_email_filter};
my $rows = one($written);
one("UPDATE account SET last_login = '2026-03-01'::date + $_ WHERE id <= 301") foreach 1 .. 10;
is(one($written), $rows, 'an update that leaves the key writes nothing');
one("UPDATE account SET email = '$_' || email WHERE id = 101; UPDATE account SET email = 'user101' WHERE id = 101; DELETE FROM account WHERE id = 103; INSERT INTO account VALUES (103, 'user103')") foreach 1 .. 10;
is(one("SELECT $exact"), 't', 'ten changes of a key add no copy');
one('DELETE FROM account WHERE id IN (101, 103)');
my $has = q{cuckoofilter_table_contains('account_email_filter', '%s')};
is(one("SELECT $exact, " . join ', ', map { sprintf $has, $_ } qw(user101 user103)), 't|f|f', 'so the key leaves with its row');
one(q{INSERT INTO account VALUES (5, 'user5'); TRUNCATE account; INSERT INTO account VALUES (7, 'user7')});
is(one("SELECT $exact, " . join ', ', map { sprintf $has, $_ } qw(user7 user5 ann@example.com)), 't|t|f|f', 'TRUNCATE empties the filter, too');

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
is(one('SELECT cuckoofilter_count(cuckoofilter_create(10) | f) > 1 FROM part LIMIT 1'), 't', 'a filter is merged');
like(($node->psql('postgres', 'SELECT cuckoofilter_create(10) + f FROM part'))[2], qr/ERROR:  a cuckoofilter is not an item/, 'and is not an item');

# ------------------------------------------------------------- what the FAQ compares

# Sizes for a million keys.  A release of PostgreSQL may differ a little.
$node->safe_psql('postgres', 'CREATE TABLE million AS SELECT (g * 7919::bigint % 1000003)::integer AS id FROM generate_series(1, 1000000) g');
foreach (
	[ 'hash index', 'CREATE INDEX million_index ON million USING hash (id)', q{pg_relation_size('million_index')} ],
	[ '`contrib/bloom` index', 'CREATE EXTENSION bloom; CREATE INDEX million_index ON million USING bloom (id)', q{pg_relation_size('million_index')} ],
	[ 'BRIN index, bloom operators', 'CREATE INDEX million_index ON million USING brin (id int4_bloom_ops)', q{pg_relation_size('million_index')} ],
	[ 'cuckoofilter, 1 %', '', '(SELECT length(cuckoofilter_agg(id)::bytea) FROM million)' ],
	[ 'plain `IN (list)`', '', '(SELECT pg_column_size(array_agg(id)) FROM million)' ])
{
	my ($row, $setup, $size) = @$_;
	my ($said, $unit) = page('sql/FAQ.md') =~ /^\| \Q$row\E \| ([\d.]+) (MB|kB) /m;

	$node->safe_psql('postgres', "DROP INDEX IF EXISTS million_index; $setup");
	my $bytes = $node->safe_psql('postgres', "SELECT $size");
	my $told = $said * ($unit eq 'MB' ? 1e6 : 1e3);
	# a page more or less is the server's
	ok(abs($bytes - $told) < 0.1 * $told + 8192, "$row: $bytes bytes, and the FAQ says $said $unit");
}

# --------------------------------------------------------------- to SQLite and back

SKIP:
{
	skip "no SQLite module at $module", 3 if !-e $module;
	skip 'no sqlite3', 3 if system('sqlite3 -version > /dev/null 2>&1') != 0;

	my ($commands) = blocks($page, 'sh');
	my $dir = PostgreSQL::Test::Utils::tempdir_short();
	my @want = $commands =~ / # (.*)$/mg;

	is($commands =~ s/build\/sqlite\/cuckoofilter/$module/g, 2, 'the page loads the module');
	append_to_file("$dir/commands", "set -e\ncd $dir\n$commands");
	local ($ENV{PGHOST}, $ENV{PGPORT}, $ENV{PGDATABASE}) = ($node->host, $node->port, 'postgres');
	my @got = split /\n/, `sh $dir/commands 2>&1`;
	is($?, 0, 'to SQLite and back: runs');
	is_deeply(\@got, \@want, 'to SQLite and back: prints');
}

$node->stop;
done_testing();
