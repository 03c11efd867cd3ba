/*
 * item.c - SQL values to hashes.
 *
 * Values that SQL's "=" calls equal hash equal, within this database and, for
 * the portable classes, across databases: all integers as int64, a float or
 * numeric that is an integer as that integer, strings as UTF-8, and what
 * consists of these.  Any other type is hashed through its own hash function,
 * the one of its hash joins.
 */
#include "item/item.h"

#include "item/container.h"
#include "error.h"
#include "item/json.h"
#include "item/utf8.h"
#include "item/words.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "datatype/timestamp.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/formatting.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

/* Hashes of enum labels, by the label's OID: CKFP_LABELS of them. */
typedef struct ckfp_label
{
	Oid oid;
	uint64 seed;
	uint64 hash;
} ckfp_label;

#define CKFP_LABELS 64

/* ------------------------------------------------- which way for which type */

/* Types of the portable classes; 0 for others. */
static ckfp_kind
ckfp_kind_of_builtin(Oid type)
{
	switch (type)
	{
		case INT2OID:
			return CKFP_INT2;
		case INT4OID:
			return CKFP_INT4;
		case INT8OID:
			return CKFP_INT8;
		case BOOLOID:
			return CKFP_BOOL;
		case FLOAT4OID:
			return CKFP_FLOAT4;
		case FLOAT8OID:
			return CKFP_FLOAT8;
		case NUMERICOID:
			return CKFP_NUMERIC;
		case TEXTOID:
		case VARCHAROID:
			return CKFP_TEXT;
		case BPCHAROID:
			return CKFP_BPCHAR;
		case NAMEOID:
			return CKFP_NAME;
		case CHAROID:
			return CKFP_CHAR;
		case UNKNOWNOID: /* an untyped literal in a row, which is text */
			return CKFP_UNTYPED;
		case BYTEAOID:
			return CKFP_BYTEA;
		case UUIDOID:
			return CKFP_UUID;
		case DATEOID:
			return CKFP_DATE;
		case TIMESTAMPOID:
			return CKFP_TIMESTAMP;
		case TIMESTAMPTZOID:
			return CKFP_TIMESTAMPTZ;
		case JSONBOID:
			return CKFP_JSONB;
		default:
			return 0;
	}
}

/* citext has another OID in each database: it is the type of that name in the
 * extension of that name, which none but PostgreSQL's can have. */
static bool
ckfp_is_citext(Oid type)
{
	HeapTuple tuple;
	Oid extension;
	bool named;

	if (type < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	named = HeapTupleIsValid(tuple) &&
			strcmp(NameStr(((Form_pg_type)GETSTRUCT(tuple))->typname), "citext") == 0;
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (!named)
		return false;
	extension = getExtensionOfObject(TypeRelationId, type);
	return OidIsValid(extension) && strcmp(get_extension_name(extension), "citext") == 0;
}

/* A composite, say, for which somebody has made an operator class: what is
 * equal is then not its parts' to say. */
static bool
ckfp_has_own_equality(Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_HASH_OPFAMILY);

	return entry->eq_opr >= FirstNormalObjectId || entry->hash_opf >= FirstNormalObjectId;
}

static ckfp_kind
ckfp_kind_of(Oid type)
{
	ckfp_kind kind = ckfp_kind_of_builtin(type);

	if (kind == 0 && type_is_enum(type))
		kind = CKFP_ENUM;
	if (kind == 0 && !ckfp_has_own_equality(type))
		kind = ckfp_kind_of_container(type);
	if (kind == 0 && IsBinaryCoercible(type, OIDOID)) /* regclass and its like */
		kind = CKFP_OID;
	if (kind == 0 && ckfp_is_citext(type))
		kind = CKFP_CITEXT;
	return kind == 0 ? CKFP_OTHER : kind;
}

/* What a container consists of, in a memory context of its own, so that a
 * hasher that goes from type to type keeps no more than the last. */
static struct ckfp_container *
ckfp_set_container(ckfp_hasher *hasher, ckfp_kind kind, Oid type, Oid collation,
				   MemoryContext context)
{
	if (hasher->inner == NULL)
		hasher->inner =
			AllocSetContextCreate(context, "cuckoofilter container", ALLOCSET_SMALL_SIZES);
	MemoryContextReset(hasher->inner);
	return ckfp_new_container(kind, type, collation, hasher->inner);
}

static bool
ckfp_is_string(ckfp_kind kind)
{
	return kind == CKFP_TEXT || kind == CKFP_BPCHAR || kind == CKFP_NAME;
}

/* The class of the items of a kind, as ckfp_hash_item hashes them. */
static uint8
ckfp_item_class(ckfp_kind kind, bool own_equality)
{
	if (own_equality)
		return CKF_ITEM_OTHER;
	switch (kind)
	{
		case CKFP_INT2:
		case CKFP_INT4:
		case CKFP_INT8:
		case CKFP_BOOL:
		case CKFP_OID:
		case CKFP_FLOAT4:
		case CKFP_FLOAT8:
		case CKFP_NUMERIC:
			return CKF_ITEM_NUMBER;
		case CKFP_TEXT:
		case CKFP_BPCHAR:
		case CKFP_NAME:
		case CKFP_CHAR:
		case CKFP_UNTYPED:
		case CKFP_ENUM:
			return CKF_ITEM_TEXT;
		case CKFP_BYTEA:
		case CKFP_UUID:
			return CKF_ITEM_BYTES;
		case CKFP_DATE:
		case CKFP_TIMESTAMP:
			return CKF_ITEM_TIMESTAMP;
		case CKFP_TIMESTAMPTZ:
			return CKF_ITEM_TIMESTAMPTZ;
		case CKFP_ARRAY:
		case CKFP_RECORD:
		case CKFP_RANGE:
		case CKFP_MULTIRANGE:
		case CKFP_JSONB:
		case CKFP_CITEXT:
		case CKFP_OTHER:
			break;
	}
	return CKF_ITEM_OTHER;
}

static void
ckfp_hasher_set(ckfp_hasher *hasher, Oid type, Oid collation, MemoryContext context)
{
	Oid base = getBaseType(type);
	ckfp_kind kind = ckfp_kind_of(base);
	bool own_equality = false;

	hasher->type = InvalidOid; /* until all is well */
	hasher->kind = 0;
	if (ckfp_is_string(kind))
	{
		if (!OidIsValid(collation))
			ckfp_error_no_collation();
		own_equality = !get_collation_isdeterministic(collation);
	}
	else if (kind == CKFP_UNTYPED && OidIsValid(collation)) /* a literal, if there is one */
		own_equality = !get_collation_isdeterministic(collation);
	else if (kind >= CKFP_ARRAY && kind <= CKFP_MULTIRANGE)
		hasher->container = ckfp_set_container(hasher, kind, base, collation, context);
	else if (kind == CKFP_OTHER)
	{
		TypeCacheEntry *entry = lookup_type_cache(base, TYPECACHE_HASH_EXTENDED_PROC_FINFO);

		if (!OidIsValid(entry->hash_extended_proc_finfo.fn_oid))
			ckfp_error_no_hash(type);
		hasher->function = &entry->hash_extended_proc_finfo; /* as long-lived as the session */
	}
	hasher->collation = collation;
	hasher->own_equality = own_equality;
	hasher->context = context;
	hasher->item_class = ckfp_item_class(kind, own_equality);
	hasher->kind = kind;
	hasher->type = type;
}

void
ckfp_hasher_prepare(ckfp_hasher *hasher, Oid type, Oid collation, MemoryContext context)
{
	if (hasher->type != type || hasher->collation != collation)
		ckfp_hasher_set(hasher, type, collation, context);
}

/* ------------------------------------------------------------------ strings */

/* A string under a collation: not by its bytes where that has an equality of
 * its own. */
static uint64
ckfp_hash_string(const ckfp_hasher *hasher, const char *bytes, int size, uint64 seed)
{
	text *value;
	Datum hash;

	if (!hasher->own_equality)
		return ckfp_hash_text(bytes, size, seed);
	value = cstring_to_text_with_len(bytes, size);
	hash = DirectFunctionCall2Coll(hashtextextended, hasher->collation, PointerGetDatum(value),
								   Int64GetDatum(0));
	pfree(value);
	return ckf_hash_word(CKF_CLASS_OTHER, DatumGetUInt64(hash), seed);
}

/* text, varchar, char(n), bytea */
static uint64
ckfp_hash_varlena(const ckfp_hasher *hasher, Datum item, uint64 seed)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(item);
	char *bytes = VARDATA_ANY(value);
	int size = VARSIZE_ANY_EXHDR(value);
	uint64 hash;

	if (hasher->kind == CKFP_BYTEA)
		hash = ckf_hash_bytes(CKF_CLASS_BYTES, bytes, (size_t)size, seed);
	else
	{
		if (hasher->kind == CKFP_BPCHAR)
			size = bpchartruelen(bytes, size);
		hash = ckfp_hash_string(hasher, bytes, size, seed);
	}
	if ((Pointer)value != DatumGetPointer(item))
		pfree(value);
	return hash;
}

/* citext, which is equal where the lower cases of the database's own collation
 * are. */
static uint64
ckfp_hash_citext(Datum item, uint64 seed)
{
	text *value = DatumGetTextPP(item);
	char *folded = str_tolower(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), DEFAULT_COLLATION_OID);
	ckfp_words words;

	ckfp_words_begin(&words, CKF_SHAPE_FOLDED, 2, seed);
	ckfp_words_put(&words, ckfp_hash_text(folded, (int)strlen(folded), seed));
	pfree(folded);
	if ((Pointer)value != DatumGetPointer(item))
		pfree(value);
	return ckfp_words_end(&words);
}

/* "char" is equal to the text that it is cast to. */
static uint64
ckfp_hash_char(Datum item, uint64 seed)
{
	text *value = DatumGetTextPP(DirectFunctionCall1(char_text, item));
	uint64 hash = ckfp_hash_text(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), seed);

	pfree(value);
	return hash;
}

static uint64
ckfp_hash_label(Oid oid, uint64 seed)
{
	HeapTuple tuple = SearchSysCache1(ENUMOID, ObjectIdGetDatum(oid));
	const char *label;
	uint64 hash;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for enum value %u", oid);
	label = NameStr(((Form_pg_enum)GETSTRUCT(tuple))->enumlabel);
	hash = ckfp_hash_text(label, (int)strlen(label), seed);
	ReleaseSysCache(tuple);
	return hash;
}

/* How often a label may have changed: by ALTER TYPE .. RENAME VALUE, or where that was
 * rolled back. */
static uint64 ckfp_label_changes;

static void
ckfp_labels_changed(Datum arg, int cache, uint32 value)
{
	(void)arg;
	(void)cache;
	(void)value;
	ckfp_label_changes++;
}

/* The place of a label among those that were seen, as long as they are what they were:
 * the hasher of an expression in PL/pgSQL outlives statements. */
static ckfp_label *
ckfp_place_of_label(ckfp_hasher *hasher, Oid oid)
{
	static bool registered = false;

	if (!registered)
	{
		CacheRegisterSyscacheCallback(ENUMOID, ckfp_labels_changed, (Datum)0);
		registered = true;
	}
	if (hasher->labels == NULL)
		hasher->labels = MemoryContextAllocZero(hasher->context, sizeof(ckfp_label) * CKFP_LABELS);
	else if (unlikely(hasher->label_changes != ckfp_label_changes))
		memset(hasher->labels, 0, sizeof(ckfp_label) * CKFP_LABELS);
	hasher->label_changes = ckfp_label_changes;
	return &hasher->labels[oid % CKFP_LABELS];
}

static uint64
ckfp_hash_enum(ckfp_hasher *hasher, Oid oid, uint64 seed)
{
	ckfp_label *label = ckfp_place_of_label(hasher, oid);

	if (label->oid != oid || label->seed != seed)
	{
		label->oid = InvalidOid;
		label->hash = ckfp_hash_label(oid, seed);
		label->seed = seed;
		label->oid = oid;
	}
	return label->hash;
}

/* ------------------------------------------------------------------ numbers */

/* As the integer that it is, else as the nearest double. */
uint64
ckfp_hash_numeric(Datum item, uint64 seed)
{
	Numeric value = DatumGetNumeric(item);
	char *digits = numeric_normalize(value); /* no zeros behind the point */
	char *end;
	int64 integer;
	uint64 hash;

	errno = 0;
	integer = strtoll(digits, &end, 10);
	if (errno == 0 && end != digits && *end == '\0')
		hash = ckf_hash_integer(integer, seed);
	else
		hash = ckf_hash_real(strtod(digits, NULL), seed);
	pfree(digits);
	if ((Pointer)value != DatumGetPointer(item))
		pfree(value);
	return hash;
}

/* A date is its midnight.  One that is no timestamp any more wraps around,
 * which gives two dates no common hash. */
static uint64
ckfp_hash_date(DateADT date, uint64 seed)
{
	uint64 midnight = (uint64)(int64)date * (uint64)USECS_PER_DAY;

	if (DATE_IS_NOBEGIN(date))
		midnight = (uint64)DT_NOBEGIN;
	else if (DATE_IS_NOEND(date))
		midnight = (uint64)DT_NOEND;
	return ckf_hash_word(CKF_CLASS_TIMESTAMP, midnight, seed);
}

static uint64
ckfp_hash_other(const ckfp_hasher *hasher, Datum item, uint64 seed)
{
	Datum hash = FunctionCall2Coll(hasher->function, hasher->collation, item, Int64GetDatum(0));

	return ckf_hash_word(CKF_CLASS_OTHER, DatumGetUInt64(hash), seed);
}

uint64
ckfp_hash_item(ckfp_hasher *hasher, Datum item, uint64 seed)
{
	switch (hasher->kind)
	{
		case CKFP_INT2:
			return ckf_hash_integer(DatumGetInt16(item), seed);
		case CKFP_INT4:
			return ckf_hash_integer(DatumGetInt32(item), seed);
		case CKFP_INT8:
			return ckf_hash_integer(DatumGetInt64(item), seed);
		case CKFP_BOOL:
			return ckf_hash_integer(DatumGetBool(item), seed);
		case CKFP_OID:
			return ckf_hash_integer(DatumGetObjectId(item), seed);
		case CKFP_FLOAT4:
			return ckf_hash_real(DatumGetFloat4(item), seed);
		case CKFP_FLOAT8:
			return ckf_hash_real(DatumGetFloat8(item), seed);
		case CKFP_NUMERIC:
			return ckfp_hash_numeric(item, seed);
		case CKFP_TEXT:
		case CKFP_BPCHAR:
		case CKFP_BYTEA:
			return ckfp_hash_varlena(hasher, item, seed);
		case CKFP_NAME:
			return ckfp_hash_string(hasher, NameStr(*DatumGetName(item)),
									(int)strlen(NameStr(*DatumGetName(item))), seed);
		case CKFP_CHAR:
			return ckfp_hash_char(item, seed);
		case CKFP_UNTYPED:
			return ckfp_hash_string(hasher, DatumGetCString(item),
									(int)strlen(DatumGetCString(item)), seed);
		case CKFP_ENUM:
			return ckfp_hash_enum(hasher, DatumGetObjectId(item), seed);
		case CKFP_UUID:
			return ckf_hash_bytes(CKF_CLASS_BYTES, DatumGetUUIDP(item)->data, UUID_LEN, seed);
		case CKFP_DATE:
			return ckfp_hash_date(DatumGetDateADT(item), seed);
		case CKFP_TIMESTAMP:
			return ckf_hash_word(CKF_CLASS_TIMESTAMP, (uint64)DatumGetTimestamp(item), seed);
		case CKFP_TIMESTAMPTZ:
			return ckf_hash_word(CKF_CLASS_TIMESTAMPTZ, (uint64)DatumGetTimestampTz(item), seed);
		case CKFP_ARRAY:
		case CKFP_RECORD:
		case CKFP_RANGE:
		case CKFP_MULTIRANGE:
			return ckfp_hash_container(hasher, item, seed);
		case CKFP_JSONB:
			return ckfp_hash_json(item, seed);
		case CKFP_CITEXT:
			return ckfp_hash_citext(item, seed);
		case CKFP_OTHER:
			break;
	}
	return ckfp_hash_other(hasher, item, seed);
}
