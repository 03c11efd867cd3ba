-- cuckoofilter 1.1.0: everything that CREATE EXTENSION makes.
--
-- Items are `anycompatible`: one form of each function serves every type, an
-- untyped literal or parameter is text, and mixed arguments meet in their
-- common type.  There are no overloads for text, bigint and so on beside it,
-- on purpose: an overload for text would catch citext (and the planner folds
-- the cast of a constant, so that not even the module could see it), one for
-- bigint makes oid ambiguous, and one for bytea any type that casts to it.
-- Functions of many items are VARIADIC "any", so that each keeps its type.
--
-- What changes a filter by an item is not STRICT: a NULL item changes nothing.

\echo Use "CREATE EXTENSION cuckoofilter" to load this file. \quit

-- ---------------------------------------------------------------- the type

CREATE TYPE cuckoofilter;

CREATE FUNCTION cuckoofilter_in(cstring)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_in(cstring)
	IS 'text form (base64) of a cuckoofilter, in';

CREATE FUNCTION cuckoofilter_out(cuckoofilter)
	RETURNS cstring
	AS 'MODULE_PATHNAME', 'cuckoofilter_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_out(cuckoofilter)
	IS 'text form (base64) of a cuckoofilter, out';

CREATE FUNCTION cuckoofilter_recv(internal)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_recv(internal)
	IS 'binary form of a cuckoofilter, in';

CREATE FUNCTION cuckoofilter_send(cuckoofilter)
	RETURNS bytea
	AS 'MODULE_PATHNAME', 'cuckoofilter_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_send(cuckoofilter)
	IS 'binary form of a cuckoofilter, out';

-- External: filters do not compress, and a header can be read without the rest.
-- Alignment: the engine reads bytes at any; int4 wastes the least.
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
	IS 'approximate membership: a cuckoo filter that grows, merges and removes';

-- Its bytes are its text, binary and bytea form, here and in SQLite.

CREATE FUNCTION cuckoofilter_from_bytea(bytea)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_from_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_from_bytea(bytea)
	IS 'validate bytes as a cuckoofilter';

CREATE CAST (bytea AS cuckoofilter) WITH FUNCTION cuckoofilter_from_bytea(bytea);
COMMENT ON CAST (bytea AS cuckoofilter)
	IS 'validates the bytes';

-- With a function, as the state of an aggregate leaves as the filter that it
-- stands for; the bytes of a filter are not even fetched.
CREATE FUNCTION cuckoofilter_to_bytea(cuckoofilter)
	RETURNS bytea
	AS 'MODULE_PATHNAME', 'cuckoofilter_to_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_to_bytea(cuckoofilter)
	IS 'the bytes of a cuckoofilter';

CREATE CAST (cuckoofilter AS bytea) WITH FUNCTION cuckoofilter_to_bytea(cuckoofilter) AS ASSIGNMENT;
COMMENT ON CAST (cuckoofilter AS bytea)
	IS 'the bytes of the filter';

-- ------------------------------------------------- equality: that of bytes

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

CREATE OPERATOR = (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_eq, COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR = (cuckoofilter, cuckoofilter)
	IS 'same bytes';

CREATE OPERATOR <> (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_ne, COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (cuckoofilter, cuckoofilter)
	IS 'different bytes';

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

-- ------------------------------------------------ one filter and its items

CREATE FUNCTION cuckoofilter_create(capacity bigint, fpr double precision DEFAULT 0.01, options text DEFAULT '')
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_create'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_create(capacity bigint, fpr double precision, options text)
	IS 'an empty filter whose false positive rate stays at or under fpr up to capacity distinct items';

-- 1e6 is a numeric, which PostgreSQL casts to this but not to bigint.  Integers
-- come here too, as double precision is the preferred type of numbers.
CREATE FUNCTION cuckoofilter_create(capacity double precision, fpr double precision DEFAULT 0.01, options text DEFAULT '')
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_create_float8'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_create(capacity double precision, fpr double precision, options text)
	IS 'an empty filter whose false positive rate stays at or under fpr up to capacity distinct items';

CREATE FUNCTION cuckoofilter_support(internal)
	RETURNS internal
	AS 'MODULE_PATHNAME', 'cuckoofilter_support'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_support(internal)
	IS 'planner support: selectivity of cuckoofilter_contains';

CREATE FUNCTION cuckoofilter_sel(internal, oid, internal, integer)
	RETURNS double precision
	AS 'MODULE_PATHNAME', 'cuckoofilter_sel'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_sel(internal, oid, internal, integer)
	IS 'restriction selectivity of @> and <@';

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
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION cuckoofilter_contains_any(filter cuckoofilter, VARIADIC items "any")
	IS 'is any of the items in the filter? NULLs are skipped';

CREATE FUNCTION cuckoofilter_contains_all(filter cuckoofilter, VARIADIC items "any")
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_all_items'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION cuckoofilter_contains_all(filter cuckoofilter, VARIADIC items "any")
	IS 'are all of the items in the filter? NULLs are skipped';

CREATE FUNCTION cuckoofilter_copies(filter cuckoofilter, item anycompatible)
	RETURNS integer
	AS 'MODULE_PATHNAME', 'cuckoofilter_copies'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_copies(filter cuckoofilter, item anycompatible)
	IS 'how many copies of the item are stored, up to twice the bucket size';

CREATE FUNCTION cuckoofilter_add(filter cuckoofilter, item anycompatible)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_add(filter cuckoofilter, item anycompatible)
	IS 'the filter with the item; NULL changes nothing';

CREATE FUNCTION cuckoofilter_add_all(filter cuckoofilter, VARIADIC items "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_items'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cuckoofilter_add_all(filter cuckoofilter, VARIADIC items "any")
	IS 'the filter with all of the items; NULLs are skipped';

CREATE FUNCTION cuckoofilter_remove(filter cuckoofilter, item anycompatible)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_remove'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_remove(filter cuckoofilter, item anycompatible)
	IS 'the filter without one copy of the item, which must have been added before; NULL changes nothing';

CREATE FUNCTION cuckoofilter_remove_all(filter cuckoofilter, VARIADIC items "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_remove_items'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cuckoofilter_remove_all(filter cuckoofilter, VARIADIC items "any")
	IS 'the filter without one copy of each of the items; NULLs are skipped';

-- Functions of many items as 1.0.0 had them: the views, rules and indexes of a
-- database that was updated have these in them, and a dump of it names them.
-- Nothing new should.

CREATE FUNCTION cuckoofilter_contains_any_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_any'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION cuckoofilter_contains_any_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_contains_any as it was in 1.0.0, kept for what was made with it';

CREATE FUNCTION cuckoofilter_contains_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION cuckoofilter_contains_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_contains_all as it was in 1.0.0, kept for what was made with it';

CREATE FUNCTION cuckoofilter_add_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cuckoofilter_add_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_add_all as it was in 1.0.0, kept for what was made with it';

CREATE FUNCTION cuckoofilter_remove_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_remove_all'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION cuckoofilter_remove_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_remove_all as it was in 1.0.0, kept for what was made with it';

-- The same by hash: hash once and probe many filters, or bring your own hash.

CREATE FUNCTION cuckoofilter_hash(item anycompatible)
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION cuckoofilter_hash(item anycompatible)
	IS 'the 64-bit hash of an item, as filters of seed 0 store it';

CREATE FUNCTION cuckoofilter_hash(item anycompatible, seed bigint)
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION cuckoofilter_hash(item anycompatible, seed bigint)
	IS 'the 64-bit hash of an item, as filters of that seed store it';

CREATE FUNCTION cuckoofilter_contains_hash(filter cuckoofilter, hash bigint)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 3;
COMMENT ON FUNCTION cuckoofilter_contains_hash(filter cuckoofilter, hash bigint)
	IS 'is the hash in the filter?';

CREATE FUNCTION cuckoofilter_add_hash(filter cuckoofilter, hash bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_hash'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_add_hash(filter cuckoofilter, hash bigint)
	IS 'the filter with the hash; NULL changes nothing';

CREATE FUNCTION cuckoofilter_remove_hash(filter cuckoofilter, hash bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_remove_hash'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_remove_hash(filter cuckoofilter, hash bigint)
	IS 'the filter without one copy of the hash, which must have been added before; NULL changes nothing';

-- ---------------------------------------------------------- whole filters

CREATE FUNCTION cuckoofilter_union(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_union'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_union(a cuckoofilter, b cuckoofilter)
	IS 'a set that answers true wherever a or b did';

CREATE FUNCTION cuckoofilter_sum(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_sum'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_sum(a cuckoofilter, b cuckoofilter)
	IS 'the copies of a and b together, for filters with no item in common';

CREATE FUNCTION cuckoofilter_compact(filter cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_compact'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_compact(filter cuckoofilter)
	IS 'the same items in the fewest bytes';

CREATE FUNCTION cuckoofilter_count(filter cuckoofilter)
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_count'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_count(filter cuckoofilter)
	IS 'copies stored';

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
	IS 'all there is to tell about a filter, from its header';

CREATE FUNCTION cuckoofilter_version()
	RETURNS text
	AS 'MODULE_PATHNAME', 'cuckoofilter_version'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cuckoofilter_version()
	IS 'version of the module';

-- -------------------------------------------------------------- operators

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
	IS 'the filter with the item';

CREATE OPERATOR - (
	LEFTARG = cuckoofilter, RIGHTARG = anycompatible,
	FUNCTION = cuckoofilter_remove
);
COMMENT ON OPERATOR - (cuckoofilter, anycompatible)
	IS 'the filter without one copy of the item';

CREATE OPERATOR | (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_union
);
COMMENT ON OPERATOR | (cuckoofilter, cuckoofilter)
	IS 'union: a set that answers true wherever one of them did';

-- ------------------------------------------------------------- aggregates

-- States are cuckoofilters too, in an encoding of their own that no other door
-- lets in.  They start at 124 bytes and are changed in place.  Text, binary and
-- bytea form are those of an ordinary filter, which the combine functions take
-- for a state: partial states travel between servers.

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible)
	IS 'transition of cuckoofilter_agg';

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision)
	IS 'transition of cuckoofilter_agg';

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity bigint)
	IS 'transition of cuckoofilter_agg';

CREATE FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity bigint, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity bigint, options text)
	IS 'transition of cuckoofilter_agg';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint)
	IS 'transition of cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision)
	IS 'transition of cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity bigint)
	IS 'transition of cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity bigint, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_hash_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity bigint, options text)
	IS 'transition of cuckoofilter_agg_hash';

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

CREATE FUNCTION cuckoofilter_agg_combine(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_agg_combine(a cuckoofilter, b cuckoofilter)
	IS 'combines partial states of cuckoofilter_agg and cuckoofilter_agg_hash';

CREATE FUNCTION cuckoofilter_agg_final(state cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_agg_final(state cuckoofilter)
	IS 'end of cuckoofilter_agg and cuckoofilter_agg_hash';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible)
	IS 'a filter of the distinct items, sized to them';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint)
	IS 'a filter of the distinct hashes, sized to them';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision)
	IS 'a filter of the distinct items, sized to them, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision)
	IS 'a filter of the distinct hashes, sized to them, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity bigint) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity bigint)
	IS 'a filter of the distinct items, with room for capacity, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity bigint) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity bigint)
	IS 'a filter of the distinct hashes, with room for capacity, at a false positive rate of fpr';

CREATE AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity bigint, options text) (
	SFUNC = cuckoofilter_agg_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg(item anycompatible, fpr double precision, capacity bigint, options text)
	IS 'a filter of the distinct items, with room for capacity, at a false positive rate of fpr, with options';

CREATE AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity bigint, options text) (
	SFUNC = cuckoofilter_agg_hash_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_hash(hash bigint, fpr double precision, capacity bigint, options text)
	IS 'a filter of the distinct hashes, with room for capacity, at a false positive rate of fpr, with options';

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

CREATE FUNCTION cuckoofilter_union_agg_transition(state cuckoofilter, filter cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_union_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_union_agg_transition(state cuckoofilter, filter cuckoofilter)
	IS 'transition of cuckoofilter_union_agg';

CREATE FUNCTION cuckoofilter_union_agg_combine(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_union_agg_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_union_agg_combine(a cuckoofilter, b cuckoofilter)
	IS 'combines partial states of cuckoofilter_union_agg';

CREATE FUNCTION cuckoofilter_sum_agg_transition(state cuckoofilter, filter cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_sum_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_sum_agg_transition(state cuckoofilter, filter cuckoofilter)
	IS 'transition of cuckoofilter_sum_agg';

CREATE FUNCTION cuckoofilter_sum_agg_combine(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_sum_agg_combine'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_sum_agg_combine(a cuckoofilter, b cuckoofilter)
	IS 'combines partial states of cuckoofilter_sum_agg';

CREATE FUNCTION cuckoofilter_merge_agg_final(state cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_merge_agg_final'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_merge_agg_final(state cuckoofilter)
	IS 'end of cuckoofilter_union_agg and cuckoofilter_sum_agg';

CREATE AGGREGATE cuckoofilter_union_agg(filter cuckoofilter) (
	SFUNC = cuckoofilter_union_agg_transition, STYPE = cuckoofilter, SSPACE = 8192,
	FINALFUNC = cuckoofilter_merge_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_union_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_union_agg(filter cuckoofilter)
	IS 'a set that answers true wherever one of the filters did';

CREATE AGGREGATE cuckoofilter_sum_agg(filter cuckoofilter) (
	SFUNC = cuckoofilter_sum_agg_transition, STYPE = cuckoofilter, SSPACE = 8192,
	FINALFUNC = cuckoofilter_merge_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_sum_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_sum_agg(filter cuckoofilter)
	IS 'the copies of all filters together, for filters with no item in common';

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
