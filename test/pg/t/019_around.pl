# Filters in their surroundings: a dump into another database, another encoding, a replica, a
# foreign server. No item in a filter is denied.
use CuckooCluster;
use CuckooItems;
use PostgreSQL::Test::Cluster;

my $node = new_cluster('main', streaming => 1, conf => "wal_level = logical\nmax_wal_senders = 5\nmax_replication_slots = 5\n");
my $dir = PostgreSQL::Test::Utils::tempdir();

# Dump a database and restore it into a new one; whether both went without a word.
my %dumps = (
	plain => [ [], undef ],
	custom => [ [ '--format=custom' ], [] ],
	directory => [ [ '--format=directory', '--jobs=2' ], [ '--jobs=2' ] ]);

sub travel
{
	my ($format, $from, $to, $encoding) = @_;
	my ($dump, $restore) = @{ $dumps{$format} };
	my $file = "$dir/$from-$to";
	my @server = ('--host=' . $node->host, '--port=' . $node->port);

	new_database($node, $to, $encoding);
	junk($node, $to);
	my $ok = run_log([ 'pg_dump', @server, @$dump, "--file=$file", $from ]);
	$ok &&= run_log($restore ? [ 'pg_restore', @server, @$restore, '--exit-on-error', "--dbname=$to", $file ]
		: [ 'psql', '-Xq', @server, '-v', 'ON_ERROR_STOP=1', '-f', $file, $to ]);
	ok($ok, "$from to $to: dumped and restored ($format)");
	return;
}

sub one
{
	my ($database, $sql) = @_;
	my ($ret, $out, $err) = $node->psql($database, $sql);

	return $ret == 0 ? $out : $err;
}

# ------------------------------------------------- dump and restore: other OIDs

new_database($node, 'home');
$node->safe_psql('home', 'CREATE EXTENSION cuckoofilter');
create_items($node, 'home', '6d'); # m1, m2, ..
create_filters($node, 'home');
items_answer($node, 'home', 'where they were built');

# Every kind of object in a schema that may use the extension.
$node->safe_psql(
	'home', q{
	CREATE TABLE defaults (id integer, f cuckoofilter DEFAULT cuckoofilter_create(1000),
		s cuckoofilter NOT NULL DEFAULT cuckoofilter_create(1000, 0.001, 'kind=set'),
		CHECK (NOT cuckoofilter_contains(f, 13)), CHECK (NOT f @> 14));
	INSERT INTO defaults (id) VALUES (1), (2);
	UPDATE defaults SET f = f + (id + 1000), s = s + id;
	CREATE TABLE generated (v mood[], h bigint GENERATED ALWAYS AS (cuckoofilter_hash(v)) STORED,
		f cuckoofilter GENERATED ALWAYS AS (cuckoofilter_add_hash(cuckoofilter_create(100), cuckoofilter_hash(v))) STORED,
		g cuckoofilter GENERATED ALWAYS AS (cuckoofilter_create(100) + v) STORED);
	INSERT INTO generated SELECT v FROM item_enum_array WHERE present;
	CREATE MATERIALIZED VIEW by_first AS SELECT v[1] AS first, cuckoofilter_agg(v, 0.01, 1000) AS f FROM generated GROUP BY 1;
	CREATE MATERIALIZED VIEW whole AS SELECT cuckoofilter_union_agg(f) AS f FROM by_first;
	CREATE VIEW found AS SELECT count(*) AS n FROM whole w, generated WHERE w.f @> v AND v <@ w.f AND cuckoofilter_contains(w.f, v);
	CREATE VIEW by_list AS SELECT cuckoofilter_contains_any(f, 1001, 5) AS a, cuckoofilter_contains_all(f, VARIADIC ARRAY[1001, id + 1000]) AS b,
		cuckoofilter_count(cuckoofilter_add_all(f, 1, 2)) AS c, cuckoofilter_count(cuckoofilter_remove_all(f, VARIADIC ARRAY[id + 1000, 7])) AS d FROM defaults;
	CREATE INDEX hashed ON item_composite (cuckoofilter_hash(v));
	CREATE INDEX counted ON defaults (cuckoofilter_count(f)) WHERE f @> 1001;
	CREATE UNIQUE INDEX of_ranges ON item_enum_range (cuckoofilter_hash(v, 5));
	CREATE TABLE users (email text);
	CREATE TABLE seen (f cuckoofilter);
	INSERT INTO seen VALUES (cuckoofilter_create(1000));
	CREATE FUNCTION learn() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN UPDATE seen SET f = cuckoofilter_add(f, NEW.email); RETURN NEW; END';
	CREATE TRIGGER learn AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION learn();
	INSERT INTO users SELECT 'user' || i FROM generate_series(1, 100) i;
	CREATE TABLE secret (v pair);
	INSERT INTO secret SELECT v FROM item_composite WHERE present;
	ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
	CREATE POLICY hides ON secret USING (NOT (SELECT f FROM filter WHERE kind = 'composite') @> v);
	CREATE FUNCTION asked(f cuckoofilter, v anyelement) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT f @> v'});

my $schema = q{
	SET enable_seqscan = off;
	SELECT (SELECT n FROM found), (SELECT count(*) FROM generated WHERE h = cuckoofilter_hash(v) AND f @> v AND g @> v),
		(SELECT string_agg(concat_ws(' ', a, b, c, d), ',') FROM by_list), (SELECT count(*) FROM defaults WHERE f @> 1001 OR s @> 2),
		(SELECT count(*) FROM item_composite a JOIN (SELECT v FROM item_composite LIMIT 5) b ON cuckoofilter_hash(a.v) = cuckoofilter_hash(b.v)),
		(SELECT count(*) FROM item_enum_range a JOIN (SELECT v FROM item_enum_range LIMIT 5) b ON cuckoofilter_hash(a.v, 5) = cuckoofilter_hash(b.v, 5)),
		(SELECT count(*) FROM users, seen WHERE f @> email), (SELECT count(*) FROM item_enum_array, filter WHERE kind = 'enum_array' AND present AND asked(f, v))};
my $shows = '400|400|t t 3 0,f f 3 0|2|5|5|100|400';
is(one('home', $schema), $shows, 'a schema that uses filters');

foreach my $format (sort keys %dumps)
{
	my $there = "there_$format";
	travel($format, 'home', $there);
	items_answer($node, $there, "restored ($format)");
	is(one($there, $schema), $shows, "restored ($format): the schema");
	is( one($there,
			q{INSERT INTO defaults (id) VALUES (3); UPDATE defaults SET f = f + id WHERE id = 3; INSERT INTO users VALUES (NULL), ('late'), (NULL);
			REFRESH MATERIALIZED VIEW by_first; REFRESH MATERIALIZED VIEW whole;
			SELECT (SELECT f @> 3 AND cuckoofilter_info(s) ->> 'kind' = 'set' FROM defaults WHERE id = 3), f @> 'late', f @> 'user7', (SELECT n FROM found) FROM seen}),
		't|t|t|400', "restored ($format): defaults, triggers and materialized views go on");
	is( one($there, q{CREATE ROLE reader; GRANT SELECT ON secret, filter TO reader; SET ROLE reader; SELECT count(*) FROM secret; RESET ROLE; DROP OWNED BY reader; DROP ROLE reader}),
		'0', "restored ($format): a policy hides what the filter has");
}
travel('plain', 'there_plain', 'further');
items_answer($node, 'further', 'restored twice');

# Settings that change how values are written, and what text means.
$node->safe_psql('further', "ALTER DATABASE further SET $_")
  foreach (
	q{timezone = 'Asia/Tokyo'}, 'datestyle = German', 'intervalstyle = sql_standard', 'extra_float_digits = -5', 'bytea_output = escape', 'search_path = pg_catalog, public',
	server_version($node) < 190000 ? 'standard_conforming_strings = off' : ());
items_answer($node, 'further', 'with other settings');

# The extension in a schema that is not in the path.
new_database($node, 'apart');
$node->safe_psql(
	'apart', q{
	CREATE SCHEMA ours;
	CREATE EXTENSION cuckoofilter SCHEMA ours;
	CREATE TABLE t (id integer, v integer[], f ours.cuckoofilter DEFAULT ours.cuckoofilter_create(1000),
		g ours.cuckoofilter GENERATED ALWAYS AS (ours.cuckoofilter_add_all(ours.cuckoofilter_create(10), VARIADIC v)) STORED, CHECK (NOT f OPERATOR(ours.@>) 1300));
	INSERT INTO t (id, v) SELECT i, ARRAY[i, -i] FROM generate_series(1, 100) i;
	UPDATE t SET f = f OPERATOR(ours.+) id;
	CREATE INDEX hashed ON t (ours.cuckoofilter_hash(v)) WHERE ours.cuckoofilter_contains_any(f, 1, 2, 3);
	CREATE MATERIALIZED VIEW whole AS SELECT ours.cuckoofilter_agg(v) AS f, ours.cuckoofilter_union_agg(f) AS u FROM t});
my $apart = q{
	SELECT count(*) FILTER (WHERE t.f OPERATOR(ours.@>) id AND g OPERATOR(ours.@>) -id), count(*) FILTER (WHERE w.f OPERATOR(ours.@>) v AND id OPERATOR(ours.<@) u) FROM t, whole w};
is(one('apart', $apart), '100|100', 'in a schema of its own');
travel('custom', 'apart', 'apart_there');
is(one('apart_there', $apart), '100|100', 'in a schema of its own, restored');

# ------------------------------------------- the table moves, the filter stays

$node->safe_psql(
	'home', qq{
	CREATE TABLE moved (kind text, part integer, f cuckoofilter) PARTITION BY LIST (part);
	CREATE TABLE moved_1 PARTITION OF moved FOR VALUES IN (1);
	CREATE TABLE moved_2 PARTITION OF moved FOR VALUES IN (2);
	INSERT INTO moved SELECT kind, 1, f FROM filter;
	UPDATE moved SET part = 2;
	ALTER TABLE moved DETACH PARTITION moved_2;
	CREATE INDEX by_kind ON moved_2 (kind);
	CLUSTER moved_2 USING by_kind;
	VACUUM FULL moved_2;
	ALTER TABLE moved_2 ALTER f SET STORAGE EXTENDED;
	ALTER TABLE moved_2 ADD g cuckoofilter;
	UPDATE moved_2 SET g = f, f = NULL;
	ALTER TABLE moved_2 DROP f;
	ALTER TABLE moved_2 RENAME g TO f;
	CREATE TABLE again AS SELECT kind, f FROM moved_2;
	COPY again TO '$dir/binary' (FORMAT binary);
	COPY again TO '$dir/text';
	CREATE TABLE from_binary (LIKE again);
	CREATE TABLE from_text (LIKE again);
	COPY from_binary FROM '$dir/binary' (FORMAT binary);
	COPY from_text FROM '$dir/text';
	CREATE TABLE from_bytea AS SELECT kind, f::bytea::cuckoofilter AS f FROM again});
items_answer($node, 'home', $_, "(SELECT f FROM $_ WHERE kind = '%s')") foreach qw(again from_binary from_text from_bytea);

# ------------------------------------------------------------ another encoding

# LATIN1 has these letters, and EUC_JP those.
my @roads = (
	[ 'LATIN1', 'c3a9', 'LATIN1', 'UTF8', 'LATIN1' ],
	[ 'EUC_JP', 'e697a5', 'EUC_JP', 'UTF8', 'EUC_JP' ],
	[ 'UTF8', 'c3a9', 'UTF8', 'WIN1252', 'UTF8' ],
	[ 'UTF8 Cyrillic', 'd0b6', 'UTF8', 'KOI8R', 'WIN1251' ]);
foreach my $road (@roads)
{
	my ($what, $letter, @encodings) = @$road;
	my $last = 'road_' . lc($what =~ tr/ /_/r);
	new_database($node, $last, $encodings[0]);
	$node->safe_psql($last, 'CREATE EXTENSION cuckoofilter');
	create_items($node, $last, $letter);
	create_filters($node, $last);
	items_answer($node, $last, "built in $what");
	foreach my $at (1 .. $#encodings)
	{
		my $to = "${last}_$at";
		travel('plain', $last, $to, $encodings[$at]);
		items_answer($node, $to, "from $what to $encodings[$at]");
		$last = $to;
	}
}
# A character that EUC_JP has and Unicode does not have: it is an ordinary item.
is( one('road_euc_jp',
		q{SELECT cuckoofilter_agg(t) @> t, cuckoofilter_agg(t) @> (t || 'x'), cuckoofilter_agg(ARRAY[t]) @> ARRAY[t], cuckoofilter_agg(t::name) @> t
		FROM (SELECT convert_from('\xa9a1', 'EUC_JP') AS t) AS one GROUP BY t}),
	't|f|t|t', 'characters of EUC_JP that Unicode has not');

# -------------------------------------------------------------------- replicas

my $expected = $node->safe_psql('home', 'SELECT md5(string_agg(kind || f::text, $$,$$ ORDER BY kind)) FROM filter');
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
items_answer($standby, 'home', 'on a standby');

# A subscriber has its own types, and finds rows by comparing whole filters.
my $subscriber = new_cluster('subscriber');
new_database($subscriber, 'home');
junk($subscriber, 'home');
$subscriber->safe_psql('home', 'CREATE EXTENSION cuckoofilter');
create_items($subscriber, 'home', '6d');
$subscriber->safe_psql('home', 'CREATE TABLE filter (kind text, f cuckoofilter)');
$node->safe_psql('home', 'ALTER TABLE filter DROP CONSTRAINT filter_pkey; ALTER TABLE filter REPLICA IDENTITY FULL; CREATE PUBLICATION filters FOR TABLE filter');
my $connection = $node->connstr . ' dbname=home';
# In binary: then the sender frees the result of the send function.
$subscriber->safe_psql('home', "CREATE SUBSCRIPTION s CONNECTION '$connection' PUBLICATION filters WITH (binary = true)");
$subscriber->poll_query_until('home', q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')})
  or die 'no synchronization';
$node->safe_psql(
	'home', q{
	INSERT INTO filter SELECT 'twice ' || kind, f FROM filter;
	INSERT INTO filter SELECT 'of ' || n, cuckoofilter_agg(x) FROM generate_series(1, 12) n, generate_series(1, n * 90) x GROUP BY n;
	UPDATE filter SET kind = 'twice' WHERE kind LIKE 'twice %';
	DELETE FROM filter WHERE kind = 'twice' OR kind LIKE 'of %';
	UPDATE filter SET f = f + NULL::integer WHERE kind = 'integer'});
$node->wait_for_catchup('s');
is($subscriber->safe_psql('home', 'SELECT md5(string_agg(kind || f::text, $$,$$ ORDER BY kind)) FROM filter'), $expected, 'the subscriber has the same bytes');
items_answer($subscriber, 'home', 'on a subscriber');
$standby->promote;
is($standby->safe_psql('home', q{UPDATE filter SET f = f + 424242 WHERE kind = 'integer'; SELECT f @> 424242 FROM filter WHERE kind = 'integer'}), 't', 'the promoted standby adds');

# ------------------------------------------------------------- a foreign server

SKIP:
{
	skip 'without postgres_fdw', 1
	  if !$node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'});
	my ($host, $port) = ($node->host, $node->port);
	new_database($node, 'near');
	junk($node, 'near');
	$node->safe_psql('near', 'CREATE EXTENSION cuckoofilter');
	create_items($node, 'near', '6d');
	$node->safe_psql(
		'near', qq{
		CREATE EXTENSION postgres_fdw;
		CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'home', extensions 'cuckoofilter');
		CREATE USER MAPPING FOR CURRENT_USER SERVER far;
		CREATE FOREIGN TABLE filter (kind text, f cuckoofilter) SERVER far});
	items_answer($node, 'near', 'over a foreign server');
}

# ---------------------------------------------------- a 1.0.0 that was upgraded

new_database($node, 'old');
$node->safe_psql(
	'old', q{
	CREATE EXTENSION cuckoofilter VERSION '1.0.0';
	CREATE TABLE kept (id integer PRIMARY KEY, f cuckoofilter DEFAULT cuckoofilter_add_all(cuckoofilter_create(10), 1, 2));
	INSERT INTO kept SELECT g % 3, cuckoofilter_agg(g) FROM generate_series(1, 3000) g GROUP BY 1;
	INSERT INTO kept (id) VALUES (3);
	CREATE VIEW lists AS SELECT id, cuckoofilter_contains_any(f, 1, id) AS a, cuckoofilter_contains_all(f, VARIADIC ARRAY[1, 2]) AS b,
		cuckoofilter_count(cuckoofilter_add_all(f, 1, 2)) AS c, cuckoofilter_count(cuckoofilter_remove_all(f, 1, 2)) AS d, cuckoofilter_create(5) AS e FROM kept;
	CREATE VIEW merged AS SELECT cuckoofilter_union_agg(f) AS u, cuckoofilter_agg(id) AS a, (cuckoofilter_agg(id, 0.001, 500))::bytea AS b FROM kept;
	CREATE INDEX counted ON kept (cuckoofilter_count(f), cuckoofilter_contains_any(f, 7, 8));
	CREATE FUNCTION any_of(f cuckoofilter, VARIADIC integer[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT cuckoofilter_contains_any($1, VARIADIC $2)';
	CREATE TABLE checked (f cuckoofilter CHECK (NOT cuckoofilter_contains_any(f, 666, 667)), n bigint GENERATED ALWAYS AS (cuckoofilter_count(f)) STORED)});
my $old = q{
	SELECT (SELECT string_agg(concat_ws(' ', id, a, b, c, d), ',' ORDER BY id) FROM lists), u @> 2999, a @> 2, any_of(u, 0, 2998), md5(b) FROM merged};
my $before = one('old', $old);
like($before, qr/^0 \S.*\|t\|t\|t\|\w{32}$/, 'views of 1.0.0');
$node->safe_psql('old', 'ALTER EXTENSION cuckoofilter UPDATE');
is(one('old', $old), $before, 'upgraded, they show the same');
travel('plain', 'old', 'old_restored');
is(one('old_restored', $old), $before, 'upgraded, dumped and restored into a fresh one: the same');
travel('custom', 'old_restored', 'old_again');
is(one('old_again', $old), $before, 'and once more');
is(one('old_again', q{INSERT INTO checked (f) SELECT f FROM kept WHERE id = 3; SELECT n FROM checked}), '2', 'its checks and generated columns work');

$_->stop foreach ($subscriber, $standby, $node);
done_testing();
