-- cuckoofilter 1.3.0 to 1.3.1.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.3.1'" to load this file. \quit

-- Nothing has changed in SQL so far.
