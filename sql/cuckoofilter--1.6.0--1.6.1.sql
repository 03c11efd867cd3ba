-- cuckoofilter 1.6.0 to 1.6.1.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.6.1'" to load this file. \quit

-- The columns of a row, and the parts of a pair, are hashed under the collations that they have in
-- the query, which the planner must keep.
COMMENT ON FUNCTION cuckoofilter_support(internal)
	IS 'planner support: estimates, and keeps the collations of items';
ALTER FUNCTION cuckoofilter_add(cuckoofilter, anycompatible) SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_add_all(cuckoofilter, "any") SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_add_all_array(cuckoofilter, anycompatiblearray) SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_remove(cuckoofilter, anycompatible) SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_remove_all(cuckoofilter, "any") SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_remove_all_array(cuckoofilter, anycompatiblearray) SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_contains_any(cuckoofilter, "any") SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_contains_any_array(cuckoofilter, anycompatiblearray) SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_contains_all(cuckoofilter, "any") SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_contains_all_array(cuckoofilter, anycompatiblearray) SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_copies(cuckoofilter, anycompatible) SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_hash(anycompatible) SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_hash(anycompatible, bigint) SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_part(anycompatible, integer) SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_add_pair(cuckoofilter, "any", "any") SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_remove_pair(cuckoofilter, "any", "any") SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_contains_pair(cuckoofilter, "any", "any") SUPPORT cuckoofilter_support;
ALTER FUNCTION cuckoofilter_which(cuckoofilter, "any", anyarray) SUPPORT cuckoofilter_support;
