# The state of an aggregate as a value: an aggregate of one's own without the
# final function makes one.  Functions refuse it by name; what writes it out
# writes an ordinary filter, with which the aggregates go on.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use CuckooCluster;
use MIME::Base64;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_cluster('main', conf => "max_parallel_workers_per_gather = 0\n");

# State and filter of the same items: few, and so many that a state is large
# and its value toasted.
$node->safe_psql(
	'postgres', q{
	CREATE AGGREGATE state_of(integer) (SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter);
	CREATE AGGREGATE union_state_of(cuckoofilter) (SFUNC = cuckoofilter_union_agg_transition, STYPE = cuckoofilter);
	CREATE AGGREGATE agg_of_states(cuckoofilter) (SFUNC = cuckoofilter_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_agg_final);
	CREATE AGGREGATE union_of_states(cuckoofilter) (SFUNC = cuckoofilter_union_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_merge_agg_final);
	CREATE AGGREGATE sum_of_states(cuckoofilter) (SFUNC = cuckoofilter_sum_agg_combine, STYPE = cuckoofilter, FINALFUNC = cuckoofilter_merge_agg_final);
	CREATE TABLE stored AS SELECT n, state_of(g) AS s, cuckoofilter_agg(g) AS f FROM (VALUES (3), (200000)) v(n), generate_series(1, n) g GROUP BY n;
	CREATE TABLE raw (b bytea)});

my @refused = (
	's @> 1', '1 <@ s', 'cuckoofilter_contains(s, 1)', 'cuckoofilter_contains_hash(s, 1)', 'cuckoofilter_contains_any(s, 1, 2)',
	'cuckoofilter_contains_all(s, 1, 2)', 'cuckoofilter_copies(s, 1)', 's + 1', 's - 1', 'cuckoofilter_add_all(s, 1, 2)',
	'cuckoofilter_remove_all(s, 1, 2)', 'cuckoofilter_add_hash(s, 1)', 'cuckoofilter_remove_hash(s, 1)', 's | f', 'f | s',
	'cuckoofilter_sum(f, s)', 'cuckoofilter_compact(s)', 'cuckoofilter_count(s)', 'cuckoofilter_fpr(s)', 'cuckoofilter_info(s)',
	'cuckoofilter_union_agg(s)', 'cuckoofilter_sum_agg(s)', 'cuckoofilter_add_agg(s, 1)',
	'cuckoofilter_intersect(s, f)', 'cuckoofilter_intersect(f, s)', 'cuckoofilter_intersect_agg(s)', 'cuckoofilter_overlap(f, s)', 'cuckoofilter_jaccard(s, f)');
foreach my $call (@refused)
{
	foreach my $n (3, 200_000)
	{
		my (undef, undef, $stderr) =
		  $node->psql('postgres', "SELECT $call FROM stored WHERE n = $n", extra_params => [ '-v', 'VERBOSITY=verbose' ]);
		like(
			$stderr,
			qr/ERROR:  55000: cuckoofilter is the unfinished state of an aggregate\nHINT:  Cast it to bytea and back, or call the aggregate with its final function\./,
			"$call of $n items");
	}
}

# Every way out, and a way in for what comes out.
my $file = PostgreSQL::Test::Utils::tempdir() . '/copy';
$node->safe_psql(
	'postgres', qq{
	CREATE TABLE copied (LIKE stored);
	COPY stored TO '$file' (FORMAT binary);
	COPY copied FROM '$file' (FORMAT binary);
	INSERT INTO raw SELECT s FROM stored});
my %out = (
	'text' => 'SELECT n, s::text::cuckoofilter AS s FROM stored',
	'the cast' => 'SELECT n, s::bytea::cuckoofilter AS s FROM stored',
	'send' => 'SELECT n, cuckoofilter_send(s)::cuckoofilter AS s FROM stored',
	'COPY in binary' => 'SELECT n, s FROM copied',
	'an assignment' => 'SELECT cuckoofilter_count(s) AS n, s FROM (SELECT b::cuckoofilter AS s FROM raw) r');
foreach my $way (sort keys %out)
{
	is( $node->safe_psql('postgres', "SELECT n, cuckoofilter_count(s), s \@> n FROM ($out{$way}) o ORDER BY n"),
		"3|3|t\n200000|200000|t", "$way makes a filter of it");
	is( $node->safe_psql('postgres', "SELECT n, agg_of_states(o.s) = f AS same FROM ($out{$way}) o JOIN stored USING (n) GROUP BY n, f ORDER BY n"),
		"3|t\n200000|t", "$way: cuckoofilter_agg goes on to the bytes of one server");
}

# A filter in place of either state, or of both; toasted, short, NULL.
foreach my $inputs ('VALUES (1, s), (2, f)', 'VALUES (1, f), (2, s)', 'VALUES (1, f), (2, f)', 'VALUES (1, s), (2, s::bytea::cuckoofilter)', 'VALUES (1, NULL), (2, s::text::cuckoofilter), (3, NULL), (4, s)')
{
	foreach my $aggregate (qw(union_of_states sum_of_states))
	{
		is( $node->safe_psql('postgres', qq{
				SELECT n, (SELECT count(*) FROM generate_series(1, n) g WHERE NOT u \@> g)
				FROM (SELECT n, (SELECT $aggregate(i.x ORDER BY i.o) FROM ($inputs) AS i(o, x)) AS u FROM stored) q ORDER BY n}),
			"3|0\n200000|0", "$aggregate of ($inputs) has every item");
	}
}

# The bytes of a state come in nowhere.  Those of an empty one, by hand:
$node->safe_psql('postgres', 'CREATE TABLE taken AS SELECT s FROM stored WHERE n = 3');
my ($path) = $node->safe_psql('postgres', 'CHECKPOINT; SELECT pg_relation_filepath($$taken$$)');
my $page = slurp_file($node->data_dir . "/$path");
my $at = index($page, "CKF\x02\x01\x03");
cmp_ok($at, '>', 0, 'a stored state is found in its page');
my $state = substr($page, $at, 120);
is(error_state($node, 'SELECT decode($$' . unpack('H*', $state) . '$$, $$hex$$)::cuckoofilter'), '22P03', 'refused as bytea');
is(error_state($node, 'SELECT $$' . encode_base64($state, '') . '$$::cuckoofilter'), '22P02', 'refused as text');

# Over no rows each aggregate is the same: the empty default filter.
is( $node->safe_psql('postgres', q{
		SELECT cuckoofilter_agg(g) = cuckoofilter_union_agg(f), cuckoofilter_agg(g) = cuckoofilter_sum_agg(f),
			cuckoofilter_agg(g) = cuckoofilter_agg_hash(g, 0.001, 77, 'kind=set, seed=5'), cuckoofilter_info(cuckoofilter_agg(g)) ->> 'kind',
			cuckoofilter_count(cuckoofilter_union_agg(f))
		FROM (SELECT NULL::bigint AS g, NULL::cuckoofilter AS f WHERE false) none}),
	't|t|t|deletable|0', 'over no rows');

$node->stop;
done_testing();
