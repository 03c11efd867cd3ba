/*
 * index.c - the age of an index.
 */
#include "index.h"

#include "access/htup_details.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* Does a snapshot see who wrote a row of a catalog? */
static bool
ckfp_sees(Snapshot snapshot, HeapTuple row)
{
	return HeapTupleIsValid(row) &&
		   !XidInMVCCSnapshot(HeapTupleHeaderGetXmin(row->t_data), snapshot);
}

bool
ckfp_index_is_older(Relation index, Snapshot snapshot)
{
	HeapTuple class = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(index)));
	bool older = ckfp_sees(snapshot, class) && ckfp_sees(snapshot, index->rd_indextuple);

	if (HeapTupleIsValid(class))
		ReleaseSysCache(class);
	return older;
}
