/*
 * bounds.c - the bounds of partitioned tables: which partitions can contain a key.
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

/* ------------------------------------------------- are they bounds of the key? */

/* The function that finds the partition for a value of the build side; InvalidOid if there is
 * none. */
static Oid
ckfp_bounds_function(PartitionKey key, int n, const ckfp_join_column *column)
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
ckfp_bounds_columns(PartitionKey key, const ckfp_join_record *record, const AttrNumber *attributes,
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
				!OidIsValid(ckfp_bounds_function(key, n, ckfp_record_column(record, i)))))
			i++;
		if (i == record->columns)
			break;
		column[n] = i;
	}
	return key->strategy == PARTITION_STRATEGY_HASH && n < key->partnatts ? 0 : n;
}

/* ------------------------------------------------------------------------ making */

ckfp_bounds *
ckfp_bounds_make(PartitionKey key, PartitionBoundInfo info, int partitions,
				 const ckfp_join_record *record, int known, const int *column)
{
	ckfp_bounds *bounds = palloc0(sizeof(*bounds));

	bounds->key = key;
	bounds->info = info;
	bounds->known = known;
	bounds->partitions = partitions;
	bounds->candidates = palloc(Max(partitions, 1));
	bounds->scans = palloc0(Max(partitions, 1) * sizeof(int));
	for (int i = 0; i < known; i++)
	{
		bounds->column[i] = column[i];
		fmgr_info(ckfp_bounds_function(key, i, ckfp_record_column(record, column[i])),
				  &bounds->function[i]);
	}
	return bounds;
}

/* Are two partition keys alike, so that equal bounds divide equal values in the same way? */
static bool
ckfp_bounds_keys_are_alike(PartitionKey a, PartitionKey b)
{
	size_t oids = a->partnatts * sizeof(Oid);

	return a->strategy == b->strategy && a->partnatts == b->partnatts &&
		   memcmp(a->partopfamily, b->partopfamily, oids) == 0 &&
		   memcmp(a->partopcintype, b->partopcintype, oids) == 0 &&
		   memcmp(a->partcollation, b->partcollation, oids) == 0 &&
		   memcmp(a->parttypid, b->parttypid, oids) == 0;
}

bool
ckfp_bounds_is_of(const ckfp_bounds *bounds, PartitionKey key, PartitionBoundInfo info, int known,
				  const int *column)
{
	return bounds->known == known && memcmp(bounds->column, column, known * sizeof(int)) == 0 &&
		   (bounds->info == info ||
			(ckfp_bounds_keys_are_alike(bounds->key, key) &&
			 partition_bounds_equal(key->partnatts, key->parttyplen, key->parttypbyval,
									bounds->info, info)));
}

void
ckfp_bounds_clear(ckfp_bounds *bounds)
{
	memset(bounds->candidates, 0, bounds->partitions);
	bounds->dead = bounds->all;
}

void
ckfp_bounds_mark_all(ckfp_bounds *bounds)
{
	memset(bounds->candidates, 1, bounds->partitions);
	bounds->dead = 0;
}

/* ---------------------------------------------------------------------- marking */

/* Mark a partition by its number, or the default partition if there is none for a key. */
static void
ckfp_bounds_mark(ckfp_bounds *bounds, int partition)
{
	if (partition < 0)
		partition = bounds->info->default_index;
	if (partition >= 0 && !bounds->candidates[partition])
	{
		bounds->candidates[partition] = 1;
		bounds->dead -= bounds->scans[partition];
	}
}

static void
ckfp_bounds_mark_hash(ckfp_bounds *bounds, Datum *key)
{
	bool isnull[CKFP_JOIN_KEYS] = {0};
	uint64 hash = compute_partition_hash_value(bounds->known, bounds->function,
											   bounds->key->partcollation, key, isnull);
	uint64 modulus = (uint64)get_hash_partition_greatest_modulus(bounds->info);

	ckfp_bounds_mark(bounds, bounds->info->indexes[hash % modulus]);
}

static void
ckfp_bounds_mark_list(ckfp_bounds *bounds, Datum key)
{
	bool found = false;
	int i = partition_list_bsearch(bounds->function, bounds->key->partcollation, bounds->info, key,
								   &found);

	ckfp_bounds_mark(bounds, i >= 0 && found ? bounds->info->indexes[i] : -1);
}

/* Is bound i equal to the columns that are known? */
static bool
ckfp_bounds_is_bound(ckfp_bounds *bounds, int i, Datum *key)
{
	return partition_rbound_datum_cmp(bounds->function, bounds->key->partcollation,
									  bounds->info->datums[i], bounds->info->kind[i], key,
									  bounds->known) == 0;
}

/* The range before bound i has the number i, the range after it i + 1. If only the first columns
 * are known, rows with them can be on both sides of each bound that is equal in them. */
static void
ckfp_bounds_mark_range(ckfp_bounds *bounds, Datum *key)
{
	bool whole = bounds->known == bounds->key->partnatts;
	bool found = false;
	int i = partition_range_datum_bsearch(bounds->function, bounds->key->partcollation,
										  bounds->info, bounds->known, key, &found);

	if (!whole)
		ckfp_bounds_mark(bounds, -1); /* the default partition has rows with a NULL further on */
	if (whole || !found)
	{
		ckfp_bounds_mark(bounds, bounds->info->indexes[i + 1]);
		return;
	}
	while (i + 1 < bounds->info->ndatums && ckfp_bounds_is_bound(bounds, i + 1, key))
		i++;
	ckfp_bounds_mark(bounds, bounds->info->indexes[i + 1]);
	for (; i >= 0 && ckfp_bounds_is_bound(bounds, i, key); i--)
		ckfp_bounds_mark(bounds, bounds->info->indexes[i]);
}

void
ckfp_bounds_mark_span(ckfp_bounds *bounds, Datum low, Datum high)
{
	bool found;
	int from = partition_range_datum_bsearch(bounds->function, bounds->key->partcollation,
											 bounds->info, 1, &low, &found);
	int to = partition_range_datum_bsearch(bounds->function, bounds->key->partcollation,
										   bounds->info, 1, &high, &found);

	for (int i = from; i <= to; i++)
		ckfp_bounds_mark(bounds, bounds->info->indexes[i + 1]);
}

void
ckfp_bounds_mark_key(ckfp_bounds *bounds, const Datum *values)
{
	Datum key[CKFP_JOIN_KEYS] = {0};

	for (int i = 0; i < bounds->known; i++)
		key[i] = values[bounds->column[i]];
	switch (bounds->key->strategy)
	{
		case PARTITION_STRATEGY_HASH:
			ckfp_bounds_mark_hash(bounds, key);
			break;
		case PARTITION_STRATEGY_LIST:
			ckfp_bounds_mark_list(bounds, key[0]);
			break;
		case PARTITION_STRATEGY_RANGE:
			ckfp_bounds_mark_range(bounds, key);
			break;
	}
}
