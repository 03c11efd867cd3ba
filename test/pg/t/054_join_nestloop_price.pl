# When the filter of a nested loop pays: by processor time and the blocks that lookups read, not by the time that
# a process waits for a processor; and the rows that another filter removes are no rows without a match. The
# clocks are our own (../clock.c), so nothing depends on the machine.
use FindBin;
use CuckooCluster;
use CuckooJoin;

plan(skip_all => 'needs Linux') if $^O ne 'linux';

my $node = join_cluster('main', conf => "cuckoofilter.join_filter = auto\ncuckoofilter.join_filter_max_pass = 0.7\nshared_buffers = 64MB\n"
	  . "enable_hashjoin = off\nenable_mergejoin = off\nenable_bitmapscan = off\nautovacuum = off\n");
my $library = "$PostgreSQL::Test::Utils::tmp_check/clock.so";
chomp(my $include = `pg_config --includedir-server`);
is(system('gcc', '-Wall', '-Werror', '-shared', '-fPIC', "-I$include", '-o', $library, "$FindBin::Bin/../clock.c", '-ldl'), 0, 'the clocks are built');

# The build of a filter of dim is priced at 2.2 ms and the wait for its 1,334 blocks.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE dim AS SELECT g AS k, g % 50 AS c, repeat('y', 480) AS pad FROM generate_series(0, 19999) g;
	CREATE UNIQUE INDEX dim_k ON dim (k);
	CREATE TABLE fact AS SELECT g AS id, (g * 7919) % 20000 AS k FROM generate_series(1, 2500) g;
	CREATE TABLE middle AS SELECT g AS id, (g * 7919) % 20000 AS k FROM generate_series(1, 4500) g;
	CREATE TABLE wide AS SELECT g AS id, (g * 7919) % 20000 AS k FROM generate_series(1, 8000) g;
	CREATE TABLE big AS SELECT g AS id, (g * 7919) % 20000 AS k FROM generate_series(1, 60000) g;
	CREATE TABLE sales AS SELECT g AS id, g % 20000 AS k, g % 40 AS day FROM generate_series(1, 60000) g;
	CREATE INDEX sales_k ON sales (k);
	CREATE TABLE dated AS SELECT g AS id, (g * 7919) % 20000 AS k, g / 100 AS day, repeat('x', 300) AS filler FROM generate_series(0, 59999) g;
	CREATE INDEX dated_day ON dated USING brin (day) WITH (pages_per_range = 32);
	CREATE TABLE period AS SELECT g AS day, g / 25 AS month FROM generate_series(0, 599) g;
	CREATE TABLE days AS SELECT g AS day, g / 4 AS month FROM generate_series(0, 39) g;
	CREATE TABLE long (k int PRIMARY KEY, w text);
	ALTER TABLE long ALTER w SET STORAGE EXTERNAL;
	INSERT INTO long SELECT 5 * g, repeat('y', 3000) FROM generate_series(0, 3999) g;
	CREATE TABLE item AS SELECT g AS id, g % 800 AS k FROM generate_series(1, 3000) g});
$node->safe_psql('postgres', 'VACUUM ANALYZE');

# Start the server with other clocks. No block is in its memory.
sub clocks
{
	my (%settings) = @_;

	local @ENV{ 'LD_PRELOAD', keys %settings } = ($library, values %settings);
	local $ENV{PGPORT} = $node->port;
	$node->restart;
	return;
}

my $warm = 'SET enable_seqscan = off; SELECT count(pad) FROM dim WHERE k >= 0; SELECT count(day) FROM sales WHERE k >= 0; RESET enable_seqscan; SET enable_memoize = off;';
my $serial = 'SELECT count(*) FROM %s f JOIN dim USING (k) WHERE c = 3';
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';

sub filter_of
{
	my ($query) = @_;
	my ($text) = explained($query) =~ /Nested Loop Filter: ([^\n]*)/;

	return $text // 'none';
}

# ------------------------------------------------------------ processors and blocks

my $not = qr/^not built after [\d,]+ rows, \d+\.\d % of them match and it does not pay$/;

foreach my $wait (0, 1_000_000)
{
	clocks(BLOCK_NS => 500, READ_NS => 1_000_000, CALL_NS => $wait);
	like(filter_of("$warm " . sprintf($serial, 'fact')), $not, "each look at the clock waits $wait ns for a processor: 2,500 lookups do not pay");
	like(filter_of("$warm " . sprintf($serial, 'middle')), qr/^built after [\d,]+ rows, 400 keys$/, '4,500 do');
	like(filter_of("$warm " . sprintf($serial, 'big')), qr/^built after 512 rows, 400 keys$/, 'and 60,000 do');
	# A process believes that it reads what is left, if the others have not begun.
	like(filter_of("$parallel $warm " . sprintf($serial, 'wide')), $not, 'nor do 8,000 pay for the filters of three processes');
	like(filter_of("$warm " . sprintf($serial, 'wide')), qr/^built after 512 rows/, 'but for one');
}
clocks(BLOCK_NS => 500, COLD_NS => 3000);
like(filter_of("$warm " . sprintf($serial, 'fact')), $not, 'what the first look at a clock costs is no cost of the lookup');
$node->append_conf('postgresql.conf', 'shared_buffers = 256kB'); # each lookup reads blocks, more than the scan in the end
clocks(BLOCK_NS => 500, READ_NS => 1_000_000, CALL_NS => 0);
like(filter_of('SET enable_memoize = off; ' . sprintf($serial, 'fact')), qr/^built after 512 rows/, 'where lookups read blocks, 2,500 pay');
$node->append_conf('postgresql.conf', 'shared_buffers = 64MB');

# ------------------------------------------------------- a scan that costs more than its price

# The scan of long reads a value of each row in other blocks, which its price does not know.
clocks(BLOCK_NS => 500);
my $long = "SET enable_memoize = off; SET enable_seqscan = off; SELECT count(k) FROM long WHERE k >= 0; SET enable_seqscan = on; SET enable_material = off; SELECT count(l.k) FROM %s f LEFT JOIN long l ON l.k = f.k AND %s";
like(filter_of(sprintf($long, 'middle', 'l.k >= 0')), qr/^built after [\d,]+ rows, 4,000 keys$/, '4,500 lookups pay for the keys of a table');
like(filter_of(sprintf($long, 'middle', "w BETWEEN 'y' AND 'z'")), qr/^given up after 512 rows, the scan of the table costs more than expected$/, 'where its rows cost too much, the scan is ended');
like(filter_of(sprintf($long, 'big', "w BETWEEN 'y' AND 'z'")), qr/^built after [\d,]+ rows, 4,000 keys$/, '60,000 pay for that, too');

# Few rows come at first, so it is ended, but many come later: it is tried once more.
like(filter_of(sprintf($long, 'big', "w BETWEEN 'y' AND 'z' WHERE f.id % 20 = 0 OR f.id > 3000")), qr/^built after [\d,]+ rows, 4,000 keys$/, 'and 57,150, of which 150 come in the first twentieth');

# It is ended by the rows that it reads, though its condition drops all of them.
like(filter_of(sprintf($long, 'middle', "w BETWEEN 'z' AND 'zz'")), qr/^given up after 512 rows, the scan of the table costs more than expected$/, 'rows that are dropped cost, too');
like(filter_of(sprintf($long, 'big', "w BETWEEN 'z' AND 'zz'")), qr/^built after [\d,]+ rows, 0 keys$/, '60,000 lookups pay for them');

# ------------------------------------------------------------------ skipped blocks

# The rows to come are in the blocks that the scan reads, not in those that it skips.
clocks(BLOCK_NS => 500);
my $dated = "$warm SET enable_hashjoin = on; SET enable_bitmapscan = on; SET random_page_cost = 0.01; SET seq_page_cost = 5; SELECT count(*) FROM dated f JOIN period USING (day) JOIN dim USING (k) WHERE c = 3 AND month";
like(explained("$dated = 11"), qr/Blocks Skipped: 2[45]\d\d of 26\d\d/, 'a scan that skips blocks');
like(filter_of("$dated = 11"), $not, 'the 2,500 lookups of its rows do not pay');
like(filter_of("$dated BETWEEN 10 AND 13"), qr/^built after [\d,]+ rows, 400 keys$/, '10,000 do');

# -------------------------------------------------------------------- LEFT and ANTI

# A row without a match goes on to the nodes above. What they cost is no cost of its lookup.
clocks(BLOCK_NS => 500);
my $left = 'LEFT JOIN dim d ON d.k = f.k AND d.c = 3';
my $dear = '(SELECT sum(s.day) FROM sales s WHERE s.k BETWEEN f.k AND f.k + 40)';
foreach my $query (
	"SELECT count(d.c) FROM %s f $left", 'SELECT count(*) FROM %s f WHERE NOT EXISTS (SELECT FROM dim d WHERE d.k = f.k AND d.c = 3)',
	"SELECT count(c), sum(n) FROM (SELECT d.c, $dear AS n FROM %s f $left OFFSET 0) q", "SELECT count(d.c) FROM %s f $left WHERE coalesce(d.c, $dear) >= 0",
	"SELECT count(c) FROM (SELECT f.k, d.c FROM %s f $left OFFSET 0) f WHERE $dear >= 0")
{
	like(filter_of("$warm " . sprintf($query, 'fact')), $not, "2,500 lookups do not pay: $query");
	like(filter_of("$warm " . sprintf($query, 'wide')), qr/^built after [\d,]+ rows, 400 keys$/, '8,000 do');
}

# ----------------------------------------------------- rows that another filter removes

clocks(BLOCK_NS => 50_000);
# The scan of sales asks the filter of days. All items have sales, most of them on other days.
my $emptied = 'SET enable_hashjoin = on; SET random_page_cost = 0.02; SET join_collapse_limit = 1; SELECT count(*), sum(s.id) FROM (item i JOIN sales s ON s.k = i.k) JOIN days d USING (day) WHERE d.month = 0';
foreach my $cache ('off', 'on')
{
	my $query = "SET enable_memoize = $cache; $emptied";
	my $plan = explained($query);

	like($plan, qr/Filtered Scan: s\.day of sales s/, "Memoize $cache: the inner side asks the filter of days");
	like($plan, qr/Nested Loop Filter: not built after [\d,]+ rows, (?:100|[89]\d)\.\d % of them match$/m, "Memoize $cache: no filter of all sales") or diag($plan);
	same_rows("Memoize $cache: rows that another filter removes", $query, 1);
}

done_testing();
