"""A second writer of cuckoofilter bytes, written from core/FORMAT.md alone.

It shares no code with core/*.c, so whatever the two build alike is described on the page. Items
are 64-bit hashes. Numbers in brackets are sections and steps of the page.
"""
import functools
import math
import operator
from collections import Counter, deque
from dataclasses import dataclass, replace
from fractions import Fraction

import reader
from reader import HASHES, HEADER, MAX_G, MAX_M, MAX_W, PLAIN, SEMI_SORTED

LOADS = {2: (788, 829, 850, 860, 875), 4: (850, 942, 964, 972, 980), 8: (913, 985, 1006, 1011, 1014)}
SHORT_TAG = 7        # a failed table of longer tags keeps its prefixes [7.10]
ITEM_OTHER = 1 << 5  # a class [2]
ITEMS_WITH_NUMBERS = reader.ITEM_NUMBER | ITEM_OTHER | reader.ITEM_HASH
ROUNDED, UNKNOWN = 2, 4  # forms of decimals [2]
MOST_HASHES = 4096   # copies that growth, union and sum keep as hashes [7.7]
BONUS = 32           # bytes by which a table must be smaller then [7.9]
MOST_QUEUED = 2048   # buckets [7.3]


class Refused(Exception):
    """A merge of unlike seeds, or of unlike hashes, the end of precision, or a comparison of unlike sizes."""


@dataclass(frozen=True)
class Promise:
    """What a filter was made for."""
    capacity: int = 1
    fpr: float = 0.01
    seed: int = 0
    is_set: bool = False
    plain: bool = False  # layout asked for
    b: int = 4
    classes: int = 0  # of the items that went in, and the forms of decimals from bit 8 on [2]

    @property
    def c(self):
        return reader.smallest_c(self.fpr)

    @property
    def encoding(self):
        return SEMI_SORTED if self.b == 4 and not self.plain else PLAIN

    @property
    def most_copies(self):
        return 1 if self.is_set else 2 * self.b

    def bucket_bits(self, f):
        return 4 * (f - 1) if self.encoding == SEMI_SORTED else self.b * f

    def limit(self, w):
        """Copies that a table may hold [5.8]."""
        return math.floor(min(1, max(8 * Fraction(self.fpr), Fraction(0.03))) * 2**w)

    def header(self, encoding, count, w=64, g=0, m=0, f=0):
        flags = (reader.SET if self.is_set else 0) | (reader.PLAIN_ASKED if self.plain else 0)
        classes = settled(self.classes if count else self.classes & UNKNOWN << 8)
        old = reader.forms_of_old(classes) == classes >> 8
        return HEADER.pack(b"CKF", 2 if old else 3, 1, encoding, flags, self.b, f, w, g, self.c, m,
                           classes % 256, 0 if old else classes >> 8, count, self.seed,
                           self.capacity, self.fpr)


def settled(classes):
    """Classes with the forms of decimals that a filter has after a change [2, 7]."""
    if classes % 256 == 0:
        return classes & UNKNOWN << 8
    forms = classes >> 8 | (ROUNDED if classes & reader.ITEM_HASH else 0)
    return classes % 256 | (forms if forms & ~ROUNDED else reader.forms_of_old(classes)) << 8


def promise_of(f):
    """The promise of a filter that reader.py opened."""
    return Promise(f.capacity, f.fpr, f.seed, f.is_set, bool(f.flags & reader.PLAIN_ASKED), f.b,
                   classes_of(f))


def classes_of(f):
    return f.item_classes | f.number_forms << 8


# ------------------------------------------------------------ geometry [5]

def prefix_bits(n, fpr, c):
    """w(n) [5.1]"""
    chances, w = n * (1 + Fraction(2, 2**c)), 8
    while chances > Fraction(fpr) * 2**w:
        w += 1
    return w


def load(b, f):
    return LOADS[b][min(f, 8) - 4]


def width_of(rest, m):
    """The fingerprint width that belongs to m buckets: the smallest f with ceil(2^W / m) <= 2^f."""
    return (-(-2**rest // m) - 1).bit_length()


@dataclass(frozen=True)
class Geometry:
    w: int
    g: int
    m: int
    f: int

    @property
    def rest(self):
        return self.w - self.g  # W

    @property
    def buckets(self):
        """Of all halves of one kind."""
        return self.m << self.g

    def size(self, promise):
        return HEADER.size + (2 * self.buckets * promise.bucket_bits(self.f) + 7) // 8 + reader.TAIL

    def full(self, b):
        """Copies up to which a single add moves others [7.17]."""
        return 2 * self.buckets * b * load(b, self.f) // 1024


def choose(n, w, p):
    """The geometry for n copies of prefixes of w bits, or None [5.2 to 5.5]."""
    for g in range(min(MAX_G, w - p.c) + 1):
        rest, fullest = w - g, n
        if g > 0:
            mean = n >> g
            fullest = mean + 7 * math.isqrt(mean) // 2 + 1
        top = width_of(rest, least_buckets(fullest, p.b, 8))
        best = None
        for f in range(top, max(top - 3, p.c - 1), -1):
            m = max(least_buckets(fullest, p.b, f), 2**(rest - f))
            if m > MAX_M or width_of(rest, m) != f:
                continue
            cost = m * p.bucket_bits(f)
            if best is None or cost < best[0]:
                best = cost, Geometry(w, g, m, f)
        if best:
            return best[1]
    return None


def least_buckets(n, b, f):
    return max(-(-1024 * n // (2 * b * load(b, f))), 1)


def choose_longer(n, w, most, p):
    """The same for whole hashes, which have more bits to give [5.6]."""
    return next(filter(None, (choose(n, longer, p) for longer in range(w, most + 1))), None)


def wider(geometry, k):
    """The geometry that comes next where copies did not fit [5.7]."""
    w, g, m = geometry.w, geometry.g, geometry.m
    m += (m >> k) + 1
    if m > MAX_M:
        m, g = m // 2 + m // 64, g + 1
    return Geometry(w, g, m, width_of(w - g, m))


def larger(geometry, k, n, p):
    """The same, or None where there is none for n copies."""
    next_one = wider(geometry, k)
    return next_one if next_one.f >= p.c and next_one.buckets <= 2 * n + 64 else None


# ---------------------------------------------------------- one table [7.1 to 7.5]

class Full(Exception):
    """A build found no place for a copy."""


class Table:
    """Segments of buckets; a bucket is a list of rhos of at most b slots."""

    def __init__(self, geometry, b):
        self.geometry, self.b = geometry, b
        self.m, self.rest = geometry.m, geometry.rest
        self.mask = 2**self.rest - 1
        self.golden = (0x9E3779B97F4A7C15 >> (64 - self.rest)) | 1
        self.segments = {}
        self.count = 0

    def segment(self, number):
        if number not in self.segments:
            self.segments[number] = [[] for _ in range(2 * self.m)]
        return self.segments[number]

    def pair(self, rho):
        return (rho * self.m >> self.rest,
                self.m + ((rho * self.golden & self.mask) * self.m >> self.rest))

    def place(self, prefix):
        """One more copy [7.2]."""
        segment, rho = self.segment(prefix >> self.rest), prefix & self.mask
        first, second = self.pair(rho)
        if len(segment[first]) < self.b:
            segment[first].append(rho)
        elif len(segment[second]) < self.b:
            segment[second].append(rho)
        elif not self.move(segment, first, second, rho):
            raise Full
        self.count += 1

    def move(self, segment, first, second, rho):
        """Make room by moving others [7.3, 7.4]."""
        queue = [(first, None, None), (second, None, None)]  # bucket, the entry it came from, slot
        for entry, (bucket, _, _) in enumerate(queue):
            for slot, other_rho in enumerate(segment[bucket]):
                pair = self.pair(other_rho)
                other = pair[0] if bucket >= self.m else pair[1]
                if len(segment[other]) < self.b:
                    segment[other].append(other_rho)
                    self.move_chain(segment, queue, entry, slot, rho)
                    return True
                if len(queue) < MOST_QUEUED:
                    queue.append((other, entry, slot))
        return False

    @staticmethod
    def move_chain(segment, queue, entry, slot, rho):
        """The tag in this slot has moved on: each before it on the way follows."""
        while entry is not None:
            bucket, before, before_slot = queue[entry]
            segment[bucket][slot] = rho if before is None else segment[queue[before][0]][before_slot]
            entry, slot = before, before_slot

    def bytes(self, p):
        geometry = self.geometry
        pack = pack_semi_sorted if p.encoding == SEMI_SORTED else pack_plain
        bits = p.bucket_bits(geometry.f)
        body, at = bytearray(geometry.size(p) - HEADER.size), 0
        for number in range(2**geometry.g):
            words = []
            for bucket in self.segment(number):
                tags = [rho % 2**geometry.f for rho in bucket]
                words.append(pack(tags + [0] * (self.b - len(tags)), geometry.f))
            start, shift = divmod(at, 8)
            piece = (join(words, bits) << shift).to_bytes(
                (shift + 2 * self.m * bits + 7) // 8, "little")
            body[start] |= piece[0]
            body[start + 1:start + len(piece)] = piece[1:]
            at += 2 * self.m * bits
        return p.header(p.encoding, self.count, geometry.w, geometry.g, geometry.m, geometry.f) + body


def join(words, bits):
    """Words of so many bits as one number, the first lowest."""
    while len(words) > 1:
        if len(words) % 2:
            words.append(0)
        words = [low | high << bits for low, high in zip(words[::2], words[1::2])]
        bits *= 2
    return words[0]


def pack_plain(tags, f):
    return sum(tag << (i * f) for i, tag in enumerate(tags))


def pack_semi_sorted(tags, f):
    """[4]"""
    tags.sort(key=lambda tag: (tag % 16, tag >> 4))
    code = reader.semi_sorted_code([tag % 16 for tag in tags])
    return code | sum((tag >> 4) << (12 + i * (f - 4)) for i, tag in enumerate(tags))


# ------------------------------------------------------------- builds [7]

def cut(item, bits, w, c):
    """An item of so many bits as a prefix of w [1]."""
    prefix = item >> (bits - w)
    return prefix | (prefix % 2**c == 0)


def copies_at(items, bits, w, p):
    """Copies of each prefix of w bits [7.1]; items are {item of `bits` bits: copies}."""
    total = Counter()
    for item, copies in items.items():
        total[cut(item, bits, w, p.c) if w < 64 else item or 1] += copies
    return {prefix: min(copies, p.most_copies) for prefix, copies in total.items()}


def hashes_bytes(items, p):
    hashes = sorted(h for h, copies in items.items() for _ in range(copies))
    return p.header(HASHES, len(hashes)) + b"".join(h.to_bytes(8, "little") for h in hashes)


def after_failure(geometry, failures, n, p, longer):
    """The geometry to try next, and whether its prefixes are longer ones [7.10]."""
    k = 6 - failures // 2 if failures < 10 else 1
    next_one = larger(geometry, k, n, p)
    if next_one is None:
        lacks_bits = wider(geometry, k).f < p.c and wider(geometry, k).buckets <= 2 * n + 64
        return (longer(geometry.w) if lacks_bits else None), True
    other = longer(geometry.w) if geometry.f <= SHORT_TAG and failures > 0 else None
    if other and other.size(p) <= next_one.size(p):
        return other, True
    return next_one, False


def build(prefixes, geometry, n, p, worth=lambda size: True, longer=lambda w: None):
    """Bytes of a table of these prefixes, in the order they come; None where there is none
    [7.2 to 7.6, 5.7].  `worth` says whether a size is small enough, `longer` has the geometry for
    prefixes of more than w bits [7.10]."""
    failures = 0
    while geometry is not None and worth(geometry.size(p)):
        table = Table(geometry, p.b)
        try:
            for prefix in prefixes(geometry):
                table.place(prefix)
            return table.bytes(p)
        except Full:
            geometry, is_longer = after_failure(geometry, failures, n, p, longer)
            failures = 0 if is_longer else failures + 1
    return None


def build_sorted(items, bits, geometry, n, p, worth=lambda size: True, longer=lambda w: None):
    """The same from {item: copies}, in ascending order."""
    def ascending(geometry):
        copies = copies_at(items, bits, geometry.w, p)
        return [prefix for prefix in sorted(copies) for _ in range(copies[prefix])]

    return build(ascending, geometry, n, p, worth, longer)


def build_whole(items, p, what):
    """A filter of {whole hash: copies} [7.7 to 7.10]."""
    n = sum(items.values())
    promised, room, stays = {
        "aggregate": (n, 0, False),
        "merge": (16 * n, 0, False),  # union_agg, sum_agg, compaction
        "pair": (16 * n, 0, n <= MOST_HASHES),  # union, sum
        "growth": (16 * n, n // 2 + 8, n < MOST_HASHES),
        "many": (max(n, 16 * MOST_HASHES), 0, n <= MOST_HASHES),
    }[what]
    if stays or prefix_bits(max(p.capacity, n), p.fpr, p.c) > MAX_W:
        return hashes_bytes(items, p)
    w = min(prefix_bits(max(p.capacity, promised), p.fpr, p.c), MAX_W)
    geometry = choose_longer(n + room, w, MAX_W, p)
    without = HEADER.size + 8 * n

    def longer(w):
        return choose_longer(n + room, w + 1, MAX_W, p)

    if what not in ("aggregate", "merge"):
        data = build_sorted(items, 64, geometry, n, p, longer=longer)
    elif n <= MOST_HASHES and geometry and geometry.size(p) + BONUS >= without:
        data = None
    else:
        data = build_sorted(items, 64, geometry, n, p, lambda size: size < without, longer)
    return data or hashes_bytes(items, p)


def aggregate(hashes, p):
    """An aggregate over items of p.classes; p.capacity may be 0."""
    items = {h or 1: 1 for h in hashes}
    p = replace(p, capacity=max(p.capacity, len(items), 1))
    return build_whole(items, p, "aggregate")


def items_of(f):
    """{item: copies} and their bits, of a filter that reader.py opened."""
    if f.encoding == HASHES:
        return Counter(f.hashes), 64
    return Counter(stored_prefixes(f)), f.w


def stored_prefixes(f):
    """Of a table, in the order of its buckets and slots."""
    return [f.prefix_of(k, tag) for k, bucket in enumerate(f.buckets) for tag in bucket if tag]


def compact(data):
    """[7.7, 7.12]"""
    f = reader.Filter(data)
    p = promise_of(f)
    items, bits = items_of(f)
    n = f.count
    if bits == 64:
        return build_whole(items, p, "merge")
    geometry = choose(n, f.w, p)
    as_it_is = p.header(f.encoding, n, f.w, f.g, f.m, f.f) + data[HEADER.size:]
    if geometry is None or n > p.limit(f.w):
        return as_it_is
    return build_sorted(items, bits, geometry, n, p, lambda size: size < len(data)) or as_it_is


# -------------------------------------------------------- union and sum [8]

def merged_promise(filters, is_set):
    """The promise [8.1 to 8.3, 8.8] and the least w."""
    asked = [f for f in filters if f.count > 0]
    if len({f.seed for f in asked}) > 1:
        raise Refused("seeds")
    asked = asked or filters
    w = min((f.w for f in asked if f.count > 0), default=64)
    return Promise(max(f.capacity for f in asked), max(f.fpr for f in asked),
                   max(f.seed for f in asked), is_set,
                   any(f.flags & reader.PLAIN_ASKED for f in asked), min(f.b for f in asked),
                   functools.reduce(operator.or_, map(classes_of, filters))), w


def merge(inputs, is_sum, is_aggregate):
    """Of two or many filters' bytes."""
    filters = [reader.Filter(data) for data in inputs]
    p, w = merged_promise(filters, not is_sum or any(f.is_set for f in filters))
    total = Counter()
    for f in filters:
        items, bits = items_of(f)
        if f.count > 0:
            for item, copies in copies_at(items, bits, w, replace(p, is_set=False)).items():
                total[item] += copies
    items = {item: min(copies, p.most_copies) for item, copies in total.items()}
    if w == 64:
        return build_whole(items, p, "merge" if is_aggregate else "pair")
    return build_cut(items, w, p)


def build_cut(items, w, p):
    """A table of prefixes that have been cut, or the end of precision [8.7]."""
    n = sum(items.values())
    if n > p.limit(w):
        raise Refused("precision")
    data = build_sorted(items, w, choose(n, w, p), n, p)
    if data is None:
        raise Refused("precision")
    return data


def common_classes(a, b):
    """[8.10]"""
    for x, y in ((a, b), (b, a)):
        if x & reader.ITEM_OLD and y & ITEM_OTHER:
            raise Refused("old")
    both = a & b & reader.ITEM_HASH
    for bit in range(6):
        if (a | b) >> bit & 1 and all(x & (1 << bit | reader.ITEM_HASH) for x in (a, b)):
            both |= 1 << bit
    both |= (a | b) & reader.ITEM_OLD if both & reader.ITEM_HASH else 0
    if a % 256 and b % 256 and not both & ITEMS_WITH_NUMBERS:
        return both
    return both | common_forms(a >> 8, b >> 8, (a | b) & reader.ITEM_HASH) << 8


def common_forms(a, b, hashes):
    """[8.10]"""
    alike = a == b and a.bit_count() == 1 and not hashes
    return a & b | (UNKNOWN if a and b and not alike else 0)


def cut_inputs(inputs):
    """What filters' bytes have at the precision they have in common [8.9 to 8.11]: the promise, w, and
    the distinct items of each, if there may be any in common."""
    filters = [reader.Filter(data) for data in inputs]
    asked = [f for f in filters if f.count > 0]
    if len({f.seed for f in asked}) > 1:
        raise Refused("seeds")
    classes = functools.reduce(common_classes, map(classes_of, filters))
    p = Promise(max(f.capacity for f in filters), max(f.fpr for f in filters), max(f.seed for f in filters), True,
                any(f.flags & reader.PLAIN_ASKED for f in filters), min(f.b for f in filters), classes)
    w = min((f.w for f in asked), default=64)
    items = [set(copies_at(*items_of(f), w, p)) for f in filters]
    return p, w, items if classes % 256 and len(asked) == len(filters) else [set()]


def intersect(inputs):
    """Of one filter or two."""
    p, w, items = cut_inputs(inputs)
    common = dict.fromkeys(set.intersection(*items), 1)
    return hashes_bytes(common, p) if w == 64 or not common else build_cut(common, w, p)


def intersect_agg(inputs):
    return functools.reduce(lambda a, b: intersect([a, b]), inputs[1:], intersect(inputs[:1]))


def items_behind(prefixes, w, c):
    """N(D) [8.12]"""
    d, k = prefixes / 2**w, 2**-c
    d = min(d, 1 - k - max(2**-w / 2, 1e-12))
    return -2**w * math.log1p(-2 * d / (1 + math.sqrt(1 - 4 * k * d))) if w < 64 else prefixes


def too_unlike(least, larger, w, c):
    """May nothing be told of what two share [8.13]?  The items of the smaller one, and the prefixes of the larger."""
    all_taken = larger / 2**w > 1 - 2**-c - max(2**-w / 2, 1e-12)
    return w < 64 and (all_taken or math.expm1(items_behind(larger, w, c) / 2**w) > least)


def compare(inputs):
    """Overlap and Jaccard index of two filters; None for two empty ones [8.12 to 8.14]."""
    p, w, items = cut_inputs(inputs)
    if len(items) == 1:
        return 0.0, None if not any(reader.Filter(data).count for data in inputs) else 0.0
    a, b, any_of_them = (items_behind(len(x), w, p.c) for x in (*items, items[0] | items[1]))
    if too_unlike(min(a, b), max(map(len, items)), w, p.c):
        raise Refused("sizes")
    both = max(min(a + b - any_of_them, a, b), 0.0)
    counts = [f.count for f in map(reader.Filter, inputs) if not f.is_set]
    return min([both, *counts]), both / (a + b - both) if both else 0.0


def union(a, b):
    return merge([a, b], False, False)


def sum_of(a, b):
    return merge([a, b], True, False)


def union_agg(inputs):
    return merge(inputs, False, True)


def sum_agg(inputs):
    return merge(inputs, True, True)


# --------------------------------------------------- growth, changes [7.13 to 7.20]

def grow(data):
    """The same items with room for more [7.7, 7.14]."""
    f = reader.Filter(data)
    p, n = promise_of(f), f.count
    if f.encoding == HASHES:
        return build_whole(Counter(f.hashes), p, "growth")
    geometry = larger_table(f, p, n)
    stored = stored_prefixes(f)

    def in_order(geometry):
        return sorted(stored, key=lambda prefix: prefix >> geometry.rest)

    result = build(in_order, geometry, n, p) if geometry else None
    if result is None:
        raise Refused("precision")
    return result


def larger_table(f, p, n):
    """[7.13]"""
    if n >= p.limit(f.w):
        return None
    more = n // 2 + 8
    geometry = choose(n + more, f.w, p)
    while geometry is None and more > 1:
        more //= 2
        geometry = choose(n + more, f.w, p)
    now = Geometry(f.w, f.g, f.m, f.f)
    if geometry is None or geometry.buckets > now.buckets:
        return geometry
    return larger(now, 2, n, p)


class Writer:
    """A filter that takes single adds and removals [7.15 to 7.18]."""

    def __init__(self, data):
        self.open(data)

    def open(self, data):
        self.f = reader.Filter(data)
        self.p = promise_of(self.f)
        self.untouched = data  # None after a change

    def bytes(self):
        """The bytes as they are now."""
        f, p = self.f, self.p
        if self.untouched:
            return self.untouched
        if f.encoding == HASHES:
            return hashes_bytes(Counter(f.hashes), p)
        table = Table(Geometry(f.w, f.g, f.m, f.f), f.b)
        table.count = f.count
        for number in range(2**f.g):
            table.segments[number] = f.buckets[number * 2 * f.m:(number + 1) * 2 * f.m]
        return table.bytes(p)

    def add(self, item, classes):
        """One more copy of an item of these classes, or Refused."""
        grown = False
        while not self.try_add(item, grown):
            self.open(grow(self.bytes()))
            grown = True
        self.p = replace(self.p, classes=settled(self.p.classes | classes))
        self.untouched = None

    def try_add(self, item, grown):
        """False where the filter must grow first."""
        f, p = self.f, self.p
        if f.copies(item) >= p.most_copies:
            return True
        if f.encoding == HASHES:
            if len(f.hashes) >= MOST_HASHES and not grown:
                return False
            f.hashes = sorted([*f.hashes, item or 1])
        elif f.count >= p.limit(f.w):
            raise Refused("precision")
        elif not self.place(item):
            return False
        f.count += 1
        return True

    def place(self, item):
        f = self.f
        prefix = f.prefix(item)
        first, second = f.buckets_of(prefix)
        free = [f.buckets[k].count(0) for k in (first, second)]
        tag = prefix % 2**f.f
        if any(free):
            self.put(second if free[1] > free[0] else first, 0, tag)
            return True
        if f.count >= Geometry(f.w, f.g, f.m, f.f).full(f.b):
            return False
        return self.move_tags(first, second, tag)

    def put(self, k, old, tag, slot=None):
        """A tag for the first one that is `old`, or in a slot."""
        bucket = self.f.buckets[k]
        bucket[bucket.index(old) if slot is None else slot] = tag
        if self.f.encoding == SEMI_SORTED:
            bucket.sort(key=lambda tag: (tag % 16, tag >> 4))

    def move_tags(self, first, second, tag):
        """As Table.move, on tags in the order of the bytes."""
        f = self.f
        queue = deque([(first, None), (second, None)])
        queued = 2
        while queue:
            bucket, way = queue.popleft()
            for slot, other_tag in enumerate(f.buckets[bucket]):
                pair = f.buckets_of(f.prefix_of(bucket, other_tag))
                other = pair[0] if bucket == pair[1] else pair[1]
                if 0 in f.buckets[other]:
                    self.put(other, 0, other_tag)
                    while way is not None:
                        before, before_slot, way_before = way
                        self.put(bucket, None, f.buckets[before][before_slot], slot)
                        bucket, slot, way = before, before_slot, way_before
                    self.put(bucket, None, tag, slot)
                    return True
                if queued < MOST_QUEUED:
                    queue.append((other, (bucket, slot, way)))
                    queued += 1
        return False

    def remove(self, item):
        """Take a copy; false where there is none to take [7.18]."""
        f = self.f
        if self.p.is_set:
            raise Refused("a set")
        if f.copies(item) in (0, 2 * f.b):
            return False
        if f.encoding == HASHES:
            f.hashes.remove(item or 1)
        else:
            prefix = f.prefix(item)
            tag = prefix % 2**f.f
            first, second = f.buckets_of(prefix)
            self.put(first if tag in f.buckets[first] else second, tag, 0)
        f.count -= 1
        if f.count == 0:
            self.p = replace(self.p, classes=settled(self.p.classes & UNKNOWN << 8))
        self.untouched = None
        return True


def change_each(data, hashes, change):
    w = Writer(data)
    for item in hashes:
        change(w, item)
    return w.bytes()


def add_all(data, hashes, classes):
    """Add many at once [7.19, 7.20]."""
    f = reader.Filter(data)
    p = replace(promise_of(f), classes=classes_of(f) | classes)
    if 16 * len(hashes) <= f.count:
        return change_each(data, hashes, lambda w, item: w.add(item, classes))
    there, bits = items_of(f)
    given = Counter(h or 1 for h in hashes) if bits == 64 else Counter(map(f.prefix, hashes))
    items = {item: min(copies, p.most_copies) for item, copies in (there + given).items()}
    if bits == 64:
        return build_whole(items, p, "many")
    return build_cut(items, bits, p)


def remove_all(data, hashes, stays=lambda f, item: False):
    """Remove many at once [7.19, 7.21], but not what a filter may have by its rounded hash [2]."""
    f = reader.Filter(data)
    p = promise_of(f)
    if p.is_set:
        raise Refused("a set")
    if 16 * len(hashes) <= f.count:
        return change_each(data, hashes, lambda w, item: not stays(w.f, item) and w.remove(item))
    hashes = [item for item in hashes if not stays(f, item)]
    if f.encoding != HASHES:
        return change_each(data, sorted(h or 1 for h in hashes), Writer.remove)
    given = Counter(h or 1 for h in hashes)
    left = {item: copies if copies == 2 * p.b else max(copies - given[item], 0)
            for item, copies in items_of(f)[0].items()}
    return hashes_bytes(left, p) if sum(left.values()) < f.count else data
