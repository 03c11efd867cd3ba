#!/usr/bin/python3
"""Breaks one line of the core at random, many times, and counts the mutants that the quick suites catch.

    test/mutate/mutate.py [N]        N mutants (50); SEED=n replays

Works on copies in build/mutate; the sources stay as they are.  A mutant that does not compile or
gives the same object code is not counted.  One that hangs past LIMIT seconds is caught.
"""
import glob
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(ROOT, "build/mutate")
CORE, TESTS = os.path.join(WORK, "core"), os.path.join(WORK, "tests")
SUITES = ("hashing", "worked", "vectors", "growth", "lockstep", "aggregate", "hostile", "sizes",
          "rates")
READER = os.path.join(ROOT, "test/core/reader_test.py")
ROUNDS = "10"
LIMIT = 300
GOAL = 95  # per cent
FLAGS = ["-std=c11", "-O1", "-w"]

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


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          **options)


def compiles(source, made):
    return run(["cc", *FLAGS, "-I" + CORE, "-c", source, "-o", made]).returncode == 0


def compile_core():
    """A digest of the copy's object code, or None where it does not compile."""
    digest = hashlib.sha256()
    for source in sorted(glob.glob(os.path.join(CORE, "*.c"))):
        made = source[:-2] + ".o"
        if not compiles(source, made):
            return None
        with open(made, "rb") as compiled:
            digest.update(compiled.read())
    return digest.hexdigest()


def compile_tests():
    """Objects of the suites; of the core they see the public headers."""
    os.makedirs(TESTS, exist_ok=True)
    for source in glob.glob(os.path.join(ROOT, "test/core/*.c")):
        made = os.path.join(TESTS, os.path.basename(source)[:-2] + ".o")
        if not compiles(source, made):
            raise RuntimeError("%s does not compile" % source)


def helpers():
    """Objects of test/core that are no suites."""
    for source in glob.glob(os.path.join(ROOT, "test/core/*.c")):
        with open(source, encoding="utf-8") as text:
            if not re.search(r"^(int )?main\(", text.read(), re.M):
                yield os.path.join(TESTS, os.path.basename(source)[:-2] + ".o")


def fails(command, seed, portable=False):
    environment = dict(os.environ, ROUNDS=ROUNDS, SEED=str(seed), CKF_CORE=CORE)
    environment.pop("CUCKOOFILTER_PORTABLE", None)
    if portable:
        environment["CUCKOOFILTER_PORTABLE"] = "1"
    try:
        return run(command, cwd=ROOT, env=environment, timeout=LIMIT).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def first_killer(seed):
    """The suite that catches the mutant in build/mutate, or None."""
    objects = glob.glob(os.path.join(CORE, "*.o")) + list(helpers())
    for suite in SUITES:
        program = os.path.join(CORE, suite)
        subprocess.run(["cc", os.path.join(TESTS, suite + ".o"), *objects, "-lm", "-o", program],
                       check=True)
        for portable in (False, True):
            if fails([program], seed, portable):
                return suite + (" (portable)" if portable else "")
    return "reader" if fails(["/usr/bin/python3", READER], seed) else None


def random_mutant(rng):
    """(file, line number, old line, new line) of a random change; long files more often."""
    places = []
    for path in sorted(glob.glob(os.path.join(ROOT, "core/*.[ch]"))):
        if not path.endswith("cuckoofilter.h"):
            with open(path, encoding="utf-8") as source:
                lines = source.readlines()
            places += [(os.path.basename(path), n, lines[n]) for n in code_lines(lines)]
    while True:
        name, number, old = rng.choice(places)
        choices = list(mutations(old))
        if choices:
            return name, number, old, rng.choice(choices)


def fresh_copy():
    shutil.rmtree(CORE, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "core"), CORE)


def break_line(name, number, new):
    path = os.path.join(CORE, name)
    with open(path, encoding="utf-8") as source:
        lines = source.readlines()
    lines[number] = new
    with open(path, "w", encoding="utf-8") as source:
        source.writelines(lines)


def verdict(mutant, sound, seed):
    """What catches a mutant: a suite, None for no suite, or "none" where there is no mutant."""
    name, number, _, new = mutant
    fresh_copy()
    break_line(name, number, new)
    made = compile_core()
    if made is None or (made == sound and name != "lookup.h"):
        return "none"
    if name == "lookup.h":  # the suites have its code in them
        try:
            compile_tests()
        except RuntimeError:
            return "none"
    return first_killer(seed)


def main():
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(2**32))
    rng = random.Random(seed)
    print("mutate: SEED=%d, %d mutants" % (seed, wanted))
    fresh_copy()
    sound = compile_core()
    compile_tests()
    killer = first_killer(seed)
    if killer is not None:
        print("  the suite %s fails before any mutation\nmutate: 0 passed, 1 failed" % killer)
        return 1
    killed = survived = 0
    while killed + survived < wanted:
        mutant = random_mutant(rng)
        killer = verdict(mutant, sound, seed)
        if mutant[0] == "lookup.h":
            fresh_copy()
            compile_tests()
        if killer == "none":
            continue
        killed += killer is not None
        survived += killer is None
        print("  %s %s:%d  %s  ->  %s" % ("killed by %s," % killer if killer else "SURVIVED", mutant[0],
                                         mutant[1] + 1, mutant[2].strip(), mutant[3].strip()),
              flush=True)
    share = 100 * killed / wanted
    print("    %d of %d mutants killed, %.0f %% (goal %d %%)" % (killed, wanted, share, GOAL))
    print("mutate: %d passed, %d failed" % (killed, survived))
    return share < GOAL


if __name__ == "__main__":
    sys.exit(main())
