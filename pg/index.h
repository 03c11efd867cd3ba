/*
 * index.h - what filter tables and join filters ask of an index.
 */
#ifndef CKFP_INDEX_H
#define CKFP_INDEX_H

#include "host.h"

#include "utils/rel.h"
#include "utils/snapshot.h"

/* Was an index built, and found to be valid, before a snapshot? false, too, if its row in pg_class
 * or pg_index was changed since for another reason. */
bool ckfp_index_is_older(Relation index, Snapshot snapshot);

#endif
