-- cuckoofilter 1.6.0 to 1.6.1.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.6.1'" to load this file. \quit

-- Each part of a pair is hashed under the collation of its argument, which the planner must keep.
CREATE FUNCTION cuckoofilter_pair_support(internal)
	RETURNS internal
	AS 'MODULE_PATHNAME', 'cuckoofilter_pair_support'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_pair_support(internal)
	IS 'planner support: keeps the collations of the arguments of functions of pairs';
ALTER FUNCTION cuckoofilter_add_pair(cuckoofilter, "any", "any") SUPPORT cuckoofilter_pair_support;
ALTER FUNCTION cuckoofilter_remove_pair(cuckoofilter, "any", "any") SUPPORT cuckoofilter_pair_support;
ALTER FUNCTION cuckoofilter_contains_pair(cuckoofilter, "any", "any") SUPPORT cuckoofilter_pair_support;
ALTER FUNCTION cuckoofilter_which(cuckoofilter, "any", anyarray) SUPPORT cuckoofilter_pair_support;
