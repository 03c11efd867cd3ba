-- The warehouse of `make bench-join`: facts with :n sales, dimensions, primary keys, statistics. Each
-- column is drawn by itself, from a hash of the row's number, so that a size has the same rows always.

CREATE SCHEMA warehouse;
SET search_path = warehouse;

-- From 0 to 1. Each `column_number` gives other numbers.
CREATE FUNCTION draw(row_number bigint, column_number integer) RETURNS double precision
	LANGUAGE sql IMMUTABLE PARALLEL SAFE
	AS 'SELECT (hashint8extended(row_number, column_number) & 1125899906842623) / 1125899906842624.0::double precision';

-- From 0 to m - 1, all equally often.
CREATE FUNCTION uniform(row_number bigint, column_number integer, m bigint) RETURNS integer
	LANGUAGE sql IMMUTABLE PARALLEL SAFE
	AS 'SELECT floor(draw(row_number, column_number) * m)::integer';

-- From 0 to m - 1, few of them very often (Zipf, exponent 1), frequent ones not side by side.
CREATE FUNCTION skewed(row_number bigint, column_number integer, m bigint) RETURNS integer
	LANGUAGE sql IMMUTABLE PARALLEL SAFE
	AS 'SELECT (floor(power(m, draw(row_number, column_number)) - 1)::bigint * 7919 % m)::integer';

-- ------------------------------------------------------------------ dimensions

-- Five years, 60 months. Year, quarter, month and its name depend on each other.
CREATE TABLE dates AS
	SELECT date_key, day, extract(year FROM day)::integer AS year, extract(quarter FROM day)::integer AS quarter,
		extract(month FROM day)::integer AS month, to_char(day, 'FMMonth') AS month_name,
		(extract(year FROM day)::integer - 2019) * 12 + extract(month FROM day)::integer - 1 AS month_number,
		to_char(day, 'YYYY"Q"Q') AS quarter_name, extract(week FROM day)::integer AS week, extract(isodow FROM day)::integer AS weekday,
		draw(date_key, 1) < 0.03 AS holiday
	FROM (SELECT d AS date_key, date '2019-01-01' + d AS day FROM generate_series(0, 1825) d) s;

-- A city is in one state, a state in one region.
CREATE TABLE addresses AS
	SELECT address_key, city, 'city ' || city AS city_name, city / 10 AS state, 'region ' || city / 100 AS region,
		uniform(address_key, 2, 100000) AS zip
	FROM (SELECT a AS address_key, skewed(a, 1, 500) AS city FROM generate_series(0, :n / 40 - 1) a) s;

CREATE TABLE customers AS
	SELECT c AS customer_key, uniform(c, 3, :n / 40) AS address_key, 'segment ' || uniform(c, 4, 5) AS segment,
		1930 + uniform(c, 5, 75) AS birth_year, skewed(c, 6, 20) AS income, uniform(c, 7, 1826) AS first_date_key,
		'customer ' || c AS name
	FROM generate_series(0, :n / 20 - 1) c;

-- A large dimension: each combination of its columns many times.
CREATE TABLE profiles AS
	SELECT p AS profile_key, (ARRAY['f', 'm'])[1 + p % 2] AS gender, (ARRAY['single', 'married', 'divorced', 'widowed', 'unknown'])[1 + p / 2 % 5] AS marital,
		'education ' || p / 10 % 7 AS education, p / 70 % 4 AS credit, p / 280 % 10 AS dependents
	FROM generate_series(0, :n / 20 * 19 - 1) p;

-- A brand is in one class, a class in one category.
CREATE TABLE items AS
	SELECT item_key, 'item ' || item_key AS name, 'brand ' || brand AS brand, 'class ' || brand / 10 AS class, 'category ' || brand / 100 AS category,
		'maker ' || brand % 50 AS maker, uniform(item_key, 9, 90) AS color, 1 + uniform(item_key, 10, 50) AS size, 1 + draw(item_key, 11) * 500 AS list_price
	FROM (SELECT i AS item_key, uniform(i, 8, 1000) AS brand FROM generate_series(0, :n / 100 - 1) i) s;

CREATE TABLE stores AS
	SELECT s AS store_key, 'store ' || s AS name, uniform(s, 12, 50) AS state, uniform(s, 13, 10) AS manager, 100 + uniform(s, 14, 200) AS employees
	FROM generate_series(0, 99) s;

CREATE TABLE promotions AS
	SELECT p AS promotion_key, uniform(p, 15, 2) = 0 AS by_mail, uniform(p, 16, 5) = 0 AS by_radio, uniform(p, 17, 20) = 0 AS by_event
	FROM generate_series(0, 499) p;

CREATE TABLE nations AS SELECT n AS nation_key, 'nation ' || n AS name, 'region ' || n / 5 AS region FROM generate_series(0, 24) n;

CREATE TABLE suppliers AS
	SELECT s AS supplier_key, uniform(s, 18, 25) AS nation_key, 'supplier ' || s AS name, draw(s, 19) * 10000 AS balance
	FROM generate_series(0, :n / 500 - 1) s;

-- Four suppliers of each item.
CREATE TABLE stock AS
	SELECT i AS item_key, (i * 4 + k * (1 + :n / 2000)) % (:n / 500) AS supplier_key, uniform(i, 20 + k, 10000) AS quantity, draw(i, 24 + k) * 1000 AS cost
	FROM generate_series(0, :n / 100 - 1) i, generate_series(0, 3) k;

-- ----------------------------------------------------------------------- facts

-- In the order of time; four lines a ticket; items and customers are skewed.
CREATE TABLE sales AS
	SELECT g AS sale_key, g / 4 AS ticket, (g * 1826 / :n)::integer AS date_key, skewed(g / 4, 30, :n / 20) AS customer_key,
		uniform(g / 4, 31, :n / 20 * 19) AS profile_key, skewed(g, 32, :n / 100) AS item_key, uniform(g / 4, 33, 100) AS store_key,
		CASE WHEN draw(g, 34) < 0.8 THEN uniform(g, 35, 500) END AS promotion_key, 1 + uniform(g, 36, 50) AS quantity,
		uniform(g, 37, 50000) AS price, uniform(g, 38, 11) AS discount, uniform(g, 39, 30000) AS cost
	FROM generate_series(0::bigint, :n - 1) g;

-- One sale in ten comes back, within two months.
CREATE TABLE returns AS
	SELECT ticket, item_key, customer_key, date_key + uniform(sale_key, 40, 60) AS date_key, store_key, uniform(sale_key, 41, 30) AS reason, price AS amount
	FROM sales WHERE sale_key * 7919 % 10 = 0;

-- Visits of the web site: all keys uniform, in no order.
CREATE TABLE visits AS
	SELECT g AS visit_key, uniform(g, 50, 1826) AS date_key, uniform(g, 51, :n / 20) AS customer_key, uniform(g, 52, :n / 100) AS item_key,
		uniform(g, 53, 600) AS seconds, draw(g, 54) < 0.02 AS bought
	FROM generate_series(0::bigint, :n / 2 - 1) g;

CREATE TABLE orders AS
	SELECT o AS order_key, uniform(o, 60, :n / 20) AS customer_key, uniform(o, 61, 1826) AS date_key, 'priority ' || uniform(o, 62, 5) AS priority,
		uniform(o, 63, 3) AS status
	FROM generate_series(0, :n / 4 - 1) o;

-- Shipped within four months of the order, received within a month of that.
CREATE TABLE lines AS
	SELECT order_key, line, item_key, (item_key * 4 + uniform(order_key * 4 + line, 71, 4) * (1 + :n / 2000)) % (:n / 500) AS supplier_key,
		date_key + uniform(order_key * 4 + line, 72, 120) AS ship_date_key, date_key + uniform(order_key * 4 + line, 72, 120) + uniform(order_key * 4 + line, 73, 30) AS receipt_date_key,
		1 + uniform(order_key * 4 + line, 74, 50) AS quantity, uniform(order_key * 4 + line, 75, 100000) AS price, uniform(order_key * 4 + line, 76, 11) AS discount
	FROM (SELECT order_key, date_key, line, uniform(order_key * 4 + line, 70, :n / 100) AS item_key FROM orders, generate_series(0, 3) line ORDER BY order_key, line) s;

-- Sales by month, and by three days.
CREATE TABLE sales_60 (date_key integer, item_key integer, store_key integer, quantity integer, price integer) PARTITION BY RANGE (date_key);
CREATE TABLE sales_600 (LIKE sales_60) PARTITION BY RANGE (date_key);
SELECT format('CREATE TABLE sales_60_%s PARTITION OF sales_60 FOR VALUES FROM (%s) TO (%s)', month_number, min(date_key), max(date_key) + 1)
FROM dates GROUP BY month_number ORDER BY month_number
\gexec
SELECT format('CREATE TABLE sales_600_%s PARTITION OF sales_600 FOR VALUES FROM (%s) TO (%s)', k, (k * 3044 / 1000), ((k + 1) * 3044 / 1000))
FROM generate_series(0, 599) k
\gexec
INSERT INTO sales_60 SELECT date_key, item_key, store_key, quantity, price FROM sales;
INSERT INTO sales_600 SELECT date_key, item_key, store_key, quantity, price FROM sales;

-- ------------------------------------------------------------------------ keys

ALTER TABLE dates ADD PRIMARY KEY (date_key);
ALTER TABLE addresses ADD PRIMARY KEY (address_key);
ALTER TABLE customers ADD PRIMARY KEY (customer_key);
ALTER TABLE profiles ADD PRIMARY KEY (profile_key);
ALTER TABLE items ADD PRIMARY KEY (item_key);
ALTER TABLE stores ADD PRIMARY KEY (store_key);
ALTER TABLE promotions ADD PRIMARY KEY (promotion_key);
ALTER TABLE nations ADD PRIMARY KEY (nation_key);
ALTER TABLE suppliers ADD PRIMARY KEY (supplier_key);
ALTER TABLE stock ADD PRIMARY KEY (item_key, supplier_key);
ALTER TABLE sales ADD PRIMARY KEY (sale_key);
ALTER TABLE visits ADD PRIMARY KEY (visit_key);
ALTER TABLE orders ADD PRIMARY KEY (order_key);
ALTER TABLE lines ADD PRIMARY KEY (order_key, line);
CREATE INDEX ON returns (ticket, item_key);
