/*
 * container.c - arrays, records, ranges and multiranges to hashes.
 *
 * The parts of a container are hashed as items, so that its hash is portable if theirs are. Two
 * containers have the same hash if "=" of their type calls them equal (array_eq, record_eq,
 * range_eq, multirange_eq); otherwise their hashes differ, apart from collisions. The description
 * of a type is read from the catalogs once and kept in the hasher.
 */
#include "item/item.h"
#include "item/words.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/arrayaccess.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

/* Flags of a range. */
enum
{
	CKFP_EMPTY = 1,
	CKFP_WITH_LOWER = 2,
	CKFP_WITH_UPPER = 4,
	CKFP_NO_LOWER = 8,
	CKFP_NO_UPPER = 16
};

/* The description of a row type. */
typedef struct ckfp_row
{
	Oid type; /* 0: no description yet */
	int32 typmod;
	TypeCacheEntry *entry; /* of a named type, which ALTER TYPE can change; else NULL */
	uint64 version;        /* entry->tupDesc_identifier when it was read */
	TupleDesc columns;
	ckfp_hasher *hashers; /* of the columns */
	Datum *values;
	bool *nulls;
	MemoryContext context; /* of all these */
} ckfp_row;

typedef struct ckfp_container
{
	const ckfp_element_methods *parts;
	ckfp_hasher part; /* of the elements of an array, of the bounds of a range or multirange */
	int16 size;       /* array: storage of its elements */
	bool by_value;
	char align;
	TypeCacheEntry *range; /* range, multirange: the range type */
	ckfp_row row;          /* record */
	MemoryContext context;
} ckfp_container;

ckfp_kind
ckfp_kind_of_container(Oid type)
{
	if (OidIsValid(get_element_type(type)))
		return CKFP_ARRAY;
	if (type == RECORDOID)
		return CKFP_RECORD;
	switch (get_typtype(type))
	{
		case TYPTYPE_COMPOSITE:
			return CKFP_RECORD;
		case TYPTYPE_RANGE:
			return CKFP_RANGE;
		case TYPTYPE_MULTIRANGE:
			return CKFP_MULTIRANGE;
		default:
			return 0;
	}
}

ckfp_container *
ckfp_new_container(ckfp_kind kind, Oid type, Oid collation, const ckfp_element_methods *parts,
				   MemoryContext context)
{
	ckfp_container *container = MemoryContextAllocZero(context, sizeof *container);

	check_stack_depth(); /* types nest */
	container->context = context;
	container->parts = parts;
	if (kind == CKFP_ARRAY)
	{
		Oid element = get_element_type(type);

		get_typlenbyvalalign(element, &container->size, &container->by_value, &container->align);
		parts->prepare(&container->part, element, collation, context);
	}
	if (kind == CKFP_RANGE)
		container->range = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
	if (kind == CKFP_MULTIRANGE)
		container->range = lookup_type_cache(type, TYPECACHE_MULTIRANGE_INFO)->rngtype;
	if (container->range != NULL)
		parts->prepare(&container->part, container->range->rngelemtype->type_id,
					   container->range->rng_collation, context);
	return container;
}

/* ------------------------------------------------------------------- arrays */

/* From PostgreSQL 19 on, an iterator gets the storage of the elements when it starts; before, with
 * each element. */
#if PG_VERSION_NUM >= 190000
#define ckfp_iterate(elements, array, container)                                                   \
	array_iter_setup(elements, array, (container)->size, (container)->by_value, (container)->align)
#define ckfp_next_element(elements, null, i, container) array_iter_next(elements, null, i)
#else
#define ckfp_iterate(elements, array, container) array_iter_setup(elements, array)
#define ckfp_next_element(elements, null, i, container)                                            \
	array_iter_next(elements, null, i, (container)->size, (container)->by_value, (container)->align)
#endif

static ckf_hashes
ckfp_hash_array(ckfp_container *container, Datum item, uint64 seed)
{
	AnyArrayType *array = DatumGetAnyArrayP(item);
	int dimensions = AARR_NDIM(array);
	int n = ArrayGetNItems(dimensions, AARR_DIMS(array));
	array_iter elements;
	ckfp_words words;

	ckfp_words_begin(&words, CKF_SHAPE_ARRAY, 2 + 2 * (size_t)dimensions + (size_t)n, seed);
	ckfp_words_put(&words, (uint64)dimensions);
	for (int i = 0; i < dimensions; i++)
	{
		ckfp_words_put(&words, (uint64)AARR_DIMS(array)[i]);
		ckfp_words_put(&words, (uint64)(int64)AARR_LBOUND(array)[i]);
	}
	ckfp_iterate(&elements, array, container);
	for (int i = 0; i < n; i++)
	{
		bool null;
		Datum element = ckfp_next_element(&elements, &null, i, container);

		CHECK_FOR_INTERRUPTS();
		if (null)
			ckfp_words_put_null(&words);
		else
			ckfp_words_put_element(&words, container->parts->hash(&container->part, element, seed));
	}
	if (!VARATT_IS_EXPANDED_HEADER(array) && (Pointer)array != DatumGetPointer(item))
		pfree(array);
	return ckfp_words_end(&words);
}

/* ------------------------------------------------------------------ records */

/* Read the description of a row type. */
static void
ckfp_set_row(ckfp_container *container, Oid type, int32 typmod)
{
	ckfp_row *row = &container->row;
	MemoryContext old;

	row->type = InvalidOid; /* stays so if the code below fails */
	if (row->context == NULL)
		row->context =
			AllocSetContextCreate(container->context, "cuckoofilter columns", ALLOCSET_SMALL_SIZES);
	MemoryContextReset(row->context);
	old = MemoryContextSwitchTo(row->context);

	row->entry = type == RECORDOID ? NULL : lookup_type_cache(type, TYPECACHE_TUPDESC);
	row->version = row->entry != NULL ? row->entry->tupDesc_identifier : 0;
	row->columns = lookup_rowtype_tupdesc_copy(type, typmod);
	row->hashers = palloc0(sizeof(ckfp_hasher) * row->columns->natts);
	row->values = palloc(sizeof(Datum) * row->columns->natts);
	row->nulls = palloc(sizeof(bool) * row->columns->natts);
	for (int i = 0; i < row->columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(row->columns, i);

		if (column->attisdropped)
			continue;
		ckfp_require_deterministic(column->attcollation);
		container->parts->prepare(&row->hashers[i], column->atttypid, column->attcollation,
								  row->context);
	}
	MemoryContextSwitchTo(old);
	row->typmod = typmod;
	row->type = type;
}

static ckf_hashes
ckfp_hash_record(ckfp_container *container, Datum item, uint64 seed)
{
	HeapTupleHeader record = DatumGetHeapTupleHeader(item);
	ckfp_row *row = &container->row;
	Oid type = HeapTupleHeaderGetTypeId(record);
	int32 typmod = HeapTupleHeaderGetTypMod(record);
	HeapTupleData tuple;
	ckfp_words words;
	size_t n = 0;

	if (row->type != type || row->typmod != typmod ||
		(row->entry != NULL && row->entry->tupDesc_identifier != row->version))
		ckfp_set_row(container, type, typmod);

	tuple.t_len = HeapTupleHeaderGetDatumLength(record);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = record;
	heap_deform_tuple(&tuple, row->columns, row->values, row->nulls);

	for (int i = 0; i < row->columns->natts; i++)
		n += !TupleDescAttr(row->columns, i)->attisdropped;
	ckfp_words_begin(&words, CKF_SHAPE_RECORD, 2 + n, seed);
	ckfp_words_put(&words, n);
	for (int i = 0; i < row->columns->natts; i++)
	{
		if (TupleDescAttr(row->columns, i)->attisdropped)
			continue;
		if (row->nulls[i])
			ckfp_words_put_null(&words);
		else
			ckfp_words_put_element(&words,
								   container->parts->hash(&row->hashers[i], row->values[i], seed));
	}
	if ((Pointer)record != DatumGetPointer(item))
		pfree(record);
	return ckfp_words_end(&words);
}

/* ------------------------------------------------------------------- ranges */

static ckf_hashes
ckfp_hash_bounds(ckfp_container *container, const RangeBound *lower, const RangeBound *upper,
				 bool empty, uint64 seed)
{
	ckfp_words words;
	uint64 flags = CKFP_EMPTY;

	if (!empty)
		flags = (lower->inclusive ? CKFP_WITH_LOWER : 0) |
				(upper->inclusive ? CKFP_WITH_UPPER : 0) | (lower->infinite ? CKFP_NO_LOWER : 0) |
				(upper->infinite ? CKFP_NO_UPPER : 0);
	ckfp_words_begin(&words, CKF_SHAPE_RANGE, 4, seed);
	ckfp_words_put(&words, flags);
	if (!empty && !lower->infinite)
		ckfp_words_put_element(&words, container->parts->hash(&container->part, lower->val, seed));
	if (!empty && !upper->infinite)
		ckfp_words_put_element(&words, container->parts->hash(&container->part, upper->val, seed));
	return ckfp_words_end(&words);
}

static ckf_hashes
ckfp_hash_range(ckfp_container *container, Datum item, uint64 seed)
{
	RangeType *range = DatumGetRangeTypeP(item);
	RangeBound lower, upper;
	bool empty;
	ckf_hashes hashes;

	range_deserialize(container->range, range, &lower, &upper, &empty);
	hashes = ckfp_hash_bounds(container, &lower, &upper, empty, seed);
	if ((Pointer)range != DatumGetPointer(item))
		pfree(range);
	return hashes;
}

static ckf_hashes
ckfp_hash_multirange(ckfp_container *container, Datum item, uint64 seed)
{
	MultirangeType *multirange = DatumGetMultirangeTypeP(item);
	ckfp_words words;

	ckfp_words_begin(&words, CKF_SHAPE_MULTIRANGE, 2 + (size_t)multirange->rangeCount, seed);
	ckfp_words_put(&words, multirange->rangeCount);
	for (uint32 i = 0; i < multirange->rangeCount; i++)
	{
		RangeBound lower, upper;

		CHECK_FOR_INTERRUPTS();
		multirange_get_bounds(container->range, multirange, i, &lower, &upper);
		ckfp_words_put_element(&words, ckfp_hash_bounds(container, &lower, &upper, false, seed));
	}
	if ((Pointer)multirange != DatumGetPointer(item))
		pfree(multirange);
	return ckfp_words_end(&words);
}

ckf_hashes
ckfp_hash_container(const ckfp_hasher *hasher, Datum item, uint64 seed)
{
	check_stack_depth();
	switch (hasher->kind)
	{
		case CKFP_ARRAY:
			return ckfp_hash_array(hasher->container, item, seed);
		case CKFP_RECORD:
			return ckfp_hash_record(hasher->container, item, seed);
		case CKFP_MULTIRANGE:
			return ckfp_hash_multirange(hasher->container, item, seed);
		default:
			return ckfp_hash_range(hasher->container, item, seed);
	}
}
