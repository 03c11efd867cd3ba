-- cuckoofilter 1.6.1 to 1.7.0.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.7.0'" to load this file. \quit
