/*
 * error.c - what went wrong, in words.  Those that several hosts use, too, are in messages.h.
 */
#include "cuckoofilter_host.h"

#include "messages.h"

#include <string.h>

/* The texts of an error. */
#define SAY(...) writer->write(writer, CKF_MESSAGE, __VA_ARGS__)
#define DETAIL(...) writer->write(writer, CKF_DETAIL, __VA_ARGS__)
#define HINT(...) writer->write(writer, CKF_HINT, __VA_ARGS__)

typedef unsigned long long ckf_number;

/* A merge that fails because one filter is too coarse.  The error names that filter. */
static void
ckf_describe_coarse(ckf_writer *writer, const ckf_refusal *refusal, const ckf_about *about)
{
	const ckf_filter *coarse = refusal->input == 1 ? about->other : about->filter;
	ckf_number items = refusal->items;

	if (refusal->input < 0)
	{
		SAY("cannot merge cuckoofilters: at least one was built for only %lld items; %llu or more "
			"do "
			"not fit",
			(long long)refusal->capacity, items);
		DETAIL("The result would have a rate of %.3g, above the limit of %.3g.", refusal->fpr,
			   refusal->limit);
		HINT("Build each filter with a capacity for the items of all: cuckoofilter_agg(item, fpr, "
			 "%s).",
			 writer->sql ? "(SELECT count(*) FROM t)" : "capacity");
		return;
	}
	SAY("cannot merge cuckoofilters: %s is too coarse for the %llu items of both",
		refusal->input == 1 ? "the second" : "the first", items);
	DETAIL(
		"It has " CKF_FILL
		" and a capacity of %lld; the result would have a rate of %.3g, above the limit of %.3g.",
		(ckf_number)coarse->count, ckf_fpr(coarse), (long long)coarse->capacity, refusal->fpr,
		refusal->limit);
	HINT("Build both with a capacity of at least %llu.", items);
}

/* A filter, or the result of a merge, has no precision left. */
static void
ckf_describe_precision(ckf_writer *writer, const ckf_about *about)
{
	ckf_refusal refusal = {.cause = CKF_FULL};
	ckf_number items;

	if (about->rebuild)
		ckf_rebuild_refusal(about->rebuild, &refusal);
	else
	{
		refusal.items = about->filter->count;
		refusal.fpr = ckf_fpr(about->filter);
	}
	items = refusal.items;
	if (refusal.cause == CKF_COARSE)
		ckf_describe_coarse(writer, &refusal, about);
	else if (refusal.cause == CKF_FULL && refusal.more > 0)
	{
		SAY("cuckoofilter has no precision left for %llu more items", (ckf_number)refusal.more);
		DETAIL(CKF_DETAIL_FILL, items, refusal.fpr);
		HINT("Build it with a capacity of at least %llu.", items + refusal.more);
	}
	else
	{
		static const char *const texts[][2] = {
			[CKF_FULL] = {"cuckoofilter has no precision left", "Build it with a larger capacity."},
			[CKF_CROWDED] =
				{"cuckoofilter cannot store so many copies of the same items",
				 "Build it with kind=set, which keeps one copy of each item. If the hashes of all "
				 "items share their first bits, keep the items in one filter with others: "
				 "cuckoofilter_part chooses the parts of a filter."},
			[CKF_CROWDED_HASHES] = {"cuckoofilter cannot store so many items with similar hashes",
									"Build it with another seed option. Hashes that you compute "
									"yourself must be evenly distributed."}};

		SAY("%s", texts[refusal.cause][0]);
		DETAIL(CKF_DETAIL_FILL, items, refusal.fpr);
		HINT("%s", texts[refusal.cause][1]);
	}
}

static void
ckf_describe_rate(ckf_writer *writer, const ckf_about *about)
{
	SAY(writer->bad_fpr, about->params->fpr);
	if (about->order)
		HINT("Aggregates take the rate, 0.01 for 1 %%, before the capacity: %s.", about->order);
	else if (about->params->fpr >= 1)
		HINT("A rate of 1 %% is 0.01.");
}

bool
ckf_lacks_comma(ckf_text option)
{
	const char *end = option.at + option.size;
	const char *equals = option.size > 0 ? memchr(option.at, '=', option.size) : NULL;

	return equals && memchr(equals + 1, '=', (size_t)(end - equals - 1)) &&
		   !memchr(equals, ',', (size_t)(end - equals));
}

static void
ckf_describe_option(ckf_writer *writer, ckf_status status, const ckf_about *about)
{
	SAY(CKF_SAY_BAD_OPTION, (int)about->option_size, about->option);
	if (status == CKF_OPTION_TWICE)
		HINT("Give this option once.");
	else if (writer->sql && ckf_lacks_comma((ckf_text){about->option, about->option_size}))
		HINT(CKF_HINT_COMMA);
	else if (writer->sql && about->option_size > 3 && memcmp(about->option, "fpr", 3) == 0)
		HINT("The rate is an argument of its own, 0.01 for 1 %%.");
	else
		HINT(CKF_HINT_BAD_OPTION);
}

/* Two filters that do not go together. */
static void
ckf_describe_unlike(ckf_writer *writer, ckf_status status, const ckf_about *about)
{
	if (status == CKF_UNLIKE_SIZES)
	{
		SAY("cannot compare cuckoofilters of %llu and %llu items: %s is too coarse",
			(ckf_number)about->filter->count, (ckf_number)about->other->count,
			about->comparison->coarse == 0 ? "the first" : "the second");
		DETAIL("The standard error of their overlap would be %lld, more than the number of items "
			   "in the smaller filter.",
			   (long long)about->comparison->error + 1);
		HINT("Build both with a capacity of %lld.", (long long)about->comparison->capacity);
		return;
	}
	SAY("cannot merge cuckoofilters with different seeds");
	DETAIL("The seeds are %lld and %lld.", (long long)about->filter->seed,
		   (long long)about->other->seed);
	HINT("Use the same seed option for all filters that are merged.");
}

ckf_fault
ckf_describe(ckf_writer *writer, ckf_status status, const ckf_about *about)
{
	switch (status)
	{
		case CKF_BAD_CAPACITY:
			SAY(CKF_SAY_BAD_CAPACITY("%lld"), (long long)CKF_MAX_CAPACITY,
				(long long)about->params->capacity);
			return CKF_FAULT_PARAMETER;
		case CKF_BAD_FPR:
			ckf_describe_rate(writer, about);
			return CKF_FAULT_PARAMETER;
		case CKF_BAD_TARGET:
			SAY(writer->bad_target, (long long)about->params->capacity, about->params->fpr);
			DETAIL("The quotient of capacity and rate must not exceed 2^%d.", CKF_MAX_PREFIX);
			HINT("Lower the capacity or raise the false positive rate.");
			return CKF_FAULT_PARAMETER;
		case CKF_BAD_OPTION:
		case CKF_OPTION_TWICE:
			ckf_describe_option(writer, status, about);
			return CKF_FAULT_PARAMETER;
		case CKF_SEED_DIFFERS:
		case CKF_UNLIKE_SIZES:
			ckf_describe_unlike(writer, status, about);
			return CKF_FAULT_PARAMETER;
		case CKF_BAD_BYTES:
			SAY(CKF_SAY_BAD_BYTES);
			return CKF_FAULT_BYTES;
		case CKF_BAD_VERSION:
			SAY("cuckoofilter of an unknown format or hash version");
			HINT("It needs a newer release of cuckoofilter.");
			return CKF_FAULT_BYTES;
		case CKF_UNFINISHED:
			SAY("cuckoofilter is the unfinished state of an aggregate");
			HINT("Build it again with cuckoofilter 1.4 or later, or cast it to bytea and back "
				 "under 1.3 first.");
			return CKF_FAULT_STATE;
		case CKF_IS_SET:
			SAY("cannot remove from a cuckoofilter of kind set");
			DETAIL("Removing an item from a set could remove another item, too.");
			HINT("Build it with kind=deletable, and merge with cuckoofilter_sum.");
			return CKF_FAULT_STATE;
		case CKF_OLD_ITEMS:
			SAY("cannot compare cuckoofilters: one was built before release 1.1, which changed the "
				"hash of items in the other");
			HINT("Build the older filter again.");
			return CKF_FAULT_STATE;
		case CKF_PRECISION:
			ckf_describe_precision(writer, about);
			return CKF_FAULT_LIMIT;
		case CKF_OK:
		case CKF_MORE:
		case CKF_ROOM:
		case CKF_FEED:
			break; /* no failures */
	}
	SAY("unexpected cuckoofilter status %d", (int)status);
	return CKF_FAULT_INTERNAL;
}

/* The item classes in the order of their bits: those in a filter, and that of one item. */
static const char *const ckf_class_words[][2] = {
	{"numbers", "a number"},
	{"text", "text"},
	{"bytes", "bytes"},
	{"timestamps", "a timestamp"},
	{"timestamps with time zone", "a timestamp with time zone"},
	{"values of other types", "of another type"},
};

const char *
ckf_describe_held(char text[CKF_HELD_SIZE], unsigned item_classes)
{
	unsigned left = item_classes & (CKF_ITEM_HASH - 1);
	char *end = text;
	const char *from;
	int i;

	for (i = 0; left >> i != 0; i++)
	{
		if (!(left >> i & 1))
			continue;
		from = end == text ? "" : left >> i == 1 ? " and " : ", ";
		while (*from)
			*end++ = *from++;
		from = ckf_class_words[i][0];
		while (*from)
			*end++ = *from++;
	}
	*end = '\0';
	return text;
}

const char *
ckf_describe_item(unsigned item_class)
{
	int i = 0;

	while (item_class >> i > 1)
		i++;
	return ckf_class_words[i][1];
}
