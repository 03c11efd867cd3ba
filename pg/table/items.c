/*
 * items.c - the items of a call, as the table's type has them.
 *
 * A filter answers "no" to an item of another type, if the type makes another hash.  So an item
 * must have a type whose equality is that of the table's type.  Text, which an untyped literal or
 * parameter is, too, is read by the input function of the table's type, as INSERT does.
 */
#include "table/table.h"

#include "function/call.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* Kinds of types whose values are compared exactly, and so have equal hashes if they are equal. An
 * integer of 64 bits is rounded if it is compared with a double. */
enum
{
	CKFP_EXACT = 1,
	CKFP_FLOAT = 2,
	CKFP_STRING = 4,
	CKFP_TIME = 8,
	CKFP_OBJECT = 16
};

static const uint8 ckfp_equality[CKFP_OTHER + 1] = {
	[CKFP_INT2] = CKFP_EXACT | CKFP_FLOAT,
	[CKFP_INT4] = CKFP_EXACT | CKFP_FLOAT,
	[CKFP_INT8] = CKFP_EXACT,
	[CKFP_NUMERIC] = CKFP_EXACT,
	[CKFP_FLOAT4] = CKFP_FLOAT,
	[CKFP_FLOAT8] = CKFP_FLOAT,
	[CKFP_TEXT] = CKFP_STRING,
	[CKFP_NAME] = CKFP_STRING,
	[CKFP_OID] = CKFP_OBJECT,
	[CKFP_DATE] = CKFP_TIME,
	[CKFP_TIMESTAMP] = CKFP_TIME,
};

_Noreturn static void
ckfp_error_type(const ckfp_form *form, Oid given)
{
	Oid element = get_base_element_type(given);
	bool elements = OidIsValid(element) && !OidIsValid(get_base_element_type(form->type));

	ereport(
		ERROR,
		(errcode(ERRCODE_DATATYPE_MISMATCH),
		 errmsg("cuckoofilter table %s holds items of type %s, the item is of type %s",
				get_rel_name(form->relation), format_type_be(form->type), format_type_be(given)),
		 elements ? errhint("To add or remove the elements of an array, call "
							"cuckoofilter_table_add_all or cuckoofilter_table_remove_all.")
				  : errhint("Cast the item: item::%s.", /* character is character(1) */
							format_type_extended(form->type, -1, FORMAT_TYPE_TYPEMOD_GIVEN))));
}

/* Report a string under a collation that has another equality than the table's. */
static void
ckfp_check_collation(const ckfp_form *form, Oid collation)
{
	if (OidIsValid(collation) && OidIsValid(form->collation) && collation != form->collation &&
		!get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_COLLATION_MISMATCH),
				 errmsg("cuckoofilter table %s holds items under the collation \"%s\", the item "
						"is under \"%s\"",
						get_rel_name(form->relation), get_collation_name(form->collation),
						get_collation_name(collation)),
				 errhint("Use the COLLATE clause to set the collation of the item.")));
}

/* `given`: the type of the items in the call; not a domain. */
static void
ckfp_prepare_reader(ckfp_reader *reader, const ckfp_form *form, Oid given, FunctionCallInfo fcinfo)
{
	MemoryContext context = fcinfo->flinfo->fn_mcxt;
	Oid base = getBaseType(form->type);
	Oid cast;
	/* a text of which the table's type, which has no collation, is read */
	Oid own = OidIsValid(form->collation) ? form->collation : DEFAULT_COLLATION_OID;

	reader->type = InvalidOid; /* stays so if the code below fails */
	ckfp_check_collation(form, PG_GET_COLLATION());
	ckfp_hasher_prepare(&reader->of_table, base, form->collation, context);
	ckfp_hasher_prepare(&reader->hasher, given, own, context);
	reader->reads_text = false;
	if (given != base &&
		(!(ckfp_equality[reader->hasher.kind] & ckfp_equality[reader->of_table.kind]) ||
		 reader->of_table.kind == CKFP_NAME)) /* it cuts a longer text */
	{
		if (reader->hasher.kind != CKFP_TEXT)
			ckfp_error_type(form, given);
		getTypeInputInfo(form->type, &base, &reader->input_parameter);
		fmgr_info_cxt(base, &reader->input, context);
		ckfp_hasher_prepare(&reader->hasher, form->type, form->collation, context);
		reader->reads_text = true;
	}
	reader->narrows =
		!reader->reads_text && reader->of_table.kind <= CKFP_INT8 &&
		reader->hasher.kind > reader->of_table.kind &&
		find_coercion_pathway(base, given, COERCION_ASSIGNMENT, &cast) == COERCION_PATH_FUNC;
	if (reader->narrows)
		fmgr_info_cxt(cast, &reader->cast, context);
	reader->collation = form->collation;
	reader->type = form->type;
}

/* Does an expression differ from row to row of a query? */
static bool
ckfp_varies(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) || (IsA(node, Param) && ((Param *)node)->paramkind == PARAM_EXEC))
		return true;
	return expression_tree_walker(node, ckfp_varies, context);
}

ckfp_reader *
ckfp_reader_of(FunctionCallInfo fcinfo, const ckfp_form *form, Oid given)
{
	ckfp_reader *reader = fcinfo->flinfo->fn_extra;

	if (reader != NULL &&
		likely(reader->type == form->type && reader->collation == form->collation))
		return reader;
	if (reader == NULL)
	{
		reader = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(*reader));
		reader->varies = ckfp_varies(fcinfo->flinfo->fn_expr, NULL);
		reader->places.context = fcinfo->flinfo->fn_mcxt;
		fcinfo->flinfo->fn_extra = reader;
	}
	if (!OidIsValid(given))
		given = ckfp_argument_type(fcinfo->flinfo, 1);
	ckfp_prepare_reader(reader, form, getBaseType(given), fcinfo);
	ckfp_read_layout(&reader->layout, given);
	return reader;
}

ckf_hashes
ckfp_read_item(ckfp_reader *reader, const ckfp_form *form, Datum item)
{
	if (reader->reads_text)
		item = InputFunctionCall(&reader->input, TextDatumGetCString(item), reader->input_parameter,
								 -1);
	return ckfp_hash_item(&reader->hasher, item, form->chunks.exact.seed);
}

uint64
ckfp_read_changed(ckfp_reader *reader, const ckfp_form *form, Datum item)
{
	ckf_hashes hashes = ckfp_read_item(reader, form, item);
	bool held = form->decimals || !ckf_is_decimal(hashes);

	if (unlikely(held && reader->narrows))
		held = ckfp_hash_item(&reader->of_table, FunctionCall1(&reader->cast, item),
							  form->chunks.exact.seed)
				   .hash == hashes.hash;
	if (unlikely(!held))
		ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
						errmsg("the item is out of range for cuckoofilter table %s, which holds "
							   "items of type %s",
							   get_rel_name(form->relation), format_type_be(form->type))));
	return hashes.hash;
}

bool
ckfp_type_has_decimals(Oid type, Oid collation)
{
	ckfp_hasher hasher = {0};

	type = getBaseType(type);
	ckfp_hasher_prepare(&hasher, type, collation, CurrentMemoryContext);
	switch (hasher.kind)
	{
		case CKFP_ARRAY:
			return ckfp_type_has_decimals(get_element_type(type), collation);
		case CKFP_RANGE:
			return ckfp_type_has_decimals(get_range_subtype(type), get_range_collation(type));
		case CKFP_NUMERIC:
		case CKFP_RECORD:
		case CKFP_MULTIRANGE:
		case CKFP_JSONB:
			return true;
		default:
			return false;
	}
}

/* ------------------------------------------------------------------- many items */

void
ckfp_take(ckfp_collected *collected, Datum item, bool is_null)
{
	const ckfp_form *form = collected->form;
	MemoryContext caller = CurrentMemoryContext;

	CHECK_FOR_INTERRUPTS();
	if (is_null)
		return;
	if (collected->room == 0)
	{
		collected->room = 64;
		collected->at = palloc(collected->room * sizeof(uint64));
		collected->temporary =
			AllocSetContextCreate(caller, "cuckoofilter items", ALLOCSET_DEFAULT_SIZES);
	}
	if (collected->reader == NULL)
	{
		collected->reader = palloc0(sizeof(*collected->reader));
		ckfp_hasher_prepare(&collected->reader->hasher, form->type, form->collation, caller);
	}
	if (collected->count == collected->room)
	{
		collected->room *= 2;
		collected->at = repalloc_huge(collected->at, collected->room * sizeof(uint64));
	}
	MemoryContextSwitchTo(collected->temporary);
	collected->at[collected->count++] = ckfp_read_changed(collected->reader, form, item);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(collected->temporary);
}

ckfp_items
ckfp_end_collecting(ckfp_collected *collected)
{
	ckfp_items items = {.count = collected->count, .whole = true};
	uint64 *scratch;

	items.at = collected->at;
	if (items.count <= 1)
		return items;
	scratch = MemoryContextAllocHuge(CurrentMemoryContext, items.count * sizeof(uint64));
	items.at = ckf_sort_hashes(collected->at, scratch, items.count);
	pfree(items.at == scratch ? collected->at : scratch);
	return items;
}

ckfp_items
ckfp_read_items(FunctionCallInfo fcinfo, const ckfp_form *form)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(1);
	ckfp_reader *reader = ckfp_reader_of(fcinfo, form, ARR_ELEMTYPE(array));
	ArrayIterator iterator = array_create_iterator(array, 0, &reader->layout);
	ckfp_collected collected = {.form = form, .reader = reader};
	Datum item;
	bool is_null;

	while (array_iterate(iterator, &item, &is_null))
		ckfp_take(&collected, item, is_null);
	array_free_iterator(iterator);
	return ckfp_end_collecting(&collected);
}
