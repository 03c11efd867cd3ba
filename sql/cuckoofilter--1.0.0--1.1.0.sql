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

-- An order, of no meaning but that of the bytes: for ORDER BY, and for DISTINCT,
-- PARTITION BY and the like where they sort.  = is not for merge joins (MERGES):
-- before PostgreSQL 17 an update of the extension could not make it so.

CREATE FUNCTION cuckoofilter_lt(cuckoofilter, cuckoofilter)
	RETURNS boolean
	AS 'bytealt'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_lt(cuckoofilter, cuckoofilter)
	IS 'implementation of < operator';

CREATE FUNCTION cuckoofilter_le(cuckoofilter, cuckoofilter)
	RETURNS boolean
	AS 'byteale'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_le(cuckoofilter, cuckoofilter)
	IS 'implementation of <= operator';

CREATE FUNCTION cuckoofilter_gt(cuckoofilter, cuckoofilter)
	RETURNS boolean
	AS 'byteagt'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_gt(cuckoofilter, cuckoofilter)
	IS 'implementation of > operator';

CREATE FUNCTION cuckoofilter_ge(cuckoofilter, cuckoofilter)
	RETURNS boolean
	AS 'byteage'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_ge(cuckoofilter, cuckoofilter)
	IS 'implementation of >= operator';

CREATE FUNCTION cuckoofilter_cmp(cuckoofilter, cuckoofilter)
	RETURNS integer
	AS 'byteacmp'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_cmp(cuckoofilter, cuckoofilter)
	IS 'less, equal or greater, by the bytes';

CREATE FUNCTION cuckoofilter_sortsupport(internal)
	RETURNS void
	AS 'bytea_sortsupport'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_sortsupport(internal)
	IS 'sort support, by the bytes';

CREATE OPERATOR < (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_lt, COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (cuckoofilter, cuckoofilter)
	IS 'before, by the bytes';

CREATE OPERATOR <= (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_le, COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (cuckoofilter, cuckoofilter)
	IS 'before or the same, by the bytes';

CREATE OPERATOR > (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_gt, COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (cuckoofilter, cuckoofilter)
	IS 'after, by the bytes';

CREATE OPERATOR >= (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_ge, COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (cuckoofilter, cuckoofilter)
	IS 'after or the same, by the bytes';

CREATE OPERATOR FAMILY cuckoofilter_ops USING btree;
COMMENT ON OPERATOR FAMILY cuckoofilter_ops USING btree
	IS 'order of cuckoofilters by their bytes, for ORDER BY, DISTINCT and PARTITION BY';

CREATE OPERATOR CLASS cuckoofilter_ops
	DEFAULT FOR TYPE cuckoofilter USING btree FAMILY cuckoofilter_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 cuckoofilter_cmp(cuckoofilter, cuckoofilter),
	FUNCTION 2 cuckoofilter_sortsupport(internal);
COMMENT ON OPERATOR CLASS cuckoofilter_ops USING btree
	IS 'order of cuckoofilters by their bytes, for ORDER BY, DISTINCT and PARTITION BY';

-- 1e6 is a numeric, which PostgreSQL casts to this but not to bigint.  Integers
-- come here too, as double precision is the preferred type of numbers.
CREATE FUNCTION cuckoofilter_create(capacity double precision, fpr double precision DEFAULT 0.01, options text DEFAULT '')
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_create_float8'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_create(capacity double precision, fpr double precision, options text)
	IS 'an empty filter whose false positive rate stays at or under fpr up to capacity distinct items';

-- A NULL item, or hash, changes nothing, where it gave NULL.
ALTER FUNCTION cuckoofilter_add(cuckoofilter, anycompatible) CALLED ON NULL INPUT;
COMMENT ON FUNCTION cuckoofilter_add(cuckoofilter, anycompatible)
	IS 'the filter with the item; NULL changes nothing';
ALTER FUNCTION cuckoofilter_remove(cuckoofilter, anycompatible) CALLED ON NULL INPUT;
COMMENT ON FUNCTION cuckoofilter_remove(cuckoofilter, anycompatible)
	IS 'the filter without one copy of the item, which must have been added before; NULL changes nothing';
ALTER FUNCTION cuckoofilter_add_hash(cuckoofilter, bigint) CALLED ON NULL INPUT;
COMMENT ON FUNCTION cuckoofilter_add_hash(cuckoofilter, bigint)
	IS 'the filter with the hash; NULL changes nothing';
ALTER FUNCTION cuckoofilter_remove_hash(cuckoofilter, bigint) CALLED ON NULL INPUT;
COMMENT ON FUNCTION cuckoofilter_remove_hash(cuckoofilter, bigint)
	IS 'the filter without one copy of the hash, which must have been added before; NULL changes nothing';

-- Each of many items keeps its type, where all met in one.  The functions as they
-- were stay, under another name, for the views, rules and indexes that were made
-- with them; an index for queries that are written later must be created again.
ALTER FUNCTION cuckoofilter_contains_any(cuckoofilter, VARIADIC anycompatiblearray) RENAME TO cuckoofilter_contains_any_array;
ALTER FUNCTION cuckoofilter_contains_any_array(cuckoofilter, VARIADIC anycompatiblearray) CALLED ON NULL INPUT;
COMMENT ON FUNCTION cuckoofilter_contains_any_array(cuckoofilter, VARIADIC anycompatiblearray)
	IS 'cuckoofilter_contains_any as it was in 1.0.0, kept for what was made with it';

ALTER FUNCTION cuckoofilter_contains_all(cuckoofilter, VARIADIC anycompatiblearray) RENAME TO cuckoofilter_contains_all_array;
ALTER FUNCTION cuckoofilter_contains_all_array(cuckoofilter, VARIADIC anycompatiblearray) CALLED ON NULL INPUT;
COMMENT ON FUNCTION cuckoofilter_contains_all_array(cuckoofilter, VARIADIC anycompatiblearray)
	IS 'cuckoofilter_contains_all as it was in 1.0.0, kept for what was made with it';

ALTER FUNCTION cuckoofilter_add_all(cuckoofilter, VARIADIC anycompatiblearray) RENAME TO cuckoofilter_add_all_array;
ALTER FUNCTION cuckoofilter_add_all_array(cuckoofilter, VARIADIC anycompatiblearray) CALLED ON NULL INPUT;
COMMENT ON FUNCTION cuckoofilter_add_all_array(cuckoofilter, VARIADIC anycompatiblearray)
	IS 'cuckoofilter_add_all as it was in 1.0.0, kept for what was made with it';

ALTER FUNCTION cuckoofilter_remove_all(cuckoofilter, VARIADIC anycompatiblearray) RENAME TO cuckoofilter_remove_all_array;
ALTER FUNCTION cuckoofilter_remove_all_array(cuckoofilter, VARIADIC anycompatiblearray) CALLED ON NULL INPUT;
COMMENT ON FUNCTION cuckoofilter_remove_all_array(cuckoofilter, VARIADIC anycompatiblearray)
	IS 'cuckoofilter_remove_all as it was in 1.0.0, kept for what was made with it';

CREATE FUNCTION cuckoofilter_contains_any(filter cuckoofilter, VARIADIC items "any")
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_any_item'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION cuckoofilter_contains_any(filter cuckoofilter, VARIADIC items "any")
	IS 'is any of the items in the filter? NULLs are skipped';

CREATE FUNCTION cuckoofilter_contains_all(filter cuckoofilter, VARIADIC items "any")
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_all_items'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION cuckoofilter_contains_all(filter cuckoofilter, VARIADIC items "any")
	IS 'are all of the items in the filter? NULLs are skipped';

CREATE FUNCTION cuckoofilter_add_all(filter cuckoofilter, VARIADIC items "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_items'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cuckoofilter_add_all(filter cuckoofilter, VARIADIC items "any")
	IS 'the filter with all of the items; NULLs are skipped';

CREATE FUNCTION cuckoofilter_remove_all(filter cuckoofilter, VARIADIC items "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_remove_items'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cuckoofilter_remove_all(filter cuckoofilter, VARIADIC items "any")
	IS 'the filter without one copy of each of the items; NULLs are skipped';

-- It reads the header alone.
ALTER FUNCTION cuckoofilter_info(cuckoofilter) COST 100;
COMMENT ON FUNCTION cuckoofilter_info(filter cuckoofilter)
	IS 'all there is to tell about a filter, from its header';

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity double precision)
	IS 'transition of cuckoofilter_agg';

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity double precision, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity double precision, options text)
	IS 'transition of cuckoofilter_agg';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity double precision)
	IS 'transition of cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity double precision, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity double precision, options text)
	IS 'transition of cuckoofilter_agg_hash';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity double precision) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity double precision)
	IS 'a filter of the distinct items, with room for capacity, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity double precision) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity double precision)
	IS 'a filter of the distinct hashes, with room for capacity, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity double precision, options text) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity double precision, options text)
	IS 'a filter of the distinct items, with room for capacity, at a false positive rate of fpr, with options';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity double precision, options text) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity double precision, options text)
	IS 'a filter of the distinct hashes, with room for capacity, at a false positive rate of fpr, with options';

-- How to add a batch.  Its state is no cuckoofilter but the filter and a list of
-- hashes; partial states could not tell which filter came first.

CREATE FUNCTION cuckoofilter_add_agg_transition(state internal, filter cuckoofilter, item anycompatible)
	RETURNS internal
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_add_agg_transition(state internal, filter cuckoofilter, item anycompatible)
	IS 'transition of cuckoofilter_add_agg';

CREATE FUNCTION cuckoofilter_add_agg_final(state internal)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_agg_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_add_agg_final(state internal)
	IS 'end of cuckoofilter_add_agg';

CREATE AGGREGATE cuckoofilter_add_agg(filter cuckoofilter, item anycompatible) (
	SFUNC = cuckoofilter_add_agg_transition, STYPE = internal, SSPACE = 8192,
	FINALFUNC = cuckoofilter_add_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_add_agg(filter cuckoofilter, item anycompatible)
	IS 'the first filter that is not NULL, with all of the items; other filters of the group are not looked at';
