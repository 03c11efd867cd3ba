/*
 * stats.c - the counters of the view cuckoofilter_join_stats.
 */
#include "join/show/show.h"

#include "library.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/syscache.h"

/* The number of databases in shared memory. The sessions of further ones count for themselves, and
 * show no others. */
#define CKFP_STATS_DATABASES 1024

#define CKFP_STATS_BYTES (CKFP_STATS_DATABASES * sizeof(ckfp_stats_row))

typedef struct ckfp_stats_row
{
	Oid database; /* InvalidOid: the row is free */
	pg_atomic_uint64 count[CKFP_STATS];
} ckfp_stats_row;

/* The counters: in shared memory, or a row of this session alone. */
static ckfp_stats_row ckfp_stats_session;
static ckfp_stats_row *ckfp_stats_rows = &ckfp_stats_session;
static int ckfp_stats_n = 1;
static ckfp_stats_row *ckfp_stats_mine = NULL; /* the row of this process, once it is known */

static void
ckfp_stats_clear(ckfp_stats_row *row)
{
	for (int i = 0; i < CKFP_STATS; i++)
		pg_atomic_write_u64(&row->count[i], 0);
}

static void
ckfp_stats_init_rows(void)
{
	for (int i = 0; i < ckfp_stats_n; i++)
	{
		ckfp_stats_rows[i].database = InvalidOid;
		for (int stat = 0; stat < CKFP_STATS; stat++)
			pg_atomic_init_u64(&ckfp_stats_rows[i].count[stat], 0);
	}
}

/* ------------------------------------------------------------------------- rows */

/* The row of the current database, or a free row that it gets; NULL if there is none. */
static ckfp_stats_row *
ckfp_stats_take_row(void)
{
	ckfp_stats_row *found = NULL;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	for (int i = 0; i < ckfp_stats_n; i++)
	{
		ckfp_stats_row *row = &ckfp_stats_rows[i];

		if (row->database == MyDatabaseId)
		{
			found = row;
			break;
		}
		if (found == NULL && !OidIsValid(row->database))
			found = row;
	}
	if (found != NULL)
		found->database = MyDatabaseId;
	LWLockRelease(AddinShmemInitLock);
	return found;
}

/* Free the rows of dropped databases. They have no sessions, so nothing counts into them. */
static void
ckfp_stats_free_dropped(void)
{
	for (int i = 0; i < ckfp_stats_n; i++)
	{
		ckfp_stats_row *row = &ckfp_stats_rows[i];
		Oid database = row->database;

		if (!OidIsValid(database) || SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database)))
			continue;
		LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
		if (row->database == database)
		{
			ckfp_stats_clear(row);
			row->database = InvalidOid;
		}
		LWLockRelease(AddinShmemInitLock);
	}
}

void
ckfp_stats_start(void)
{
	if (ckfp_stats_mine == NULL)
		ckfp_stats_mine = ckfp_stats_take_row();
	if (ckfp_stats_mine != NULL)
		return;
	ckfp_stats_free_dropped();
	ckfp_stats_mine = ckfp_stats_take_row();
	if (ckfp_stats_mine != NULL)
		return;
	ckfp_stats_rows = &ckfp_stats_session;
	ckfp_stats_n = 1;
	ckfp_stats_mine = ckfp_stats_take_row();
}

void
ckfp_stats_count(ckfp_stat stat, uint64 n)
{
	if (n > 0 && ckfp_stats_mine != NULL && !IsParallelWorker())
		pg_atomic_fetch_add_u64(&ckfp_stats_mine->count[stat], (int64)n);
}

/* -------------------------------------------------------------------------- SQL */

static Datum
ckfp_stats_datum(TupleDesc columns, ckfp_stats_row *row)
{
	Datum values[1 + CKFP_STATS];
	bool nulls[1 + CKFP_STATS] = {false};

	values[0] = ObjectIdGetDatum(row->database);
	for (int i = 0; i < CKFP_STATS; i++)
		values[1 + i] = Int64GetDatum((int64)pg_atomic_read_u64(&row->count[i]));
	return HeapTupleGetDatum(heap_form_tuple(columns, values, nulls));
}

/* cuckoofilter_join_stats() -> setof record: database, and the counters */
static Datum
ckfp_stats_show(PG_FUNCTION_ARGS)
{
	FuncCallContext *call;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext caller;

		call = SRF_FIRSTCALL_INIT();
		caller = MemoryContextSwitchTo(call->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &call->tuple_desc) != TYPEFUNC_COMPOSITE ||
			call->tuple_desc->natts > 1 + CKFP_STATS) /* an older version has fewer */
			elog(ERROR, "unexpected result type of cuckoofilter_join_stats");
		call->tuple_desc = BlessTupleDesc(call->tuple_desc);
		ckfp_stats_start(); /* the current database always has a row */
		ckfp_stats_free_dropped();
		for (int i = 0; i < ckfp_stats_n; i++)
			if (OidIsValid(ckfp_stats_rows[i].database))
				call->user_fctx = lappend(call->user_fctx, &ckfp_stats_rows[i]);
		MemoryContextSwitchTo(caller);
	}
	call = SRF_PERCALL_SETUP();
	if (call->call_cntr < (uint64)list_length(call->user_fctx))
	{
		/* the macro increments call_cntr before it uses its argument */
		Datum row =
			ckfp_stats_datum(call->tuple_desc, list_nth(call->user_fctx, (int)call->call_cntr));

		SRF_RETURN_NEXT(call, row);
	}
	SRF_RETURN_DONE(call);
}

/* cuckoofilter_join_stats_reset() -> void */
static Datum
ckfp_stats_reset(PG_FUNCTION_ARGS)
{
	for (int i = 0; i < ckfp_stats_n; i++)
		ckfp_stats_clear(&ckfp_stats_rows[i]);
	PG_RETURN_VOID();
}

/* ---------------------------------------------------------------- shared memory */

static shmem_startup_hook_type ckfp_next_startup = NULL;

static void
ckfp_stats_startup(void)
{
	bool found;

	if (ckfp_next_startup != NULL)
		ckfp_next_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	ckfp_stats_rows = ShmemInitStruct("cuckoofilter_join_stats", CKFP_STATS_BYTES, &found);
	ckfp_stats_n = CKFP_STATS_DATABASES;
	if (!found) /* also after a crash: the shared memory is new */
		ckfp_stats_init_rows();
	LWLockRelease(AddinShmemInitLock);
}

#if PG_VERSION_NUM >= 150000

static shmem_request_hook_type ckfp_next_request = NULL;

static void
ckfp_stats_request(void)
{
	if (ckfp_next_request != NULL)
		ckfp_next_request();
	RequestAddinShmemSpace(CKFP_STATS_BYTES);
}

#endif

void
ckfp_join_init_stats(void)
{
	static const ckfp_library_join functions = {ckfp_stats_show, ckfp_stats_reset};

	*find_rendezvous_variable(CKFP_LIBRARY_JOIN) = (void *)&functions;
	ckfp_stats_init_rows();
	if (!process_shared_preload_libraries_in_progress)
		return;
#if PG_VERSION_NUM >= 150000
	ckfp_next_request = shmem_request_hook;
	shmem_request_hook = ckfp_stats_request;
#else
	RequestAddinShmemSpace(CKFP_STATS_BYTES);
#endif
	ckfp_next_startup = shmem_startup_hook;
	shmem_startup_hook = ckfp_stats_startup;
}
