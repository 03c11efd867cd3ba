-- cuckoofilter 1.7.0 to 1.7.1.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.7.1'" to load this file. \quit
