-- cuckoofilter 1.4.0 to 1.5.0.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.5.0'" to load this file. \quit

-- Comments in plain words.

COMMENT ON FUNCTION cuckoofilter_in(cstring)
	IS 'input function: converts base64 text to cuckoofilter';
COMMENT ON FUNCTION cuckoofilter_out(cuckoofilter)
	IS 'output function: converts cuckoofilter to base64 text';
COMMENT ON FUNCTION cuckoofilter_recv(internal)
	IS 'receive function: converts the binary form to cuckoofilter';
COMMENT ON FUNCTION cuckoofilter_send(cuckoofilter)
	IS 'send function: converts cuckoofilter to its binary form';
COMMENT ON TYPE cuckoofilter
	IS 'cuckoo filter for approximate membership tests; it grows, merges with others, and can remove items';
COMMENT ON FUNCTION cuckoofilter_from_bytea(bytea)
	IS 'validates bytes and converts them to cuckoofilter';
COMMENT ON CAST (bytea AS cuckoofilter)
	IS 'validates the bytes and converts them';
COMMENT ON OPERATOR = (cuckoofilter, cuckoofilter)
	IS 'equal, by the bytes';
COMMENT ON OPERATOR <> (cuckoofilter, cuckoofilter)
	IS 'not equal, by the bytes';
COMMENT ON FUNCTION cuckoofilter_cmp(cuckoofilter, cuckoofilter)
	IS 'three-way comparison by the bytes';
COMMENT ON OPERATOR < (cuckoofilter, cuckoofilter)
	IS 'less than, by the bytes';
COMMENT ON OPERATOR <= (cuckoofilter, cuckoofilter)
	IS 'less than or equal, by the bytes';
COMMENT ON OPERATOR > (cuckoofilter, cuckoofilter)
	IS 'greater than, by the bytes';
COMMENT ON OPERATOR >= (cuckoofilter, cuckoofilter)
	IS 'greater than or equal, by the bytes';
COMMENT ON FUNCTION cuckoofilter_create(capacity bigint, fpr double precision, options text)
	IS 'creates an empty filter whose false positive rate is at most fpr up to capacity distinct items';
COMMENT ON FUNCTION cuckoofilter_create(capacity double precision, fpr double precision, options text)
	IS 'creates an empty filter whose false positive rate is at most fpr up to capacity distinct items';
COMMENT ON FUNCTION cuckoofilter_add(filter cuckoofilter, item anycompatible)
	IS 'adds an item to the filter; a NULL item changes nothing';
COMMENT ON FUNCTION cuckoofilter_add_all(filter cuckoofilter, VARIADIC items "any")
	IS 'adds items to the filter; NULLs are skipped';
COMMENT ON FUNCTION cuckoofilter_remove(filter cuckoofilter, item anycompatible)
	IS 'removes one copy of an item, which must have been added before; a NULL item changes nothing';
COMMENT ON FUNCTION cuckoofilter_remove_all(filter cuckoofilter, VARIADIC items "any")
	IS 'removes one copy of each item, which must have been added before; NULLs are skipped';
COMMENT ON FUNCTION cuckoofilter_contains_any_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_contains_any of version 1.0.0, kept for objects that call it';
COMMENT ON FUNCTION cuckoofilter_contains_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_contains_all of version 1.0.0, kept for objects that call it';
COMMENT ON FUNCTION cuckoofilter_add_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_add_all of version 1.0.0, kept for objects that call it';
COMMENT ON FUNCTION cuckoofilter_remove_all_array(filter cuckoofilter, VARIADIC items anycompatiblearray)
	IS 'cuckoofilter_remove_all of version 1.0.0, kept for objects that call it';
COMMENT ON FUNCTION cuckoofilter_hash(item anycompatible)
	IS 'the 64-bit hash of an item in filters of seed 0';
COMMENT ON FUNCTION cuckoofilter_hash(item anycompatible, seed bigint)
	IS 'the 64-bit hash of an item in filters of this seed';
COMMENT ON FUNCTION cuckoofilter_add_hash(filter cuckoofilter, hash bigint)
	IS 'adds a hash to the filter; a NULL hash changes nothing';
COMMENT ON FUNCTION cuckoofilter_remove_hash(filter cuckoofilter, hash bigint)
	IS 'removes one copy of a hash, which must have been added before; a NULL hash changes nothing';
COMMENT ON FUNCTION cuckoofilter_union(a cuckoofilter, b cuckoofilter)
	IS 'merges two filters into a set that has the items of both';
COMMENT ON FUNCTION cuckoofilter_sum(a cuckoofilter, b cuckoofilter)
	IS 'merges two filters that have no item in common, and keeps all copies';
COMMENT ON FUNCTION cuckoofilter_count(filter cuckoofilter)
	IS 'number of copies stored in the filter';
COMMENT ON FUNCTION cuckoofilter_info(filter cuckoofilter)
	IS 'parameters and statistics of a filter, read from its header';
COMMENT ON FUNCTION cuckoofilter_version()
	IS 'version of the library';
COMMENT ON OPERATOR + (cuckoofilter, anycompatible)
	IS 'adds the item to the filter';
COMMENT ON OPERATOR - (cuckoofilter, anycompatible)
	IS 'removes one copy of the item from the filter';
COMMENT ON OPERATOR | (cuckoofilter, cuckoofilter)
	IS 'merges two filters into a set that has the items of both';
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible)
	IS 'transition function of cuckoofilter_agg';
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision)
	IS 'transition function of cuckoofilter_agg';
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity bigint)
	IS 'transition function of cuckoofilter_agg';
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity bigint, options text)
	IS 'transition function of cuckoofilter_agg';
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint)
	IS 'transition function of cuckoofilter_agg_hash';
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision)
	IS 'transition function of cuckoofilter_agg_hash';
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity bigint)
	IS 'transition function of cuckoofilter_agg_hash';
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity bigint, options text)
	IS 'transition function of cuckoofilter_agg_hash';
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity double precision)
	IS 'transition function of cuckoofilter_agg';
COMMENT ON FUNCTION cuckoofilter_agg_transition(state cuckoofilter, item anycompatible, fpr double precision, capacity double precision, options text)
	IS 'transition function of cuckoofilter_agg';
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity double precision)
	IS 'transition function of cuckoofilter_agg_hash';
COMMENT ON FUNCTION cuckoofilter_agg_hash_transition(state cuckoofilter, hash bigint, fpr double precision, capacity double precision, options text)
	IS 'transition function of cuckoofilter_agg_hash';
COMMENT ON FUNCTION cuckoofilter_agg_combine(a cuckoofilter, b cuckoofilter)
	IS 'combine function of cuckoofilter_agg and cuckoofilter_agg_hash';
COMMENT ON FUNCTION cuckoofilter_agg_final(state cuckoofilter)
	IS 'final function of cuckoofilter_agg and cuckoofilter_agg_hash';
COMMENT ON FUNCTION cuckoofilter_union_agg_transition(state cuckoofilter, filter cuckoofilter)
	IS 'transition function of cuckoofilter_union_agg';
COMMENT ON FUNCTION cuckoofilter_union_agg_combine(a cuckoofilter, b cuckoofilter)
	IS 'combine function of cuckoofilter_union_agg';
COMMENT ON FUNCTION cuckoofilter_sum_agg_transition(state cuckoofilter, filter cuckoofilter)
	IS 'transition function of cuckoofilter_sum_agg';
COMMENT ON FUNCTION cuckoofilter_sum_agg_combine(a cuckoofilter, b cuckoofilter)
	IS 'combine function of cuckoofilter_sum_agg';
COMMENT ON FUNCTION cuckoofilter_merge_agg_final(state cuckoofilter)
	IS 'final function of cuckoofilter_union_agg and cuckoofilter_sum_agg';
COMMENT ON AGGREGATE cuckoofilter_union_agg(filter cuckoofilter)
	IS 'merges filters into a set that has the items of all of them';
COMMENT ON AGGREGATE cuckoofilter_sum_agg(filter cuckoofilter)
	IS 'merges filters that have no item in common, and keeps all copies';
COMMENT ON FUNCTION cuckoofilter_add_agg_transition(state internal, filter cuckoofilter, item anycompatible)
	IS 'transition function of cuckoofilter_add_agg';
COMMENT ON FUNCTION cuckoofilter_add_agg_final(state internal)
	IS 'final function of cuckoofilter_add_agg';
COMMENT ON AGGREGATE cuckoofilter_add_agg(filter cuckoofilter, item anycompatible)
	IS 'adds the items of all rows to the first filter that is not NULL; other filters are ignored';
COMMENT ON FUNCTION cuckoofilter_intersect(a cuckoofilter, b cuckoofilter)
	IS 'a set that has the items that are in both filters';
COMMENT ON FUNCTION cuckoofilter_overlap(a cuckoofilter, b cuckoofilter)
	IS 'estimated number of distinct items that are in both filters';
COMMENT ON FUNCTION cuckoofilter_jaccard(a cuckoofilter, b cuckoofilter)
	IS 'estimated Jaccard index: the distinct items in both filters divided by those in either; NULL if both are empty';
COMMENT ON FUNCTION cuckoofilter_intersect_agg_transition(state cuckoofilter, filter cuckoofilter)
	IS 'transition function of cuckoofilter_intersect_agg';
COMMENT ON AGGREGATE cuckoofilter_intersect_agg(filter cuckoofilter)
	IS 'a set that has the items that are in all filters; NULL if there are no filters';
COMMENT ON FUNCTION cuckoofilter_bytes(capacity bigint, fpr double precision, options text)
	IS 'estimated bytes of the filter that an aggregate builds from capacity distinct items';
COMMENT ON FUNCTION cuckoofilter_bytes(capacity double precision, fpr double precision, options text)
	IS 'estimated bytes of the filter that an aggregate builds from capacity distinct items';
COMMENT ON FUNCTION cuckoofilter_add_pair(filter cuckoofilter, item "any", value "any")
	IS 'adds the item ROW(item, value) to the filter; if either is NULL, nothing changes';
COMMENT ON FUNCTION cuckoofilter_remove_pair(filter cuckoofilter, item "any", value "any")
	IS 'removes one copy of the item ROW(item, value), which must have been added before; if either is NULL, nothing changes';
COMMENT ON FUNCTION cuckoofilter_which(filter cuckoofilter, item "any", candidates anyarray)
	IS 'the candidates that the filter probably has as a value of the item, in their order; NULLs are skipped';
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any")
	IS 'transition function of cuckoofilter_agg_pair';
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision)
	IS 'transition function of cuckoofilter_agg_pair';
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity bigint)
	IS 'transition function of cuckoofilter_agg_pair';
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity bigint, options text)
	IS 'transition function of cuckoofilter_agg_pair';
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity double precision)
	IS 'transition function of cuckoofilter_agg_pair';
COMMENT ON FUNCTION cuckoofilter_agg_pair_transition(state cuckoofilter, item "any", value "any", fpr double precision, capacity double precision, options text)
	IS 'transition function of cuckoofilter_agg_pair';
COMMENT ON FUNCTION cuckoofilter_join_load()
	IS 'loads the library of join filters into this session';

-- What join filters did, by database. The library of the type looks for the counters of the library
-- cuckoofilter_join, which a question about them must not load.
CREATE FUNCTION cuckoofilter_join_stats(
	OUT database oid, OUT planned bigint, OUT built bigint, OUT given_up bigint, OUT asleep bigint,
	OUT rows_tested bigint, OUT rows_removed bigint, OUT partitions_skipped bigint, OUT nested_loops bigint)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'cuckoofilter_join_stats'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION cuckoofilter_join_stats()
	IS 'the counters of join filters, by the OID of the database';

CREATE VIEW cuckoofilter_join_stats AS
	SELECT d.datname AS database, s.planned, s.built, s.given_up, s.asleep,
		s.rows_tested, s.rows_removed, s.partitions_skipped, s.nested_loops
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
