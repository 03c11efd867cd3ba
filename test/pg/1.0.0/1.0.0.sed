# Makes the install script of 1.0.0 of that of 1.1.0:  sed -f 1.0.0.sed cuckoofilter--1.1.0.sql
1c\
-- cuckoofilter 1.0.0: everything that CREATE EXTENSION makes.
9,11d
74,83c\
CREATE CAST (cuckoofilter AS bytea) WITHOUT FUNCTION AS ASSIGNMENT;
145,238d
248,256d
287c\
CREATE FUNCTION cuckoofilter_contains_any(filter cuckoofilter, VARIADIC items anycompatiblearray)
289,291c\
\	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_any'\
\	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;\
COMMENT ON FUNCTION cuckoofilter_contains_any(filter cuckoofilter, VARIADIC items anycompatiblearray)
294c\
CREATE FUNCTION cuckoofilter_contains_all(filter cuckoofilter, VARIADIC items anycompatiblearray)
296,298c\
\	AS 'MODULE_PATHNAME', 'cuckoofilter_contains_all'\
\	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;\
COMMENT ON FUNCTION cuckoofilter_contains_all(filter cuckoofilter, VARIADIC items anycompatiblearray)
311c\
\	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
313c\
\	IS 'the filter with the item';
315c\
CREATE FUNCTION cuckoofilter_add_all(filter cuckoofilter, VARIADIC items anycompatiblearray)
317,319c\
\	AS 'MODULE_PATHNAME', 'cuckoofilter_add_all'\
\	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;\
COMMENT ON FUNCTION cuckoofilter_add_all(filter cuckoofilter, VARIADIC items anycompatiblearray)
325c\
\	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
327,338c\
\	IS 'the filter without one copy of the item, which must have been added before';
340,361c\
CREATE FUNCTION cuckoofilter_remove_all(filter cuckoofilter, VARIADIC items anycompatiblearray)
364,366c\
\	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;\
COMMENT ON FUNCTION cuckoofilter_remove_all(filter cuckoofilter, VARIADIC items anycompatiblearray)\
\	IS 'the filter without one copy of each of the items; NULLs are skipped';
394c\
\	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
396c\
\	IS 'the filter with the hash';
401c\
\	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
403c\
\	IS 'the filter without one copy of the hash, which must have been added before';
445c\
\	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
447c\
\	IS 'all there is to tell about a filter, after a look at each of its slots';
498,500c\
-- lets in.  They start at 124 bytes and are changed in place.
558,585d
664,695d
746,770d
