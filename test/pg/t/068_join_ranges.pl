# A condition beside a join: Bitmap Heap Scans, and Index Scans whose order nobody needs, skip the blocks that the keys exclude.
use CuckooCluster;
use CuckooJoin;

my $node = join_cluster('main', conf => "dynamic_shared_memory_type = mmap\nenable_seqscan = off\nenable_nestloop = off\nenable_mergejoin = off\n");

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# The same rows in every mode. The plan has a line like this, and skips so many blocks, of so many.
sub skips
{
	my ($name, $query, $line, $least, $of) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	same_rows($name, $query);
	my $plan = explained($query);
	my ($skipped, $all) = $plan =~ /Blocks Skipped: (\d+) of (\d+)/;

	like($plan, $line, "$name: the plan") or return;
	ok(($skipped // 0) >= $least, "$name: $least blocks are skipped") or diag($plan);
	ok(!defined $of || ($all // 0) == $of, "$name: of so many") or diag($plan);
	return;
}

sub reads_all
{
	my ($name, $query, $line) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	same_rows($name, $query);
	my $plan = explained($query);
	like($plan, $line, "$name: the plan");
	unlike($plan, qr/Blocks Skipped: [1-9]/, "$name: no block is skipped");
	return;
}

# 7 rows a block, in the order of k, 2,858 blocks; 1,436 of them have the keys of the range, or 4 blocks in a range of BRIN.
sql(q{
	CREATE TABLE dim AS SELECT g AS k, g / 30 AS month FROM generate_series(0, 1999) g;
	CREATE TABLE few AS SELECT * FROM dim WHERE month IN (31, 61);
	CREATE TABLE ordered AS SELECT g AS id, g / 10 AS k, g / 10 + g % 3 AS l, timestamptz '2020-01-01 00:00Z' + g * interval '1 minute' AS tz, g % 100 AS v, repeat('x', 1000) AS filler FROM generate_series(0, 19999) g;
	CREATE TABLE tree AS SELECT * FROM ordered;
	CREATE TABLE one AS SELECT 935 AS k;
	CREATE TABLE runs AS SELECT * FROM dim WHERE k % 20 < 12;
	CREATE TABLE days AS SELECT '2020-01-03'::date AS day;
	CREATE INDEX ordered_k ON ordered USING brin (k) WITH (pages_per_range = 4);
	CREATE INDEX ordered_l ON ordered USING brin (l) WITH (pages_per_range = 4);
	CREATE INDEX ordered_tz ON ordered USING brin (tz) WITH (pages_per_range = 4);
	CREATE INDEX tree_k ON tree (k);
	CREATE INDEX tree_l ON tree (l);
	CREATE INDEX tree_v ON tree (v) WHERE k > 100;
	ANALYZE});

my $bitmap = qr/Bitmap Heap Scan on (ordered|tree) f/;
my $late = 'SET enable_seqscan = on; ';

sub query
{
	my ($table, $where, $more) = @_;
	return "SELECT count(*), sum(v), min(id), max(id) FROM $table f JOIN dim USING (k) " . ($more // '') . " WHERE month = 31 AND $where";
}

my $range = 'f.k >= 500 AND f.k < 1500';

skips('BRIN', query('ordered', $range), $bitmap, 1300);
skips('BRIN of another column', query('ordered', 'f.l BETWEEN 500 AND 1500'), $bitmap, 1300);
skips('before the bitmap, with the bounds', $late . query('tree', $range), qr/$bitmap.*Bitmap Index Scan on tree_k \(never executed\)/s, 2700, sql(q{SELECT pg_relation_size('tree') / 8192}));
skips('an index of another column', $late . query('tree', 'f.l BETWEEN 500 AND 1500'), $bitmap, 1300);
skips('bounds of other types', $late . query('tree', "f.k >= 500::bigint AND 1500::smallint > f.k"), qr/never executed/, 2700);
same_rows('one that no row meets', query('tree', 'f.k > 1500 AND f.k < 500'));
skips('one bound', $late . query('tree', 'f.k >= 900'), qr/never executed/, 2700);
same_rows("ANY of bounds, $_->[0]", query($_->[0], "f.k $_->[1]")) foreach map { my $table = $_; map { [ $table, $_ ] } '< ANY (ARRAY[1500, 5])', '< ANY (ARRAY[5, 1500])', '>= ANY (ARRAY[1500, 5])', '> 5 AND f.k < ANY (ARRAY(SELECT unnest(ARRAY[1500, 5])))' } qw(ordered tree);
is(sql(query('ordered', "f.k < ANY (ARRAY[1500, 5])")), '300|14850|9300|9599', 'ANY of bounds: the rows');
skips('OR', query('tree', '(f.k < 940 OR f.l > 1500)'), qr/BitmapOr/, 1300);
skips('AND', query('ordered', 'f.k >= 500 AND f.l < 1500'), $bitmap, 1000);
skips('100 runs of keys, of which ten are left', $late . "SELECT count(*), sum(v) FROM ordered f JOIN runs USING (k) WHERE f.k >= 1700 AND f.k < 1900", $bitmap, 50);
skips('a condition that no index has', $late . query('tree', "$range AND f.v % 10 = 3"), $bitmap, 1300);
skips('the same, whose small side is dear', query('tree', $range), $bitmap, 1300);
skips('a parameter of an InitPlan', $late . query('tree', 'f.k >= (SELECT 500) AND f.k < (SELECT 1500)') =~ s/JOIN dim/JOIN few/r, $bitmap, 1300);
skips('work_mem of 64 kB', 'SET work_mem = 64; ' . query('ordered', $range), $bitmap, 1300);
skips('prefetching', 'SET effective_io_concurrency = 20; ' . query('ordered', $range), $bitmap, 1300);
skips('run again', "SELECT g, x.* FROM generate_series(0, 2) g, LATERAL (" . query('ordered', 'f.k BETWEEN 500 + g AND 1500') . ' OFFSET 0) x', $bitmap, 3900);
skips('run again, with other bounds', $late . 'SELECT g, x.* FROM generate_series(0, 2) g, LATERAL (' . query('tree', 'f.k BETWEEN 500 + g * 435 AND 1500') . ' OFFSET 0) x', $bitmap, 3900);
sql('CREATE TABLE looked AS SELECT k, g FROM dim, generate_series(1, 40) g WHERE month = 31; CREATE INDEX ON looked (k); ANALYZE looked');
my $loop = 'SET enable_hashjoin = off; SET enable_nestloop = on; SET join_collapse_limit = 1; ';
$loop .= "SELECT count(*), sum(v) FROM (SELECT * FROM ordered f WHERE $range OFFSET 0) f JOIN looked USING (k)";
same_rows('below a loop', $loop, 0);
like(explained($loop), qr/Blocks Skipped: 1\d\d\d of 14\d\d by ordered_k/, 'below a loop: blocks are skipped');
skips('a sort above', $late . "SELECT count(*), sum(v) FROM (SELECT * FROM tree f WHERE $range ORDER BY v, id OFFSET 0) f JOIN dim USING (k) WHERE month = 31", $bitmap, 2700);
skips('run again, without the bitmap', $late . 'SELECT g, x.* FROM generate_series(0, 2) g, LATERAL (' . (query('tree', 'f.k BETWEEN 955 - g * 10 AND 1500') =~ s/JOIN dim/JOIN few/r) . ' OFFSET 0) x', qr/$bitmap.*Bitmap Index Scan on tree_k \(actual rows=\d+ loops=1\)/s, 6000);
reads_all('order below', "SET enable_sort = off; SELECT count(*), sum(r) FROM (SELECT k, rank() OVER (PARTITION BY k ORDER BY k) AS r FROM tree f WHERE $range) f JOIN dim USING (k) WHERE month = 31", qr/Index (Only )?Scan using tree_k on tree f/);
like(explained("SELECT id FROM tree f JOIN few USING (k) WHERE $range LIMIT 200"), qr/Index Scan using tree_k on tree f \(actual rows=/, 'a LIMIT that may stop an Index Scan');
reads_all('the setting', 'SET cuckoofilter.join_filter_blocks = off; ' . query('tree', $range), qr/Scan.* on tree/);

# partitions, whose scans are bitmap scans
sql('CREATE TABLE parted (LIKE ordered) PARTITION BY RANGE (id)');
sql("CREATE TABLE parted_$_ PARTITION OF parted FOR VALUES FROM ($_) TO ($_ + 10000)") foreach (0, 10000);
sql('INSERT INTO parted SELECT * FROM ordered; CREATE INDEX ON parted USING brin (k) WITH (pages_per_range = 4); ANALYZE parted');
skips('partitions', $late . query('parted', $range), qr/Append.*Bitmap Heap Scan on parted_0.*Bitmap Heap Scan on parted_10000/s, 1300);

my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0; ';
foreach my $hash ('on', 'off')
{
	my $settings = "${late}SET enable_parallel_hash = $hash; $parallel";
	skips("two workers, parallel hash $hash", $settings . query('ordered', 'f.l BETWEEN 500 AND 1500') =~ s/JOIN dim/JOIN few/r, qr/Parallel Bitmap Heap Scan on ordered/, 1300);
	skips("two workers, parallel hash $hash, OR", "${settings}SET enable_seqscan = off; " . query('ordered', '(f.l < 940 OR f.l > 1500)') =~ s/JOIN dim/JOIN few/r, qr/Parallel Bitmap Heap Scan on ordered.*BitmapOr/s, 1300);
	skips("two workers, parallel hash $hash, AND", $settings . query('ordered', 'f.k >= 500 AND f.l < 1500') =~ s/JOIN dim/JOIN few/r, qr/Parallel Bitmap Heap Scan on ordered.*BitmapAnd/s, 1000);
	same_rows("two workers, parallel hash $hash, a tree", $settings . query('tree', $range));
	same_rows("two workers, parallel hash $hash, again", $settings . 'SELECT g, x.* FROM generate_series(0, 2) g, LATERAL (' . query('ordered', 'f.l BETWEEN 500 AND 1500 AND f.v >= g') . ' OFFSET 0) x');
}

# Bitmaps of BitmapOr stay private, since shared ones would stay in memory as long as the query.
sql(q{CREATE FUNCTION shared_bytes() RETURNS bigint VOLATILE PARALLEL RESTRICTED LANGUAGE sql AS $$
	SELECT sum((pg_stat_file('pg_dynshmem/' || name, true)).size) FROM pg_ls_dir('pg_dynshmem') name $$});
my ($bytes_off, $bytes) = map {
	sql("${late}SET enable_seqscan = off; SET enable_indexscan = off; SET enable_material = off; SET enable_parallel_hash = off; SET cuckoofilter.join_filter = $_; $parallel SELECT max(shared_bytes() + 0 * n) FROM generate_series(1, 40) g LEFT JOIN ("
		  . (query('tree', '(f.k < 940 OR f.l > 1500)') =~ s/JOIN dim/JOIN few/r =~ s/count\(\*\)/count(*) AS n/r) . ' OFFSET 0) x ON true')
} ('off', 'on');
cmp_ok($bytes, '<', $bytes_off + (1 << 20), 'a BitmapOr below Gather, again and again: memory');

# prepared plans
foreach my $mode ('force_generic_plan', 'force_custom_plan')
{
	is(sql("SET plan_cache_mode = $mode; PREPARE p AS " . query('tree', 'f.k >= $1 AND f.k < $2') . '; EXECUTE p(500, 1500); EXECUTE p(935, 940); EXECUTE p(1500, 500); EXECUTE p(NULL, 3); EXECUTE p(0, 5000)'),
		"300|14850|9300|9599\n50|3725|9350|9399\n0|||\n0|||\n300|14850|9300|9599", "prepared: $mode");
}

# what the condition is compared with, in memory that is there as long as the scan
my $list = "SELECT count(*), sum(v), min(id), max(id) FROM tree f JOIN one USING (k) WHERE f.l = ANY (ARRAY(SELECT generate_series(500, 1500)))";
is(sql("$late$list; PREPARE p AS $list; EXECUTE p; EXECUTE p"), join("\n", ('10|545|9350|9359') x 3), 'a list of an InitPlan');
skips('a list of an InitPlan', $late . $list, $bitmap, 1000);

# cursors: rows that come and go, a zone that changes
foreach my $table ('ordered', 'tree')
{
	is(sql("BEGIN; DECLARE c CURSOR FOR SELECT id FROM $table f JOIN dim USING (k) WHERE month = 31 AND $range; FETCH 2 FROM c; UPDATE $table SET v = v + 1 WHERE k = 930; DELETE FROM $table WHERE k = 959; MOVE 296 FROM c; FETCH ALL FROM c; ROLLBACK"), "9300\n9301\n9598\n9599", "$table: a cursor while rows change");
}
my $zoned = "SELECT id FROM ordered f JOIN days ON tz::date = day WHERE tz >= '2020-01-02 12:00Z' AND tz < '2020-01-10 00:00Z'";
foreach my $zones ([ 'UTC', 'America/New_York' ], [ 'UTC', 'Asia/Tokyo' ], [ 'Pacific/Kiritimati', 'Etc/GMT+12' ], [ 'Etc/GMT+12', 'Pacific/Kiritimati' ])
{
	my ($from, $to) = @$zones;
	my @rows = map { sql("SET TimeZone = '$from'; SET enable_indexscan = off; SET cuckoofilter.join_filter = $_; BEGIN; DECLARE c CURSOR FOR $zoned; FETCH 700 FROM c; SET TimeZone = '$to'; FETCH ALL FROM c; COMMIT") } ('off', 'on');
	is($rows[1], $rows[0], "a zone that changes from $from to $to");
}
skips('a zone', "SET TimeZone = 'UTC'; $zoned", $bitmap, 1000);
unlike(explained("SET default_transaction_isolation = 'serializable'; " . query('ordered', $range)), qr/Blocks Skipped/, 'SERIALIZABLE');

# A bitmap of few pages where many were expected, as by a generic plan: the indexes are not searched for the keys.
sql('CREATE TABLE large AS SELECT id, k, id / 10 + id % 3 AS l, k AS m, v, id * 100 AS n, filler FROM ordered; CREATE TABLE evens AS SELECT g * 2 AS n FROM generate_series(0, 199) g; ANALYZE evens');
grow_table('large', 120000);
sql('CREATE INDEX large_k ON large USING brin (k) WITH (pages_per_range = 64); CREATE INDEX large_l ON large USING brin (l) WITH (pages_per_range = 64); CREATE INDEX large_m ON large (m); CREATE INDEX large_n ON large (n); SELECT brin_summarize_new_values($$large_k$$), brin_summarize_new_values($$large_l$$); CREATE TABLE ms AS SELECT k AS m FROM one; ANALYZE ms, large; UPDATE pg_class SET reltuples = 20000000 WHERE relname = $$large$$');

foreach my $case ([ 'BRIN', 'one', 'k', 'l', 935, 936 ], [ 'BRIN, the same index', 'one', 'k', 'k', 935, 936 ], [ 'a B-tree, BRIN for the keys', 'one', 'k', 'm', 935, 936 ], [ 'BRIN, a B-tree for the keys', 'ms', 'm', 'l', 935, 936 ], [ 'a B-tree, few rows between many keys', 'evens', 'n', 'n', 200, 390 ])
{
	my ($name, $keys, $key, $column, @few) = @$case;
	my ($few, $many) = map {
		explained("${late}SET cuckoofilter.join_filter = auto; SET plan_cache_mode = force_generic_plan; SET enable_indexscan = off; "
			  . "PREPARE p AS SELECT count(*), sum(v) FROM large f JOIN $keys d USING ($key) WHERE f.$column >= \$1 AND f.$column <= \$2; EXECUTE p($_->[0], $_->[1])")
	} \@few, [ 0, 2000000 ];

	like($few, qr/Bitmap Index Scan on \w+ \(actual/, "few pages, $name: the bitmap is read") or diag($few);
	unlike($few, qr/Blocks Skipped/, "few pages, $name: no search") or diag($few);
	like($many, qr/Blocks Skipped: [1-9]\d\d\d/, "many pages, $name: a search") or diag($many);
}

# by its estimate the join pays only by its blocks
sql('INSERT INTO dim SELECT g, 31 FROM generate_series(0, 1999) g');
like(explained('SET cuckoofilter.join_filter = auto; SET cuckoofilter.join_filter_max_pass = 0.001; SET cuckoofilter.join_filter_min_rows = 0; ' . query('ordered', $range), 'COSTS OFF'), qr/Join Filter: blocks only/, 'auto: blocks only');

done_testing();
