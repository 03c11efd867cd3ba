/*
 * utf8.c - strings to hashes, as UTF-8 in every database encoding.
 */
#include "item/item.h"

#include "catalog/pg_conversion.h"
#include "catalog/pg_namespace.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

static bool
ckfp_is_ascii(const char *bytes, int size)
{
	const char *end = bytes + size;
	uint64 high = 0;

	for (; end - bytes >= 8; bytes += 8)
	{
		uint64 word;

		memcpy(&word, bytes, 8);
		high |= word;
	}
	for (; bytes < end; bytes++)
		high |= (unsigned char)*bytes;
	return (high & UINT64CONST(0x8080808080808080)) == 0;
}

/*
 * PostgreSQL's built-in conversion from the database encoding to UTF-8, or NULL if there is none
 * (MULE_INTERNAL). A conversion that the search path finds is not used, since a hash must not
 * depend on the search path. The built-in one cannot be dropped, so it is looked up once per
 * session.
 */
static FmgrInfo *
ckfp_conversion(void)
{
	static FmgrInfo conversion;
	static bool known;

	if (!known)
	{
		Oid function = FindDefaultConversion(PG_CATALOG_NAMESPACE, GetDatabaseEncoding(), PG_UTF8);

		if (OidIsValid(function))
			fmgr_info_cxt(function, &conversion, TopMemoryContext);
		known = true;
	}
	return OidIsValid(conversion.fn_oid) ? &conversion : NULL;
}

static bool
ckfp_convert(FmgrInfo *conversion, const char *bytes, int size, char *utf8)
{
	Datum converted = FunctionCall6(conversion, Int32GetDatum(GetDatabaseEncoding()),
									Int32GetDatum(PG_UTF8), CStringGetDatum(bytes),
									CStringGetDatum(utf8), Int32GetDatum(size), BoolGetDatum(true));

	return DatumGetInt32(converted) == size;
}

/* The string in UTF-8, or NULL if it cannot be converted. */
static char *
ckfp_to_utf8(const char *bytes, int size)
{
	FmgrInfo *conversion = ckfp_conversion();
	char *utf8;

	if (conversion == NULL)
		return NULL;
	utf8 = MemoryContextAllocHuge(CurrentMemoryContext, (Size)size * MAX_CONVERSION_GROWTH + 1);
	if (ckfp_convert(conversion, bytes, size, utf8))
		return utf8;
	pfree(utf8);
	return NULL;
}

uint64
ckfp_hash_text(const char *bytes, int size, uint64 seed)
{
	char *utf8 = NULL;
	uint64 hash;

	/* Every server encoding encodes ASCII as itself. Strings in SQL_ASCII are not converted. */
	if (GetDatabaseEncoding() != PG_UTF8 && GetDatabaseEncoding() != PG_SQL_ASCII &&
		!ckfp_is_ascii(bytes, size))
		utf8 = ckfp_to_utf8(bytes, size);
	if (utf8 == NULL)
		return ckf_hash_bytes(CKF_CLASS_TEXT, bytes, (size_t)size, seed);
	hash = ckf_hash_bytes(CKF_CLASS_TEXT, utf8, strlen(utf8), seed);
	pfree(utf8);
	return hash;
}
