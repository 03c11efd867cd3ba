/*
 * partition.c - which scans of partitions a filter makes unnecessary.
 *
 * While the keys of the build side are gathered, each one is mapped to the partitions that can
 * contain it, at each level of the partitioned tables. A partition without a key has no row that
 * joins, so it need not be read.
 */
#include "partition.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_inherits.h"
#include "executor/executor.h"
#include "partitioning/partdesc.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* ------------------------------------------------------------------------- families */

typedef struct ckfp_child
{
	Oid oid;
	Relation parent;
	PartitionDesc partitions; /* of the parent */
	int number;
} ckfp_child;

static Relation
ckfp_open_table(EState *estate, Index relation)
{
#if PG_VERSION_NUM >= 180000
	if (!bms_is_member((int)relation, estate->es_unpruned_relids))
		return NULL;
	return ExecGetRangeTableRelation(estate, relation, false);
#else
	return ExecGetRangeTableRelation(estate, relation);
#endif
}

static PartitionDesc
ckfp_partitions_of(EState *estate, Relation table)
{
	if (estate->es_partition_directory == NULL)
		estate->es_partition_directory =
#if PG_VERSION_NUM >= 140000
			CreatePartitionDirectory(estate->es_query_cxt, false);
#else
			CreatePartitionDirectory(estate->es_query_cxt);
#endif
	return PartitionDirectoryLookup(estate->es_partition_directory, table);
}

/*
 * Was a partition added since the snapshot was taken? Then rows that the snapshot sees may be
 * outside of the bounds that partitions have now: rows of the new partition's values that were in
 * the default partition. One that this transaction added counts, too.
 */
static bool
ckfp_has_newer_partition(Relation table, Snapshot snapshot)
{
	Relation inherits = table_open(InheritsRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;
	bool newer = !IsMVCCSnapshot(snapshot);

	ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationGetRelid(table)));
	scan = systable_beginscan(inherits, InheritsParentIndexId, true, NULL, 1, &key);
	while (!newer && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		TransactionId added = HeapTupleHeaderGetXmin(tuple->t_data);

		newer = TransactionIdIsNormal(added) &&
				(TransactionIdIsCurrentTransactionId(added) || XidInMVCCSnapshot(added, snapshot));
	}
	systable_endscan(scan);
	table_close(inherits, AccessShareLock);
	return newer;
}

static void
ckfp_family_add(ckfp_family *family, EState *estate, Relation table)
{
	PartitionDesc partitions = ckfp_partitions_of(estate, table);
	int i;

	if (ckfp_has_newer_partition(table, estate->es_snapshot))
		return;
	for (i = 0; i < partitions->nparts; i++)
	{
		ckfp_child *child = hash_search(family, &partitions->oids[i], HASH_ENTER, NULL);

		child->parent = table;
		child->partitions = partitions;
		child->number = i;
	}
}

ckfp_family *
ckfp_family_of(EState *estate)
{
	HASHCTL control = {
		.keysize = sizeof(Oid),
		.entrysize = sizeof(ckfp_child),
		.hcxt = estate->es_query_cxt,
	};
	ckfp_family *family =
		hash_create("partitions of a query", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	int i;

	for (i = 1; i <= list_length(estate->es_range_table); i++)
	{
		RangeTblEntry *entry = exec_rt_fetch((Index)i, estate);
		Relation table;

		if (entry->rtekind != RTE_RELATION || entry->relkind != RELKIND_PARTITIONED_TABLE)
			continue;
		table = ckfp_open_table(estate, (Index)i);
		if (table != NULL)
			ckfp_family_add(family, estate, table);
	}
	return family;
}

/* -------------------------------------------------------------------------- scans */

/* The columns of a partitioned table that the columns of the key are in a partition of it. Their
 * names are the same, their numbers may differ. */
static void
ckfp_columns_above(const ckfp_join_target *target, const ckfp_join_record *record,
				   Relation relation, Relation parent, AttrNumber *attributes)
{
	PartitionKey key = RelationGetPartitionKey(parent);
	int i;
	int n;

	for (i = 0; i < record->columns; i++)
	{
		AttrNumber column = target->column[i];

		attributes[i] = 0;
		if (column <= 0 || column > RelationGetDescr(relation)->natts)
			continue;
		for (n = 0; n < key->partnatts; n++)
			if (key->partattrs[n] > 0 &&
				strcmp(NameStr(TupleDescAttr(RelationGetDescr(relation), column - 1)->attname),
					   NameStr(TupleDescAttr(RelationGetDescr(parent), key->partattrs[n] - 1)
								   ->attname)) == 0)
				attributes[i] = key->partattrs[n];
	}
}

/* The level of a partitioned table for these columns, or NULL if no partition can be excluded. */
static ckfp_level *
ckfp_level_of(ckfp_partitions *partitions, const ckfp_join_record *record, const ckfp_child *child,
			  const AttrNumber *attributes, MemoryContext context)
{
	PartitionKey key = RelationGetPartitionKey(child->parent);
	Oid table = RelationGetRelid(child->parent);
	int column[CKFP_JOIN_KEYS];
	int known = ckfp_level_columns(key, record, attributes, column);
	ckfp_level *level;

	if (known == 0)
		return NULL;
	for (level = partitions->levels; level != NULL; level = level->next)
		if (level->table == table && level->known == known &&
			memcmp(level->column, column, known * sizeof(int)) == 0)
			return level;
	level = ckfp_level_make(table, key, child->partitions->boundinfo, child->partitions->nparts,
							record, known, column, context);
	level->next = partitions->levels;
	partitions->levels = level;
	return level;
}

static bool
ckfp_key_is_by_value(const ckfp_join_record *record)
{
	int i;

	for (i = 0; i < record->columns; i++)
		if (!get_typbyval(record->column[i].build))
			return false;
	return true;
}

static void
ckfp_partitions_init(ckfp_partitions *partitions, const ckfp_join_record *record,
					 MemoryContext context)
{
	partitions->targets = list_length(record->targets);
	partitions->members =
		MemoryContextAllocZero(context, partitions->targets * sizeof(ckfp_member *));
	partitions->alive = MemoryContextAllocZero(context, partitions->targets);
	partitions->by_value = ckfp_key_is_by_value(record);
}

bool
ckfp_partitions_add_scan(ckfp_partitions *partitions, const ckfp_join_record *record, int n,
						 ckfp_family *family, Relation relation, MemoryContext context)
{
	const ckfp_join_target *target = list_nth(record->targets, n);
	Oid oid = RelationGetRelid(relation);
	const ckfp_child *child;

	if (partitions->members == NULL)
		ckfp_partitions_init(partitions, record, context);
	while ((child = hash_search(family, &oid, HASH_FIND, NULL)) != NULL)
	{
		AttrNumber attributes[CKFP_JOIN_KEYS];
		ckfp_level *level;

		ckfp_columns_above(target, record, relation, child->parent, attributes);
		level = ckfp_level_of(partitions, record, child, attributes, context);
		if (level != NULL)
		{
			ckfp_member *member = MemoryContextAlloc(context, sizeof(*member));

			*member = (ckfp_member){level, child->number, partitions->members[n]};
			partitions->members[n] = member;
		}
		oid = RelationGetRelid(child->parent);
	}
	partitions->scans += partitions->members[n] != NULL;
	return partitions->members[n] != NULL;
}

/* --------------------------------------------------------------------------- keys */

void
ckfp_partitions_start(ckfp_partitions *partitions)
{
	ckfp_level *level;

	partitions->known = false;
	partitions->begun = false;
	for (level = partitions->levels; level != NULL; level = level->next)
		ckfp_level_clear(level);
}

/* Is this the same key as the one before? Keys often come in runs. */
static bool
ckfp_is_last_key(ckfp_partitions *partitions, const ckfp_join_record *record, const Datum *values)
{
	size_t size = record->columns * sizeof(Datum);

	if (!partitions->by_value)
		return false;
	if (partitions->begun && memcmp(partitions->last, values, size) == 0)
		return true;
	partitions->begun = true;
	memcpy(partitions->last, values, size);
	return false;
}

void
ckfp_partitions_add(ckfp_partitions *partitions, const ckfp_join_record *record,
					const Datum *values)
{
	ckfp_level *level;

	if (ckfp_is_last_key(partitions, record, values))
		return;
	for (level = partitions->levels; level != NULL; level = level->next)
		if (level->dead > 0)
			ckfp_level_add(level, values);
}

bool
ckfp_partitions_is_live(const ckfp_partitions *partitions, int n)
{
	const ckfp_member *member;

	for (member = partitions->members[n]; member != NULL; member = member->next)
		if (!member->level->live[member->partition])
			return false;
	return true;
}

void
ckfp_partitions_finish(ckfp_partitions *partitions)
{
	int n;

	if (partitions->scans == 0)
		return;
	for (n = 0; n < partitions->targets; n++)
		partitions->alive[n] = ckfp_partitions_is_live(partitions, n);
	partitions->known = true;
}

int
ckfp_partitions_skipped(const ckfp_partitions *partitions)
{
	int skipped = 0;
	int n;

	for (n = 0; partitions->known && n < partitions->targets; n++)
		skipped += !partitions->alive[n];
	return skipped;
}
