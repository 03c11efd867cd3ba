# Filters in COPY in binary format, on a streaming replica and on a logical replica.
use CuckooCluster;
use PostgreSQL::Test::Cluster;

my $primary = new_cluster('primary', streaming => 1, conf => "wal_level = logical\nmax_wal_senders = 5\nmax_replication_slots = 5\n");
my $digest = 'SELECT count(*), md5(string_agg(coalesce(f::text, $$null$$), $$,$$ ORDER BY id)), sum(cuckoofilter_count(f)) FROM filters';

$primary->safe_psql(
	'postgres', q{
	CREATE TABLE filters (id integer PRIMARY KEY, f cuckoofilter);
	INSERT INTO filters SELECT n, cuckoofilter_agg(g, 0.01, 20000, CASE n % 3 WHEN 0 THEN 'kind=set' WHEN 1 THEN 'layout=plain' ELSE '' END)
		FROM generate_series(0, 30) n, LATERAL generate_series(1, n * n * 20) g GROUP BY n;
	INSERT INTO filters VALUES (1000, NULL), (1001, cuckoofilter_create(5))});

# COPY
my $file = PostgreSQL::Test::Utils::tempdir() . '/filters';
foreach my $format (qw(binary text csv))
{
	$primary->safe_psql('postgres', "CREATE TABLE copied (LIKE filters); COPY filters TO '$file' (FORMAT $format); COPY copied FROM '$file' (FORMAT $format)");
	is( $primary->safe_psql('postgres', 'SELECT count(*) FROM filters a JOIN copied b USING (id) WHERE a.f IS NOT DISTINCT FROM b.f'),
		'32', "COPY in $format and back");
	$primary->safe_psql('postgres', 'DROP TABLE copied');
}

# a streaming replica has the same filters, and reads them
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
# a logical replica follows changes, also of rows that differ only in their filter
my $subscriber = new_cluster('subscriber');
$subscriber->safe_psql('postgres', 'CREATE TABLE filters (id integer PRIMARY KEY, f cuckoofilter); CREATE TABLE loose (f cuckoofilter)');
$primary->safe_psql(
	'postgres', q{
	CREATE TABLE loose (f cuckoofilter);
	ALTER TABLE loose REPLICA IDENTITY FULL;
	CREATE PUBLICATION all_filters FOR TABLE filters, loose});
my $connection = $primary->connstr . " dbname=postgres";
# In binary: then the sender frees the result of the send function.
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION '$connection' PUBLICATION all_filters WITH (binary = true)");
$subscriber->wait_for_subscription_sync($primary, 's') if $subscriber->can('wait_for_subscription_sync');

$primary->safe_psql(
	'postgres', q{
	UPDATE filters SET f = f + -1 WHERE id % 2 = 1;
	DELETE FROM filters WHERE id = 30;
	INSERT INTO filters SELECT 2000, cuckoofilter_union_agg(f) FROM filters WHERE id < 20;
	INSERT INTO filters SELECT 3000 + n, cuckoofilter_agg(x) FROM generate_series(1, 12) n, generate_series(1, n * 90) x GROUP BY n;
	INSERT INTO loose SELECT f FROM filters WHERE id < 5;
	UPDATE loose SET f = cuckoofilter_create(77) WHERE cuckoofilter_count(f) = 20});
my $expected = $primary->safe_psql('postgres', $digest);
$primary->wait_for_catchup($standby);
$primary->wait_for_catchup('s');
is($standby->safe_psql('postgres', $digest), $expected, 'the standby has the same bytes');
is($subscriber->safe_psql('postgres', $digest), $expected, 'the subscriber has the same bytes');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM filters WHERE f @> -1'), $primary->safe_psql('postgres', 'SELECT count(*) FROM filters WHERE f @> -1'),
	'the standby answers the same');
my $loose = 'SELECT md5(string_agg(f::text, $$,$$ ORDER BY f::text)) FROM loose';
is($subscriber->safe_psql('postgres', $loose), $primary->safe_psql('postgres', $loose), 'rows found by their filter alone');

$standby->promote;
$standby->safe_psql('postgres', 'UPDATE filters SET f = f + 424242 WHERE id = 5');
is($standby->safe_psql('postgres', 'SELECT f @> 424242 FROM filters WHERE id = 5'), 't', 'the promoted standby adds');

$_->stop foreach ($subscriber, $standby, $primary);
done_testing();
