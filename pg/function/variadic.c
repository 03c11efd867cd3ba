/*
 * variadic.c - functions of a filter and many items. NULLs among the items are skipped.
 *
 * In SQL they are VARIADIC "any": each argument is an item of its own type. If there is only one
 * argument after the filter and it is an array, with or without the word VARIADIC, the items are
 * its elements in all dimensions. An argument that the parser leaves untyped is a literal, which is
 * text.
 *
 * In the SQL of 1.0.0 they were VARIADIC anycompatiblearray, so that the parser made one array of
 * the arguments. Those functions are kept for views and indexes that use them. In SQL their names
 * now end with _array; their C symbols are unchanged, as the scripts of released versions name
 * them: C's cuckoofilter_add_all is SQL's add_all_array, and SQL's add_all is C's
 * cuckoofilter_add_items.
 */
#include "function/call.h"
#include "type/owned.h"

#include "miscadmin.h"
#include "utils/lsyscache.h"

/* What a function keeps about its items between calls, in `more` of the call cache. */
typedef struct ckfp_items
{
	bool array;                                /* the items are the elements of argument 1 */
	ArrayMetaState layout;                     /* for an array: the storage of its elements */
	ckfp_hasher hasher[FLEXIBLE_ARRAY_MEMBER]; /* otherwise: one for each argument from 1 on */
} ckfp_items;

/* Are the items the elements of argument 1? */
static bool
ckfp_is_array_call(FunctionCallInfo fcinfo)
{
	/* PostgreSQL has checked that a VARIADIC argument is an array */
	return PG_NARGS() == 2 &&
		   OidIsValid(get_base_element_type(ckfp_argument_type(fcinfo->flinfo, 1)));
}

static ckfp_items *
ckfp_new_items(FunctionCallInfo fcinfo, ckfp_call_cache *cache, bool array)
{
	bool elements = array || ckfp_is_array_call(fcinfo);
	Size hashers = elements ? 0 : sizeof(ckfp_hasher) * (Size)(PG_NARGS() - 1);
	ckfp_items *items =
		MemoryContextAllocZero(cache->context, offsetof(ckfp_items, hasher) + hashers);

	items->array = elements;
	cache->more = items;
	return items;
}

static inline ckfp_items *
ckfp_items_of(FunctionCallInfo fcinfo, ckfp_call_cache *cache, bool array)
{
	return likely(cache->more != NULL) ? cache->more : ckfp_new_items(fcinfo, cache, array);
}

/* ---------------------------------------------------------- items to hashes */

/* The hashes of the array in argument 1 that are not NULL, for this filter. */
static ckf_list
ckfp_hash_array(FunctionCallInfo fcinfo, ckfp_call_cache *cache, const ckf_filter *filter)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(1); /* detoasted */
	ArrayMetaState *layout = &((ckfp_items *)cache->more)->layout;
	ckf_list list = ckfp_new_list((size_t)ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));
	ArrayIterator iterator;
	Datum item;
	bool is_null;

	ckfp_read_layout(layout, ARR_ELEMTYPE(array));
	ckfp_hasher_prepare(&cache->hasher, ARR_ELEMTYPE(array), PG_GET_COLLATION(), cache->context);
	iterator = array_create_iterator(array, 0, layout);
	while (array_iterate(iterator, &item, &is_null))
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_null)
			ckfp_put(&list, ckfp_hash_item(&cache->hasher, item, filter->seed));
	}
	array_free_iterator(iterator);
	list.item_classes |= cache->hasher.item_class;
	if (list.count > 0)
		ckfp_require_class(filter, cache->hasher.item_class, false);
	return list;
}

/*
 * Refuse a single untyped literal in braces. Drivers that write values into the statement send a
 * list as one, psycopg2 even the empty list as '{}': it would be added, or removed, as one text.
 */
static void
ckfp_refuse_array_literal(const char *literal)
{
	size_t size = strlen(literal);

	if (size >= 2 && literal[0] == '{' && literal[size - 1] == '}')
		ereport(
			ERROR,
			(errcode(ERRCODE_INDETERMINATE_DATATYPE),
			 errmsg("an untyped literal in braces could be an array or one cuckoofilter item"),
			 errhint("Cast it to an array type, such as text[], to pass the items of an array, or "
					 "to text to pass one item.")));
}

/* The hashes of the arguments from 1 on that are not NULL, for this filter. */
static ckf_list
ckfp_hash_arguments(FunctionCallInfo fcinfo, ckfp_call_cache *cache, const ckf_filter *filter)
{
	ckfp_items *items = cache->more;
	ckf_list list = ckfp_new_list((size_t)PG_NARGS());
	unsigned classes;

	for (int n = 1; n < PG_NARGS(); n++)
	{
		ckfp_hasher *hasher = &items->hasher[n - 1];

		if (PG_ARGISNULL(n))
			continue;
		if (!OidIsValid(hasher->type)) /* a literal has the collation of the call */
			ckfp_hasher_prepare(hasher, ckfp_argument_type(fcinfo->flinfo, n), PG_GET_COLLATION(),
								cache->context);
		if (PG_NARGS() == 2 && hasher->kind == CKFP_UNTYPED)
			ckfp_refuse_array_literal(DatumGetCString(PG_GETARG_DATUM(n)));
		ckfp_put(&list, ckfp_hash_item(hasher, PG_GETARG_DATUM(n), filter->seed));
		list.item_classes |= hasher->item_class;
	}
	for (classes = (uint8)list.item_classes; classes != 0; classes &= classes - 1)
		ckfp_require_class(filter, classes & -classes, false); /* the lowest bit */
	return list;
}

static ckf_list
ckfp_hash_items(FunctionCallInfo fcinfo, ckfp_call_cache *cache, const ckf_filter *filter)
{
	ckfp_items *items = cache->more;

	return items->array ? ckfp_hash_array(fcinfo, cache, filter)
						: ckfp_hash_arguments(fcinfo, cache, filter);
}

/* ------------------------------------------------------------------ changes */

/* Are all items NULL? Then the filter stays as it is and is not fetched. */
static bool
ckfp_all_null(FunctionCallInfo fcinfo)
{
	for (int n = 1; n < PG_NARGS(); n++)
		if (!PG_ARGISNULL(n))
			return false;
	return true;
}

/* Change the filter in argument 0 by many items. */
static Datum
ckfp_change(FunctionCallInfo fcinfo, bool array, ckf_operation operation)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	const ckf_filter *filter;
	ckf_list list;
	ckf_filter owned;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	if (ckfp_all_null(fcinfo))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	(void)ckfp_items_of(fcinfo, cache, array);
	filter = ckfp_read_filter(fcinfo, 0, cache);
	list = ckfp_hash_items(fcinfo, cache, filter);
	if (list.count == 0)
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	(void)ckf_host_change(CKFP_HOST, operation, filter, &list, &owned);
	CKFP_RETURN_OWNED(&owned);
}

/* cuckoofilter_add_all(filter, VARIADIC "any") */
CKFP_FUNCTION(cuckoofilter_add_items, ckfp_change(fcinfo, false, CKF_ADD_MANY));

/* cuckoofilter_add_all_array(filter, VARIADIC anycompatiblearray) */
CKFP_FUNCTION(cuckoofilter_add_all, ckfp_change(fcinfo, true, CKF_ADD_MANY));

/* cuckoofilter_remove_all(filter, VARIADIC "any") */
CKFP_FUNCTION(cuckoofilter_remove_items, ckfp_change(fcinfo, false, CKF_REMOVE_MANY));

/* cuckoofilter_remove_all_array(filter, VARIADIC anycompatiblearray) */
CKFP_FUNCTION(cuckoofilter_remove_all, ckfp_change(fcinfo, true, CKF_REMOVE_MANY));

/* ---------------------------------------------------------------- lookups */

/* Does the filter contain any item (`wanted`), or all items (not `wanted`)? NULL for a NULL
 * filter or array. */
static pg_always_inline Datum
ckfp_look_up_items(FunctionCallInfo fcinfo, bool array, bool wanted)
{
	ckfp_call_cache *cache = ckfp_call_cache_of(fcinfo);
	ckfp_filter_ref ref;
	ckf_list list;

	if (PG_ARGISNULL(0) || (ckfp_items_of(fcinfo, cache, array)->array && PG_ARGISNULL(1)))
		PG_RETURN_NULL();
	ref = ckfp_filter_ref_of(fcinfo, 0, cache);
	list = ckfp_hash_items(fcinfo, cache, ref.filter);
	PG_RETURN_BOOL(ckfp_look_up_many(fcinfo, cache, ref, &list, &wanted, NULL) == wanted);
}

/* cuckoofilter_contains_any(filter, VARIADIC "any") */
CKFP_FUNCTION(cuckoofilter_contains_any_item, ckfp_look_up_items(fcinfo, false, true));

/* cuckoofilter_contains_any_array(filter, VARIADIC anycompatiblearray) */
CKFP_FUNCTION(cuckoofilter_contains_any, ckfp_look_up_items(fcinfo, true, true));

/* cuckoofilter_contains_all(filter, VARIADIC "any") */
CKFP_FUNCTION(cuckoofilter_contains_all_items, ckfp_look_up_items(fcinfo, false, false));

/* cuckoofilter_contains_all_array(filter, VARIADIC anycompatiblearray) */
CKFP_FUNCTION(cuckoofilter_contains_all, ckfp_look_up_items(fcinfo, true, false));
