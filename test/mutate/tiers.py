#!/usr/bin/python3
"""Does `make test` find what `make test-all` finds?  Breaks one line of the engine, of SQLite's or of PostgreSQL's part.

    test/mutate/tiers.py [N]     N mutants (30), a third of each part; SEED=n replays; JOBS=n suites at a time

Works on a copy of the tree in build/mutate/tiers.  Runs the suites of the part that TIER=short has, the quickest
first, until one fails; if none does, the others of TIER=all.  Mutants are those of mutate.py.  A first run of the
short tier, in which no suite may fail, tells how long each takes; SECONDS=FILE, of "SECONDS COMMAND" lines, does without.
"""
import glob
import os
import random
import re
import shutil
import subprocess
import sys

import mutate

COPY = os.path.join(mutate.WORK, "tiers")
PARTS = ("core", "sqlite", "pg")
# The suites that concern a file with such a beginning: those whose line has a match.
TOUCHED = {
    "pg/join/": r"join|decimals",
    "pg/table/": r"table|regress|install|upgrade|flags|reference|pages",
    "pg/": r"^(?!.*(join|table))",
    "sqlite/table/": r"table|functions|flags|pages|reference|around|library|shell",
    "": "",
}
BUILT = {"core": ["sqlite", *(path[:-2].replace("test", "build/test", 1) for path in glob.glob("test/core/*.c", root_dir=mutate.ROOT))],
         "sqlite": ["test-build-short"], "pg": ["pg"]}
GOAL = 90  # per cent
FAILED = re.compile(r"^ *\d+/\d+ FAILED .* s   (.*)$", re.MULTILINE)
TOOK = re.compile(r"^ *\d+/\d+ ok .* (\d+) s   (.*)$", re.MULTILINE)
ONCE = f"{COPY}/build/test/pg/once"


def run(*command, **environment):
    """What the command prints, in the copy, and whether it fails."""
    done = subprocess.run(command, cwd=COPY, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout, done.returncode != 0


def built(part):
    """The libraries that users get; None if they do not compile."""
    if run("make", "-s", "-j2", *BUILT[part])[1]:
        return None
    return [mutate.read(path) for path in sorted(glob.glob(f"{COPY}/build/{'pg' if part == 'pg' else 'sqlite'}/*.so"))]


def suites(part, tier):
    run("test/run.sh", part, LIST="yes", TIER=tier)
    with open(f"{COPY}/build/test/suites-{part}" + ("-short" if tier == "short" else ""), encoding="utf-8") as lines:
        return [" ".join(line.split()) for line in lines]


def ran(name, lines, seed, **environment):
    """What test/run.py prints about these suites."""
    shutil.rmtree(f"{ONCE}/stage", ignore_errors=True)
    os.makedirs(ONCE, exist_ok=True)
    with open(f"{COPY}/build/{name}", "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    return run("/usr/bin/python3", "test/run.py", f"build/test/log/{name}", f"build/{name}", SEED=str(seed), PYTHONHASHSEED="0",
               PERL_HASH_SEED="0", TIER="short" if name == "short" else "all", CUCKOOFILTER_ONCE=ONCE, INSTALL="no", **environment)


def finds(name, lines, seconds, seed):
    """The suite that fails, or None.  One that takes ten times as long as in the sound tree fails."""
    lines = sorted(lines, key=lambda line: seconds.get(line, 60))
    limited = [f"LIMIT={max(60, 10 * seconds.get(line, 60))} {line}" for line in lines]
    failed = FAILED.search(ran(name, limited, seed, FIRST="yes")[0])
    return re.sub(r"^LIMIT=\S+ ", "", failed[1]) if failed else None


def measured(short, seed):
    """Seconds of each suite of these lists, in the sound tree."""
    if os.environ.get("SECONDS"):
        with open(os.environ["SECONDS"], encoding="utf-8") as file:
            return {line.strip().split(" ", 1)[1]: float(line.split()[0]) for line in file}
    said, fails = ran("short", sum(short.values(), []), seed)
    if fails:
        raise RuntimeError("a suite fails before any mutation:\n" + said)
    return {command: float(seconds) for seconds, command in TOOK.findall(said)}


def mutant(part, rng):
    """(file, its lines, number, new line), drawn."""
    while True:
        path = rng.choice(sorted(glob.glob(f"{COPY}/{part}/**/*.c", recursive=True)))
        if f"{part}/package" in path:
            continue
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        number = rng.choice(list(mutate.code_lines(lines)) or [0])
        choices = [] if mutate.HINTS.search(lines[number]) else list(mutate.mutations(lines[number]))
        if choices:
            return path, lines, number, rng.choice(choices)


def main():
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(2**32))
    rng = random.Random(seed)
    print(f"tiers: SEED={seed}, {wanted} mutants", flush=True)
    shutil.rmtree(COPY, ignore_errors=True)
    for name in subprocess.run(["git", "ls-files", "-z"], cwd=mutate.ROOT, capture_output=True, check=True).stdout.decode().split("\0"):
        if os.path.isfile(os.path.join(mutate.ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(COPY, name)), exist_ok=True)
            shutil.copy2(os.path.join(mutate.ROOT, name), os.path.join(COPY, name))
    run("make", "-s", "-j2", "test-build-short")
    sound = {part: built(part) for part in PARTS}
    assert all(sound.values()), "the sound tree does not compile"
    short = {part: suites(part, "short") for part in PARTS}
    more = {part: [line for line in suites(part, "all") if line not in short[part]] for part in PARTS}
    seconds = measured(short, seed)
    known = mutate.equivalents()
    counts = {"short": 0, "all": 0, "none": 0}
    while sum(counts.values()) < wanted:
        part = PARTS[sum(counts.values()) % len(PARTS)]
        path, lines, number, new = mutant(part, rng)
        name = os.path.relpath(path, COPY)
        if (name.removeprefix("core/"), *map(str.strip, (lines[number - 1], lines[number], new))) in known:
            continue
        touched = next(pattern for start, pattern in TOUCHED.items() if name.startswith(start))
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines[:number] + [new] + lines[number + 1:])
        made = built(part)
        if made is not None and made != sound[part]:
            found, suite = "short", finds("short", [line for line in short[part] if re.search(touched, line)], seconds, seed)
            if not suite:
                found = "all"
                suite = "a build" if part != "pg" and run("make", "-s", "-j2", "test-build")[1] else finds("rest", [line for line in more[part] if re.search(touched, line)], seconds, seed)
            found = found if suite else "none"
            counts[found] += 1
            print(f"  {found}: {name}:{number + 1}  {lines[number].strip()}  ->  {new.strip()}   ({suite})", flush=True)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
    share = 100 * counts["short"] / max(counts["short"] + counts["all"], 1)
    print(f"    make test finds {counts['short']} of the {counts['short'] + counts['all']} mutants that make test-all finds, {share:.0f} % (goal {GOAL} %); {counts['none']} are found by neither")
    print(f"tiers: {counts['short']} passed, {counts['all']} failed")
    return share < GOAL


if __name__ == "__main__":
    sys.exit(main())
