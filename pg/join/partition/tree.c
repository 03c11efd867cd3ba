/*
 * tree.c - the tables that the scanned tables are partitions or children of, in a plan.
 */
#include "join/partition/partition.h"

#include "access/table.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

typedef struct ckfp_tree
{
	ckfp_tables *tables;
	ckfp_join_record *record;
	/* the last partitioned table that was looked at, for these columns: */
	Index table;
	AttrNumber columns[CKFP_JOIN_KEYS];
	bool usable; /* a filter can exclude partitions of `table` */
	bool hash;   /* `table` is partitioned by hash */
} ckfp_tree;

/* Can a filter exclude partitions of a table, by these of its columns? */
static bool
ckfp_table_is_usable(ckfp_tree *tree, Index relation, const AttrNumber *columns)
{
	const RangeTblEntry *entry = rt_fetch(relation, tree->tables->statement->rtable);
	size_t size = tree->record->columns * sizeof(AttrNumber);
	int column[CKFP_JOIN_KEYS];
	PartitionKey key;
	Relation table;

	if (entry->relkind != RELKIND_PARTITIONED_TABLE)
		return false;
	if (tree->table == relation && memcmp(tree->columns, columns, size) == 0)
		return tree->usable;
	table = table_open(entry->relid, NoLock);
	key = RelationGetPartitionKey(table);
	tree->table = relation;
	memcpy(tree->columns, columns, size);
	tree->usable = ckfp_bounds_columns(key, tree->record, columns, column) > 0;
	tree->hash = key->strategy == PARTITION_STRATEGY_HASH;
	table_close(table, NoLock);
	return tree->usable;
}

/* Replace columns of a child by those of its parent; 0: the parent does not have it. */
static void
ckfp_columns_of_parent(const AppendRelInfo *info, int n, AttrNumber *columns)
{
	for (int i = 0; i < n; i++)
		columns[i] = columns[i] > 0 && columns[i] <= info->num_child_cols
						 ? info->parent_colnos[columns[i] - 1]
						 : 0;
}

static void
ckfp_tree_of_target(ckfp_tree *tree, ckfp_join_target *target)
{
	ckfp_join_record *record = tree->record;
	Index relation = target->relation[0];
	AttrNumber columns[CKFP_JOIN_KEYS] = {0};
	const AppendRelInfo *info;
	bool hash = true;
	int levels = 0;

	for (int i = 0; i < record->columns; i++)
	{
		if (target->relation[i] != relation)
			return;
		columns[i] = target->column[i];
	}
	while (relation > 0 && (info = ckfp_parent_of(tree->tables, relation)) != NULL)
	{
		relation = info->parent_relid;
		ckfp_columns_of_parent(info, record->columns, columns);
		if (!ckfp_table_is_usable(tree, relation, columns))
			continue;
		target->partition = enable_partition_pruning && target->scanned == target->relation[0];
		hash &= tree->hash;
		levels++;
	}
	if (relation == target->relation[0])
		return;
	target->root = relation;
	memcpy(target->root_column, columns, sizeof(columns));
	if (!target->partition)
		return;
	record->partitions++;
	record->levels = Max(record->levels, levels);
	record->scattered |= hash;
	record->read += target->read;
	record->skipping += target->reading;
}

void
ckfp_tree_note(ckfp_tables *tables, ckfp_join_record *record)
{
	ckfp_tree tree = {.tables = tables, .record = record};

	if (tables->statement->appendRelations == NIL)
		return;
	foreach_ptr (ckfp_join_target, target, record->targets)
		ckfp_tree_of_target(&tree, target);
}
