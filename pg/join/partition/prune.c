/*
 * prune.c - which scans of partitions a filter makes unnecessary.
 *
 * While the keys of the build side are gathered, each one is mapped to the partitions that can
 * contain it, at each level of the partition tree. A partition without a key has no row that joins,
 * so it need not be read.
 *
 * Tables with equal bounds share the result. Keys are mapped by some bounds as long as this costs
 * little beside the scans that it may save. Then all of their partitions count as candidates.
 */
#include "join/partition/partition.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_inherits.h"
#include "executor/executor.h"
#include "partitioning/partdesc.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* -------------------------------------------------------------- the partition tree */

typedef struct ckfp_child
{
	Oid oid;
	Relation parent;
	PartitionDesc partitions; /* of the parent */
	int number;
	const struct ckfp_child *above; /* the parent, if it is a partition itself */
} ckfp_child;

/* Is the table of a range table entry read, as far as pruning at the start of the query tells? */
static bool
ckfp_is_unpruned(const EState *estate, int relation)
{
#if PG_VERSION_NUM >= 180000
	return bms_is_member(relation, estate->es_unpruned_relids);
#else
	return true;
#endif
}

static PartitionDesc
ckfp_partitions_of(EState *estate, Relation table)
{
	if (estate->es_partition_directory == NULL)
		estate->es_partition_directory = CreatePartitionDirectory(estate->es_query_cxt, false);
	return PartitionDirectoryLookup(estate->es_partition_directory, table);
}

/* The partitions of all tables, or of one, that were added since the snapshot was taken, or by this
 * transaction: add the OIDs of their parents to a list. */
static List *
ckfp_add_newer(List *newer, Relation inherits, const Oid *parent, Snapshot snapshot)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	if (parent != NULL)
		ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(*parent));
	scan = systable_beginscan(inherits, InheritsParentIndexId, parent != NULL, NULL, parent != NULL,
							  &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		TransactionId added = HeapTupleHeaderGetXmin(tuple->t_data);

		if (TransactionIdIsNormal(added) &&
			(TransactionIdIsCurrentTransactionId(added) || XidInMVCCSnapshot(added, snapshot)))
			newer = list_append_unique_oid(newer, ((Form_pg_inherits)GETSTRUCT(tuple))->inhparent);
	}
	systable_endscan(scan);
	return newer;
}

/*
 * The tables to which a partition was added since the snapshot was taken; others may be among them.
 * Rows that the snapshot sees may be outside of the bounds that their partitions have now: rows of
 * the new partition's values that were in the default partition.
 *
 * To read a page of pg_inherits takes about as long as to find the rows of one table by the index.
 */
static List *
ckfp_newer_parents(const List *tables, Snapshot snapshot)
{
	Relation inherits = table_open(InheritsRelationId, AccessShareLock);
	List *newer = NIL;

	if (RelationGetNumberOfBlocks(inherits) < (BlockNumber)list_length(tables))
		newer = ckfp_add_newer(newer, inherits, NULL, snapshot);
	else
		foreach_ptr (RelationData, table, tables)
			newer = ckfp_add_newer(newer, inherits, &table->rd_id, snapshot);
	table_close(inherits, AccessShareLock);
	return newer;
}

static void
ckfp_descendants_add(ckfp_descendants *descendants, EState *estate, Relation table)
{
	PartitionDesc partitions = ckfp_partitions_of(estate, table);
	const ckfp_child *above = hash_search(descendants, &table->rd_id, HASH_FIND, NULL);

	for (int i = 0; i < partitions->nparts; i++)
	{
		ckfp_child *child = hash_search(descendants, &partitions->oids[i], HASH_ENTER, NULL);

		child->parent = table;
		child->partitions = partitions;
		child->number = i;
		child->above = above;
	}
}

/* The partitioned tables of a query, each after the one that it is a partition of. Their partitions
 * are known from here on. */
static List *
ckfp_partitioned_tables(EState *estate)
{
	List *tables = NIL;

	for (int i = 1; i <= list_length(estate->es_range_table); i++)
	{
		RangeTblEntry *entry = exec_rt_fetch((Index)i, estate);
		Relation table;

		if (entry->rtekind != RTE_RELATION || entry->relkind != RELKIND_PARTITIONED_TABLE ||
			!ckfp_is_unpruned(estate, i))
			continue;
		table = ckfp_open_relation(estate, (Index)i);
		ckfp_partitions_of(estate, table);
		tables = lappend(tables, table);
	}
	return tables;
}

ckfp_descendants *
ckfp_descendants_of(EState *estate)
{
	HASHCTL control = {
		.keysize = sizeof(Oid),
		.entrysize = sizeof(ckfp_child),
		.hcxt = estate->es_query_cxt,
	};
	ckfp_descendants *descendants =
		hash_create("partitions of a query", list_length(estate->es_range_table), &control,
					HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	List *tables;
	List *newer;

	if (!IsMVCCSnapshot(estate->es_snapshot))
		return descendants;
	tables = ckfp_partitioned_tables(estate);
	newer = ckfp_newer_parents(tables, estate->es_snapshot);
	foreach_ptr (RelationData, table, tables)
		if (!list_member_oid(newer, RelationGetRelid(table)))
			ckfp_descendants_add(descendants, estate, table);
	list_free(tables);
	list_free(newer);
	return descendants;
}

/* -------------------------------------------------------------------------- scans */

/* The columns of a partitioned table that the columns of the key are in a partition of it. Their
 * names are the same, their numbers may differ. */
static void
ckfp_columns_above(const ckfp_join_target *target, const ckfp_join_record *record,
				   Relation relation, Relation parent, AttrNumber *attributes)
{
	PartitionKey key = RelationGetPartitionKey(parent);

	for (int i = 0; i < record->columns; i++)
	{
		AttrNumber column = target->column[i];

		attributes[i] = 0;
		if (column <= 0 || column > RelationGetDescr(relation)->natts)
			continue;
		for (int n = 0; n < key->partnatts; n++)
			if (key->partattrs[n] > 0 &&
				strcmp(NameStr(TupleDescAttr(RelationGetDescr(relation), column - 1)->attname),
					   NameStr(TupleDescAttr(RelationGetDescr(parent), key->partattrs[n] - 1)
								   ->attname)) == 0)
				attributes[i] = key->partattrs[n];
	}
}

/* The bounds of a table are compared with so many of those that were used last: enough for tables
 * that are divided in a few ways, and few beside thousands that all differ. */
#define CKFP_BOUNDS_COMPARED 4

/* Take the bounds of a table out of the list; NULL if they are not found. */
static ckfp_bounds *
ckfp_take_bounds(ckfp_partitions *partitions, PartitionKey key, PartitionBoundInfo info, int known,
				 const int *column)
{
	ckfp_bounds **link = &partitions->bounds;
	ckfp_bounds *bounds;

	for (int n = 0; n < CKFP_BOUNDS_COMPARED && (bounds = *link) != NULL; n++)
	{
		if (ckfp_bounds_is_of(bounds, key, info, known, column))
		{
			*link = bounds->next;
			return bounds;
		}
		link = &bounds->next;
	}
	return NULL;
}

/* The bounds of a partitioned table for these columns, or NULL if no partition can be excluded. */
static ckfp_bounds *
ckfp_bounds_of(ckfp_partitions *partitions, const ckfp_join_record *record, const ckfp_child *child,
			   const AttrNumber *attributes)
{
	PartitionKey key = RelationGetPartitionKey(child->parent);
	PartitionBoundInfo info = child->partitions->boundinfo;
	size_t size = record->columns * sizeof(AttrNumber);
	int column[CKFP_JOIN_KEYS];
	ckfp_bounds *bounds = partitions->bounds;
	int known;

	if (bounds != NULL && bounds->table == child->parent &&
		memcmp(bounds->attributes, attributes, size) == 0)
		return bounds;
	known = ckfp_bounds_columns(key, record, attributes, column);
	if (known == 0)
		return NULL;
	bounds = ckfp_take_bounds(partitions, key, info, known, column);
	if (bounds == NULL)
		bounds = ckfp_bounds_make(key, info, child->partitions->nparts, record, known, column);
	bounds->table = child->parent;
	memcpy(bounds->attributes, attributes, size);
	bounds->next = partitions->bounds;
	partitions->bounds = bounds;
	return bounds;
}

static bool
ckfp_key_is_by_value(const ckfp_join_record *record)
{
	for (int i = 0; i < record->columns; i++)
		if (!get_typbyval(record->column[i].build))
			return false;
	return true;
}

static void
ckfp_partitions_init(ckfp_partitions *partitions, const ckfp_join_record *record)
{
	partitions->targets = list_length(record->targets);
	partitions->ancestors = palloc0(partitions->targets * sizeof(ckfp_ancestor *));
	partitions->alive = palloc0(partitions->targets);
	partitions->by_value = ckfp_key_is_by_value(record);
}

bool
ckfp_partitions_add_scan(ckfp_partitions *partitions, const ckfp_join_record *record, int n,
						 ckfp_descendants *descendants, Relation relation)
{
	const ckfp_join_target *target = list_nth(record->targets, n);
	Oid oid = RelationGetRelid(relation);
	const ckfp_child *child = hash_search(descendants, &oid, HASH_FIND, NULL);

	if (partitions->ancestors == NULL)
		ckfp_partitions_init(partitions, record);
	for (; child != NULL; child = child->above)
	{
		AttrNumber attributes[CKFP_JOIN_KEYS];
		ckfp_bounds *bounds;

		ckfp_columns_above(target, record, relation, child->parent, attributes);
		bounds = ckfp_bounds_of(partitions, record, child, attributes);
		if (bounds != NULL)
		{
			ckfp_ancestor *ancestor = palloc(sizeof(*ancestor));

			*ancestor = (ckfp_ancestor){bounds, child->number, partitions->ancestors[n]};
			partitions->ancestors[n] = ancestor;
			bounds->scans[child->number]++;
			bounds->all++;
		}
	}
	partitions->scans += partitions->ancestors[n] != NULL;
	return partitions->ancestors[n] != NULL;
}

/* --------------------------------------------------------------------------- keys */

void
ckfp_partitions_start(ckfp_partitions *partitions, const ckfp_join_record *record)
{
	partitions->known = false;
	partitions->keys = 0;
	partitions->open = partitions->bounds;
	for (ckfp_bounds *bounds = partitions->bounds; bounds != NULL; bounds = bounds->next)
	{
		ckfp_bounds_clear(bounds);
		bounds->next_open = bounds->next;
		bounds->worth = ckfp_cost_of_keys(record, (double)bounds->all / partitions->scans);
	}
}

void
ckfp_partitions_add(ckfp_partitions *partitions, const Datum *values)
{
	ckfp_bounds **link = &partitions->open;
	ckfp_bounds *bounds;

	if (*link == NULL)
		return;
	partitions->keys++;
	while ((bounds = *link) != NULL)
	{
		ckfp_bounds_mark_key(bounds, values);
		if (partitions->keys > bounds->dead * bounds->worth)
			ckfp_bounds_mark_all(bounds);
		if (bounds->dead > 0)
			link = &bounds->next_open;
		else
			*link = bounds->next_open;
	}
}

void
ckfp_partitions_add_ranges(ckfp_partitions *partitions, const ckfp_range *range, int ranges,
						   int16 length)
{
	for (ckfp_bounds *bounds = partitions->bounds; bounds != NULL; bounds = bounds->next)
		for (int i = 0; i < ranges; i++)
			ckfp_bounds_mark_span(bounds, ckfp_integer_datum(range[i].low, length),
								  ckfp_integer_datum(range[i].high, length));
}

bool
ckfp_partitions_is_candidate(const ckfp_partitions *partitions, int n)
{
	for (const ckfp_ancestor *ancestor = partitions->ancestors[n]; ancestor != NULL;
		 ancestor = ancestor->next)
		if (!ancestor->bounds->candidates[ancestor->partition])
			return false;
	return true;
}

void
ckfp_partitions_finish(ckfp_partitions *partitions)
{
	if (partitions->scans == 0)
		return;
	for (int n = 0; n < partitions->targets; n++)
		partitions->alive[n] = ckfp_partitions_is_candidate(partitions, n);
	partitions->known = true;
}

int
ckfp_partitions_skipped(const ckfp_partitions *partitions)
{
	int skipped = 0;

	for (int n = 0; partitions->known && n < partitions->targets; n++)
		skipped += !partitions->alive[n];
	return skipped;
}
