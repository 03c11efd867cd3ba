-- cuckoofilter 1.7.1 to 1.8.0.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.8.0'" to load this file. \quit

-- ---------------------------------------------------------------------------- filter tables

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

-- ----------------------------------------------------------------------------- join filters

-- renamed in place: a view of a user that reads this one goes on
ALTER VIEW cuckoofilter_join_stats RENAME COLUMN asleep TO suspended;
