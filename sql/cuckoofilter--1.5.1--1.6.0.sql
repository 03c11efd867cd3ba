-- cuckoofilter 1.5.1 to 1.6.0.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.6.0'" to load this file. \quit

-- The view gets two columns. It is replaced, not dropped, so that views of users may refer to it.
ALTER FUNCTION cuckoofilter_join_stats() RENAME TO cuckoofilter_join_stats_before;
CREATE FUNCTION cuckoofilter_join_stats(
	OUT database oid, OUT planned bigint, OUT built bigint, OUT given_up bigint, OUT asleep bigint,
	OUT rows_tested bigint, OUT rows_removed bigint, OUT partitions_skipped bigint, OUT nested_loops bigint,
	OUT lookups_skipped bigint, OUT blocks_skipped bigint)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'cuckoofilter_join_stats'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION cuckoofilter_join_stats()
	IS 'the counters of join filters, by the OID of the database';
CREATE OR REPLACE VIEW cuckoofilter_join_stats AS
	SELECT d.datname AS database, s.planned, s.built, s.given_up, s.asleep,
		s.rows_tested, s.rows_removed, s.partitions_skipped, s.nested_loops, s.lookups_skipped, s.blocks_skipped
	FROM cuckoofilter_join_stats() AS s JOIN pg_catalog.pg_database AS d ON d.oid = s.database;
DROP FUNCTION cuckoofilter_join_stats_before();

-- Until 1.5.1 this function was in the library that it loads, which CREATE EXTENSION loaded so.
CREATE OR REPLACE FUNCTION cuckoofilter_join_load()
	RETURNS void
	AS 'MODULE_PATHNAME', 'cuckoofilter_join_load'
	LANGUAGE C VOLATILE PARALLEL RESTRICTED;
