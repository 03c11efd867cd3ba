/*
 * verify.c - join_filter = verify.
 *
 * The hash of each key that a filter denies is recorded. When the join finds a match, that is, when
 * its condition is true, the key of its outer row must not be one of those. The same holds for keys
 * in a partition or a block that would be skipped, also where there is no filter but only ranges of
 * the keys. All blocks are read: those that would be skipped are those without a key of the ranges,
 * by the index, for the rows that are read after the ranges are known. `auto` skips them only if
 * they are enough.
 */
#include "join/exec/exec.h"

#include "executor/executor.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* The condition of the join, with our check. */
typedef struct ckfp_verify
{
	ExprState state;
	ExprState *condition;
	ckfp_filter_node *filter_node;
	ckfp_source outer; /* the outer rows of the join */
} ckfp_verify;

static void
ckfp_record_hash(ckfp_filter_node *filter_node, HTAB **hashes, uint64 hash)
{
	if (*hashes == NULL)
	{
		HASHCTL control = {
			.keysize = sizeof(uint64),
			.entrysize = sizeof(uint64),
			.hcxt = filter_node->css.ss.ps.state->es_query_cxt,
		};

		*hashes =
			hash_create("denied join keys", 1024, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	hash_search(*hashes, &hash, HASH_ENTER, NULL);
}

void
ckfp_verify_denied(ckfp_filter_node *filter_node, uint64 hash)
{
	ckfp_record_hash(filter_node, &filter_node->denied, hash);
}

/* Extend the hash of a key. The filter cannot tell two keys apart whose hashes are equal, but one
 * of them can be in a partition that would be skipped, and the other have a match. Hashes of join
 * functions have 32 bits. False if there is no longer hash. */
static bool
ckfp_longer_hash(ckfp_filter_node *filter_node, const Datum *values, uint64 *hash)
{
	for (int i = 0; i < filter_node->record.columns && !filter_node->record.mapped; i++)
	{
		const ckfp_join_column *column = &filter_node->record.column[i];
		TypeCacheEntry *type;

		if (filter_node->probe_key[i].method != CKFP_KEY_FUNCTION)
			continue;
		type = lookup_type_cache(column->probe, TYPECACHE_HASH_EXTENDED_PROC_FINFO);
		if (!OidIsValid(type->hash_extended_proc))
			return false;
		*hash = ckfp_key_combine(*hash, DatumGetUInt64(FunctionCall2Coll(
											&type->hash_extended_proc_finfo, column->collation,
											values[i], UInt64GetDatum(1))));
	}
	return true;
}

void
ckfp_verify_skipped(ckfp_filter_node *filter_node, uint64 hash, const Datum *values)
{
	if (ckfp_longer_hash(filter_node, values, &hash))
		ckfp_record_hash(filter_node, &filter_node->skipped, hash);
}

/* The hash of the bytes of a key that is a function of a column. The scan and the join compute the
 * key with the same function, so its bytes are the same. The hash function of the join would not
 * do: that of numeric gives a number and its negative the same hash. */
static uint64
ckfp_image_hash(const ckfp_join_record *record, Datum value)
{
	int16 length;
	bool by_value;

	get_typlenbyval(record->column[0].probe, &length, &by_value);
	if (by_value)
		return ckf_hash_word(CKF_CLASS_OTHER, value, 0);
	if (length > 0)
		return ckf_hash_bytes(CKF_CLASS_OTHER, DatumGetPointer(value), (size_t)length, 0);
	return ckf_hash_bytes(CKF_CLASS_OTHER, VARDATA_ANY(DatumGetPointer(value)),
						  VARSIZE_ANY_EXHDR(DatumGetPointer(value)), 0);
}

bool
ckfp_verify_key(const ckfp_scan_filter *test, TupleTableSlot *slot, Datum *values, uint64 *hash)
{
	const ckfp_key_test *near = &test->filter_node->ranges.test;
	ckfp_map *map = test->filter_node->ranges.map;
	bool isnull;
	Datum value = slot_getattr(slot, test->source.attribute[0], &isnull);
	int64 source = isnull ? 0 : ckfp_integer_of(value, near->length);

	if (isnull || !ckfp_map_computes(map, source) ||
		!ckfp_key_ranges_hold(&test->filter_node->ranges))
		return false;
	values[0] = ckfp_map_value(map, source);
	*hash = ckfp_image_hash(&test->filter_node->record, values[0]);
	return true;
}

void
ckfp_verify_untested(const ckfp_scan_filter *test, TupleTableSlot *slot)
{
	Datum values[CKFP_JOIN_KEYS];
	uint64 hash;

	if (ckfp_source_hash(&test->source, slot, NULL, values, &hash))
		ckfp_test_verify(test, slot, values, hash, true);
}

static bool
ckfp_is_recorded(HTAB *hashes, uint64 hash)
{
	return hashes != NULL && hash_search(hashes, &hash, HASH_FIND, NULL) != NULL;
}

/* Was the outer row of the join denied, or would it have been in a partition that is skipped? */
static bool
ckfp_was_denied(ckfp_verify *verify, ExprContext *econtext)
{
	ckfp_filter_node *filter_node = verify->filter_node;
	Datum values[CKFP_JOIN_KEYS];
	uint64 hash;

	if ((filter_node->denied == NULL && filter_node->skipped == NULL) ||
		!ckfp_key_ranges_hold(&filter_node->ranges))
		return false;
	if (!ckfp_source_hash(&verify->outer, NULL, econtext, values, &hash))
		return true;
	if (filter_node->record.mapped)
		hash = ckfp_image_hash(&filter_node->record, values[0]);
	return ckfp_is_recorded(filter_node->denied, hash) ||
		   (filter_node->skipped != NULL && ckfp_longer_hash(filter_node, values, &hash) &&
			ckfp_is_recorded(filter_node->skipped, hash));
}

static Datum
ckfp_verify_condition(ExprState *state, ExprContext *econtext, bool *isnull)
{
	ckfp_verify *verify = state->evalfunc_private;

	*isnull = false;
	if (!ExecQual(verify->condition, econtext))
		return BoolGetDatum(false);
	if (ckfp_was_denied(verify, econtext))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("a join filter removed a row that has a match in the join"),
				 errdetail("Plan node %d.", verify->filter_node->css.ss.ps.plan->plan_node_id),
				 errhint("This is a bug in cuckoofilter. Please report it, and set "
						 "cuckoofilter.join_filter = off.")));
	return BoolGetDatum(true);
}

void
ckfp_verify_install(ckfp_filter_node *filter_node, PlanState *join, ExprState **condition,
					List *keys)
{
	ckfp_verify *verify = palloc0(sizeof(*verify));

	ckfp_condition_init(&verify->state, ckfp_verify_condition, verify);
	verify->condition = *condition;
	verify->filter_node = filter_node;
	verify->outer.columns = filter_node->record.columns;
	verify->outer.key = filter_node->probe_key;
	for (int i = 0; i < filter_node->record.columns; i++)
		verify->outer.expression[i] = ExecInitExpr(list_nth(keys, i), join);
	*condition = &verify->state;
	filter_node->verify = true;
	filter_node->suspensions.never = true;
}
