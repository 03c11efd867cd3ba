-- cuckoofilter 1.0.0 to 1.1.0.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.1.0'" to load this file. \quit

-- The state of an aggregate, stored as a value by an aggregate without its final
-- function, leaves as the filter that it stands for.  Views and indexes do not
-- depend on the cast, but have taken the bytes as they are: they keep that.
DROP CAST (cuckoofilter AS bytea);
CREATE CAST (cuckoofilter AS bytea) WITH FUNCTION cuckoofilter_send(cuckoofilter) AS ASSIGNMENT;
COMMENT ON CAST (cuckoofilter AS bytea)
	IS 'the bytes of the filter';
