"""The C reader behind a pipe, and the comparison of its answers with those of reader.py."""
import glob
import os
import random
import subprocess

import reader

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
CORE = os.environ.get("CKF_CORE", os.path.join(ROOT, "core"))
MADE = os.environ.get("CKF_CORE", os.path.join(ROOT, "build/test/reader"))
PROGRAM = os.path.join(MADE, "answers")
LIBRARY = os.path.join(ROOT, "build/core/libckf.a")
HELPERS = ("lib/check", "lib/guard", "lib/drive", "lib/state")


def compiled(tool, helpers=(), flags=()):
    """Compile test/core/tool/TOOL.c, and say where the program is.  CC and CKF_CORE (a directory
    like core/) may say how and of what."""
    program = os.path.join(MADE, tool)
    made = f"{program}.{os.getpid()}"  # another suite may build the same at this moment
    if flags or {"CC", "CKF_CORE"} & set(os.environ) or not os.path.exists(LIBRARY):
        core = sorted(glob.glob(os.path.join(CORE, "*/*.c")))
    else:
        core = [LIBRARY]
    sources = [os.path.join(ROOT, "test/core", name + ".c")
                for name in (*HELPERS, *helpers, "tool/" + tool)]
    os.makedirs(MADE, exist_ok=True)
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-O2", *flags, "-I" + CORE,
                    "-I" + os.path.join(ROOT, "test/core/lib"), "-o", made, *sources, *core, "-lm"],
                   check=True)
    os.replace(made, program)
    return program


def build():
    compiled("answers")


def emitted(n, seed):
    """(bytes, {hash: copies}) of n random filters that the C code built."""
    run = subprocess.run([PROGRAM, "emit", str(n)], stdout=subprocess.PIPE, text=True,
                         env=dict(os.environ, SEED=str(seed), ROUNDS="100", CASE=""))
    if run.returncode != 0:
        lines = run.stdout.splitlines()
        raise RuntimeError("\n".join(line for line in lines if not line.startswith("filter ")))
    for line in run.stdout.splitlines():
        if line.startswith("filter "):
            words = line.split()[1:]
            answers = (pair.split(":") for pair in words[1:])
            yield bytes.fromhex(words[0]), {int(h, 16): int(n) for h, n in answers}


def emitted_chunks(n, seed):
    """(what its table's chunks share, start, bytes, {hash: copies}) of chunks of n random tables."""
    program = compiled("chunks", ("lib/shelf",))
    run = subprocess.run([program, str(n)], stdout=subprocess.PIPE, text=True,
                         env=dict(os.environ, SEED=str(seed), ROUNDS="100", CASE=""))
    if run.returncode != 0:
        raise RuntimeError(run.stdout[-1000:])
    for line in run.stdout.splitlines():
        if line.startswith("chunk "):
            words = line.split()[1:]
            told = (pair.split(":") for pair in words[8:])
            yield (reader.Chunks(*map(int, words[:6])), int(words[6]), bytes.fromhex(words[7]),
                   {int(h, 16): int(n) for h, n in told})


class CReader:
    """Asks the C code about any bytes."""

    def __init__(self):
        self.process = subprocess.Popen([PROGRAM, "read"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, CASE=""))
        self.process.stdout.readline()  # the banner

    def ask(self, data, hashes):
        """(foreign, stored): each None where refused, else [count, classes, copies, ...]."""
        self.process.stdin.write(" ".join([data.hex(), *map("{:x}".format, hashes)]) + "\n")
        self.process.stdin.flush()
        answers = self.process.stdout.readline().split()
        if len(answers) != 2:
            raise RuntimeError("the C reader ended: %s" % answers)
        return [None if a == "refused" else list(map(int, a.split(":"))) for a in answers]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def python_answers(data, hashes):
    """What reader.py says, in the form of CReader.ask."""
    try:
        f = reader.Filter(data)
    except reader.NotAFilter:
        return None
    return [f.count, f.item_classes, *(f.copies(h) for h in hashes)]


def mutate(data, rng):
    """Bytes that are nearly a filter."""
    data = bytearray(data or b"\0")
    kind = rng.random()
    if kind < 0.3:
        data[rng.randrange(min(48, len(data)))] = rng.choice((0, 1, 2, 4, 8, 255, rng.randrange(256)))
    elif kind < 0.5:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind < 0.6:
        data[rng.randrange(len(data) + 1):] = rng.randbytes(rng.randrange(20))
    elif kind < 0.8 and len(data) > 48:  # swap two places of the body: slots that may still be sound
        i, j = rng.randrange(48, len(data)), rng.randrange(48, len(data))
        data[i], data[j] = data[j], data[i]
    elif kind < 0.9 and len(data) > 48:  # a slot goes, and the count with it
        data[rng.randrange(48, len(data))] = 0
        data[16] = (data[16] - rng.randrange(3)) % 256
    else:
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def new_seed():
    return int(os.environ.get("SEED") or random.SystemRandom().randrange(2**32))


def run(suite, checks, seed):
    """Run (name, function) one after the other.  True if one failed."""
    failed = 0
    for name, check in checks:
        try:
            check()
            print("  ok", name)
        except (AssertionError, reader.NotAFilter, RuntimeError) as error:
            failed += 1
            print("  FAILED %s: %s %s\n  to replay: SEED=%d" % (name, type(error).__name__, error, seed))
    print("%s: %d passed, %d failed" % (suite, len(checks) - failed, failed))
    return failed > 0
