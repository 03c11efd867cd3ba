-- cuckoofilter 1.5.0 to 1.5.1.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.5.1'" to load this file. \quit

CREATE FUNCTION cuckoofilter_part(item anycompatible, parts integer)
	RETURNS integer
	AS 'MODULE_PATHNAME', 'cuckoofilter_part'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION cuckoofilter_part(item anycompatible, parts integer)
	IS 'the part of an item, 0 to parts - 1, if a filter is kept in parts';
COMMENT ON AGGREGATE cuckoofilter_add_agg(filter cuckoofilter, item anycompatible)
	IS 'adds the items of all rows to the first filter that is not NULL; other filters are ignored; NULL if there is no filter';
