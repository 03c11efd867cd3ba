/*
 * nestloop_node.h - the plan node of a nested loop's filter.
 */
#ifndef CKFP_JOIN_NESTLOOP_NODE_H
#define CKFP_JOIN_NESTLOOP_NODE_H

#include "join.h"

#include "nodes/extensible.h"

#pragma GCC visibility push(hidden)

#define CKFP_NEST_NAME "Cuckoo Nested Loop Filter"

/* The methods of the plan node. ckfp_join_init_nest sets what is missing. */
extern CustomScanMethods ckfp_nest_methods;

/* What the planner pass tells the executor about the filter of a nested loop. */
typedef struct ckfp_nest_record
{
	ckfp_join_record record;              /* the keys, and the scans that ask the filter, if any */
	AttrNumber attribute[CKFP_JOIN_KEYS]; /* of the outer rows */
	bool stops;                           /* a node above may stop before it has read all rows */
} ckfp_nest_record;

/* Convert a record to a list, which a plan can contain, and back. */
List *ckfp_nest_record_to_list(const ckfp_nest_record *nest);
void ckfp_nest_record_from_list(List *list, ckfp_nest_record *nest);

#pragma GCC visibility pop

#endif
