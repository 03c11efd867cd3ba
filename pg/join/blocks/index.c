/*
 * index.c - the indexes by which a scan can skip blocks, chosen while a query is planned.
 *
 * They are BRIN indexes of the kinds minmax and minmax-multi with the key as any column, and
 * B-trees with the key as the first one. The plan depends on the table, so that a change of its
 * indexes invalidates the plan.
 */
#include "join/blocks/blocks.h"

#include "access/brin_internal.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/visibilitymap.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "optimizer/cost.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

bool
ckfp_index_is_usable(Relation index)
{
	const FormData_pg_index *form = index->rd_index;

	/* as in get_relation_info() of the planner */
	return form->indisvalid && form->indislive &&
		   (!form->indcheckxmin ||
			TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
								  TransactionXmin));
}

/* Does the index contain the least and greatest values of blocks, or of some ranges of values? */
static bool
ckfp_brin_is_minmax(Relation index, int column)
{
	RegProcedure info = index_getprocid(index, (AttrNumber)(column + 1), BRIN_PROCNUM_OPCINFO);

	return info == F_BRIN_MINMAX_OPCINFO || info == F_BRIN_MINMAX_MULTI_OPCINFO;
}

/* Is a column of an index of a kind that can find keys? An operator of an extension could fail on a
 * key that no row has. */
static bool
ckfp_column_is_fit(Relation index, int column, const ckfp_join_column *key)
{
	return index->rd_opfamily[column] < FirstNormalObjectId &&
		   (index->rd_rel->relam == BTREE_AM_OID ? ckfp_type_is_integer(key->build)
												 : ckfp_brin_is_minmax(index, column));
}

/* Has a column of an index the equality of a key? The column may have another type than the key: a
 * user's cast without a function can read a timestamptz as a timestamp. */
static bool
ckfp_column_has_equality(Relation index, int column, const ckfp_join_column *key)
{
	Oid left;
	Oid right;

	op_input_types(key->equality, &left, &right);
	return left == index->rd_opcintype[column] &&
		   get_op_opfamily_strategy(key->equality, index->rd_opfamily[column]) ==
			   BTEqualStrategyNumber &&
		   ckfp_collations_agree(index->rd_indcollation[column], key->collation);
}

/* Can such a column of an index find keys of the build side? Describe it. */
static bool
ckfp_column_finds(ckfp_tables *tables, Relation index, int column, const ckfp_join_column *key,
				  ckfp_join_index *chosen)
{
	static const StrategyNumber strategies[] = {BTLessEqualStrategyNumber,
												BTGreaterEqualStrategyNumber};
	Oid family = index->rd_opfamily[column];

	for (size_t i = 0; i < lengthof(strategies); i++)
	{
		Oid compare = get_opfamily_member(family, index->rd_opcintype[column], key->build,
										  (int16)strategies[i]);

		/* only a leakproof one may see rows that the user must not see */
		if (!OidIsValid(compare) ||
			(!get_func_leakproof(get_opcode(compare)) && ckfp_tables_hide_rows(tables)))
			return false;
	}
	*chosen = (ckfp_join_index){
		.oid = RelationGetRelid(index),
		.column = (AttrNumber)(column + 1),
		.less = get_opfamily_member(family, key->build, key->build, BTLessStrategyNumber),
		.collation = index->rd_indcollation[column],
	};
	return OidIsValid(chosen->less);
}

/* Add the columns of an index that are keys to a target. */
static void
ckfp_index_note(ckfp_tables *tables, ckfp_join_record *record, Relation index,
				ckfp_join_target *target)
{
	int columns = index->rd_rel->relam == BRIN_AM_OID ? index->rd_index->indnkeyatts : 1;

	if (!ckfp_index_is_usable(index) ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return;
	for (int column = 0; column < columns; column++)
		for (int key = 0; key < record->columns && target->indexes < CKFP_JOIN_INDEXES; key++)
		{
			if (index->rd_index->indkey.values[column] != target->column[key] ||
				target->relation[key] != target->scanned ||
				!ckfp_column_is_fit(index, column, ckfp_record_column(record, key)))
				continue;
			if (!ckfp_column_has_equality(index, column, ckfp_record_column(record, key)))
				record->unfit = RelationGetRelid(index);
			else if (ckfp_column_finds(tables, index, column, ckfp_record_column(record, key),
									   &target->index[target->indexes]))
				target->index[target->indexes++].key = key;
		}
}

BlockNumber
ckfp_index_changed_blocks(Relation table)
{
#if PG_VERSION_NUM >= 160000
	BlockNumber blocks = RelationGetNumberOfBlocks(table);
	BlockNumber visible;

	visibilitymap_count(table, &visible, NULL);
	return blocks - Min(visible + CKFP_NEW_BLOCKS, blocks);
#else
	return 0;
#endif
}

static void
ckfp_target_note(ckfp_tables *tables, ckfp_join_record *record, ckfp_join_target *target)
{
	const RangeTblEntry *entry = rt_fetch(target->scanned, tables->statement->rtable);
	Relation table;
	List *indexes = NIL;
	ListCell *cell;

	if (entry->relid < FirstNormalObjectId)
		return;
	table = table_open(entry->relid, NoLock);
	if (table->rd_tableam == GetHeapamTableAmRoutine() && table->rd_rel->relhasindex)
		indexes = RelationGetIndexList(table);
	foreach (cell, indexes)
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);

		if (index->rd_rel->relam == BRIN_AM_OID || index->rd_rel->relam == BTREE_AM_OID)
			ckfp_index_note(tables, record, index, target);
		index_close(index, NoLock);
	}
	list_free(indexes);
	target->changed = record->replaces_brin_loop
						  ? 2 * (ckfp_index_changed_blocks(table) + CKFP_NEW_BLOCKS)
						  : InvalidBlockNumber;
	table_close(table, NoLock);
}

void
ckfp_index_plan(ckfp_tables *tables, double processes, ckfp_join_record *record)
{
	double most = 0; /* if that is few rows, no table is opened for its indexes */
	double read = 0;

	foreach_ptr (const ckfp_join_target, target, record->targets)
		most += target->skips ? target->read * processes : 0;
	if (!ckfp_join_blocks || !enable_bitmapscan || most < ckfp_join_min_rows)
		return;
	foreach_ptr (ckfp_join_target, target, record->targets)
	{
		if (!target->skips)
			continue;
		ckfp_target_note(tables, record, target);
		if (target->indexes > 0)
		{
			read += target->read * processes;
			record->reading += target->reading;
		}
	}
	if (read > 0)
		record->unfit = InvalidOid;
	record->block_rows = read;
	record->blocks =
		read > 0 && read >= ckfp_join_min_rows &&
		(ckfp_join_mode_setting != CKFP_JOIN_AUTO || record->build_rows <= read / CKFP_KEYS_SHARE);
}
