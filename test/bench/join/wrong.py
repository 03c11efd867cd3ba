#!/usr/bin/python3
"""What a wrong estimate costs in auto, in instructions: wrong.py STAGE DIRECTORY

All rows have one of the keys that pass, which the planner cannot know: a filter is built, and asked
until it is seen to drop nothing.
"""

import shutil
import sys

from measure import HASH, SERIAL, say, write
from planning import LIBRARY, Single

ROWS = 300_000
SHARES = (10, 20, 30)


def lines(text):
    return "".join(f"{line.strip()}\n" for line in text.split(";") if line.strip())


def main():
    single = Single()
    single.run(
        lines(
            f"CREATE TABLE every AS SELECT g AS k FROM generate_series(0, {ROWS - 1}) g;"
            + "".join(
                f"CREATE TABLE rows{share} AS SELECT g AS id, g * 7919 % {ROWS * share // 100} AS k FROM generate_series(0::bigint, {ROWS - 1}) g;"
                for share in SHARES
            )
            + "VACUUM ANALYZE"
        )
    )
    rows = []
    for share in SHARES:
        query = f"SELECT count(*), sum(f.id) FROM rows{share} f JOIN every d USING (k) WHERE d.k < {ROWS * share // 100}"
        settings = f"{SERIAL}; {HASH}; SET cuckoofilter.join_filter_min_rows = 1000;"
        counts = [single.instructions(lines(f"{settings} SET cuckoofilter.join_filter = {mode}; {query}"), LIBRARY) for mode in ("off", "auto")]
        plan = single.run(lines(f"{settings} SET cuckoofilter.join_filter = auto; EXPLAIN {query}"), LIBRARY).stdout
        rows.append((share, ROWS * share // 100, *counts, plan.count("Cuckoo Join Filter")))
        say(str(rows[-1]))
        write(sys.argv[2], "wrong.csv", ("share", "keys", "off", "auto", "filters"), rows)
    shutil.rmtree(single.directory)


if __name__ == "__main__":
    main()
