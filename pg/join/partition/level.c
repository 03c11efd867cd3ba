/*
 * level.c - a level of a partitioned table: which of its partitions can contain a key.
 *
 * A row is in the partition that PostgreSQL's own functions find for its partition key. Those
 * functions also find it for a value of another type that the join calls equal, if the operator of
 * the join is in the operator family of the partition key.
 */
#include "join/partition/partition.h"

#include "access/hash.h"
#include "access/nbtree.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "nodes/parsenodes.h"
#include "partitioning/partbounds.h"
#include "utils/lsyscache.h"

/* ------------------------------------------------------------------ is it usable? */

/* The function that finds the partition for a value of the build side; InvalidOid if there is
 * none. */
static Oid
ckfp_level_function(PartitionKey key, int n, const ckfp_join_column *column)
{
	bool hash = key->strategy == PARTITION_STRATEGY_HASH;
	Oid left;
	Oid right;

	op_input_types(column->equality, &left, &right);
	if (left != key->partopcintype[n] ||
		get_op_opfamily_strategy(column->equality, key->partopfamily[n]) !=
			(hash ? HTEqualStrategyNumber : BTEqualStrategyNumber) ||
		!ckfp_collations_agree(column->collation, key->partcollation[n]))
		return InvalidOid;
	return hash ? get_opfamily_proc(key->partopfamily[n], right, right, HASHEXTENDED_PROC)
				: get_opfamily_proc(key->partopfamily[n], left, right, BTORDER_PROC);
}

int
ckfp_level_columns(PartitionKey key, const ckfp_join_record *record, const AttrNumber *attributes,
				   int *column)
{
	int n;

	/* an operator family of a user may have another order than the integers */
	if (record->mapped && (key->strategy != PARTITION_STRATEGY_RANGE || key->partnatts > 1 ||
						   key->partopfamily[0] >= FirstNormalObjectId))
		return 0;
	for (n = 0; n < key->partnatts && n < CKFP_JOIN_KEYS; n++)
	{
		int i = 0;

		while (i < record->columns &&
			   (attributes[i] == 0 || attributes[i] != key->partattrs[n] ||
				!OidIsValid(ckfp_level_function(key, n, ckfp_record_column(record, i)))))
			i++;
		if (i == record->columns)
			break;
		column[n] = i;
	}
	return key->strategy == PARTITION_STRATEGY_HASH && n < key->partnatts ? 0 : n;
}

/* ------------------------------------------------------------------------ making */

ckfp_level *
ckfp_level_make(PartitionKey key, PartitionBoundInfo bounds, int partitions,
				const ckfp_join_record *record, int known, const int *column, MemoryContext context)
{
	ckfp_level *level = MemoryContextAllocZero(context, sizeof(*level));

	level->key = key;
	level->bounds = bounds;
	level->known = known;
	level->partitions = partitions;
	level->live = MemoryContextAlloc(context, Max(partitions, 1));
	level->scans = MemoryContextAllocZero(context, Max(partitions, 1) * sizeof(int));
	for (int i = 0; i < known; i++)
	{
		level->column[i] = column[i];
		fmgr_info_cxt(ckfp_level_function(key, i, ckfp_record_column(record, column[i])),
					  &level->function[i], context);
	}
	return level;
}

/* Are two partition keys alike, so that equal bounds divide equal values in the same way? */
static bool
ckfp_level_keys_are_alike(PartitionKey a, PartitionKey b)
{
	size_t oids = a->partnatts * sizeof(Oid);

	return a->strategy == b->strategy && a->partnatts == b->partnatts &&
		   memcmp(a->partopfamily, b->partopfamily, oids) == 0 &&
		   memcmp(a->partopcintype, b->partopcintype, oids) == 0 &&
		   memcmp(a->partcollation, b->partcollation, oids) == 0 &&
		   memcmp(a->parttypid, b->parttypid, oids) == 0;
}

bool
ckfp_level_is_of(const ckfp_level *level, PartitionKey key, PartitionBoundInfo bounds, int known,
				 const int *column)
{
	return level->known == known && memcmp(level->column, column, known * sizeof(int)) == 0 &&
		   (level->bounds == bounds ||
			(ckfp_level_keys_are_alike(level->key, key) &&
			 partition_bounds_equal(key->partnatts, key->parttyplen, key->parttypbyval,
									level->bounds, bounds)));
}

void
ckfp_level_clear(ckfp_level *level)
{
	memset(level->live, 0, level->partitions);
	level->dead = level->all;
}

void
ckfp_level_mark_all(ckfp_level *level)
{
	memset(level->live, 1, level->partitions);
	level->dead = 0;
}

/* ---------------------------------------------------------------------- marking */

/* Mark a partition by its number, or the default partition if there is none for a key. */
static void
ckfp_level_mark(ckfp_level *level, int partition)
{
	if (partition < 0)
		partition = level->bounds->default_index;
	if (partition >= 0 && !level->live[partition])
	{
		level->live[partition] = 1;
		level->dead -= level->scans[partition];
	}
}

static void
ckfp_level_add_hash(ckfp_level *level, Datum *key)
{
	bool isnull[CKFP_JOIN_KEYS] = {0};
	uint64 hash = compute_partition_hash_value(level->known, level->function,
											   level->key->partcollation, key, isnull);
	uint64 modulus = (uint64)get_hash_partition_greatest_modulus(level->bounds);

	ckfp_level_mark(level, level->bounds->indexes[hash % modulus]);
}

static void
ckfp_level_add_list(ckfp_level *level, Datum key)
{
	bool found = false;
	int i = partition_list_bsearch(level->function, level->key->partcollation, level->bounds, key,
								   &found);

	ckfp_level_mark(level, i >= 0 && found ? level->bounds->indexes[i] : -1);
}

/* Is bound i equal to the columns that are known? */
static bool
ckfp_level_is_bound(ckfp_level *level, int i, Datum *key)
{
	return partition_rbound_datum_cmp(level->function, level->key->partcollation,
									  level->bounds->datums[i], level->bounds->kind[i], key,
									  level->known) == 0;
}

/* The range before bound i has the number i, the range after it i + 1. If only the first columns
 * are known, rows with them can be on both sides of each bound that is equal in them. */
static void
ckfp_level_add_range(ckfp_level *level, Datum *key)
{
	bool whole = level->known == level->key->partnatts;
	bool found = false;
	int i = partition_range_datum_bsearch(level->function, level->key->partcollation, level->bounds,
										  level->known, key, &found);

	if (!whole)
		ckfp_level_mark(level, -1); /* the default partition has rows with a NULL further on */
	if (whole || !found)
	{
		ckfp_level_mark(level, level->bounds->indexes[i + 1]);
		return;
	}
	while (i + 1 < level->bounds->ndatums && ckfp_level_is_bound(level, i + 1, key))
		i++;
	ckfp_level_mark(level, level->bounds->indexes[i + 1]);
	for (; i >= 0 && ckfp_level_is_bound(level, i, key); i--)
		ckfp_level_mark(level, level->bounds->indexes[i]);
}

void
ckfp_level_add_span(ckfp_level *level, Datum low, Datum high)
{
	bool found;
	int from = partition_range_datum_bsearch(level->function, level->key->partcollation,
											 level->bounds, 1, &low, &found);
	int to = partition_range_datum_bsearch(level->function, level->key->partcollation,
										   level->bounds, 1, &high, &found);

	for (int i = from; i <= to; i++)
		ckfp_level_mark(level, level->bounds->indexes[i + 1]);
}

void
ckfp_level_add(ckfp_level *level, const Datum *values)
{
	Datum key[CKFP_JOIN_KEYS] = {0};

	for (int i = 0; i < level->known; i++)
		key[i] = values[level->column[i]];
	switch (level->key->strategy)
	{
		case PARTITION_STRATEGY_HASH:
			ckfp_level_add_hash(level, key);
			break;
		case PARTITION_STRATEGY_LIST:
			ckfp_level_add_list(level, key[0]);
			break;
		case PARTITION_STRATEGY_RANGE:
			ckfp_level_add_range(level, key);
			break;
	}
}
