-- cuckoofilter 1.6.0 to 1.6.1.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.6.1'" to load this file. \quit
