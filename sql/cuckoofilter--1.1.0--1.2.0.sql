-- cuckoofilter 1.1.0 to 1.2.0.

\echo Use "ALTER EXTENSION cuckoofilter UPDATE TO '1.2.0'" to load this file. \quit

-- Nothing changes in SQL.  1.2.0 brings join filters, which are settings of the
-- library; foreign servers are sent one only where both ends have this version.
