/*
 * drive.c - a minimal host, see drive.h.
 */
#include "drive.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

enum
{
	SNAPSHOT = 1024,     /* filters up to this size are compared around refusals */
	MAX_GROWTHS = 200,   /* for one item */
	MAX_STEPS = 1000000, /* of one rebuild */
	MAX_ROOMS = 1000,    /* larger buffers asked for by one rebuild */
	AT_FORMAT = 3,       /* FORMAT.md, section 2 */
	AT_ITEM_CLASSES = 14,
	AT_NUMBER_FORMS = 15
};

work driven;
unsigned driven_class;
bool driven_numbers;

unsigned
class_of_hash(uint64_t hash)
{
	uint64_t mixed = (hash | (hash == 0)) * UINT64_C(0xD6E8FEB86659FD93);
	unsigned rank = 0;

	if (driven_class != 0)
		return driven_class;
	mixed ^= mixed >> 32;
	if (driven_numbers)
		return (unsigned)(mixed & 3 ? CKF_ITEM_NUMBER : CKF_ITEM_OTHER) |
			   (mixed & 28 ? 0 : (unsigned)CKF_ITEM_DECIMAL);
	for (; rank < 6 && (mixed & 3) == 0; mixed >>= 2)
		rank++;
	return 1U << rank;
}

ckf_hashes
item_of_hash(uint64_t hash)
{
	ckf_hashes item = {hash, hash};

	if (driven_class == 0 && (class_of_hash(hash) & CKF_ITEM_DECIMAL))
		do
			item.rounded = item.rounded * UINT64_C(0x5851F42D4C957F2D) + 9;
		while (class_of_hash(item.rounded) != CKF_ITEM_NUMBER || item.rounded < 2);
	return item;
}

uint64_t *
random_hashes(size_t n)
{
	uint64_t *hashes = check_alloc(n * sizeof *hashes);

	for (size_t i = 0; i < n; i++)
		hashes[i] = check_random();
	return hashes;
}

void
shuffle_hashes(uint64_t *hashes, size_t n)
{
	for (size_t i = n; i > 1; i--)
	{
		size_t j = check_below(i);
		uint64_t swap = hashes[j];

		hashes[j] = hashes[i - 1];
		hashes[i - 1] = swap;
	}
}

int
compare_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static unsigned
classes_of_hashes(const uint64_t *hashes, size_t n)
{
	unsigned classes = 0;

	for (size_t i = 0; i < n; i++)
		classes |= class_of_hash(hashes[i]);
	return classes;
}

ckf_params
params_of(int64_t capacity, double fpr, bool set, bool plain, unsigned bucket_size)
{
	ckf_params params;

	ckf_params_default(&params);
	params.capacity = capacity;
	params.fpr = fpr;
	params.set = set;
	params.plain = plain;
	params.bucket_size = (uint8_t)bucket_size;
	return params;
}

bool
filter_is_set(const ckf_filter *filter)
{
	ckf_info info;

	ckf_get_info(filter, &info);
	return strcmp(info.kind, "set") == 0;
}

static ckf_trust
trust_of(const owned *o)
{
	return o->state ? CKF_STATE : CKF_FOREIGN;
}

/* Does the filter have the expected classes of items and version of the format? */
static void
check_told(const owned *o)
{
	const uint8_t *bytes = o->filter.bytes;
	unsigned told = o->format == 1 ? 0 : o->item_classes;

	/* whatever the model was told: only forms that version 2 cannot say need version 3 */
	unsigned numbers = CKF_ITEM_NUMBER | CKF_ITEM_OTHER | CKF_ITEM_HASH;
	unsigned old = o->item_classes & numbers ? CKF_FORM_ROUNDED : 0;
	unsigned format = o->filter.number_forms != old ? CKF_FORMAT_DECIMALS : o->format;

	if (driven_numbers && o->filter.count == 0) /* perhaps a state's */
		format = o->filter.format;

	CHECK(o->filter.item_classes == o->item_classes, "item classes %#x, must be %#x",
		  o->filter.item_classes, o->item_classes);
	CHECK(bytes[AT_ITEM_CLASSES] == told, "byte 14 is %#x, must be %#x", bytes[AT_ITEM_CLASSES],
		  told);
	CHECK(o->filter.format == format && bytes[AT_FORMAT] == format,
		  "format version %u, byte 3 is %u, must be %u", o->filter.format, bytes[AT_FORMAT],
		  format);
}

/* The same after a change that added items of these classes. */
static void
check_changed(owned *o, unsigned classes)
{
	o->item_classes |= (uint8_t)classes;
	o->format = CKF_FORMAT_VERSION;
	check_told(o);
}

/* Take over a guarded buffer of which `size` bytes are a filter. */
static void
adopt(owned *o, uint8_t *bytes, size_t size, size_t room, ckf_trust trust)
{
	ckf_status status = ckf_open(&o->filter, bytes, size, trust);

	CHECK(status == CKF_OK, "opening %zu bytes: status %d", size, status);
	CHECK(o->filter.bytes == bytes && o->filter.size == size && o->filter.room == size,
		  "an opened filter's bytes, size, room");
	o->bytes = bytes;
	o->state = trust == CKF_STATE;
	o->fresh = false;
	o->large = NULL;
	o->filter.room = room;
	o->item_classes = o->filter.item_classes;
	o->format = o->filter.format;
}

void
owned_create(owned *o, const ckf_params *params)
{
	uint8_t *bytes = guard_new(CKF_HEADER_SIZE, 1);
	ckf_status status = ckf_create(params, bytes);

	CHECK(status == CKF_OK, "create: status %d", status);
	adopt(o, bytes, CKF_HEADER_SIZE, CKF_HEADER_SIZE, CKF_FOREIGN);
	CHECK(o->filter.count == 0, "a new filter is not empty");
	o->item_classes = 0;
	check_changed(o, 0);
}

void
owned_state(owned *o, const ckf_params *params)
{
	uint8_t *bytes = guard_new(CKF_HEADER_SIZE, 1);
	ckf_params given = *params;
	ckf_status status;

	given.decimals = driven_numbers;
	status = ckf_create_state(&given, bytes);

	CHECK(status == CKF_OK, "create_state: status %d", status);
	adopt(o, bytes, CKF_HEADER_SIZE, CKF_HEADER_SIZE, CKF_STATE);
	o->fresh = true;
	o->item_classes = 0;
	check_changed(o, 0);
}

void
owned_open(owned *o, const void *bytes, size_t size, ckf_trust trust)
{
	adopt(o, guard_copy(bytes, size), size, size, trust);
}

void
owned_copy(owned *o, const owned *from)
{
	if (from->large != NULL)
	{
		owned flat;

		CHECK(run_rebuild(&flat, from->large->merger.operation, from, NULL) == CKF_OK,
			  "a copy of a state");
		owned_open(o, flat.bytes, flat.filter.size, CKF_STATE);
		owned_free(&flat);
		return;
	}
	owned_open(o, from->bytes, from->filter.size, trust_of(from));
	o->fresh = from->fresh;
	o->item_classes = from->item_classes;
	o->format = from->format;
	check_told(o);
}

void
owned_make_old(owned *o)
{
	unsigned classes = o->item_classes != 0 ? CKF_ITEM_HASH | CKF_ITEM_OLD : 0;
	size_t room = o->filter.room;

	o->bytes[AT_FORMAT] = 1;
	o->bytes[AT_ITEM_CLASSES] = 0;
	o->bytes[AT_NUMBER_FORMS] = 0;
	adopt(o, o->bytes, o->filter.size, room, trust_of(o));
	o->item_classes = (uint8_t)classes;
	o->format = 1;
	check_told(o);
}

void
owned_check(const owned *o)
{
	owned fresh;
	ckf_info info;

	owned_open(&fresh, o->bytes, o->filter.size, trust_of(o));
	CHECK(fresh.filter.count == o->filter.count, "count %llu, reopened %llu",
		  (unsigned long long)o->filter.count, (unsigned long long)fresh.filter.count);
	CHECK(fresh.filter.w == o->filter.w && fresh.filter.f == o->filter.f &&
			  fresh.filter.m == o->filter.m && fresh.filter.encoding == o->filter.encoding,
		  "the geometry differs when reopened");
	ckf_get_info(&o->filter, &info);
	CHECK(info.count == o->filter.count && info.bytes == o->filter.size &&
			  info.seed == o->filter.seed && info.fpr == ckf_fpr(&o->filter),
		  "info differs from the filter");
	owned_free(&fresh);
}

bool
owned_same_bytes(const owned *a, const owned *b)
{
	return a->filter.size == b->filter.size && memcmp(a->bytes, b->bytes, a->filter.size) == 0;
}

/* --------------------------------------------------------------- rebuilds */

/* The inputs of a rebuild. */
typedef struct order
{
	ckf_operation operation;
	const owned *a, *b;
	const uint64_t *hashes; /* where b is NULL; else NULL */
	size_t n;
	ckf_collector *batch;       /* that has them; or NULL */
	ckf_comparison *comparison; /* the result of CKF_COMPARE */
} order;

/* Update the largest number of control flow edges in one call, which began at `edges`. */
static void
count_edges(uint64_t edges)
{
	if (driven.edges - edges > driven.longest)
		driven.longest = driven.edges - edges;
}

static void
count_step(uint64_t edges)
{
	driven.steps++;
	count_edges(edges);
}

void
give_buffers(ckf_buffers *buffers)
{
	bool dst = buffers->dst_room < buffers->dst_size;
	bool scratch = buffers->scratch_room < buffers->scratch_size;

	CHECK(dst || scratch, "room was asked for that is there");
	if (dst)
	{
		guard_free(buffers->dst);
		buffers->dst_room = buffers->dst_size + (check_chance(30) ? check_below(100) : 0);
		buffers->dst = guard_new(buffers->dst_room, 1);
	}
	if (scratch)
	{
		guard_free(buffers->scratch);
		buffers->scratch_room = buffers->scratch_size + (check_chance(30) ? check_below(100) : 0);
		buffers->scratch = guard_new(buffers->scratch_room, 8);
	}
}

/* Lose dst (1), scratch (2) or both. */
static void
lose_buffers(ckf_buffers *buffers, unsigned which)
{
	if (which & 1)
	{
		guard_free(buffers->dst);
		buffers->dst = NULL;
		buffers->dst_room = 0;
	}
	if (which & 2)
	{
		guard_free(buffers->scratch);
		buffers->scratch = NULL;
		buffers->scratch_room = 0;
	}
}

static ckf_status
step(ckf_rebuild *rebuild, ckf_buffers *buffers)
{
	uint64_t edges = driven.edges;
	ckf_status status = ckf_rebuild_step(rebuild, buffers);

	count_step(edges);
	return status;
}

/* Steps of a started rebuild to its end. */
static ckf_status
run_steps(ckf_rebuild *rebuild, ckf_buffers *buffers)
{
	unsigned rooms = 0;
	bool lost = false;

	for (unsigned steps = 0; steps < MAX_STEPS; steps++)
	{
		ckf_status status = step(rebuild, buffers);

		if (status == CKF_ROOM)
		{
			CHECK(++rooms < MAX_ROOMS, "a rebuild asks for room for ever");
			give_buffers(buffers);
		}
		else if (status != CKF_MORE)
			return status;
		else if (!lost && check_chance(5))
		{
			/* without buffers, or one of them, it asks for new ones, and starts again */
			lost = true;
			lose_buffers(buffers, 1 + (unsigned)check_below(3));
			if (buffers->scratch != NULL)
				continue; /* dst need not be there yet */
			CHECK(step(rebuild, buffers) == CKF_ROOM, "a step without scratch");
			give_buffers(buffers);
		}
	}
	CHECK(false, "a rebuild does not end");
	return CKF_OK;
}

/* A finished merge is what its state collected. */
static ckf_operation
goal_of(const order *o)
{
	if (o->operation == CKF_FINISH_SUM && o->a->large != NULL &&
		o->a->large->merger.operation == CKF_MERGE_UNION)
		return CKF_FINISH_UNION;
	return o->operation;
}

static unsigned
inputs_of(const order *o, const ckf_filter **in)
{
	unsigned n = state_inputs(o->a, in);

	if (o->b != NULL)
		n += state_inputs(o->b, in + n);
	if (o->batch != NULL)
		in[n++] = &o->batch->filter;
	return n;
}

static ckf_status
start(ckf_rebuild *rebuild, const order *o, const ckf_filter *const *in, unsigned n)
{
	uint64_t edges = driven.edges;
	ckf_status status;

	if (n <= 2 && check_chance(50))
		status = ckf_rebuild_start(rebuild, goal_of(o), in[0], n > 1 ? in[1] : NULL);
	else
		status = ckf_rebuild_start_many(rebuild, goal_of(o), in, n);
	count_step(edges);
	return status;
}

static void
set_read_only(const owned *o, bool read_only)
{
	if (o != NULL && o->bytes != NULL)
		guard_read_only(o->bytes, read_only);
}

/* Run it; dst of the buffers is the result. */
static ckf_status
run(const order *o, ckf_buffers *buffers)
{
	const ckf_filter *in[2 * CKF_MOST_INPUTS];
	unsigned n = inputs_of(o, in);
	ckf_rebuild *rebuild = guard_new(CKF_REBUILD_SIZE(n), 8);
	ckf_status status;

	driven.jobs++;
	set_read_only(o->a, true);
	set_read_only(o->b, true);
	status = start(rebuild, o, in, n);
	if (status == CKF_OK)
		status = run_steps(rebuild, buffers);
	if (status == CKF_OK && o->comparison != NULL)
		status = ckf_rebuild_comparison(rebuild, o->comparison);
	set_read_only(o->a, false);
	set_read_only(o->b, false);
	guard_free(rebuild);
	guard_free(buffers->scratch);
	CHECK(status != CKF_OK || buffers->dst_size <= buffers->dst_room, "a result outside dst");
	CHECK(status != CKF_OK || o->comparison != NULL || buffers->dst_size >= CKF_HEADER_SIZE,
		  "no result");
	CHECK(status != CKF_OK || o->comparison == NULL || buffers->dst_size == 0, "a result");
	CHECK(status != CKF_UNLIKE_SIZES ||
			  (o->comparison->overlap == 0 && o->comparison->jaccard == 0),
		  "a number beside an error");
	if (status == CKF_OK && buffers->dst_size > 0)
		return status;
	guard_free(buffers->dst);
	buffers->dst = NULL;
	return status;
}

ckf_status
rebuild_many(ckf_buffers *buffers, ckf_operation operation, const ckf_filter *const *in, unsigned n)
{
	ckf_rebuild *rebuild = guard_new(CKF_REBUILD_SIZE(n), 8);
	ckf_status status = ckf_rebuild_start_many(rebuild, operation, in, n);

	driven.jobs++;
	if (status == CKF_OK)
		status = run_steps(rebuild, buffers);
	guard_free(rebuild);
	guard_free(buffers->scratch);
	buffers->scratch = NULL;
	return status;
}

/* The classes of an intersection of filters with these classes (FORMAT.md, section 8). */
static unsigned
classes_in_common(unsigned a, unsigned b)
{
	unsigned classes = 0;

	for (unsigned bit = 1; bit < CKF_ITEM_HASH; bit *= 2)
		if ((a & (bit | CKF_ITEM_HASH)) && (b & (bit | CKF_ITEM_HASH)) && ((a | b) & bit))
			classes |= bit;
	if (a & b & CKF_ITEM_HASH)
		classes |= CKF_ITEM_HASH | ((a | b) & CKF_ITEM_OLD);
	return classes;
}

/* The classes of the items of a filter or state. */
static unsigned
classes_held(const owned *o)
{
	const struct large *large = o->large;
	unsigned classes = o->item_classes;

	if (large != NULL && large->collector != NULL)
		classes = large->collector->filter.item_classes;
	return classes;
}

/* The classes of all inputs. */
static unsigned
classes_in(const order *o)
{
	unsigned classes = classes_held(o->a) | (o->b != NULL ? classes_held(o->b) : 0);

	if (o->operation == CKF_INTERSECT && o->b != NULL)
		return classes_in_common(o->a->item_classes, o->b->item_classes);
	return o->operation == CKF_REMOVE_MANY ? classes : classes | classes_of_hashes(o->hashes, o->n);
}

/* Own the result. */
static void
take_result(owned *result, const order *o, const ckf_buffers *buffers)
{
	bool nothing = o->operation == CKF_REMOVE_MANY;
	unsigned classes = classes_in(o);
	uint8_t format = o->a->format;

	adopt(result, buffers->dst, buffers->dst_size, buffers->dst_room, CKF_FOREIGN);
	nothing = nothing && result->filter.count == o->a->filter.count;
	result->item_classes = result->filter.count > 0 ? (uint8_t)classes : 0;
	result->format = nothing ? format : CKF_FORMAT_VERSION;
	check_told(result);
}

/* Into a new one. */
static ckf_status
run_apart(owned *result, const order *o)
{
	ckf_buffers buffers = {0};
	ckf_status status = run(o, &buffers);

	if (status == CKF_OK)
		take_result(result, o, &buffers);
	return status;
}

/* In place of a, which `o` has as its a. */
static ckf_status
run_in_place(owned *a, const order *o)
{
	owned result;
	ckf_status status = run_apart(&result, o);

	if (status == CKF_OK)
	{
		owned_free(a);
		*a = result;
	}
	return status;
}

ckf_status
run_rebuild(owned *result, ckf_operation operation, const owned *a, const owned *b)
{
	order o = {.operation = operation, .a = a, .b = b};

	return run_apart(result, &o);
}

ckf_status
run_comparison(ckf_comparison *comparison, const owned *a, const owned *b)
{
	order o = {.operation = CKF_COMPARE, .a = a, .b = b, .comparison = comparison};
	ckf_buffers buffers = {0};

	return run(&o, &buffers);
}

ckf_status
owned_rebuild(owned *o, ckf_operation operation, const owned *b)
{
	order in_place = {.operation = operation, .a = o, .b = b};

	return run_in_place(o, &in_place);
}

/* A state, and n hashes that are added to it. */
static ckf_status
finish_with(owned *result, const owned *a, const uint64_t *hashes, size_t n)
{
	const ckf_filter *in[CKF_MOST_INPUTS];
	ckf_collector *c;
	owned all = *a; /* but for what it has become */
	ckf_status status;
	struct large large = {.merger = {.operation = CKF_MERGE_SUM}};

	(void)state_inputs(a, in);
	c = collector_new(in[0], 1);
	large.collector = c;
	if (a->large != NULL)
	{
		owned flat;

		owned_copy(&flat, a);
		CHECK(collector_make_room(c) == CKF_OK && ckf_collect_filter(c, &flat.filter) == CKF_OK &&
				  collector_make_room(c) == CKF_OK,
			  "take a filter");
		owned_free(&flat);
	}
	else
		CHECK(collector_make_room(c) == CKF_OK && ckf_collect_filter(c, in[0]) == CKF_OK &&
				  collector_make_room(c) == CKF_OK,
			  "take a filter");
	collector_take(c, hashes, n);
	all.large = &large;
	status = run_rebuild(result, CKF_FINISH, &all, NULL);
	collector_free(c);
	return status;
}

bool
stays_in(const ckf_filter *filter, uint64_t hash)
{
	ckf_hashes item = item_of_hash(hash);

	return ckf_is_decimal(item) && ckf_contains_rounded(filter, item.rounded);
}

ckf_status
run_rebuild_hashes(owned *result, ckf_operation operation, const owned *a, const uint64_t *hashes,
				   size_t n)
{
	order o = {.operation = operation, .a = a, .hashes = hashes, .n = n};
	ckf_status status;

	if (operation == CKF_FINISH)
		return finish_with(result, a, hashes, n);
	o.batch = collector_new(&a->filter, 16);
	for (size_t i = 0; i < n; i++)
		if (operation != CKF_REMOVE_MANY || !stays_in(&a->filter, hashes[i]))
			collector_take(o.batch, &hashes[i], 1);
	collector_settle(o.batch);
	status = run_apart(result, &o);
	collector_free(o.batch);
	return status;
}

ckf_status
owned_rebuild_hashes(owned *o, ckf_operation operation, const uint64_t *hashes, size_t n)
{
	owned result;
	ckf_status status = run_rebuild_hashes(&result, operation, o, hashes, n);

	if (status == CKF_OK)
	{
		owned_free(o);
		*o = result;
	}
	return status;
}

/* ---------------------------------------------------------------- changes */

/* A refused change leaves handle and bytes as they were. */
typedef struct snapshot
{
	size_t size;
	uint64_t count;
	uint8_t bytes[SNAPSHOT];
} snapshot;

static void
snapshot_take(snapshot *snap, const ckf_filter *filter)
{
	snap->size = filter->size;
	snap->count = filter->count;
	if (snap->size <= SNAPSHOT)
		memcpy(snap->bytes, filter->bytes, snap->size);
}

static void
snapshot_compare(const snapshot *snap, const ckf_filter *filter)
{
	CHECK(snap->size == filter->size && snap->count == filter->count,
		  "a refused change changed size or count");
	CHECK(snap->size > SNAPSHOT || memcmp(snap->bytes, filter->bytes, snap->size) == 0,
		  "a refused change changed the bytes");
}

ckf_status
owned_try_add(owned *o, uint64_t hash)
{
	unsigned classes = class_of_hash(hash);
	ckf_status status;

	if (o->large != NULL)
	{
		collector_take(o->large->collector, &hash, 1);
		return CKF_OK;
	}
	status = ckf_add(&o->filter, hash, classes);

	if (status == CKF_OK)
		check_changed(o, classes);
	return status;
}

/* A flat state gets room for some more, or goes on as a collector. */
static void
grow_state(owned *o)
{
	size_t room = o->filter.size + 8 * (1 + check_below(1 + o->filter.count));
	uint8_t *larger;

	if (o->filter.count > 8 && check_chance(20))
	{
		state_outgrow(o);
		return;
	}
	larger = guard_new(room, 1);
	memcpy(larger, o->bytes, o->filter.size);
	guard_free(o->bytes);
	o->bytes = larger;
	ckf_move(&o->filter, larger);
	o->filter.room = room;
}

ckf_status
owned_add(owned *o, uint64_t hash)
{
	snapshot before;

	for (int growths = 0; growths < MAX_GROWTHS; growths++)
	{
		uint64_t edges;
		ckf_status status;

		snapshot_take(&before, &o->filter);
		edges = driven.edges;
		status = owned_try_add(o, hash);
		count_edges(edges);
		if (status == CKF_OK)
			return status;
		snapshot_compare(&before, &o->filter);
		if (status == CKF_PRECISION)
			return status;
		CHECK(status == CKF_ROOM, "add: status %d", status);
		if (o->state && o->filter.encoding == CKF_HASHES)
		{
			grow_state(o);
			continue;
		}
		status = owned_rebuild(o, CKF_GROW, NULL);
		if (status == CKF_PRECISION)
			return status;
		CHECK(status == CKF_OK, "grow: status %d", status);
	}
	CHECK(false, "an item never finds room");
	return CKF_OK;
}

ckf_status
owned_remove(owned *o, uint64_t hash, bool *found)
{
	snapshot before;
	ckf_status status;

	snapshot_take(&before, &o->filter);
	status = ckf_remove_item(&o->filter, item_of_hash(hash), found);
	if (status != CKF_OK || !*found)
		snapshot_compare(&before, &o->filter);
	else
	{
		o->item_classes = o->filter.count > 0 ? o->item_classes : 0;
		check_changed(o, 0);
	}
	check_told(o);
	return status;
}

ckf_status
owned_add_all(owned *o, const uint64_t *hashes, size_t n)
{
	ckf_status status = CKF_OK;

	if (!ckf_few(&o->filter, n))
		return owned_rebuild_hashes(o, CKF_ADD_MANY, hashes, n);
	for (size_t i = 0; i < n && status == CKF_OK; i++)
		status = owned_add(o, hashes[i]);
	return status;
}

ckf_status
owned_remove_all(owned *o, const uint64_t *hashes, size_t n)
{
	ckf_status status = CKF_OK;
	bool found;

	if (!ckf_few(&o->filter, n))
		return owned_rebuild_hashes(o, CKF_REMOVE_MANY, hashes, n);
	for (size_t i = 0; i < n && status == CKF_OK; i++)
		status = owned_remove(o, hashes[i], &found);
	return status;
}

void
build_aggregate(owned *o, const ckf_params *params, const uint64_t *hashes, size_t n)
{
	ckf_status status;

	owned_state(o, params);
	for (size_t i = 0; i < n; i++)
	{
		status = owned_add(o, hashes[i]);
		CHECK(status == CKF_OK, "adding to a state: status %d", status);
	}
	status = owned_rebuild(o, CKF_FINISH, NULL);
	CHECK(status == CKF_OK, "finish: status %d", status);
}

/* From an empty filter or from a new state: both only carry the parameters. */
void
build_bulk(owned *o, const ckf_params *params, const uint64_t *hashes, size_t n)
{
	owned empty;
	ckf_status status;

	if (params->capacity > 0 && check_chance(50))
		owned_create(&empty, params);
	else
		owned_state(&empty, params);
	status = run_rebuild_hashes(o, CKF_FINISH, &empty, hashes, n);
	CHECK(status == CKF_OK, "finish of hashes: status %d", status);
	owned_free(&empty);
}
