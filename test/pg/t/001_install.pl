# CREATE EXTENSION by a user who is not a superuser, in a schema of that user; dump and restore; a
# server that is started twice.
use CuckooCluster;

my $node = new_cluster('main', extension => 0);

$node->safe_psql('postgres', 'CREATE ROLE alice LOGIN; CREATE DATABASE shop OWNER alice; CREATE DATABASE again OWNER alice');

sub as_alice
{
	my ($database, $query) = @_;
	return $node->safe_psql($database, $query, extra_params => [ '-U', 'alice' ]);
}

as_alice('shop', 'CREATE SCHEMA filters; CREATE EXTENSION cuckoofilter SCHEMA filters');
is( as_alice('shop', 'SELECT extowner::regrole, extnamespace::regnamespace FROM pg_extension WHERE extname = $$cuckoofilter$$'),
	'alice|filters', 'a user who is no superuser has it, in a schema of theirs');

as_alice(
	'shop', q{
	SET search_path = public, filters;
	CREATE TABLE seen (day date PRIMARY KEY, f cuckoofilter NOT NULL DEFAULT cuckoofilter_create(1000));
	INSERT INTO seen SELECT d, cuckoofilter_agg(g, 0.01, 3000, CASE WHEN extract(day FROM d)::integer % 2 = 0 THEN 'kind=set' ELSE 'layout=plain' END)
		FROM generate_series(date '2024-01-01', '2024-01-20', '1 day') d, generate_series(1, 3000) g
		WHERE g % extract(day FROM d)::integer = 0 GROUP BY d;
	INSERT INTO seen VALUES ('2024-02-01');
	CREATE VIEW all_seen AS SELECT cuckoofilter_union_agg(f) AS f FROM seen;
	CREATE INDEX ON seen (cuckoofilter_count(f));
});
my $digest = 'SET search_path = public, filters; SELECT count(*), md5(string_agg(f::text, $$,$$ ORDER BY day)), '
  . '(SELECT f @> 2999 FROM all_seen), (SELECT f @> 3001 FROM all_seen) FROM seen';
my $before = as_alice('shop', $digest);
like($before, qr/^21\|\w{32}\|t\|f$/, 'filters are there');

# A dump is text. The same user restores it into another database.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
command_ok([ 'pg_dump', '-U', 'alice', '-h', $node->host, '-p', $node->port, '--no-comments', '-f', $dump, 'shop' ], 'dump');
command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-U', 'alice', '-h', $node->host, '-p', $node->port, '-f', $dump, 'again' ],
	'restore');
is(as_alice('again', $digest), $before, 'restored filters have the same bytes and answers');

# The filters do not depend on the server's memory: they survive a restart.
$node->restart;
is(as_alice('shop', $digest), $before, 'the same after a restart');
my $build = 'SET search_path = filters; SELECT md5(cuckoofilter_agg(g)::text), cuckoofilter_hash(g) FROM generate_series(1, 5) g GROUP BY 2 ORDER BY 2';
my $hashes = as_alice('shop', $build);
$node->stop('immediate');
$node->start;
is(as_alice('shop', $build), $hashes, 'hashes and filters are the same after a crash');

as_alice('again', 'DROP EXTENSION cuckoofilter CASCADE');
is(as_alice('again', 'SELECT count(*) FROM pg_attribute WHERE attname = $$f$$ AND attrelid = $$seen$$::regclass AND NOT attisdropped'),
	'0', 'DROP EXTENSION CASCADE takes the columns with it');
$node->safe_psql('shop', 'ALTER EXTENSION cuckoofilter SET SCHEMA public');
is(as_alice('shop', 'SELECT f @> 2 FROM seen ORDER BY day LIMIT 1'), 't', 'moved to another schema');

$node->stop;
done_testing();
