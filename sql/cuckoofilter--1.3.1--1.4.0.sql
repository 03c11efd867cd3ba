-- cuckoofilter 1.3.1 to 1.4.0: planned bytes; items with values; the library of join filters.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.4.0'" to load this file. \quit


CREATE FUNCTION cuckoofilter_bytes(capacity bigint, fpr double precision DEFAULT 0.01, options text DEFAULT '')
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_bytes'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_bytes(capacity bigint, fpr double precision, options text)
	IS 'how many bytes an aggregate over so many distinct items will have';

-- 1e6 is a numeric, as for cuckoofilter_create.
CREATE FUNCTION cuckoofilter_bytes(capacity double precision, fpr double precision DEFAULT 0.01, options text DEFAULT '')
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_bytes_float8'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cuckoofilter_bytes(capacity double precision, fpr double precision, options text)
	IS 'how many bytes an aggregate over so many distinct items will have';

-- An item with a value is the item ROW(item, value).

CREATE FUNCTION cuckoofilter_add_pair(filter cuckoofilter, item "any", value "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_add_pair'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_add_pair(filter cuckoofilter, item "any", value "any")
	IS 'the filter with the item ROW(item, value); a NULL in either changes nothing';

CREATE FUNCTION cuckoofilter_remove_pair(filter cuckoofilter, item "any", value "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_remove_pair'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION cuckoofilter_remove_pair(filter cuckoofilter, item "any", value "any")
	IS 'the filter without one copy of the item ROW(item, value); a NULL in either changes nothing';

CREATE FUNCTION cuckoofilter_contains_pair(filter cuckoofilter, item "any", value "any")
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_pair'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 4;
COMMENT ON FUNCTION cuckoofilter_contains_pair(filter cuckoofilter, item "any", value "any")
	IS 'is the item ROW(item, value) in the filter? false: certainly not; true: probably';

CREATE FUNCTION cuckoofilter_which(filter cuckoofilter, item "any", candidates anyarray)
	RETURNS anyarray
	AS 'MODULE_PATHNAME', 'cuckoofilter_which'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION cuckoofilter_which(filter cuckoofilter, item "any", candidates anyarray)
	IS 'the candidates that were probably added as a value of the item, in order; NULLs are skipped';

-- Its states are those of cuckoofilter_agg.

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any")
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any")
	IS 'transition of cuckoofilter_agg_pair';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any") (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any")
	IS 'a filter of the distinct pairs of an item and its value, sized to them';

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision)
	IS 'transition of cuckoofilter_agg_pair';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision) (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision)
	IS 'a filter of the distinct pairs of an item and its value, sized to them, at a false positive rate of fpr';

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity bigint)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity bigint)
	IS 'transition of cuckoofilter_agg_pair';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity bigint) (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity bigint)
	IS 'a filter of the distinct pairs of an item and its value, with room for capacity, at a false positive rate of fpr';

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity bigint, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity bigint, options text)
	IS 'transition of cuckoofilter_agg_pair';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity bigint, options text) (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity bigint, options text)
	IS 'a filter of the distinct pairs of an item and its value, with room for capacity, at a false positive rate of fpr, with options';

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity double precision)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity double precision)
	IS 'transition of cuckoofilter_agg_pair';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity double precision) (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity double precision)
	IS 'a filter of the distinct pairs of an item and its value, with room for capacity, at a false positive rate of fpr';

CREATE FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity double precision, options text)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_agg_pair_float8_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5;
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity double precision, options text)
	IS 'transition of cuckoofilter_agg_pair';

CREATE AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity double precision, options text) (
	SFUNC = cuckoofilter_agg_pair_transition, STYPE = cuckoofilter, SSPACE = 256,
	FINALFUNC = cuckoofilter_agg_final, FINALFUNC_MODIFY = READ_ONLY,
	COMBINEFUNC = cuckoofilter_agg_combine, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_agg_pair(item "any", value "any", fpr double precision, capacity double precision, options text)
	IS 'a filter of the distinct pairs of an item and its value, with room for capacity, at a false positive rate of fpr, with options';

-- Join filters are a library of their own, cuckoofilter_join, which this function loads.
CREATE FUNCTION cuckoofilter_join_load()
	RETURNS void
	AS 'MODULE_PATHNAME', 'cuckoofilter_join_load'
	LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION cuckoofilter_join_load()
	IS 'loads the library of join filters in this session';
