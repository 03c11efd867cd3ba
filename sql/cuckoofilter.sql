-- The SQL of the extension: everything that CREATE EXTENSION makes, by theme, as in REFERENCE.md.
--
-- This file is the source. make copies it to cuckoofilter--VERSION.sql. Who changes an object here also writes the
-- statement that changes it into the newest upgrade script, cuckoofilter--OLD--NEW.sql. 017_upgrade compares a database
-- that was updated, from each version, with a fresh one.
--
-- Items are `anycompatible`: one form of each function serves every type, an untyped literal or parameter is text, and
-- arguments of different types get their common type. There are no overloads for text, bigint and so on beside it, on
-- purpose: one for text would catch citext (and the planner folds the cast of a constant, so that not even the library could
-- see it), one for bigint makes oid ambiguous, and one for bytea any type that casts to it. Functions of many items are
-- VARIADIC "any", so that each item keeps its type.
--
-- A function that changes a filter by an item is not STRICT: a NULL item changes nothing. Those of a filter table are, so that
-- a NULL item gives NULL.

\echo Use "CREATE EXTENSION cuckoofilter" to load this file. \quit

-- ------------------------------------------------------------------------- the type and its casts

CREATE TYPE cuckoofilter;

CREATE FUNCTION cuckoofilter_in(cstring)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_in(cstring)
	IS 'input function: converts base64 text to cuckoofilter';

CREATE FUNCTION cuckoofilter_out(cuckoofilter)
	RETURNS cstring
	AS 'MODULE_PATHNAME', 'cuckoofilter_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_out(cuckoofilter)
	IS 'output function: converts cuckoofilter to base64 text';

CREATE FUNCTION cuckoofilter_recv(internal)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_recv(internal)
	IS 'receive function: converts the binary form to cuckoofilter';

CREATE FUNCTION cuckoofilter_send(cuckoofilter)
	RETURNS bytea
	AS 'MODULE_PATHNAME', 'cuckoofilter_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_send(cuckoofilter)
	IS 'send function: converts cuckoofilter to its binary form';

-- External: filters do not compress, and a header can be read without the rest. Alignment: the engine reads bytes at
-- any address; int4 wastes the least.
CREATE TYPE cuckoofilter (
	INPUT = cuckoofilter_in,
	OUTPUT = cuckoofilter_out,
	RECEIVE = cuckoofilter_recv,
	SEND = cuckoofilter_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE cuckoofilter
	IS 'cuckoo filter for approximate membership tests; it grows, merges with others, and can remove items';

-- Its bytes are its text, binary and bytea form, here and in SQLite.

CREATE FUNCTION cuckoofilter_from_bytea(bytea)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_from_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_from_bytea(bytea)
	IS 'validates bytes and converts them to cuckoofilter';

CREATE CAST (bytea AS cuckoofilter) WITH FUNCTION cuckoofilter_from_bytea(bytea);
COMMENT ON CAST (bytea AS cuckoofilter)
	IS 'validates the bytes and converts them';

-- With a function, not binary coercible: a state of an aggregate, if a value holds one, leaves as the filter that it
-- stands for. The bytes of a filter are not even fetched.
CREATE FUNCTION cuckoofilter_to_bytea(cuckoofilter)
	RETURNS bytea
	AS 'MODULE_PATHNAME', 'cuckoofilter_to_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_to_bytea(cuckoofilter)
	IS 'the bytes of a cuckoofilter';

CREATE CAST (cuckoofilter AS bytea) WITH FUNCTION cuckoofilter_to_bytea(cuckoofilter) AS ASSIGNMENT;
COMMENT ON CAST (cuckoofilter AS bytea)
	IS 'the bytes of the filter';

-- ------------------------------------------------------------------------ the planner's estimates

CREATE FUNCTION cuckoofilter_support(internal)
	RETURNS internal
	AS 'MODULE_PATHNAME', 'cuckoofilter_support'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_support(internal)
	IS 'planner support: estimates, and keeps the collations of items';

CREATE FUNCTION cuckoofilter_sel(internal, oid, internal, integer)
	RETURNS double precision
	AS 'MODULE_PATHNAME', 'cuckoofilter_sel'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_sel(internal, oid, internal, integer)
	IS 'restriction selectivity of @> and <@';

-- ------------------------------------------------------------------------------------- one filter

CREATE FUNCTION cuckoofilter_create(capacity bigint, fpr double precision DEFAULT 0.01, options text DEFAULT '')
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_create'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_create(capacity bigint, fpr double precision, options text)
	IS 'creates an empty filter whose false positive rate is at most fpr up to capacity distinct items';

-- 1e6 is a numeric, which PostgreSQL casts to double precision but not to bigint. Integers come here too, as
-- double precision is the preferred type of numbers.
CREATE FUNCTION cuckoofilter_create(capacity double precision, fpr double precision DEFAULT 0.01, options text DEFAULT '')
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_create_float8'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_create(capacity double precision, fpr double precision, options text)
	IS 'creates an empty filter whose false positive rate is at most fpr up to capacity distinct items';

CREATE FUNCTION cuckoofilter_bytes(capacity bigint, fpr double precision DEFAULT 0.01, options text DEFAULT '')
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_bytes'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_bytes(capacity bigint, fpr double precision, options text)
	IS 'estimated bytes of the filter that an aggregate builds from capacity distinct items';

CREATE FUNCTION cuckoofilter_bytes(capacity double precision, fpr double precision DEFAULT 0.01, options text DEFAULT '')
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_bytes_float8'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_bytes(capacity double precision, fpr double precision, options text)
	IS 'estimated bytes of the filter that an aggregate builds from capacity distinct items';

CREATE FUNCTION cuckoofilter_add(filter cuckoofilter, item anycompatible)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_add(filter cuckoofilter, item anycompatible)
	IS 'adds an item to the filter; a NULL item changes nothing';

CREATE FUNCTION cuckoofilter_add_all(filter cuckoofilter, VARIADIC items "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_items'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_add_all(filter cuckoofilter, VARIADIC items "any")
	IS 'adds items to the filter; NULLs are skipped';

CREATE FUNCTION cuckoofilter_contains(filter cuckoofilter, item anycompatible)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_contains(filter cuckoofilter, item anycompatible)
	IS 'is the item in the filter? false: certainly not; true: probably';

CREATE FUNCTION cuckoofilter_contained(item anycompatible, filter cuckoofilter)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contained'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_contained(item anycompatible, filter cuckoofilter)
	IS 'implementation of <@ operator';

CREATE FUNCTION cuckoofilter_contains_any(filter cuckoofilter, VARIADIC items "any")
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_any_item'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_contains_any(filter cuckoofilter, VARIADIC items "any")
	IS 'is any of the items in the filter? NULLs are skipped';

CREATE FUNCTION cuckoofilter_contains_all(filter cuckoofilter, VARIADIC items "any")
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_all_items'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_contains_all(filter cuckoofilter, VARIADIC items "any")
	IS 'are all of the items in the filter? NULLs are skipped';

CREATE FUNCTION cuckoofilter_copies(filter cuckoofilter, item anycompatible)
	RETURNS integer
	AS 'MODULE_PATHNAME', 'cuckoofilter_copies'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_copies(filter cuckoofilter, item anycompatible)
	IS 'how many copies of the item are stored, up to twice the bucket size';

CREATE FUNCTION cuckoofilter_remove(filter cuckoofilter, item anycompatible)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_remove'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_remove(filter cuckoofilter, item anycompatible)
	IS 'removes one copy of an item, which must have been added before; a NULL item changes nothing';

CREATE FUNCTION cuckoofilter_remove_all(filter cuckoofilter, VARIADIC items "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_remove_items'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_remove_all(filter cuckoofilter, VARIADIC items "any")
	IS 'removes one copy of each item, which must have been added before; NULLs are skipped';

CREATE FUNCTION cuckoofilter_compact(filter cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_compact'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_compact(filter cuckoofilter)
	IS 'the same items in the fewest bytes';

-- Functions of many items as 1.0.0 had them: views, rules and indexes of a database that was updated contain these, and a
-- dump of it names them. Nothing new should call them.

CREATE FUNCTION cuckoofilter_contains_any_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_any'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_contains_any_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_contains_any of version 1.0.0, kept for objects that call it';

CREATE FUNCTION cuckoofilter_contains_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_contains_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_contains_all of version 1.0.0, kept for objects that call it';

CREATE FUNCTION cuckoofilter_add_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_add_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_add_all of version 1.0.0, kept for objects that call it';

CREATE FUNCTION cuckoofilter_remove_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_remove_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_remove_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_remove_all of version 1.0.0, kept for objects that call it';

-- ----------------------------------------------------------------------------- items with a value

-- An item with a value is the item ROW(item, value). The aggregate cuckoofilter_agg_pair is below, among the aggregates.

CREATE FUNCTION cuckoofilter_add_pair(filter cuckoofilter, item "any", value "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_pair'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_add_pair(filter cuckoofilter, item "any", value "any")
	IS 'adds the item ROW(item, value) to the filter; if either is NULL, nothing changes';

CREATE FUNCTION cuckoofilter_remove_pair(filter cuckoofilter, item "any", value "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_remove_pair'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_remove_pair(filter cuckoofilter, item "any", value "any")
	IS 'removes one copy of the item ROW(item, value), which must have been added before; if either is NULL, nothing changes';

CREATE FUNCTION cuckoofilter_contains_pair(filter cuckoofilter, item "any", value "any")
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_pair'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_contains_pair(filter cuckoofilter, item "any", value "any")
	IS 'is the item ROW(item, value) in the filter? false: certainly not; true: probably';

CREATE FUNCTION cuckoofilter_which(filter cuckoofilter, item "any", candidates anyarray)
	RETURNS anyarray
	AS 'MODULE_PATHNAME', 'cuckoofilter_which'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_which(filter cuckoofilter, item "any", candidates anyarray)
	IS 'the candidates that the filter probably has as a value of the item, in their order; NULLs are skipped';

-- ----------------------------------------------------------------------------------------- hashes

-- Hash an item once, to look it up in many filters; or bring your own hash.

CREATE FUNCTION cuckoofilter_hash(item anycompatible)
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_hash(item anycompatible)
	IS 'the 64-bit hash of an item in filters of seed 0';

CREATE FUNCTION cuckoofilter_hash(item anycompatible, seed bigint)
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_hash(item anycompatible, seed bigint)
	IS 'the 64-bit hash of an item in filters of this seed';

CREATE FUNCTION cuckoofilter_part(item anycompatible, parts integer)
	RETURNS integer
	AS 'MODULE_PATHNAME', 'cuckoofilter_part'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2
	SUPPORT cuckoofilter_support;
COMMENT ON FUNCTION cuckoofilter_part(item anycompatible, parts integer)
	IS 'the part of an item, 0 to parts - 1, if a filter is kept in parts';

CREATE FUNCTION cuckoofilter_add_hash(filter cuckoofilter, hash bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_hash'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_add_hash(filter cuckoofilter, hash bigint)
	IS 'adds a hash to the filter; a NULL hash changes nothing';

CREATE FUNCTION cuckoofilter_contains_hash(filter cuckoofilter, hash bigint)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3;
COMMENT ON FUNCTION cuckoofilter_contains_hash(filter cuckoofilter, hash bigint)
	IS 'is the hash in the filter?';

CREATE FUNCTION cuckoofilter_remove_hash(filter cuckoofilter, hash bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_remove_hash'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_remove_hash(filter cuckoofilter, hash bigint)
	IS 'removes one copy of a hash, which must have been added before; a NULL hash changes nothing';

-- ------------------------------------------------------------------------------------ two filters

CREATE FUNCTION cuckoofilter_union(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_union'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_union(a cuckoofilter, b cuckoofilter)
	IS 'merges two filters into a set that has the items of both';

CREATE FUNCTION cuckoofilter_sum(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_sum'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_sum(a cuckoofilter, b cuckoofilter)
	IS 'merges two filters that have no item in common, and keeps all copies';

CREATE FUNCTION cuckoofilter_intersect(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_intersect'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_intersect(a cuckoofilter, b cuckoofilter)
	IS 'a set that has the items that are in both filters';

CREATE FUNCTION cuckoofilter_overlap(a cuckoofilter, b cuckoofilter)
	RETURNS double precision
	AS 'MODULE_PATHNAME', 'cuckoofilter_overlap'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_overlap(a cuckoofilter, b cuckoofilter)
	IS 'estimated number of distinct items that are in both filters';

CREATE FUNCTION cuckoofilter_overlap_error(a cuckoofilter, b cuckoofilter)
	RETURNS double precision
	AS 'MODULE_PATHNAME', 'cuckoofilter_overlap_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_overlap_error(a cuckoofilter, b cuckoofilter)
	IS 'the standard error of cuckoofilter_overlap';

CREATE FUNCTION cuckoofilter_jaccard(a cuckoofilter, b cuckoofilter)
	RETURNS double precision
	AS 'MODULE_PATHNAME', 'cuckoofilter_jaccard'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_jaccard(a cuckoofilter, b cuckoofilter)
	IS 'estimated Jaccard index: the distinct items in both filters divided by those in either; NULL if both are empty';

-- ------------------------------------------------------------------------- properties of a filter

CREATE FUNCTION cuckoofilter_count(filter cuckoofilter)
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_count'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_count(filter cuckoofilter)
	IS 'number of copies stored in the filter';

CREATE FUNCTION cuckoofilter_fpr(filter cuckoofilter)
	RETURNS double precision
	AS 'MODULE_PATHNAME', 'cuckoofilter_fpr'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_fpr(filter cuckoofilter)
	IS 'the false positive rate to expect now';

CREATE FUNCTION cuckoofilter_info(filter cuckoofilter)
	RETURNS jsonb
	AS 'MODULE_PATHNAME', 'cuckoofilter_info'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_info(filter cuckoofilter)
	IS 'parameters and statistics of a filter, read from its header';

CREATE FUNCTION cuckoofilter_version()
	RETURNS text
	AS 'MODULE_PATHNAME', 'cuckoofilter_version'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_version()
	IS 'version of the library';

-- ------------------------------------------------------------------------------------- aggregates

-- A state is a filter in whole hashes, which the combine functions take in any form: partial states travel between
-- servers.

CREATE FUNCTION cuckoofilter_agg_combine(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_agg_combine(a cuckoofilter, b cuckoofilter)
	IS 'combine function of cuckoofilter_agg and cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_final(state cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_agg_final(state cuckoofilter)
	IS 'final function of cuckoofilter_agg and cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible)
	IS 'transition function of cuckoofilter_agg';

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision)
	IS 'transition function of cuckoofilter_agg';

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity bigint)
	IS 'transition function of cuckoofilter_agg';

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity bigint, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity bigint, options text)
	IS 'transition function of cuckoofilter_agg';

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity double precision)
	IS 'transition function of cuckoofilter_agg';

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity double precision, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity double precision, options text)
	IS 'transition function of cuckoofilter_agg';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible)
	IS 'a filter of the distinct items, sized to them';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision)
	IS 'a filter of the distinct items, sized to them, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity bigint) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity bigint)
	IS 'a filter of the distinct items, with room for capacity, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity bigint, options text) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity bigint, options text)
	IS 'a filter of the distinct items, with room for capacity, at a false positive rate of fpr, with options';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity double precision) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity double precision)
	IS 'a filter of the distinct items, with room for capacity, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity double precision, options text) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity double precision, options text)
	IS 'a filter of the distinct items, with room for capacity, at a false positive rate of fpr, with options';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint)
	IS 'transition function of cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision)
	IS 'transition function of cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity bigint)
	IS 'transition function of cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity bigint, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity bigint, options text)
	IS 'transition function of cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity double precision)
	IS 'transition function of cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity double precision, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity double precision, options text)
	IS 'transition function of cuckoofilter_agg_hash';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint)
	IS 'a filter of the distinct hashes, sized to them';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision)
	IS 'a filter of the distinct hashes, sized to them, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity bigint) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity bigint)
	IS 'a filter of the distinct hashes, with room for capacity, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity bigint, options text) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity bigint, options text)
	IS 'a filter of the distinct hashes, with room for capacity, at a false positive rate of fpr, with options';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity double precision) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity double precision)
	IS 'a filter of the distinct hashes, with room for capacity, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity double precision, options text) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity double precision, options text)
	IS 'a filter of the distinct hashes, with room for capacity, at a false positive rate of fpr, with options';

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any")
	IS 'transition function of cuckoofilter_agg_pair';

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision)
	IS 'transition function of cuckoofilter_agg_pair';

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity bigint)
	IS 'transition function of cuckoofilter_agg_pair';

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity bigint, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity bigint, options text)
	IS 'transition function of cuckoofilter_agg_pair';

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity double precision)
	IS 'transition function of cuckoofilter_agg_pair';

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity double precision, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity double precision, options text)
	IS 'transition function of cuckoofilter_agg_pair';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any") (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any")
	IS 'a filter of the distinct pairs of an item and its value, sized to them';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision) (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision)
	IS 'a filter of the distinct pairs of an item and its value, sized to them, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity bigint) (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity bigint)
	IS 'a filter of the distinct pairs of an item and its value, with room for capacity, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity bigint, options text) (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity bigint, options text)
	IS 'a filter of the distinct pairs of an item and its value, with room for capacity, at a false positive rate of fpr, with options';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity double precision) (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity double precision)
	IS 'a filter of the distinct pairs of an item and its value, with room for capacity, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity double precision, options text) (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity double precision, options text)
	IS 'a filter of the distinct pairs of an item and its value, with room for capacity, at a false positive rate of fpr, with options';

-- The state of cuckoofilter_add_agg is the first filter and a list of hashes, not a filter. It has no combine function:
-- partial states could not tell which filter came first.

CREATE FUNCTION cuckoofilter_add_agg_transition(state internal, filter cuckoofilter, item anycompatible)
	RETURNS internal
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_add_agg_transition(state internal, filter cuckoofilter, item anycompatible)
	IS 'transition function of cuckoofilter_add_agg';

CREATE FUNCTION cuckoofilter_add_agg_final(state internal)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_agg_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_add_agg_final(state internal)
	IS 'final function of cuckoofilter_add_agg';

CREATE AGGREGATE cuckoofilter_add_agg(filter cuckoofilter, item anycompatible) (
	SFUNC = cuckoofilter_add_agg_transition, STYPE = internal, SSPACE = 8192,
	FINALFUNC = cuckoofilter_add_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_add_agg(filter cuckoofilter, item anycompatible)
	IS 'adds the items of all rows to the first filter that is not NULL; other filters are ignored; NULL if there is no filter';

CREATE FUNCTION cuckoofilter_union_agg_transition(state cuckoofilter, filter cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_union_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_union_agg_transition(state cuckoofilter, filter cuckoofilter)
	IS 'transition function of cuckoofilter_union_agg';

CREATE FUNCTION cuckoofilter_union_agg_combine(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_union_agg_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_union_agg_combine(a cuckoofilter, b cuckoofilter)
	IS 'combine function of cuckoofilter_union_agg';

CREATE FUNCTION cuckoofilter_merge_agg_final(state cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_merge_agg_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_merge_agg_final(state cuckoofilter)
	IS 'final function of cuckoofilter_union_agg and cuckoofilter_sum_agg';

CREATE AGGREGATE cuckoofilter_union_agg(filter cuckoofilter) (
	SFUNC = cuckoofilter_union_agg_transition, STYPE = cuckoofilter, SSPACE = 8192,
	FINALFUNC = cuckoofilter_merge_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_union_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_union_agg(filter cuckoofilter)
	IS 'merges filters into a set that has the items of all of them';

CREATE FUNCTION cuckoofilter_sum_agg_transition(state cuckoofilter, filter cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_sum_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_sum_agg_transition(state cuckoofilter, filter cuckoofilter)
	IS 'transition function of cuckoofilter_sum_agg';

CREATE FUNCTION cuckoofilter_sum_agg_combine(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_sum_agg_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_sum_agg_combine(a cuckoofilter, b cuckoofilter)
	IS 'combine function of cuckoofilter_sum_agg';

CREATE AGGREGATE cuckoofilter_sum_agg(filter cuckoofilter) (
	SFUNC = cuckoofilter_sum_agg_transition, STYPE = cuckoofilter, SSPACE = 8192,
	FINALFUNC = cuckoofilter_merge_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_sum_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_sum_agg(filter cuckoofilter)
	IS 'merges filters that have no item in common, and keeps all copies';

-- The state is what the filters so far have in common, an ordinary filter; NULL before the first. So two states are
-- combined as any two filters are.

CREATE FUNCTION cuckoofilter_intersect_agg_transition(state cuckoofilter, filter cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_intersect_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_intersect_agg_transition(state cuckoofilter, filter cuckoofilter)
	IS 'transition function of cuckoofilter_intersect_agg';

CREATE AGGREGATE cuckoofilter_intersect_agg(filter cuckoofilter) (
	SFUNC = cuckoofilter_intersect_agg_transition, STYPE = cuckoofilter, SSPACE = 8192,
	COMBINEFUNC = cuckoofilter_intersect, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_intersect_agg(filter cuckoofilter)
	IS 'a set that has the items that are in all filters; NULL if there are no filters';

-- -------------------------------------------------------------------------------------- operators

CREATE OPERATOR @> (
	LEFTARG = cuckoofilter, RIGHTARG = anycompatible,
	FUNCTION = cuckoofilter_contains, COMMUTATOR = <@,
	RESTRICT = cuckoofilter_sel, JOIN = matchingjoinsel
);
COMMENT ON OPERATOR @> (cuckoofilter, anycompatible)
	IS 'is the item in the filter? false: certainly not; true: probably';

CREATE OPERATOR <@ (
	LEFTARG = anycompatible, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_contained, COMMUTATOR = @>,
	RESTRICT = cuckoofilter_sel, JOIN = matchingjoinsel
);
COMMENT ON OPERATOR <@ (anycompatible, cuckoofilter)
	IS 'is the item in the filter? false: certainly not; true: probably';

CREATE OPERATOR + (
	LEFTARG = cuckoofilter, RIGHTARG = anycompatible,
	FUNCTION = cuckoofilter_add
);
COMMENT ON OPERATOR + (cuckoofilter, anycompatible)
	IS 'adds the item to the filter';

CREATE OPERATOR - (
	LEFTARG = cuckoofilter, RIGHTARG = anycompatible,
	FUNCTION = cuckoofilter_remove
);
COMMENT ON OPERATOR - (cuckoofilter, anycompatible)
	IS 'removes one copy of the item from the filter';

CREATE OPERATOR | (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_union
);
COMMENT ON OPERATOR | (cuckoofilter, cuckoofilter)
	IS 'merges two filters into a set that has the items of both';

CREATE OPERATOR & (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_intersect, COMMUTATOR = &
);
COMMENT ON OPERATOR & (cuckoofilter, cuckoofilter)
	IS 'intersection: a set that answers true for every item that is in both';

-- Comparisons are of the bytes. Their order has no meaning: it serves ORDER BY, and DISTINCT, PARTITION BY and the like
-- where they sort. = is not for merge joins (MERGES): before PostgreSQL 17 an update of the extension could not make it so.

CREATE FUNCTION cuckoofilter_eq(cuckoofilter, cuckoofilter)
	RETURNS boolean
	AS 'byteaeq'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_eq(cuckoofilter, cuckoofilter)
	IS 'implementation of = operator';

CREATE FUNCTION cuckoofilter_ne(cuckoofilter, cuckoofilter)
	RETURNS boolean
	AS 'byteane'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_ne(cuckoofilter, cuckoofilter)
	IS 'implementation of <> operator';

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

CREATE OPERATOR = (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_eq, COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (cuckoofilter, cuckoofilter)
	IS 'equal, by the bytes';

CREATE OPERATOR <> (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_ne, COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (cuckoofilter, cuckoofilter)
	IS 'not equal, by the bytes';

CREATE OPERATOR < (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_lt, COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (cuckoofilter, cuckoofilter)
	IS 'less than, by the bytes';

CREATE OPERATOR <= (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_le, COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (cuckoofilter, cuckoofilter)
	IS 'less than or equal, by the bytes';

CREATE OPERATOR > (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_gt, COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (cuckoofilter, cuckoofilter)
	IS 'greater than, by the bytes';

CREATE OPERATOR >= (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_ge, COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (cuckoofilter, cuckoofilter)
	IS 'greater than or equal, by the bytes';

-- ------------------------------------------------------------------------------- operator classes

CREATE FUNCTION cuckoofilter_hash_bytes(cuckoofilter)
	RETURNS integer
	AS 'hashvarlena'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_hash_bytes(cuckoofilter)
	IS 'hash of the bytes, for hash joins and GROUP BY';

CREATE FUNCTION cuckoofilter_hash_bytes(cuckoofilter, bigint)
	RETURNS bigint
	AS 'hashvarlenaextended'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_hash_bytes(cuckoofilter, bigint)
	IS 'hash of the bytes with a seed, for hash partitions';

CREATE OPERATOR FAMILY cuckoofilter_ops USING hash;
COMMENT ON OPERATOR FAMILY cuckoofilter_ops USING hash
	IS 'equality of cuckoofilters, for DISTINCT, UNION and replica identity';

CREATE OPERATOR CLASS cuckoofilter_ops
	DEFAULT FOR TYPE cuckoofilter USING hash FAMILY cuckoofilter_ops AS
	OPERATOR 1 =,
	FUNCTION 1 cuckoofilter_hash_bytes(cuckoofilter),
	FUNCTION 2 cuckoofilter_hash_bytes(cuckoofilter, bigint);
COMMENT ON OPERATOR CLASS cuckoofilter_ops USING hash
	IS 'equality of cuckoofilters, for DISTINCT, UNION and replica identity';

CREATE FUNCTION cuckoofilter_cmp(cuckoofilter, cuckoofilter)
	RETURNS integer
	AS 'byteacmp'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_cmp(cuckoofilter, cuckoofilter)
	IS 'three-way comparison by the bytes';

CREATE FUNCTION cuckoofilter_sortsupport(internal)
	RETURNS void
	AS 'bytea_sortsupport'
	LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_sortsupport(internal)
	IS 'sort support, by the bytes';

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

-- ----------------------------------------------------------------------------------- join filters

-- Join filters are a library of their own, cuckoofilter_join, which cuckoofilter_join_load loads. The counters are those
-- of that library, which a query about them must not load: the library of the type looks for them.

CREATE FUNCTION cuckoofilter_join_load()
	RETURNS void
	AS 'MODULE_PATHNAME', 'cuckoofilter_join_load'
	LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION cuckoofilter_join_load()
	IS 'loads the library of join filters into this session';

CREATE FUNCTION cuckoofilter_join_stats(
	OUT database oid, OUT planned bigint, OUT built bigint, OUT given_up bigint, OUT asleep bigint,
	OUT rows_tested bigint, OUT rows_removed bigint, OUT partitions_skipped bigint, OUT nested_loops bigint,
	OUT lookups_skipped bigint, OUT blocks_skipped bigint)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'cuckoofilter_join_stats'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION cuckoofilter_join_stats()
	IS 'the counters of join filters, by the OID of the database';

CREATE VIEW cuckoofilter_join_stats AS
	SELECT d.datname AS database, s.planned, s.built, s.given_up, s.asleep AS suspended,
		s.rows_tested, s.rows_removed, s.partitions_skipped, s.nested_loops, s.lookups_skipped, s.blocks_skipped
	FROM cuckoofilter_join_stats() AS s JOIN pg_catalog.pg_database AS d ON d.oid = s.database;
COMMENT ON VIEW cuckoofilter_join_stats
	IS 'what join filters did since the start of the server or the last reset, by database';
GRANT SELECT ON cuckoofilter_join_stats TO PUBLIC;

CREATE FUNCTION cuckoofilter_join_stats_reset()
	RETURNS void
	AS 'MODULE_PATHNAME', 'cuckoofilter_join_stats_reset'
	LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION cuckoofilter_join_stats_reset()
	IS 'sets the counters of cuckoofilter_join_stats to zero';
REVOKE ALL ON FUNCTION cuckoofilter_join_stats_reset() FROM PUBLIC;

-- ------------------------------------------------------------------------------------ filter tables

CREATE FUNCTION cuckoofilter_table_create(name text, type regtype,
		capacity double precision DEFAULT 1000000, fpr double precision DEFAULT 0.01,
		options text DEFAULT '')
	RETURNS regclass
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_create'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION cuckoofilter_table_create(name text, type regtype, capacity double precision,
		fpr double precision, options text)
	IS 'creates a filter table for items of this type: a filter that many sessions can change at the same time';

CREATE FUNCTION cuckoofilter_table_add(filter regclass, item anycompatible)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_add'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_table_add(filter regclass, item anycompatible)
	IS 'adds an item to a filter table; true: it was certainly not there before';

CREATE FUNCTION cuckoofilter_table_add_all(filter regclass, items anycompatiblearray)
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_add_all'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_table_add_all(filter regclass, items anycompatiblearray)
	IS 'adds the items of an array to a filter table: how many were certainly not there before';

CREATE FUNCTION cuckoofilter_table_contains(filter regclass, item anycompatible)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_contains'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 500;
COMMENT ON FUNCTION cuckoofilter_table_contains(filter regclass, item anycompatible)
	IS 'false: the item is certainly not in the filter table; true: it probably is';

CREATE FUNCTION cuckoofilter_table_copies(filter regclass, item anycompatible)
	RETURNS integer
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_copies'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 500;
COMMENT ON FUNCTION cuckoofilter_table_copies(filter regclass, item anycompatible)
	IS 'how many copies of the item are in the filter table';

CREATE FUNCTION cuckoofilter_table_remove(filter regclass, item anycompatible)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_remove'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_table_remove(filter regclass, item anycompatible)
	IS 'removes one copy of an item from a filter table; true: there was one';

CREATE FUNCTION cuckoofilter_table_remove_all(filter regclass, items anycompatiblearray)
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_remove_all'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_table_remove_all(filter regclass, items anycompatiblearray)
	IS 'removes one copy of each item of an array from a filter table: how many copies';

CREATE FUNCTION cuckoofilter_table_merge(filter regclass, merged cuckoofilter)
	RETURNS void
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_merge'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION cuckoofilter_table_merge(filter regclass, merged cuckoofilter)
	IS 'adds the items of a filter to a filter table';

CREATE FUNCTION cuckoofilter_table_optimize(filter regclass)
	RETURNS void
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_optimize'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION cuckoofilter_table_optimize(filter regclass)
	IS 'rewrites the chunks of a filter table, each as small as possible';

CREATE FUNCTION cuckoofilter_table_check(filter regclass)
	RETURNS void
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_check'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION cuckoofilter_table_check(filter regclass)
	IS 'raises an error if a filter table is damaged';

CREATE FUNCTION cuckoofilter_export(filter regclass)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_export'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION cuckoofilter_export(filter regclass)
	IS 'a filter table as one filter';

CREATE FUNCTION cuckoofilter_table_info(filter regclass)
	RETURNS jsonb
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_info'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION cuckoofilter_table_info(filter regclass)
	IS 'the properties of a filter table';

CREATE FUNCTION cuckoofilter_table_follow(source regclass, "column" text,
		fpr double precision DEFAULT NULL, capacity double precision DEFAULT NULL,
		name text DEFAULT NULL)
	RETURNS regclass
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_follow'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION cuckoofilter_table_follow(source regclass, "column" text, fpr double precision,
		capacity double precision, name text)
	IS 'creates a filter table of a column, and keeps it in step by triggers; or fills it again';

CREATE FUNCTION cuckoofilter_chunk_valid(id bigint, chunk bytea, item "any", capacity bigint,
		fpr double precision, options text)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_chunk_valid'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_chunk_valid(id bigint, chunk bytea, item "any", capacity bigint,
		fpr double precision, options text)
	IS 'the CHECK constraint of a filter table: whether a row is one of its chunks';

CREATE FUNCTION cuckoofilter_follows(filter regclass)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_follows'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_follows(filter regclass)
	IS 'true: the WHEN condition of triggers, which says to which filter table they belong';

CREATE FUNCTION cuckoofilter_table_changed()
	RETURNS trigger
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_changed'
	LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION cuckoofilter_table_changed()
	IS 'the triggers that cuckoofilter_table_follow creates';
