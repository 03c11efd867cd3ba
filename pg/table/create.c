/*
 * create.c - cuckoofilter_table_create, and the function in the CHECK constraint of each filter
 * table.
 */
#include "table/table.h"

#include "type/argument_cache.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/ruleutils.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(cuckoofilter_chunk_valid);

/* cuckoofilter_chunk_valid(id, chunk, NULL::type, capacity, fpr, options): whether a row is a chunk
 * of a filter table with these parameters. */
Datum
cuckoofilter_chunk_valid(PG_FUNCTION_ARGS)
{
	FmgrInfo *call = fcinfo->flinfo;
	ckf_chunks *chunks = call->fn_extra;
	char bytes[CKF_CHUNK_MAX];
	ckf_chunk chunk;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3) || PG_ARGISNULL(4) || PG_ARGISNULL(5))
		PG_RETURN_NULL();
	if (chunks == NULL)
	{
		chunks = MemoryContextAlloc(call->fn_mcxt, sizeof(*chunks));
		ckfp_read_parameters(chunks, PG_GETARG_INT64(3), PG_GETARG_FLOAT8(4), PG_GETARG_TEXT_PP(5));
		if (get_fn_expr_arg_stable(call, 3) && get_fn_expr_arg_stable(call, 4) &&
			get_fn_expr_arg_stable(call, 5))
			call->fn_extra = chunks;
	}
	PG_RETURN_BOOL(ckfp_open_chunk(&chunk, chunks, PG_GETARG_INT64(0), PG_GETARG_DATUM(1), bytes) &&
				   ckf_chunk_check(&chunk) == CKF_OK);
}

void
ckfp_execute(const char *statement)
{
	if (SPI_execute(statement, false, 0) < 0)
		elog(ERROR, "could not run \"%s\"", statement);
}

/* The expression of an item in the constraint, which has its type and its collation. Raises an
 * error if such items cannot be hashed. */
static char *
ckfp_null_item(Oid type, Oid collation)
{
	const char *name;
	ckfp_hasher hasher = {0};

	if (get_typtype(type) == TYPTYPE_PSEUDO)
		ereport(ERROR, (errcode(ERRCODE_INVALID_TABLE_DEFINITION),
						errmsg("items of a cuckoofilter table cannot have pseudo-type %s",
							   format_type_be(type))));
	type = getBaseType(type); /* a domain may refuse NULL */
	ckfp_hasher_prepare(&hasher, type, collation, CurrentMemoryContext);
	name = format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY | FORMAT_TYPE_TYPEMOD_GIVEN);
	if (!OidIsValid(collation) || collation == get_typcollation(type))
		return psprintf("NULL::%s", name);
	return psprintf("NULL::%s COLLATE %s", name, generate_collation_name(collation));
}

Oid
ckfp_create_table(const text *name, Oid type, Oid collation, double capacity, double fpr,
				  const text *options, Oid function)
{
	RangeVar *range = makeRangeVarFromNameList(textToQualifiedNameList((text *)name));
	const char *quoted;
	const char *schema = get_namespace_name(get_func_namespace(function));
	int64 whole = ckfp_whole_capacity(capacity);
	ckfp_table table;

	ckfp_read_parameters(&table.form.chunks, whole, fpr, options);
	/* not a table of the same name in another schema */
	range->schemaname = get_namespace_name(RangeVarGetCreationNamespace(range));
	quoted = quote_qualified_identifier(range->schemaname, range->relname);
	SPI_connect();
	/* the room on pages is for rows that change, so that their new versions stay there */
	ckfp_execute(psprintf(
		"CREATE TABLE %s (id bigint PRIMARY KEY, chunk pg_catalog.bytea NOT NULL, CHECK "
		"(%s.cuckoofilter_chunk_valid(id, chunk, %s, %lld, %s, %s))) USING heap WITH (fillfactor = "
		"70)",
		quoted, quote_identifier(schema), ckfp_null_item(type, collation), (long long)whole,
		double_to_shortest_decimal(fpr), /* float8out heeds extra_float_digits */
		quote_literal_cstr(text_to_cstring(options))));
	ckfp_execute(psprintf("ALTER TABLE %s ALTER chunk SET STORAGE PLAIN", quoted));
	SPI_finish();
	ckfp_open_table(&table, RangeVarGetRelid(range, NoLock, false), GetUserId(), CKFP_CHANGE);
	ckfp_write_first(&table);
	ckfp_close_table(&table);
	return table.form.relation;
}

/* cuckoofilter_table_create(name, type, capacity, fpr, options) */
CKFP_FUNCTION(cuckoofilter_table_create,
			  ObjectIdGetDatum(ckfp_create_table(PG_GETARG_TEXT_PP(0), PG_GETARG_OID(1),
												 get_typcollation(PG_GETARG_OID(1)),
												 PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3),
												 PG_GETARG_TEXT_PP(4), fcinfo->flinfo->fn_oid)));
