#!/usr/bin/python3
"""Thirteen queries over a star schema, of the form of the Star Schema Benchmark's: star.py DIRECTORY

Sales with days, customers, suppliers and parts, in its proportions at scale factor 1: 6 million rows,
four flights of queries.  Schema, data and queries are written here.
"""

import sys

from measure import MODES, QUICK, Query, Server, contest, filters, median, psql, say, write

SALES = 600_000 if QUICK else 6_000_000

FILL = f"""
SELECT setseed(0.5);
CREATE UNLOGGED TABLE days AS
    SELECT to_char(d, 'YYYYMMDD')::integer AS day, extract(year FROM d)::integer AS year, to_char(d, 'YYYYMM')::integer AS month,
        extract(week FROM d)::integer AS week, to_char(d, 'FMMonth') AS name
    FROM generate_series(timestamp '1992-01-01', '1998-12-31', '1 day') d;
CREATE UNLOGGED TABLE places AS
    SELECT city, 'city ' || city AS city_name, 'nation ' || city / 10 AS nation, 'region ' || city / 50 AS region
    FROM generate_series(0, 249) city;
CREATE UNLOGGED TABLE customers AS
    SELECT customer, 'customer ' || customer AS name, city_name AS city, nation, region
    FROM (SELECT g AS customer, floor(random() * 250)::integer AS city FROM generate_series(1, 30000) g) c JOIN places USING (city);
CREATE UNLOGGED TABLE suppliers AS
    SELECT supplier, 'supplier ' || supplier AS name, city_name AS city, nation, region
    FROM (SELECT g AS supplier, floor(random() * 250)::integer AS city FROM generate_series(1, 2000) g) s JOIN places USING (city);
CREATE UNLOGGED TABLE parts AS
    SELECT part, 'part ' || part AS name, 'maker ' || brand / 200 AS maker, 'category ' || brand / 40 AS category,
        'brand ' || brand / 40 || '-' || lpad((brand % 40)::text, 2, '0') AS brand
    FROM (SELECT g AS part, floor(random() * 1000)::integer AS brand FROM generate_series(1, 200000) g) p;
CREATE UNLOGGED TABLE sales AS
    SELECT g / 4 AS sale, g % 4 + 1 AS line, 1 + floor(random() * 30000)::integer AS customer, 1 + floor(random() * 200000)::integer AS part,
        1 + floor(random() * 2000)::integer AS supplier, (SELECT array_agg(day) FROM days)[1 + floor(random() * 2557)::integer] AS day,
        1 + floor(random() * 50)::integer AS quantity, 900 + floor(random() * 100000)::integer AS price, floor(random() * 11)::integer AS discount,
        900 + floor(random() * 100000)::integer AS revenue, 500 + floor(random() * 60000)::integer AS cost, 'priority ' || g % 5 AS priority
    FROM generate_series(1, {SALES}) g;
"""

ALL = "FROM sales JOIN days USING (day) JOIN customers c USING (customer) JOIN suppliers s USING (supplier)"
ORDERED = "GROUP BY 1, 2, 3 ORDER BY 3, 4 DESC, 1, 2"


def flight1(name, where):
    return Query(name, f"SELECT sum(price::bigint * discount) FROM sales JOIN days USING (day) WHERE {where}")


def flight2(name, where):
    return Query(
        name,
        "SELECT sum(revenue), year, brand FROM sales JOIN days USING (day) JOIN parts USING (part)"
        f" JOIN suppliers s USING (supplier) WHERE {where} GROUP BY 2, 3 ORDER BY 2, 3",
    )


def flight3(name, what, where):
    return Query(name, f"SELECT c.{what}, s.{what}, year, sum(revenue) {ALL} WHERE {where} {ORDERED}")


def flight4(name, columns, where):
    groups = ", ".join(str(n + 1) for n in range(columns.count(",") + 1))
    return Query(name, f"SELECT {columns}, sum(revenue - cost) {ALL} JOIN parts USING (part) WHERE {where} GROUP BY {groups} ORDER BY {groups}")


REGIONS = "c.region = 'region 1' AND s.region = 'region 1'"
CITIES = "c.city IN ('city 31', 'city 35') AND s.city IN ('city 31', 'city 35')"

QUERIES = (
    flight1("1.1", "year = 1993 AND discount BETWEEN 1 AND 3 AND quantity < 25"),
    flight1("1.2", "month = 199401 AND discount BETWEEN 4 AND 6 AND quantity BETWEEN 26 AND 35"),
    flight1("1.3", "week = 6 AND year = 1994 AND discount BETWEEN 5 AND 7 AND quantity BETWEEN 26 AND 35"),
    flight2("2.1", "category = 'category 7' AND s.region = 'region 1'"),
    flight2("2.2", "brand BETWEEN 'brand 11-20' AND 'brand 11-27' AND s.region = 'region 2'"),
    flight2("2.3", "brand = 'brand 11-20' AND s.region = 'region 3'"),
    flight3("3.1", "nation", "c.region = 'region 2' AND s.region = 'region 2' AND year BETWEEN 1992 AND 1997"),
    flight3("3.2", "city", "c.nation = 'nation 8' AND s.nation = 'nation 8' AND year BETWEEN 1992 AND 1997"),
    flight3("3.3", "city", f"{CITIES} AND year BETWEEN 1992 AND 1997"),
    flight3("3.4", "city", f"{CITIES} AND month = 199712"),
    flight4("4.1", "year, c.nation", f"{REGIONS} AND maker IN ('maker 0', 'maker 1')"),
    flight4("4.2", "year, s.nation, category", f"{REGIONS} AND year IN (1997, 1998) AND maker IN ('maker 0', 'maker 1')"),
    flight4("4.3", "year, s.city, brand", "c.region = 'region 1' AND s.nation = 'nation 8' AND year IN (1997, 1998) AND category = 'category 13'"),
)


def main():
    psql(FILL)
    psql("CREATE EXTENSION IF NOT EXISTS cuckoofilter")
    psql("VACUUM ANALYZE")
    say(f"{SALES:,} sales")
    runs = contest(Server(), QUERIES)
    rows = []
    for query in QUERIES:
        cpu = [f"{median(runs[query.name, mode], 'cpu'):.4f}" for mode in MODES]
        rows.append((query.name, len(runs[query.name, "off"]), *cpu, filters(query, "on"), filters(query, "auto")))
    head = ("query", "runs", *(f"cpu {mode}" for mode in MODES), "filters on", "filters auto")
    write(sys.argv[1], "star.csv", head, rows)


if __name__ == "__main__":
    main()
