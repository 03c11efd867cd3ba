#!/usr/bin/python3
"""The Python reader against the C reader on the same mutated bytes, for SECONDS (argument 1)."""
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../core/format"))
import answers  # noqa: E402

MOST_ROUNDS = 5  # of mutations on one filter


def corpus():
    """The seed corpus of the bytes target."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus/bytes")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as seed_file:
            yield seed_file.read()


def main():
    seconds = float(sys.argv[1])
    seed = answers.new_seed()
    rng = random.Random(seed)
    print("reader fuzz: SEED=%d" % seed)
    answers.build()
    sound = [data for data, _ in answers.emitted(400, seed) if len(data) < 1500]
    sound += list(corpus())
    c_reader = answers.CReader()
    end = time.monotonic() + seconds
    compared = opened = 0
    while compared < len(sound) or time.monotonic() < end:
        data = sound[compared] if compared < len(sound) else rng.choice(sound)
        for _ in range(rng.randrange(MOST_ROUNDS) if compared >= len(sound) else 0):
            data = answers.mutate(data, rng)
        hashes = [rng.getrandbits(64) for _ in range(8)]
        mine, wrong = answers.compare(c_reader, data, hashes)
        if wrong:
            print(wrong)
            print("reader fuzz: 0 passed, 1 failed")
            return 1
        compared += 1
        opened += mine is not None
    c_reader.close()
    print("    %d compared, %d opened" % (compared, opened))
    print("reader fuzz: 1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
