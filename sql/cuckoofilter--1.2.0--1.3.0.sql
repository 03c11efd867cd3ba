-- cuckoofilter 1.2.0 to 1.3.0: filters are compared with each other.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.3.0'" to load this file. \quit

