"""The C reader behind a pipe, and the comparison of its answers with those of reader.py."""
import glob
import math
import os
import random
import subprocess

import reader

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
CORE = os.environ.get("CKF_CORE", os.path.join(ROOT, "core"))
MADE = os.environ.get("CKF_CORE", os.path.join(ROOT, "build/test/reader"))
PROGRAM = os.path.join(MADE, "answers")
LIBRARY = os.path.join(ROOT, "build/core/libckf.a")


def compiled(tool, *flags):
    """Compile test/core/tool/TOOL.c, and say where the program is.  CC and CKF_CORE (a directory
    like core/) may say how and of what."""
    program = os.path.join(MADE, tool)
    made = f"{program}.{os.getpid()}"  # another suite may build the same at this moment
    if flags or {"CC", "CKF_CORE"} & set(os.environ) or not os.path.exists(LIBRARY):
        core = sorted(glob.glob(os.path.join(CORE, "*/*.c")))
    else:
        core = [LIBRARY]
    shared = os.path.join(ROOT, "test/core/lib")
    sources = [os.path.join(ROOT, "test/core/tool", tool + ".c"), *glob.glob(os.path.join(shared, "*.c"))]
    os.makedirs(MADE, exist_ok=True)
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-O2", *flags, "-I" + CORE, "-I" + shared,
                    "-o", made, *sources, *core, "-lm"], check=True)
    os.replace(made, program)
    return program


def build():
    compiled("answers")


def lines(what, n, seed):
    """The words of each line of n random things that the C code built, and {hash: copies} of its last ones."""
    run = subprocess.run([PROGRAM, what, str(n)], stdout=subprocess.PIPE, text=True,
                         env=dict(os.environ, SEED=str(seed), ROUNDS="100", CASE=""))
    if run.returncode != 0:
        raise RuntimeError("\n".join(line[:1000] for line in run.stdout.splitlines()[-4:]))
    for line in run.stdout.splitlines():
        if line.startswith(("filter ", "chunk ")):
            words = line.split()[1:]
            told = dict(word.split(":") for word in words if ":" in word)
            yield words, {int(h, 16): int(copies) for h, copies in told.items()}


def emitted(n, seed):
    """(bytes, {hash: copies}) of n random filters that the C code built."""
    for words, told in lines("emit", n, seed):
        yield bytes.fromhex(words[0]), told


def emitted_chunks(n, seed):
    """(what its table's chunks share, start, bytes, {hash: copies}) of chunks of n random tables."""
    for words, told in lines("chunks", n, seed):
        yield reader.Chunks(*map(int, words[:6])), int(words[6]), bytes.fromhex(words[7]), told


class CReader:
    """Asks the C code about any bytes."""

    def __init__(self):
        self.process = subprocess.Popen([PROGRAM, "read"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, CASE=""))
        self.process.stdout.readline()  # the banner

    def ask(self, data, hashes):
        """(foreign, stored): each None where refused, else [count, classes, forms, copies, ...]."""
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
    """What reader.py says, in the form of CReader.ask; of stored bytes only the first three numbers."""
    for stored in (False, True):
        try:
            f = reader.Filter(data, stored)
        except reader.NotAFilter:
            yield None
            continue
        yield [f.count, f.item_classes, f.number_forms, *(f.copies(h) for h in hashes if not stored)]


def compare(c_reader, data, hashes):
    """(what reader.py says, what is wrong): both refuse the bytes, or both give the same answers; so of
    what both take from a store."""
    mine, stored_mine = python_answers(data, hashes)
    foreign, stored = c_reader.ask(data, hashes)
    if (mine, stored_mine) == (foreign, stored and stored[:3]) and foreign in (None, stored):
        return mine, None
    return mine, f"{data.hex()}\n{hashes}\nPython {mine}, stored {stored_mine}; C {foreign}, stored {stored}"


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


RATES = (0.999, 0.5, *(2.0**-n * (1 + d * 2.0**-52) for n in range(3, 10) for d in (-1, 0, 1)), 0.3,
         0.01, 1e-9, 2.0**-1022, 4e-324)
NO_RATES = (0.0, -0.0, 1.0, -0.5, 2.0, math.inf, math.nan)
FIELDS = ("version", "encoding", "flags", "b", "f", "w", "g", "c", "m", "classes", "forms", "count")


def forge(rng):
    """Bytes whose fields fit each other, but perhaps one, and whose body is as long as they say."""
    x = {"version": rng.choice((1, 2, 2, 2, 3)), "encoding": rng.choice((0, 1, 1, 1, 2, 2, 2, 4)),
         "flags": rng.randrange(4), "fpr": rng.choice(RATES), "capacity": rng.choice((1, 1000, 2**40)),
         "f": 0, "w": 64, "g": 0, "m": 0, "forms": 0}
    table = x["encoding"] in (reader.SEMI_SORTED, reader.PLAIN)
    x["c"] = reader.smallest_c(x["fpr"])
    x["b"] = 4 if x["encoding"] == reader.SEMI_SORTED else rng.choice((2, 4, 8))
    if x["encoding"] == reader.PREFIXES:
        x["w"] = rng.choice((x["c"], x["c"] + rng.randrange(8), 56))
    if table:
        x["m"], width = rng.choice(((1, rng.randrange(3, 60)), (rng.randrange(1, 30), rng.randrange(6, 17)),
                                    (rng.randrange(1, 9), rng.randrange(50, 57))))
        x["g"] = rng.choice((0, 0, 1, 2))
        x["w"] = width + x["g"]
        x["f"] = (-(-2**width // x["m"]) - 1).bit_length()
        if rng.random() < 0.002:
            x.update(g=0, f=9, w=24, m=32768)
    items = draw_slots(x, rng) if table else draw_words(x, rng)
    x["count"] = sum(item != 0 for item in items) if table else len(items)
    x["classes"] = x["version"] > 1 and x["count"] > 0 and rng.choice((1, 2, 32, 64, 127, 128 + 64))
    if x["version"] == 3:
        x["forms"] = rng.choice((0, 1, 1, 2, 3, 3, 4, 5, 6, 7, 8)) if x["count"] > 0 else rng.choice((0, 4, 4, 5))
    change(x, rng)
    size = len(items) * 8
    if table:
        bits = 4 * (x["f"] - 1) if x["encoding"] == reader.SEMI_SORTED else x["b"] * x["f"]
        size = min(((2 * x["m"] << min(x["g"], 12)) * bits + 7) // 8 + 8, 400000)
        body = pack_slots(x, items, bits, rng)
    else:
        body = b"".join(item.to_bytes(8, "little") for item in items)
    header = reader.HEADER.pack(
        b"CKF", x["version"], 1, x["encoding"], x["flags"], x["b"], x["f"], x["w"], x["g"], x["c"], x["m"],
        x["classes"], x["forms"], x["count"], rng.choice((0, 2**64 - 1)), x["capacity"] % 2**64, x["fpr"])
    data = bytearray(header + body[:size].ljust(max(size, 0), b"\0"))
    if rng.random() < 0.05:  # beside the last bucket
        data[-rng.randrange(1, min(11, len(data)))] ^= 1 << rng.randrange(8)
    return data if rng.random() < 0.95 else rng.choice((data[:-1], data + b"\0", data + bytes(8)))


def change(x, rng):
    """Perhaps another value in one field."""
    name = rng.choice((*FIELDS, "fpr", "capacity", *[None] * 10))
    if name == "fpr":
        x[name] = rng.choice(RATES + NO_RATES)
        x["c"] = rng.choice((x["c"], 4, 8))
    elif name == "capacity":
        x[name] = rng.choice((0, -1, 2**40 + 1))
    elif name is not None:
        other = rng.choice((x[name] + 1, x[name] - 1, x[name] ^ 1 << rng.randrange(8), rng.randrange(256)))
        x[name] = max(0, other) if name in ("m", "count") else other % 256
        if name == "m" and rng.random() < 0.05:
            x.update(g=0, f=9, w=24, m=rng.choice((32768, 32769)))
        if name == "count" and x["m"] > 0:
            x[name] = rng.choice((other % 256, (2 * x["m"] << x["g"]) * x["b"] + rng.randrange(2)))


def draw_slots(x, rng):
    """The tags of a bucket, most of them possible."""
    used = rng.choice((0, 1, 1, 1, 2, x["b"]))
    tags = [rng.randrange(1, 2**x["f"]) for _ in range(used)]
    if rng.random() < 0.5:  # equal nibbles
        tags = [tag & ~15 | tags[0] & 15 for tag in tags]
    tags = [0] * (x["b"] - used) + tags
    return tags if rng.random() < 0.2 else sorted(tags, key=lambda tag: (tag % 16, tag >> 4))


def pack_slots(x, tags, bits, rng):
    """A body with these tags in one of its buckets."""
    at = rng.randrange(2 * min(x["m"], 99) << min(x["g"], 2)) * bits if x["m"] > 0 else 0
    if x["encoding"] == reader.SEMI_SORTED:
        code = reader.semi_sorted_code(sorted(tag % 16 for tag in tags))
        bucket = code if rng.random() < 0.98 else rng.choice((3875, 3876, 4095))
        bucket |= sum(tag >> 4 << 12 + i * max(x["f"] - 4, 0) for i, tag in enumerate(tags))
    else:
        bucket = sum(tag << i * x["f"] for i, tag in enumerate(tags))
    bucket <<= max(at, 0)
    return bucket.to_bytes(bucket.bit_length() // 8 + 1, "little")


def draw_words(x, rng):
    """Hashes or prefixes, most of them in order and as often as they may be."""
    most = 1 if x["flags"] & 1 else 2 * x["b"]
    unit = 1 if x["encoding"] == reader.HASHES else 2**(64 - x["w"])
    words = [rng.choice((1, 1, 2, 3, 2**64 // unit - 1)) * unit for _ in range(rng.choice((0, 1, 3)))]
    words += words[:1] * (rng.choice((most, most - 1, most + 1)) - 1)
    if rng.random() < 0.1:
        words = [rng.choice((0, w, w + 1, w ^ unit << rng.randrange(9))) % 2**64 for w in words]
    return words if rng.random() < 0.1 else sorted(words)


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
