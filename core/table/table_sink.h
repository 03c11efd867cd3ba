/*
 * table_sink.h - a table as the sink of a rebuild.
 */
#ifndef CKF_TABLE_SINK_H
#define CKF_TABLE_SINK_H

#include "rebuild/sink.h"

extern const ckf_sink ckf_table_sink;

#endif
