-- cuckoofilter 1.6.1 to 1.7.0.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.7.0'" to load this file. \quit

CREATE OPERATOR & (
	LEFTARG = cuckoofilter, RIGHTARG = cuckoofilter,
	FUNCTION = cuckoofilter_intersect, COMMUTATOR = &
);
COMMENT ON OPERATOR & (cuckoofilter, cuckoofilter)
	IS 'intersection: a set that answers true for every item that is in both';

CREATE FUNCTION cuckoofilter_overlap_error(a cuckoofilter, b cuckoofilter)
	RETURNS double precision
	AS 'MODULE_PATHNAME', 'cuckoofilter_overlap_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_overlap_error(a cuckoofilter, b cuckoofilter)
	IS 'the standard error of cuckoofilter_overlap';
