-- What CREATE EXTENSION makes: documented, relocatable, the promised labels.
\pset format unaligned
\pset tuples_only on

SELECT extversion = cuckoofilter_version() AS version, extrelocatable FROM pg_extension WHERE extname = 'cuckoofilter';

-- every object has a comment, but for the types that PostgreSQL adds: of arrays and of rows
SELECT pg_describe_object(classid, objid, 0) FROM pg_depend d
	WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoofilter') AND deptype = 'e'
	AND obj_description(objid, classid::regclass::name) IS NULL
	AND NOT (classid = 'pg_type'::regclass AND objid IN (SELECT oid FROM pg_type WHERE typcategory = 'A' OR typrelid <> 0));

-- IMMUTABLE and PARALLEL SAFE, all; STRICT but for changes by items, which a NULL item leaves undone,
-- questions about many, and the support of aggregates
SELECT proname, provolatile, proparallel FROM pg_proc
	WHERE oid IN (SELECT objid FROM pg_depend WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoofilter') AND deptype = 'e')
	AND (provolatile <> 'i' OR proparallel <> 's') ORDER BY 1;
SELECT proname FROM pg_proc
	WHERE oid IN (SELECT objid FROM pg_depend WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'cuckoofilter') AND deptype = 'e')
	AND NOT proisstrict AND prokind = 'f' GROUP BY 1 ORDER BY 1;

-- states are the type itself, with a combine function, but for that of add_agg; ends change nothing
SELECT p.oid::regprocedure, aggtranstype::regtype, aggcombinefn::regproc, aggfinalmodify FROM pg_aggregate a JOIN pg_proc p ON p.oid = aggfnoid
	WHERE proname LIKE 'cuckoofilter%' ORDER BY p.oid::regprocedure::text COLLATE "C";

SELECT oprname, oprleft::regtype, oprright::regtype, oprresult::regtype, oprcom <> 0 AS commutator, oprnegate <> 0 AS negator
	FROM pg_operator WHERE oprleft = 'cuckoofilter'::regtype OR oprright = 'cuckoofilter'::regtype ORDER BY oprname, 2;

-- any schema, and from one to another
CREATE SCHEMA elsewhere;
CREATE TABLE kept AS SELECT cuckoofilter_create(10) + 'a' AS f;
ALTER EXTENSION cuckoofilter SET SCHEMA elsewhere;
SELECT f OPERATOR(elsewhere.@>) 'a', elsewhere.cuckoofilter_contains(f, 'b'), elsewhere.cuckoofilter_count(f) FROM kept;
SET search_path = public, elsewhere;
SELECT cuckoofilter_agg(g) @> 1 FROM generate_series(1, 100) g;
ALTER EXTENSION cuckoofilter SET SCHEMA public;
RESET search_path;
SELECT f @> 'a', f @> 'b' FROM kept;

-- gone without a trace
DROP TABLE kept;
DROP SCHEMA elsewhere;
BEGIN;
DROP EXTENSION cuckoofilter;
SELECT count(*) FROM pg_proc WHERE proname LIKE '%cuckoofilter%';
SELECT to_regtype('cuckoofilter');
ROLLBACK;
