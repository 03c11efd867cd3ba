#!/usr/bin/python3
"""Does `make test` find what `make test-all` finds?  Breaks one line of the engine, of SQLite's or of PostgreSQL's part.

    test/mutate/tiers.py [N]     N mutants (30), a third of each part; SEED=n replays

Works on a copy of the tree in build/mutate/tiers.  Runs the suites of the part that TIER=short has, until one
fails; if none does, the others of TIER=all.  Mutants are those of mutate.py.
"""
import glob
import os
import random
import shutil
import subprocess
import sys

import mutate

COPY = os.path.join(mutate.WORK, "tiers")
PARTS = ("core", "sqlite", "pg")
GOAL = 90  # per cent


def run(*command, **environment):
    """Whether the command fails, in the copy."""
    done = subprocess.run(command, cwd=COPY, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return done.returncode != 0


def built(part):
    """The libraries that users get; None if they do not compile."""
    if run("make", "-s", "-j2", "test-build-short"):
        return None
    return [mutate.read(path) for path in sorted(glob.glob(f"{COPY}/build/{'pg' if part == 'pg' else 'sqlite'}/*.so"))]


def suites(part, tier):
    run("test/run.sh", part, LIST="yes", TIER=tier)
    with open(f"{COPY}/build/test/suites-{part}" + ("-short" if tier == "short" else ""), encoding="utf-8") as lines:
        return lines.readlines()


def finds(part, name, lines, seed):
    """Whether one of the suites fails."""
    once = f"{COPY}/build/test/pg/once"
    shutil.rmtree(once, ignore_errors=True)
    os.makedirs(once)
    with open(f"{COPY}/build/{name}", "w", encoding="utf-8") as file:
        file.writelines(lines)
    return run("/usr/bin/python3", "test/run.py", f"build/test/log/{part}-{name}", f"build/{name}", FIRST="yes", SEED=str(seed),
               LIMIT="1800", PYTHONHASHSEED="0", PERL_HASH_SEED="0", TIER="short" if name == "short" else "all", CUCKOOFILTER_ONCE=once, INSTALL="no")


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
    sound = {part: built(part) for part in PARTS}
    assert all(sound.values()), "the sound tree does not compile"
    short = {part: suites(part, "short") for part in PARTS}
    counts = {"short": 0, "all": 0, "none": 0}
    while sum(counts.values()) < wanted:
        part = PARTS[sum(counts.values()) % len(PARTS)]
        path, lines, number, new = mutant(part, rng)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines[:number] + [new] + lines[number + 1:])
        made = built(part)
        if made is not None and made != sound[part]:
            found = "short" if finds(part, "short", short[part], seed) else None
            if not found and not run("make", "-s", "-j2", "test-build"):
                found = "all" if finds(part, "rest", [line for line in suites(part, "all") if line not in short[part]], seed) else "none"
            counts[found or "all"] += 1
            print(f"  {found or 'all'}: {os.path.relpath(path, COPY)}:{number + 1}  {lines[number].strip()}  ->  {new.strip()}", flush=True)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
    share = 100 * counts["short"] / max(counts["short"] + counts["all"], 1)
    print(f"    make test finds {counts['short']} of the {counts['short'] + counts['all']} mutants that make test-all finds, {share:.0f} % (goal {GOAL} %); {counts['none']} are found by neither")
    print(f"tiers: {counts['short']} passed, {counts['all']} failed")
    return share < GOAL


if __name__ == "__main__":
    sys.exit(main())
