-- cuckoofilter 1.2.0 to 1.3.0: filters are compared with each other.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.3.0'" to load this file. \quit


CREATE FUNCTION cuckoofilter_intersect(a cuckoofilter, b cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_intersect'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_intersect(a cuckoofilter, b cuckoofilter)
	IS 'a set that answers true for every item that is in both a and b';

CREATE FUNCTION cuckoofilter_overlap(a cuckoofilter, b cuckoofilter)
	RETURNS double precision
	AS 'MODULE_PATHNAME', 'cuckoofilter_overlap'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_overlap(a cuckoofilter, b cuckoofilter)
	IS 'how many distinct items are in both, by estimate: chance matches are taken off';

CREATE FUNCTION cuckoofilter_jaccard(a cuckoofilter, b cuckoofilter)
	RETURNS double precision
	AS 'MODULE_PATHNAME', 'cuckoofilter_jaccard'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_jaccard(a cuckoofilter, b cuckoofilter)
	IS 'overlap divided by the distinct items that are in any of the two, by estimate; NULL where both are empty';

-- The state is what the filters so far have in common, an ordinary filter; NULL
-- before the first.  So two states are combined as any two filters are.

CREATE FUNCTION cuckoofilter_intersect_agg_transition(state cuckoofilter, filter cuckoofilter)
	RETURNS cuckoofilter
	AS 'MODULE_PATHNAME', 'cuckoofilter_intersect_agg_transition'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_intersect_agg_transition(state cuckoofilter, filter cuckoofilter)
	IS 'transition of cuckoofilter_intersect_agg';

CREATE AGGREGATE cuckoofilter_intersect_agg(filter cuckoofilter) (
	SFUNC = cuckoofilter_intersect_agg_transition, STYPE = cuckoofilter, SSPACE = 8192,
	COMBINEFUNC = cuckoofilter_intersect, PARALLEL = SAFE
);
COMMENT ON AGGREGATE cuckoofilter_intersect_agg(filter cuckoofilter)
	IS 'a set that answers true for every item that is in all of the filters; NULL over none';
