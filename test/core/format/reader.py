"""A second reader of cuckoofilter bytes, written from core/FORMAT.md alone.

It shares no code with core/, so whatever the two agree on is described on the page. Numbers in
brackets are sections of the page.
"""
import itertools
import math
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../.."))
from xxh3 import xxh3

HEADER = struct.Struct("<3sBBBBBBBBBHBBQQQd")  # [2]
HASHES, SEMI_SORTED, PLAIN, PREFIXES = 0, 1, 2, 4
SET, PLAIN_ASKED = 1, 2
ITEM_NUMBER, ITEM_OTHER, ITEM_HASH, ITEM_OLD = 1, 1 << 5, 1 << 6, 1 << 7  # classes [2]
TAIL = 8  # zero bytes behind the buckets [4]
MAX_W, MAX_G, MAX_M, MAX_CAPACITY = 56, 32, 32768, 2**40


class NotAFilter(Exception):
    """The bytes break a rule of the format."""


def require(condition, rule):
    if not condition:
        raise NotAFilter(rule)


def semi_sorted_code(nibbles):
    return sum(math.comb(n + i, i + 1) for i, n in enumerate(nibbles))


NIBBLES = {
    semi_sorted_code(nibbles): nibbles
    for nibbles in itertools.combinations_with_replacement(range(16), 4)
}


def smallest_c(fpr):
    return next((c for c in range(4, 8) if 2**c * fpr >= 1), 8)


def forms_of_old(classes):
    """The forms of decimals of versions 1 and 2 [2]."""
    return 2 if classes & (ITEM_NUMBER | ITEM_OTHER | ITEM_HASH) else 0


class Filter:
    """A filter's parameters, items and answers, from its bytes. `stored`: only the header and the
    length are checked, and no item is read."""

    stored = False

    def __init__(self, data, stored=False):
        self.data, self.stored = data, stored
        require(len(data) >= HEADER.size, "shorter than a header")
        (magic, version, hash_version, self.encoding, self.flags, self.b, self.f, self.w,
         self.g, self.c, self.m, self.item_classes, self.number_forms, self.count, self.seed,
         self.capacity, self.fpr) = HEADER.unpack_from(data)
        require(magic == b"CKF", "magic")
        require(version in (1, 2, 3) and hash_version == 1, "version")
        require(self.encoding in (HASHES, SEMI_SORTED, PLAIN, PREFIXES), "encoding")
        require(self.flags & ~(SET | PLAIN_ASKED) == 0, "unknown flags")
        require(self.b in (2, 4, 8), "b")
        self._read_classes(version)
        require(1 <= self.capacity <= MAX_CAPACITY, "capacity")
        require(0 < self.fpr < 1, "fpr")
        require(self.c == smallest_c(self.fpr), "c")
        self.is_set = bool(self.flags & SET)
        self.most_copies = 1 if self.is_set else 2 * self.b
        if self.encoding == HASHES:
            require(self.w == 64, "w of hashes")
            self._open_hashes()
            require(0 not in self.hashes, "hash 0")
        elif self.encoding == PREFIXES:
            require(self.c <= self.w <= MAX_W, "w of prefixes")
            self._open_hashes()
            self.prefixes = [word >> 64 - self.w for word in self.hashes]
            aligned = all(self.prefix(word) << 64 - self.w == word for word in self.hashes)
            require(aligned, "words are prefixes")
        else:
            self._open_table()

    def _read_classes(self, version):
        """[2]"""
        if version == 1:
            require(self.item_classes == 0, "classes in version 1")
            self.item_classes = ITEM_HASH | ITEM_OLD if self.count > 0 else 0
        require((self.item_classes == 0) == (self.count == 0), "classes, but no items, or none")
        require(not self.item_classes & ITEM_OLD or self.item_classes & ITEM_HASH, "old alone")
        rounded = forms_of_old(self.item_classes)
        if version < 3:
            require(self.number_forms == 0, "forms before version 3")
            self.number_forms = rounded
            return
        require(self.number_forms <= 7, "unknown forms")
        require(self.number_forms != rounded or self.count == 0, "version 2 says the same")
        require(self.number_forms in (0, 4) or self.count > 0, "forms of no items")
        require(self.number_forms & 2 or not self.item_classes & ITEM_HASH, "hashes may be rounded")

    def contains(self, item_hash):
        return self.copies(item_hash) > 0

    def copies(self, item_hash):
        if self.encoding == HASHES:
            return self.hashes.count(item_hash or 1)
        prefix = self.prefix(item_hash)
        if self.encoding == PREFIXES:
            return self.prefixes.count(prefix)
        tag = prefix % 2**self.f
        return sum(self.buckets[k].count(tag) for k in self.buckets_of(prefix))

    # ------------------------------------------------------------ hashes [3]

    def _open_hashes(self):
        require((self.f, self.g, self.m) == (0, 0, 0), "geometry of hashes")
        require(len(self.data) == HEADER.size + 8 * self.count, "length")
        words = b"" if self.stored else self.data[HEADER.size:]
        self.hashes = [h for (h,) in struct.iter_unpack("<Q", words)]
        require(self.hashes == sorted(self.hashes), "hashes ascend")
        groups = (len(list(same)) for _, same in itertools.groupby(self.hashes))
        require(all(n <= self.most_copies for n in groups), "too many copies")

    # ------------------------------------------------------ tables [1] [2] [4]

    def _open_table(self):
        require(self.encoding == PLAIN or self.b == 4, "b of a semi-sorted table")
        require(self.c <= self.f <= MAX_W, "f")
        require(self.g <= MAX_G, "g")
        require(self.g + self.f <= self.w <= MAX_W, "w")
        require(1 <= self.m <= MAX_M, "m")
        self.rest = self.w - self.g  # W
        self.golden = (0x9E3779B97F4A7C15 >> (64 - self.rest)) | 1  # C
        self.golden_inverse = pow(self.golden, -1, 2**self.rest)
        widest = -(-2**self.rest // self.m)
        require(2**(self.f - 1) < widest <= 2**self.f, "f is not the width that m asks for")
        bits = 4 * (self.f - 1) if self.encoding == SEMI_SORTED else self.b * self.f
        total = (2 * self.m << self.g) * bits
        require(len(self.data) == HEADER.size + (total + 7) // 8 + TAIL, "length")
        if self.stored:
            require(self.count <= (2 * self.m << self.g) * self.b, "more copies than slots")
            return
        end = HEADER.size * 8 + total
        require(self._bits(end, len(self.data) * 8 - end) == 0, "bits behind the buckets")
        split = self._semi_sorted if self.encoding == SEMI_SORTED else self._plain
        self.buckets = [
            split(self._bits(start, bits)) for start in range(HEADER.size * 8, end, bits)
        ]
        self._check_tags()

    def _bits(self, start, n):
        """n bits of the bytes from bit `start` on."""
        piece = self.data[start // 8:(start + n + 7) // 8]
        return int.from_bytes(piece, "little") >> start % 8 & (2**n - 1)

    def _plain(self, bucket):
        return [bucket >> (i * self.f) & (2**self.f - 1) for i in range(self.b)]

    def _semi_sorted(self, bucket):
        code = bucket & 0xFFF
        require(code in NIBBLES, "code")
        high = self.f - 4
        rests = [bucket >> (12 + i * high) & (2**high - 1) for i in range(4)]
        tags = [rest << 4 | nibble for nibble, rest in zip(NIBBLES[code], rests)]
        require(tags == sorted(tags, key=lambda tag: (tag % 16, tag >> 4)), "slots ascend")
        return tags

    def _check_tags(self):
        used = 0
        for k, bucket in enumerate(self.buckets):
            for tag in filter(None, bucket):
                used += 1
                require(tag % 2**self.c != 0, "low bits of a tag")
                require(k in self.buckets_of(self.prefix_of(k, tag)), "a tag in a wrong bucket")
        require(used == self.count, "count")

    def prefix(self, item_hash):
        """P of a hash."""
        top = item_hash >> (64 - self.w)
        return top | (top % 2**self.c == 0)

    def buckets_of(self, prefix):
        """The numbers of a prefix's two buckets."""
        segment, rho = prefix >> self.rest, prefix % 2**self.rest
        first = segment * 2 * self.m
        return (first + (rho * self.m >> self.rest),
                first + self.m + (rho * self.golden % 2**self.rest * self.m >> self.rest))

    def prefix_of(self, k, tag):
        """P of a tag in bucket k."""
        segment, within = divmod(k, 2 * self.m)
        half, q = divmod(within, self.m)
        low = -(-q * 2**self.rest // self.m)
        end = -(-(q + 1) * 2**self.rest // self.m)
        wanted = tag * self.golden if half else tag
        x = low + (wanted - low) % 2**self.f
        require(x < end, "a tag that no prefix of its bucket has")
        rho = x * self.golden_inverse % 2**self.rest if half else x
        return segment << self.rest | rho


# ------------------------------------------------------------------- chunks [10]

TRAILER = struct.Struct("<BHH")
CHUNK_HASHES, CHUNK_PREFIXES, CHUNK_TABLE = 0, 1, 2


class Chunks:
    """What the chunks of one table share."""

    def __init__(self, w, c, b, layout, is_set, seed):
        self.w, self.c, self.b, self.layout, self.is_set = w, c, b, layout, is_set
        self.most_copies = 1 if is_set else 2 * b
        self.salt = xxh3(
            struct.pack("<BBBBBQ", w, c, b, layout, is_set, seed), 4)


class ChunkTable(Filter):
    """The table of a chunk: one of a filter, of W bits and one segment."""

    def __init__(self, chunks, body, w, m, count):  # no header: pylint: disable=super-init-not-called
        self.w, self.g, self.c, self.b, self.m, self.count = w, 0, chunks.c, chunks.b, m, count
        self.encoding = chunks.layout
        require(m >= 1, "m")
        self.f = next(f for f in range(65) if -(-2**w // m) <= 2**f)
        bits = 4 * (self.f - 1) if self.encoding == SEMI_SORTED else self.b * self.f
        require(len(body) == (2 * m * bits + 7) // 8, "length")
        self.data = bytes(HEADER.size) + body + bytes(TAIL)
        self._open_table()


class Chunk:
    """A chunk's items and answers, from its bytes and its row."""

    def __init__(self, chunks, start, data):
        require(8 <= len(data) <= 4056, "length")
        kind, m, self.count = TRAILER.unpack_from(data, len(data) - 8)
        self.chunks, self.depth, self.kind = chunks, kind % 64, kind // 64
        require(self.depth <= min(55, chunks.w - 1), "depth")
        require(start % 2**(64 - self.depth) == 0, "start")
        check = xxh3(data[:-3], 4 + (chunks.salt ^ start))
        require(int.from_bytes(data[-3:], "little") == check % 2**24, "check")
        self.start, self.rest = start, chunks.w - self.depth  # W
        body = data[:-8]
        if self.kind == CHUNK_TABLE:
            self.table = ChunkTable(chunks, body, self.rest, m, self.count)
        else:
            require(self.kind in (CHUNK_HASHES, CHUNK_PREFIXES), "kind")
            require(m == 0, "m of a list")
            self._open_list(body)

    def _open_list(self, body):
        require(self.kind == CHUNK_PREFIXES or self.depth == 0, "depth of whole hashes")
        width = 64 if self.kind == CHUNK_HASHES else self.rest
        require(len(body) == (self.count * width + 7) // 8, "length")
        bits = int.from_bytes(body, "little")
        self.items = [bits >> (i * width) & (2**width - 1) for i in range(self.count)]
        require(bits >> (self.count * width) == 0, "bits behind the items")
        require(self.items == sorted(self.items), "items ascend")
        most = self.chunks.most_copies
        require(all(len(list(same)) <= most for _, same in itertools.groupby(self.items)), "copies")

    def covers(self, item_hash):
        return item_hash >> (64 - self.depth) == self.start >> (64 - self.depth)

    def copies(self, item_hash):
        if not self.covers(item_hash):
            return 0
        if self.kind == CHUNK_TABLE:
            return self.table.copies((item_hash << self.depth) % 2**64)
        if self.kind == CHUNK_HASHES:
            return self.items.count(item_hash or 1)
        prefix = item_hash >> (64 - self.chunks.w)
        prefix |= prefix % 2**self.chunks.c == 0
        return self.items.count(prefix % 2**self.rest)
