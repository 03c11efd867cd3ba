# 1.0.0 with the library of now: its SQL runs as it did, its suites pass, and
# ALTER EXTENSION UPDATE makes of it what CREATE EXTENSION makes.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use CuckooCluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_cluster('main', extension => 0);

sub database
{
	my ($name, @queries) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE template0");
	$node->safe_psql($name, $_) foreach (@queries);
	return;
}

database('fresh', 'CREATE EXTENSION cuckoofilter');
database('old', "CREATE EXTENSION cuckoofilter VERSION '1.0.0'");

# All that an extension is, without OIDs: its members' definitions and comments.
my $catalog = q{
	SET search_path = public;
	WITH member AS (
		SELECT classid, objid FROM pg_depend
		WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoofilter') AND deptype = 'e')
	SELECT pg_describe_object(classid, objid, 0) || ': ' || coalesce(obj_description(objid, c.relname), 'no comment') || ' ' ||
		coalesce(
			CASE c.relname
				WHEN 'pg_proc' THEN (
					SELECT concat_ws(' ', CASE WHEN prokind = 'a' THEN '' ELSE pg_get_functiondef(p.oid) END, prokind, procost, prorows, prosrc, probin, proacl,
						provariadic::regtype, prosupport, proargnames, proargtypes::regtype[], prorettype::regtype,
						(SELECT to_jsonb(a) - 'aggfnoid' - 'aggtranstype' || jsonb_build_object('type', aggtranstype::regtype)
							FROM pg_aggregate a WHERE aggfnoid = p.oid))
					FROM pg_proc p WHERE p.oid = objid)
				WHEN 'pg_operator' THEN (
					SELECT concat_ws(' ', oprkind, oprcanmerge, oprcanhash, oprresult::regtype, oprcom::regoperator, oprnegate::regoperator, oprcode, oprrest, oprjoin)
					FROM pg_operator o WHERE o.oid = objid)
				WHEN 'pg_cast' THEN (
					SELECT concat_ws(' ', castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext, castmethod)
					FROM pg_cast k WHERE k.oid = objid)
				WHEN 'pg_type' THEN (
					SELECT concat_ws(' ', typlen, typbyval, typtype, typcategory, typispreferred, typdelim, typinput, typoutput, typreceive, typsend,
						typmodin, typanalyze, typalign, typstorage, typelem::regtype, typarray::regtype, typcollation)
					FROM pg_type t WHERE t.oid = objid)
				WHEN 'pg_opclass' THEN (
					SELECT concat_ws(' ', amname, opcname, opfname, opcintype::regtype, opcdefault, opckeytype)
					FROM pg_opclass oc JOIN pg_am ON pg_am.oid = opcmethod JOIN pg_opfamily f ON f.oid = opcfamily WHERE oc.oid = objid)
				WHEN 'pg_opfamily' THEN (
					SELECT concat_ws(' ', opfname,
						(SELECT array_agg(concat_ws(' ', amopstrategy, amopopr::regoperator, amoppurpose) ORDER BY amopstrategy) FROM pg_amop WHERE amopfamily = f.oid),
						(SELECT array_agg(concat_ws(' ', amprocnum, amproc::regprocedure) ORDER BY amprocnum) FROM pg_amproc WHERE amprocfamily = f.oid))
					FROM pg_opfamily f WHERE f.oid = objid)
			END, 'NO DEFINITION')
	FROM member JOIN pg_class c ON c.oid = classid
	UNION ALL
	SELECT concat_ws(' ', 'extension', extversion, extrelocatable, extnamespace::regnamespace, extconfig)
	FROM pg_extension WHERE extname = 'cuckoofilter'
	ORDER BY 1};

# What depends on the type and its casts survives.
$node->safe_psql(
	'old', q{
	CREATE TABLE kept AS SELECT g % 3 AS k, cuckoofilter_agg(g) AS f FROM generate_series(1, 9000) g GROUP BY 1;
	CREATE VIEW bytes_of AS SELECT k, f::bytea AS b FROM kept;
	CREATE VIEW whole AS SELECT cuckoofilter_union_agg(f) AS f FROM kept;
	CREATE INDEX by_bytes ON kept (md5(f::bytea));
	CREATE TABLE assigned (b bytea);
	CREATE FUNCTION assign(cuckoofilter) RETURNS bytea LANGUAGE sql IMMUTABLE AS 'SELECT $1::bytea'});
my $answers = q{
	SET enable_seqscan = off;
	SELECT md5(string_agg(b, '' ORDER BY k)), (SELECT cuckoofilter_count(f) FROM whole), (SELECT f @> 8999 FROM whole),
		(SELECT count(*) FROM kept x WHERE EXISTS (SELECT FROM kept y WHERE md5(y.f::bytea) = md5(x.f::bytea))),
		(SELECT md5(string_agg(assign(f), '' ORDER BY k)) FROM kept)
	FROM bytes_of};
my $before = $node->safe_psql('old', $answers);
like($before, qr/^\w{32}\|\d+\|t\|3\|\w{32}$/, 'views, an index and a function over 1.0.0');
unlike($node->safe_psql('old', $catalog), qr/NO DEFINITION/, 'every member has a definition');
isnt($node->safe_psql('old', $catalog), $node->safe_psql('fresh', $catalog), '1.0.0 is another extension');

# Every symbol that the SQL of 1.0.0 names is there: else CREATE FUNCTION had
# failed above.  Its suites:
mkdir "$ENV{TESTDIR}/old-suites" or die $! if !-d "$ENV{TESTDIR}/old-suites";
my @suites = map { /(\w+)\.sql$/ } sort glob("$FindBin::Bin/../1.0.0/sql/*.sql");
database('suites', "CREATE EXTENSION cuckoofilter VERSION '1.0.0'");
$node->safe_psql('postgres', "ALTER DATABASE suites SET $_")
  foreach ("lc_messages = 'C'", "lc_monetary = 'C'", "lc_numeric = 'C'", "lc_time = 'C'", "bytea_output = 'hex'", "timezone_abbreviations = 'Default'");
my $bindir = $node->config_data('--bindir');
foreach my $suite (@suites)
{
	my $ok = run_log(
		[
			$ENV{PG_REGRESS}, '--use-existing', '--dbname=suites', "--bindir=$bindir", "--inputdir=$FindBin::Bin/../1.0.0",
			"--outputdir=$ENV{TESTDIR}/old-suites", '--host=' . $node->host, '--port=' . $node->port, $suite
		]);
	ok($ok, "the suite $suite of 1.0.0");
	diag(slurp_file("$ENV{TESTDIR}/old-suites/regression.diffs")) if !$ok;
}

$node->safe_psql('old', 'ALTER EXTENSION cuckoofilter UPDATE');
is($node->safe_psql('old', $catalog), $node->safe_psql('fresh', $catalog), 'an upgraded database equals a fresh one');
is($node->safe_psql('old', $answers), $before, 'what was built on 1.0.0 answers as before');
is( $node->safe_psql('old', q{INSERT INTO assigned SELECT f FROM kept; SELECT md5(string_agg(b, '')) = (SELECT md5(string_agg(f::bytea, '')) FROM kept) FROM assigned}),
	't', 'assignment to bytea is still implicit');
is($node->safe_psql('old', 'DROP EXTENSION cuckoofilter CASCADE; SELECT count(*) FROM pg_depend WHERE deptype = $$e$$ AND refobjid NOT IN (SELECT oid FROM pg_extension)'),
	'0', 'dropped without a trace');

$node->stop;
done_testing();
