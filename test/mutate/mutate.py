#!/usr/bin/python3
"""Breaks one line of the core at random, many times, and counts the mutants that the quick suites catch.

    test/mutate/mutate.py [N [PLACE...]]    N mutants (50; all: each one), in files whose name has such a
                                            beginning, like rebuild/ or small/; SEED=n replays

Works on copies in build/mutate, JOBS=n mutants at a time (2); the sources stay as they are.  A mutant that
does not compile or gives the same object code is not counted, nor one that equivalent.tsv lists.  One
that takes many times as long as the sound core is caught.
"""
import concurrent.futures
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, "build/mutate")
EQUIVALENT = os.path.join(ROOT, "test/mutate/equivalent.tsv")
SCRIPTS = ("reader", "writer")  # test/core/format/*_test.py
# Those that are quick to catch most come first.
SUITES = ("vectors", "golden", "limits", "hashing", "growth",
          "rates", "sizes", "faults", "collect", "adversary", "hostile", "lockstep", "lookups", "unlike", "chunks")
SMALL = ("collect", "unlike", "chunks")  # before them, with the Makefile's lowered thresholds
PORTABLE = ("golden", "lockstep")  # again without the processor's fast paths
WORKERS = int(os.environ.get("JOBS") or 2)
ROUNDS = "10"
GOAL = 95  # per cent
FLAGS = ["-std=c11", "-O1", "-w", "-DCKF_TEST_BUILD"]
BOUNDED = ("sh", "-c", 'ulimit -v 8000000; exec "$@"', "sh")  # a mutant may ask for any memory
# Not worth breaking: hints to the compiler and the processor, and the choice among fast paths, which
# all have to give the same answers.
HINTS = re.compile(r"__builtin_prefetch|_Static_assert|__builtin_expect")
NOT_BROKEN = ("cuckoofilter.h", "table/cpu.c")

# (pattern, replacements): an operator or number of a line becomes another.
SWAPS = (
    (r"(?<![<>=!+\-*/&|-])<(?![<=])", ("<=", ">")),
    (r"(?<![<>=!\-])>(?![>=])", (">=", "<")),
    (r"(?<!<)<=", ("<", ">")),
    (r"(?<!>)>=", (">", "<")),
    (r"==", ("!=",)),
    (r"!=", ("==",)),
    (r"&&", ("||",)),
    (r"\|\|", ("&&",)),
    (r"(?<=\s)\+(?=\s)", ("-",)),
    (r"(?<=\s)-(?=\s)", ("+",)),
    (r"(?<=\s)\*(?=\s)", ("+",)),
    (r"(?<=\s)/(?=\s)", ("*",)),
    (r"(?<=\s)%(?=\s)", ("/",)),
    (r"<<(?!=)", (">>",)),
    (r">>(?!=)", ("<<",)),
    (r"(?<=\s)&(?=\s)", ("|",)),
    (r"(?<=\s)\|(?=\s)", ("&",)),
    (r"\+\+", ("--",)),
    (r"\btrue\b", ("false",)),
    (r"\bfalse\b", ("true",)),
    (r"(?<![\w.])\d+(?![\w.])", ("0", "1", "{n}+1", "{n}-1")),
    (r"!(?=\w)", ("",)),
)
STATEMENT = re.compile(r"^\s+[\w>.\[\]()*\s-]+(=|\+=|-=|\|=|&=|>>=|<<=|\+\+|--|\(.*\));?.*;\s*$")


def code_lines(text):
    """Numbers of the lines that do something: in functions, and no comments."""
    inside = False
    for number, line in enumerate(text):
        stripped = line.strip()
        comment = inside or stripped.startswith("/*")
        inside = comment and "*/" not in stripped
        if not comment and line.startswith("\t") and not stripped.startswith(("#", "case", "default")):
            yield number


def mutations(line):
    """Every line that one change makes of this one."""
    code = line.split("/*")[0]
    for pattern, replacements in SWAPS:
        for match in re.finditer(pattern, code):
            for new in replacements:
                text = new.replace("{n}", match.group())
                if text != match.group():
                    yield line[:match.start()] + text + line[match.end():]
    if STATEMENT.match(code) and not code.strip().startswith(("return", "for", "if", "while")):
        yield "\t;\n"


def run(command, timeout=None, **options):
    """Exit status of a command; past its time, it and what it started are killed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True, **options) as process:
        try:
            process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return process.returncode


def read(path):
    with open(path, "rb") as file:
        return file.read()


def lowered():
    """The Makefile's flags for a core whose thresholds small inputs reach."""
    with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as makefile:
        return re.findall(r"-D\S+", re.search(r"^SMALL := ((?:.*\\\n)*.*)$", makefile.read(), re.M).group(1))


def shared_sources():
    return glob.glob(os.path.join(ROOT, "test/core/lib/*.c"))


def included(folder, name):
    """The headers that a header brings with it, and itself."""
    yield name
    for inner in re.findall(rb'^#include "(.*)"', read(os.path.join(folder, name)), re.M):
        yield from included(folder, inner.decode())


class Place:
    """A copy of the core with its objects, and the suites' objects, in a directory of its own."""

    def __init__(self, name, like=None):
        folder = os.path.join(WORK, name)
        self.core = os.path.join(folder, "core")
        self.tests = os.path.join(folder, "tests")
        self.limits = like.limits if like else {}  # seconds a suite may take
        shutil.rmtree(folder, ignore_errors=True)
        if like:
            shutil.copytree(os.path.dirname(like.core), folder)
        else:
            shutil.copytree(os.path.join(ROOT, "core"), self.core)
            os.makedirs(self.tests)
            if not (self.compile_core() and self.compile_tests()):
                raise RuntimeError("the sound core or its tests do not compile")
        self.public = set(included(self.core, "cuckoofilter.h"))
        self.sound = {made: read(made) for made in self.objects()}  # object code

    def objects(self):
        return sorted(path for end in ("o", "small")
                      for folder in (os.path.join(self.core, "*"), self.tests)
                      for path in glob.glob(os.path.join(folder, "*." + end)))

    def compiles(self, source, folder):
        made = os.path.join(folder, os.path.basename(source)[:-2])
        return all(run(["cc", *FLAGS, *flags, "-I" + self.core, "-I" + os.path.join(ROOT, "test/core/lib"), "-c", source, "-o", made + end]) == 0
                   for end, flags in ((".o", ()), (".small", lowered())))

    def compile_core(self):
        sources = sorted(glob.glob(os.path.join(self.core, "*/*.c")))
        return all(self.compiles(source, os.path.dirname(source)) for source in sources)

    def compile_tests(self):
        sources = sorted(glob.glob(os.path.join(ROOT, "test/core/*.c")) + shared_sources())
        return all(self.compiles(source, self.tests) for source in sources)

    def write(self, name, lines):
        with open(os.path.join(self.core, name), "w", encoding="utf-8") as source:
            source.writelines(lines)

    def build(self, name):
        """Compile what a change of this file concerns; whether other code came out."""
        if name.endswith(".c"):
            good = self.compiles(os.path.join(self.core, name), os.path.dirname(os.path.join(self.core, name)))
        else:
            good = self.compile_core() and (name not in self.public or self.compile_tests())
        return good and any(read(made) != code for made, code in self.sound.items())

    def undo(self, name, lines):
        self.write(name, lines)
        for made, code in self.sound.items():
            with open(made, "wb") as file:
                file.write(code)

    def fails(self, suite, command, seed, portable=False):
        environment = dict(os.environ, ROUNDS=ROUNDS, SEED=str(seed), CKF_CORE=self.core)
        environment.pop("CUCKOOFILTER_PORTABLE", None)
        if portable:
            environment["CUCKOOFILTER_PORTABLE"] = "1"
        started = time.monotonic()
        try:
            failed = run(command, self.limits.get(suite, 900), cwd=ROOT, env=environment) != 0
        except subprocess.TimeoutExpired:
            return True
        self.limits.setdefault(suite, 30 + 10 * (time.monotonic() - started))
        return failed

    def link(self, suite, end):
        """Path of the suite's program, of objects whose names have this end."""
        shared = [os.path.join(self.tests, os.path.basename(source)[:-2] + end) for source in shared_sources()]
        shared += glob.glob(os.path.join(self.core, "*/*" + end))
        program = os.path.join(self.tests, suite)
        subprocess.run(["cc", program + end, *shared, "-lm", "-o", program], check=True)
        return program

    def first_killer(self, seed):
        """The suite that catches the mutant, or None."""
        for suite in SMALL:
            if self.fails(suite + " (small)", [self.link(suite, ".small")], seed):
                return suite + " (small)"
        for suite in SUITES:
            if self.fails(suite, [self.link(suite, ".o")], seed):
                return suite
        for suite in PORTABLE:
            if self.fails(suite, [os.path.join(self.tests, suite)], seed, True):
                return suite + " (portable)"
        for script in SCRIPTS:
            path = os.path.join(ROOT, "test/core/format", script + "_test.py")
            if self.fails(script, ["/usr/bin/python3", path], seed):
                return script
        return None


def equivalents():
    """(file, line before, line, mutated line) of known mutants that change nothing one could see."""
    with open(EQUIVALENT, encoding="utf-8") as listed:
        return {tuple(line.rstrip("\n").split("\t")[:4]) for line in listed if not line.startswith("#")}


class Mutants:
    """Mutants of the core, one after the other: random ones, long files more often, or all of them."""

    def __init__(self, seed, beginnings, every):
        self.source = self.all() if every else self.drawn()
        self.rng = random.Random(seed)
        self.lock = threading.Lock()
        self.known = equivalents()
        self.files = {}
        self.places = []
        self.seen = set()
        for path in sorted(glob.glob(os.path.join(ROOT, "core/**/*.[ch]"), recursive=True)):
            name = os.path.relpath(path, os.path.join(ROOT, "core"))
            if name not in NOT_BROKEN and name.startswith(beginnings):
                with open(path, encoding="utf-8") as source:
                    self.files[name] = source.readlines()
                self.places += [(name, n) for n in code_lines(self.files[name])]

    def choices(self, name, number):
        old = self.files[name][number]
        return [] if HINTS.search(old) else list(mutations(old))

    def is_new(self, mutant):
        name, number, new = mutant
        lines = (self.files[name][number - 1], self.files[name][number], new)
        if mutant in self.seen or (name, *map(str.strip, lines)) in self.known:
            return False
        self.seen.add(mutant)
        return True

    def all(self):
        for name, number in self.places:
            for new in self.choices(name, number):
                if self.is_new((name, number, new)):
                    yield name, number, new

    def drawn(self):
        while True:
            name, number = self.rng.choice(self.places)
            choices = self.choices(name, number)
            mutant = (name, number, self.rng.choice(choices)) if choices else None
            if mutant and self.is_new(mutant):
                yield mutant

    def next(self):
        """(file, line number, new line); None after the last of all."""
        with self.lock:
            return next(self.source, None)


def judge(place, mutants, seed):
    """The next mutant that is one: (mutant, killer or None); None after the last."""
    while True:
        mutant = mutants.next()
        if mutant is None:
            return None
        name, number, new = mutant
        sound = mutants.files[name]
        place.write(name, sound[:number] + [new] + sound[number + 1:])
        made = place.build(name)
        killer = place.first_killer(seed) if made else None
        place.undo(name, sound)
        if made:
            return mutant, killer


def report(mutants, mutant, killer):
    name, number, new = mutant
    print("  %s %s:%d  %s  ->  %s" % ("killed by %s," % killer if killer else "SURVIVED", name, number + 1,
                                     mutants.files[name][number].strip(), new.strip()), flush=True)


def main():
    every = sys.argv[1:2] == ["all"]
    wanted = 50 if len(sys.argv) < 2 else sys.maxsize if every else int(sys.argv[1])
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(2**32))
    print("mutate: SEED=%d, %s mutants" % (seed, "all" if every else wanted), flush=True)
    mutants = Mutants(seed, tuple(sys.argv[2:]) or "", every)
    first = Place("0")
    if first.first_killer(seed) is not None:  # a sound run, which also tells how long suites take
        print("  a suite fails before any mutation\nmutate: 0 passed, 1 failed")
        return 1
    places = [first] + [Place(str(i), first) for i in range(1, WORKERS)]
    turns = iter(range(wanted))

    def work(place):
        """Whether each of the mutants that this place judged was caught."""
        caught = []
        for _ in turns:
            judged = judge(place, mutants, seed)
            if judged is None:
                break
            report(mutants, *judged)
            caught.append(judged[1] is not None)
        return caught

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        caught = sum(pool.map(work, places), [])
    killed, survived = sum(caught), len(caught) - sum(caught)
    share = 100 * killed / max(len(caught), 1)
    print("    %d of %d mutants killed, %.0f %% (goal %d %%)" % (killed, len(caught), share, GOAL))
    print("mutate: %d passed, %d failed" % (killed, survived))
    return share < GOAL


if __name__ == "__main__":
    sys.exit(main())
