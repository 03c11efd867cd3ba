/*
 * create.c - cuckoofilter_table_create, and the function in the CHECK constraint of each filter
 * table.
 */
#include "table/table.h"

#include "error.h"
#include "type/argument_cache.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lockdefs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/ruleutils.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(cuckoofilter_chunk_valid);
PG_FUNCTION_INFO_V1(cuckoofilter_table_create);

/* Room for rows that change, so that their new versions stay on the page. */
#define CKFP_FILLFACTOR "70"

/* cuckoofilter_chunk_valid(id, chunk, NULL::type, capacity, fpr, options): whether a row is a chunk
 * of a filter table with these parameters. */
Datum
cuckoofilter_chunk_valid(PG_FUNCTION_ARGS)
{
	ckf_chunks *chunks = fcinfo->flinfo->fn_extra;
	const struct varlena *bytes;
	ckf_chunk chunk;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3) || PG_ARGISNULL(4) || PG_ARGISNULL(5))
		PG_RETURN_NULL();
	if (chunks == NULL)
	{
		ckf_params params;
		ckf_status status;

		ckf_params_default(&params);
		params.capacity = PG_GETARG_INT64(3);
		params.fpr = PG_GETARG_FLOAT8(4);
		ckfp_parse_options(PG_GETARG_TEXT_PP(5), &params);
		chunks = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(*chunks));
		status = ckf_chunks_init(chunks, &params);
		if (status != CKF_OK)
			ckfp_error(status, (ckf_about){.params = &params});
		if (get_fn_expr_arg_stable(fcinfo->flinfo, 3) &&
			get_fn_expr_arg_stable(fcinfo->flinfo, 4) && get_fn_expr_arg_stable(fcinfo->flinfo, 5))
			fcinfo->flinfo->fn_extra = chunks;
	}
	bytes = PG_GETARG_BYTEA_PP(1);
	PG_RETURN_BOOL(ckf_chunk_open(&chunk, chunks, ckf_chunk_start(PG_GETARG_INT64(0)),
								  VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)) == CKF_OK &&
				   ckf_chunk_check(&chunk) == CKF_OK);
}

void
ckfp_execute(const char *statement)
{
	if (SPI_execute(statement, false, 0) < 0)
		elog(ERROR, "could not run \"%s\"", statement);
}

/* Check that items of a type can be hashed. */
static void
ckfp_check_type(Oid type, Oid collation)
{
	ckfp_hasher hasher = {0};

	if (get_typtype(type) == TYPTYPE_PSEUDO)
		ereport(ERROR, (errcode(ERRCODE_INVALID_TABLE_DEFINITION),
						errmsg("items of a cuckoofilter table cannot have pseudo-type %s",
							   format_type_be(type))));
	ckfp_hasher_prepare(&hasher, type, collation, CurrentMemoryContext);
}

/* The expression of an item in the constraint, which has its type and its collation. */
static char *
ckfp_null_item(Oid type, Oid collation)
{
	const char *name = format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY);

	if (!OidIsValid(collation) || collation == get_typcollation(type))
		return psprintf("NULL::%s", name);
	return psprintf("NULL::%s COLLATE %s", name, generate_collation_name(collation));
}

Oid
ckfp_create_table(const text *name, Oid type, Oid collation, const ckf_params *params,
				  const char *options, Oid function)
{
	RangeVar *range = makeRangeVarFromNameList(textToQualifiedNameList((text *)name));
	const char *quoted = quote_qualified_identifier(range->schemaname, range->relname);
	const char *schema = get_namespace_name(get_func_namespace(function));
	ckfp_table table;
	ckf_chunks chunks;
	ckf_status status = ckf_chunks_init(&chunks, params);

	if (status != CKF_OK)
		ckfp_error(status, (ckf_about){.params = params});
	ckfp_check_type(type, collation);
	SPI_connect();
	ckfp_execute(
		psprintf("CREATE TABLE %s (id bigint PRIMARY KEY, chunk bytea NOT NULL, CHECK "
				 "(%s.cuckoofilter_chunk_valid(id, chunk, %s, %lld, %s, %s))) WITH (fillfactor "
				 "= " CKFP_FILLFACTOR ")",
				 quoted, quote_identifier(schema), ckfp_null_item(type, collation),
				 (long long)params->capacity,
				 DatumGetCString(DirectFunctionCall1(float8out, Float8GetDatum(params->fpr))),
				 quote_literal_cstr(options)));
	ckfp_execute(psprintf("ALTER TABLE %s ALTER chunk SET STORAGE PLAIN", quoted));
	SPI_finish();
	ckfp_open_table(&table, RangeVarGetRelid(range, NoLock, false), GetUserId(), CKFP_WRITES,
					RowExclusiveLock);
	ckfp_write_first(&table);
	type = RelationGetRelid(table.heap);
	ckfp_close_table(&table);
	return type;
}

/* cuckoofilter_table_create(name, type, capacity, fpr, options) */
Datum
cuckoofilter_table_create(PG_FUNCTION_ARGS)
{
	const text *options = PG_GETARG_TEXT_PP(4);
	Oid type = PG_GETARG_OID(1);
	ckf_params params;

	ckf_params_default(&params);
	params.capacity = ckfp_whole_capacity(PG_GETARG_FLOAT8(2));
	params.fpr = PG_GETARG_FLOAT8(3);
	ckfp_parse_options(options, &params);
	PG_RETURN_OID(ckfp_create_table(PG_GETARG_TEXT_PP(0), type, get_typcollation(type), &params,
									text_to_cstring(options), fcinfo->flinfo->fn_oid));
}
