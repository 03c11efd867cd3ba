/*
 * operation.c - the table of operations.  A member that a row leaves out is false, or the first
 * value of its type.
 */
#include "rebuild/operation.h"

static const ckf_operation_row ckf_operation_rows[] = {
	[CKF_GROW] = {.counts = CKF_COUNT_NEVER,
				  .whole = CKF_WHOLE_FEW,
				  .expects = CKF_EXPECT_MORE,
				  .cut = CKF_CUT_LARGER,
				  .grows = true},
	[CKF_COMPACT] = {.counts = CKF_COUNT_NEVER,
					 .whole = CKF_WHOLE_SMALLER,
					 .expects = CKF_EXPECT_MORE,
					 .shrinks = true},
	[CKF_UNION] = {.set = true, .whole = CKF_WHOLE_FEW, .expects = CKF_EXPECT_MORE},
	[CKF_SUM] = {.whole = CKF_WHOLE_FEW, .expects = CKF_EXPECT_MORE},
	[CKF_INTERSECT] = {.set = true, .whole = CKF_WHOLE_HASHES, .compares = true},
	[CKF_COMPARE] = {.set = true, .compares = true, .only_counts = true},
	[CKF_ADD_MANY] = {.whole = CKF_WHOLE_FEW, .expects = CKF_EXPECT_ADDS, .adds = true},
	[CKF_REMOVE_MANY] = {.counts = CKF_COUNT_NEVER, .whole = CKF_WHOLE_HASHES, .removes = true},
	[CKF_FINISH] = {.counts = CKF_COUNT_CUT,
					.whole = CKF_WHOLE_SMALLER,
					.cut = CKF_CUT_FIRST,
					.distinct = true,
					.of_items = true},
	[CKF_FINISH_FED] = {.whole = CKF_WHOLE_SMALLER,
						.cut = CKF_CUT_FIRST,
						.of_items = true,
						.falls_back = true},
	[CKF_MERGE_UNION] = {.set = true,
						 .counts = CKF_COUNT_SAMPLE,
						 .whole = CKF_WHOLE_HASHES,
						 .cut = CKF_CUT_ANY,
						 .merges = true},
	[CKF_MERGE_SUM] = {.counts = CKF_COUNT_SAMPLE,
					   .whole = CKF_WHOLE_HASHES,
					   .cut = CKF_CUT_ANY,
					   .merges = true},
	[CKF_FINISH_UNION] = {.set = true,
						  .whole = CKF_WHOLE_SMALLER,
						  .expects = CKF_EXPECT_MORE,
						  .merges = true},
	[CKF_FINISH_SUM] = {.whole = CKF_WHOLE_SMALLER, .expects = CKF_EXPECT_MORE, .merges = true},
	[CKF_DUPLICATE] = {.counts = CKF_COUNT_NEVER, .copies = true},
};

const ckf_operation_row *
ckf_operation_of(ckf_operation operation)
{
	return &ckf_operation_rows[operation];
}
