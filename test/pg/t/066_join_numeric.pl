# Joins of numeric keys of other types: random values near doubles, their ties and subnormals.
use CuckooCluster;
use CuckooJoin;
use CuckooRandom;

my $node = new_cluster('main', conf => "session_preload_libraries = 'cuckoofilter_join'\ncuckoofilter.join_filter_min_rows = 0\ncuckoofilter.join_filter_max_pass = 1\n");
my $seed = seed();
$node->safe_psql('postgres', 'SELECT setseed(' . $seed % 1000 / 1000 . ');' . q{
	CREATE TABLE reals AS SELECT x FROM (SELECT (random() * power(10::float8, (random() * 44 - 22)::int))::float8 AS x FROM generate_series(1, 1500)
		UNION ALL SELECT power(2::float8, g) FROM generate_series(-1074, 1023, 5) g UNION ALL SELECT (9007199254740992 + g * 2)::float8 FROM generate_series(0, 99) g) s;
	CREATE TABLE big AS SELECT x::text::numeric AS n, x FROM reals, generate_series(1, 4)
		UNION ALL SELECT x::numeric + 0.5, x FROM reals WHERE x BETWEEN 1e6 AND 1e20 UNION ALL SELECT (18446744073709551000 + g)::numeric(20), g FROM generate_series(1, 900) g UNION ALL SELECT g, g FROM generate_series(1, 900) g;
	CREATE TABLE ids AS SELECT (18446744073709551000 + g * 3)::numeric(20) AS id, g::int8 AS i, g FROM generate_series(1, 300) g;
	CREATE TABLE parts (n numeric, x float8) PARTITION BY HASH (n);
	CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parts SELECT * FROM big; CREATE INDEX ON parts (n); CREATE INDEX ON parts ((n::float8)); CREATE INDEX ON big (n); CREATE INDEX ON big ((n::float8)); ANALYZE});
foreach my $from ('big', 'parts')
{
	foreach my $on ("$from b JOIN reals r ON b.n = r.x WHERE r.x > 1e-300", "$from b JOIN ids r ON b.n = r.id WHERE r.g % 3 = 0", "$from b JOIN ids r ON b.n = r.i WHERE r.g % 3 = 0", "$from b JOIN big r ON b.n = r.n WHERE r.x < 1")
	{
		foreach my $plan ('', 'SET enable_mergejoin = off; SET enable_nestloop = off;', 'SET enable_hashjoin = off; SET enable_mergejoin = off;')
		{
			my %got = map { $_ => $node->safe_psql('postgres', "SET cuckoofilter.join_filter = $_; $plan SELECT count(*), sum(hashtext(b.n::text)) FROM $on") } qw(off on verify);
			is($got{on}, $got{off}, "SEED=$seed on: $plan $on");
			is($got{verify}, $got{off}, "SEED=$seed verify: $plan $on");
		}
	}
}
$node->stop;
done_testing();
