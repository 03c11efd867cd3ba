-- Queries over the warehouse. Each begins with a line of its name and what it asks. s: stars of one
-- fact; h: orders and lines; d: large dimensions, several facts, snowflakes; p: partitions. Conditions
-- on columns that depend on each other (a quarter and its month) are underestimated, as they often are.

-- s01: a month of sales
SELECT sum(price::bigint * discount) FROM sales JOIN dates USING (date_key) WHERE month_number = 30 AND discount BETWEEN 1 AND 3;

-- s02: a week of sales, by store
SELECT store_key, sum(price::bigint) FROM sales JOIN dates USING (date_key) WHERE year = 2021 AND week = 6 GROUP BY 1 ORDER BY 1;

-- s03: holidays
SELECT year, count(*), sum(quantity) FROM sales JOIN dates USING (date_key) WHERE holiday GROUP BY 1 ORDER BY 1;

-- s04: a category, by year
SELECT year, brand, sum(price::bigint) FROM sales JOIN dates USING (date_key) JOIN items USING (item_key) WHERE category = 'category 7' GROUP BY 1, 2 ORDER BY 1, 2;

-- s05: some brands in some stores
SELECT year, brand, sum(price::bigint) FROM sales JOIN dates USING (date_key) JOIN items USING (item_key) JOIN stores USING (store_key)
WHERE brand IN ('brand 11', 'brand 12', 'brand 15') AND state < 10 GROUP BY 1, 2 ORDER BY 1, 2;

-- s06: a region's customers
SELECT year, state, sum(price::bigint) FROM sales JOIN dates USING (date_key) JOIN customers USING (customer_key) JOIN addresses USING (address_key)
WHERE region = 'region 3' AND year BETWEEN 2020 AND 2022 GROUP BY 1, 2 ORDER BY 1, 2;

-- s07: two cities in December
SELECT city_name, sum(price::bigint) FROM sales JOIN dates USING (date_key) JOIN customers USING (customer_key) JOIN addresses USING (address_key)
WHERE city_name IN ('city 31', 'city 45') AND month_name = 'December' GROUP BY 1 ORDER BY 1;

-- s08: profit by segment
SELECT year, segment, sum(price::bigint - cost) FROM sales JOIN dates USING (date_key) JOIN customers USING (customer_key) JOIN items USING (item_key)
WHERE maker IN ('maker 1', 'maker 2') AND segment = 'segment 2' GROUP BY 1, 2 ORDER BY 1, 2;

-- s09: visits that ended with a purchase
SELECT category, count(*) FROM visits JOIN items USING (item_key) JOIN dates USING (date_key) WHERE bought AND year = 2022 GROUP BY 1 ORDER BY 1;

-- s10: visits of one class
SELECT month_number, count(*), sum(seconds) FROM visits JOIN items USING (item_key) JOIN dates USING (date_key) WHERE class = 'class 17' GROUP BY 1 ORDER BY 1;

-- s11: all match
SELECT category, count(*), sum(price::bigint) FROM sales JOIN items USING (item_key) JOIN stores USING (store_key) GROUP BY 1 ORDER BY 1;

-- s12: no supplier has this name, deep in a star
SELECT count(*), sum(price::bigint) FROM lines JOIN items USING (item_key) JOIN suppliers s USING (supplier_key) JOIN nations n USING (nation_key) WHERE s.name = 'nobody';

-- s13: customers that bought in a week of a weekday's discount
SELECT count(DISTINCT customer_key) FROM sales WHERE date_key IN (SELECT date_key FROM dates WHERE weekday = 6 AND month_number = 11) AND discount > 5;

-- s14: a few days, by their names, which the planner underestimates
SELECT sum(price::bigint), count(*) FROM sales JOIN dates USING (date_key)
WHERE year = 2021 AND quarter = 2 AND month = 5 AND month_name = 'May' AND quarter_name = '2021Q2';

-- h01: lines of a segment's open orders
SELECT order_key, sum(price::bigint) AS revenue FROM customers JOIN orders USING (customer_key) JOIN lines USING (order_key)
WHERE segment = 'segment 1' AND date_key < 900 AND ship_date_key > 900 GROUP BY 1 ORDER BY revenue DESC, 1 LIMIT 10;

-- h02: revenue of a region's suppliers
SELECT n.name, sum(price::bigint) FROM lines JOIN suppliers s USING (supplier_key) JOIN nations n USING (nation_key) JOIN orders USING (order_key)
WHERE n.region = 'region 2' AND date_key BETWEEN 365 AND 729 GROUP BY 1 ORDER BY 2 DESC;

-- h03: late orders, by priority
SELECT priority, count(*) FROM orders JOIN dates USING (date_key)
WHERE quarter_name = '2020Q3' AND EXISTS (SELECT FROM lines l WHERE l.order_key = orders.order_key AND l.receipt_date_key > l.ship_date_key + 25) GROUP BY 1 ORDER BY 1;

-- h04: items of one brand in small packets
SELECT count(*), sum(price::bigint) FROM lines JOIN items USING (item_key) WHERE brand = 'brand 42' AND quantity < 10;

-- h05: profit on items of a colour
SELECT n.name, d.year, sum(l.price::bigint - s.cost::bigint * l.quantity) FROM lines l JOIN stock s USING (item_key, supplier_key) JOIN items i USING (item_key)
JOIN suppliers p USING (supplier_key) JOIN nations n USING (nation_key) JOIN orders o USING (order_key) JOIN dates d USING (date_key)
WHERE i.color = 17 GROUP BY 1, 2 ORDER BY 1, 2;

-- h06: the share of a promotion's class
SELECT sum(CASE WHEN class LIKE 'class 1%' THEN price::bigint ELSE 0 END), sum(price::bigint) FROM lines JOIN items USING (item_key) JOIN dates ON date_key = ship_date_key
WHERE month_number = 40;

-- h07: large stock of items of one maker
SELECT supplier_key, sum(st.quantity) FROM stock st JOIN items USING (item_key) JOIN suppliers USING (supplier_key) WHERE maker = 'maker 9' AND balance > 5000 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20;

-- h08: customers with many open orders
SELECT c.name, count(*) FROM orders JOIN customers c USING (customer_key) WHERE income = 3 AND status = 1 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20;

-- h09: orders of customers who returned something
SELECT count(*), sum(price::bigint) FROM orders JOIN lines USING (order_key) WHERE customer_key IN (SELECT customer_key FROM returns WHERE reason = 3 AND amount > 45000);

-- h10: lines whose shipping and receipt fall into two named months
SELECT count(*), sum(l.price::bigint) FROM lines l JOIN dates s ON s.date_key = l.ship_date_key JOIN dates r ON r.date_key = l.receipt_date_key
WHERE s.month_name = 'March' AND s.year = 2021 AND r.month_name = 'April' AND r.year = 2021;

-- d01: what people of one profile buy in a year
SELECT category, count(*), sum(price::bigint) FROM sales JOIN profiles USING (profile_key) JOIN dates USING (date_key) JOIN items USING (item_key)
WHERE gender = 'm' AND marital = 'single' AND education = 'education 3' AND year = 2021 AND quarter_name = '2021Q2' GROUP BY 1 ORDER BY 1;

-- d02: the same by promotion
SELECT category, count(*), sum(price::bigint) FROM sales JOIN profiles USING (profile_key) JOIN dates USING (date_key) JOIN items USING (item_key) JOIN promotions USING (promotion_key)
WHERE gender = 'f' AND marital = 'divorced' AND education = 'education 5' AND (NOT by_mail OR NOT by_event) AND year = 2020 AND quarter = 1 AND quarter_name = '2020Q1' GROUP BY 1 ORDER BY 1;

-- d03: sold, returned, and ordered again
SELECT i.category, count(*), sum(s.price::bigint), sum(r.amount::bigint) FROM sales s JOIN dates ds ON ds.date_key = s.date_key JOIN returns r ON r.ticket = s.ticket AND r.item_key = s.item_key
JOIN dates dr ON dr.date_key = r.date_key JOIN items i ON i.item_key = s.item_key
WHERE ds.year = 2021 AND ds.quarter_name = '2021Q1' AND dr.year = 2021 AND dr.quarter IN (1, 2) GROUP BY 1 ORDER BY 1;

-- d04: returns with the sale's profile
SELECT p.credit, count(*), sum(r.amount::bigint) FROM returns r JOIN sales s ON s.ticket = r.ticket AND s.item_key = r.item_key JOIN profiles p ON p.profile_key = s.profile_key
JOIN dates d ON d.date_key = r.date_key WHERE p.dependents = 4 AND p.gender = 'f' AND d.quarter_name = '2022Q4' AND d.year = 2022 GROUP BY 1 ORDER BY 1;

-- d05: income and region: a snowflake of four steps
SELECT a.state, count(*), sum(s.price::bigint) FROM sales s JOIN dates d USING (date_key) JOIN customers c USING (customer_key) JOIN addresses a USING (address_key)
WHERE d.year = 2022 AND d.quarter_name = '2022Q3' AND d.month_name = 'August' AND c.income = 5 AND a.region = 'region 1' GROUP BY 1 ORDER BY 1;

-- d06: first purchases of customers in a month that they came back
SELECT f.year, count(*) FROM sales s JOIN dates d USING (date_key) JOIN customers c USING (customer_key) JOIN dates f ON f.date_key = c.first_date_key
WHERE d.month = 7 AND d.quarter = 3 AND d.quarter_name = '2019Q3' AND f.month_name = 'July' GROUP BY 1 ORDER BY 1;

-- d07: tickets of one weekday by city of the customer
SELECT a.city_name, count(DISTINCT s.ticket) FROM sales s JOIN dates d USING (date_key) JOIN stores t USING (store_key) JOIN customers c USING (customer_key) JOIN addresses a USING (address_key)
WHERE d.weekday = 7 AND d.year = 2021 AND d.quarter_name = '2021Q4' AND t.employees > 250 AND a.zip < 2000 GROUP BY 1 ORDER BY 1;

-- d08: profiles of married visitors, by a large dimension
SELECT p.education, count(*) FROM sales s JOIN profiles p USING (profile_key) JOIN stores t USING (store_key)
WHERE t.manager = 3 AND t.state < 25 AND p.marital = 'married' AND p.credit = 2 AND p.dependents = 1 GROUP BY 1 ORDER BY 1;

-- d09: a brand and its class, to a profile
SELECT p.gender, count(*), sum(s.price::bigint) FROM sales s JOIN items i USING (item_key) JOIN profiles p USING (profile_key)
WHERE i.brand = 'brand 170' AND i.class = 'class 17' AND i.category = 'category 1' AND p.education = 'education 1' AND p.marital = 'widowed' GROUP BY 1 ORDER BY 1;

-- d10: young customers of a promotion
SELECT c.birth_year, count(*), sum(s.price::bigint) FROM sales s JOIN promotions m USING (promotion_key) JOIN customers c USING (customer_key) JOIN dates d USING (date_key)
WHERE m.by_radio AND m.by_mail AND c.birth_year > 1980 AND c.income < 4 AND d.quarter_name = '2020Q2' AND d.year = 2020 GROUP BY 1 ORDER BY 1;

-- d11: visits of a month by customers of one state
SELECT count(*), sum(v.seconds) FROM visits v JOIN dates d USING (date_key) JOIN customers c USING (customer_key) JOIN addresses a USING (address_key)
WHERE d.year = 2020 AND d.month_name = 'June' AND d.quarter_name = '2020Q2' AND a.state = 7;

-- d12: visits of long standing customers
SELECT i.category, count(*) FROM visits v JOIN dates d USING (date_key) JOIN customers c USING (customer_key) JOIN items i USING (item_key)
WHERE d.year = 2023 AND d.quarter_name = '2023Q1' AND c.first_date_key < 100 AND i.size < 10 GROUP BY 1 ORDER BY 1;

-- d13: suppliers of what was sold in a month
SELECT n.name, count(*) FROM lines l JOIN dates d ON d.date_key = l.ship_date_key JOIN stock st USING (item_key, supplier_key) JOIN suppliers p USING (supplier_key) JOIN nations n USING (nation_key)
WHERE d.year = 2022 AND d.month_name = 'May' AND d.quarter_name = '2022Q2' AND st.quantity < 500 GROUP BY 1 ORDER BY 1;

-- d14: orders behind the lines of a week
SELECT o.priority, count(*), sum(l.price::bigint) FROM lines l JOIN dates d ON d.date_key = l.ship_date_key JOIN orders o USING (order_key)
WHERE d.year = 2021 AND d.week = 20 AND d.quarter_name = '2021Q2' AND o.priority = 'priority 2' AND o.status = 0 GROUP BY 1 ORDER BY 1;

-- d15: orders of a segment behind the lines of a month
SELECT c.segment, count(*) FROM lines l JOIN dates d ON d.date_key = l.ship_date_key JOIN orders o USING (order_key) JOIN customers c USING (customer_key)
WHERE d.year = 2020 AND d.month = 11 AND d.month_name = 'November' AND c.segment = 'segment 4' AND c.income = 2 GROUP BY 1 ORDER BY 1;

-- d16: returned items that are in stock
SELECT r.reason, count(*) FROM returns r JOIN dates d USING (date_key) JOIN items i USING (item_key) WHERE d.year = 2021 AND r.reason < 5
AND EXISTS (SELECT FROM stock st WHERE st.item_key = r.item_key AND st.quantity > 9900) GROUP BY 1 ORDER BY 1;

-- d17: sales of the customers of the best month
WITH best AS (SELECT customer_key FROM sales JOIN dates USING (date_key) WHERE month_number = 20 GROUP BY 1 HAVING count(*) > 20)
SELECT year, count(*), sum(price::bigint) FROM sales JOIN dates USING (date_key) JOIN best USING (customer_key) GROUP BY 1 ORDER BY 1;

-- d18: sales in the months of returns, each month by itself
SELECT d.month_number, x.n FROM (SELECT DISTINCT month_number FROM dates WHERE year = 2021 AND quarter = 1) d,
LATERAL (SELECT count(*) AS n FROM sales s JOIN dates e USING (date_key) WHERE e.month_number = d.month_number AND s.discount = 10) x ORDER BY 1;

-- d19: customers of two shops, by their profile
SELECT p.marital, p.credit, count(*) FROM sales s JOIN stores t USING (store_key) JOIN profiles p USING (profile_key) JOIN customers c USING (customer_key)
WHERE t.state < 10 AND t.manager IN (1, 2) AND p.gender = 'm' AND p.dependents > 7 AND c.segment = 'segment 3' GROUP BY 1, 2 ORDER BY 1, 2;

-- d20: prices of items that one supplier has
SELECT i.category, min(l.price), max(l.price) FROM lines l JOIN stock st USING (item_key, supplier_key) JOIN items i USING (item_key)
WHERE l.quantity = 7 AND l.discount = 3 AND l.line = 2 AND st.quantity > 9000 GROUP BY 1 ORDER BY 1;

-- p01: a month of 60 partitions
SELECT count(*), sum(price::bigint) FROM sales_60 JOIN dates USING (date_key) WHERE month_number = 33;

-- p02: a month of 600 partitions
SELECT count(*), sum(price::bigint) FROM sales_600 JOIN dates USING (date_key) WHERE month_number = 33;

-- p03: a month and a category of 60 partitions
SELECT category, count(*), sum(price::bigint) FROM sales_60 JOIN dates USING (date_key) JOIN items USING (item_key) WHERE quarter_name = '2020Q2' AND maker = 'maker 3' GROUP BY 1 ORDER BY 1;

-- p04: all partitions
SELECT year, count(*), sum(price::bigint) FROM sales_600 JOIN dates USING (date_key) GROUP BY 1 ORDER BY 1;
