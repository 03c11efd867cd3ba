-- cuckoofilter 1.0.0 to 1.1.0.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.1.0'" to load this file. \quit

-- The state of an aggregate, stored as a value by an aggregate without its final
-- function, leaves as the filter that it stands for.  Views do not depend on
-- the cast and keep what they have taken.  So do indexes, but a query written
-- later has the function in it: an index for it must be created again.
CREATE FUNCTION cuckoofilter_to_bytea(cuckoofilter)
	RETURNS bytea
	AS 'MODULE_PATHNAME', 'cuckoofilter_to_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_to_bytea(cuckoofilter)
	IS 'the bytes of a cuckoofilter';
DROP CAST (cuckoofilter AS bytea);
CREATE CAST (cuckoofilter AS bytea) WITH FUNCTION cuckoofilter_to_bytea(cuckoofilter) AS ASSIGNMENT;
COMMENT ON CAST (cuckoofilter AS bytea)
	IS 'the bytes of the filter';
