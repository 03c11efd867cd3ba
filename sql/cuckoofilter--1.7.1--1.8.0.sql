-- cuckoofilter 1.7.1 to 1.8.0.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.8.0'" to load this file. \quit

-- ---------------------------------------------------------------------------- filter tables

CREATE FUNCTION cuckoofilter_chunk_valid(id bigint, chunk bytea, item "any", capacity bigint,
		fpr double precision, options text)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_chunk_valid'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_chunk_valid(id bigint, chunk bytea, item "any", capacity bigint,
		fpr double precision, options text)
	IS 'the CHECK constraint of a filter table: whether a row is one of its chunks';

CREATE FUNCTION cuckoofilter_table_create(name text, type regtype,
		capacity double precision DEFAULT 1000000, fpr double precision DEFAULT 0.01,
		options text DEFAULT '')
	RETURNS regclass
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_create'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION cuckoofilter_table_create(name text, type regtype, capacity double precision,
		fpr double precision, options text)
	IS 'create a filter table for items of this type: a filter that many sessions can change at the same time';

CREATE FUNCTION cuckoofilter_table_add(filter regclass, item anycompatible)
	RETURNS boolean
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_add'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION cuckoofilter_table_add(filter regclass, item anycompatible)
	IS 'add an item to a filter table; true: it was certainly not there before';

CREATE FUNCTION cuckoofilter_table_add_all(filter regclass, items anycompatiblearray)
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_add_all'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_table_add_all(filter regclass, items anycompatiblearray)
	IS 'add the items of an array to a filter table: how many were certainly not there before';

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
	IS 'remove one copy of an item from a filter table; true: there was one';

CREATE FUNCTION cuckoofilter_table_remove_all(filter regclass, items anycompatiblearray)
	RETURNS bigint
	AS 'MODULE_PATHNAME', 'cuckoofilter_table_remove_all'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION cuckoofilter_table_remove_all(filter regclass, items anycompatiblearray)
	IS 'remove one copy of each item of an array from a filter table: how many copies';
