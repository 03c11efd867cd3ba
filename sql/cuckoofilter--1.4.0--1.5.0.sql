-- cuckoofilter 1.4.0 to 1.5.0.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.5.0'" to load this file. \quit

-- Nothing has changed in SQL so far.
