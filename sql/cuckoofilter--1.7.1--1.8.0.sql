-- cuckoofilter 1.7.1 to 1.8.0.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.8.0'" to load this file. \quit
