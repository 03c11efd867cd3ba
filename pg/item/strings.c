/*
 * strings.c - strings and bytea to hashes.
 */
#include "item/item.h"
#include "item/words.h"

#include "catalog/pg_collation.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"

void
ckfp_require_deterministic(Oid collation)
{
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("text of a nondeterministic collation cannot be a part of a cuckoofilter "
						"item"),
				 errdetail("The planner may replace an expression in a row by one of another "
						   "collation."),
				 errhint("Use the COLLATE clause to set a deterministic collation, as in lower(x) "
						 "COLLATE \"C\".")));
}

uint64
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

uint64
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

uint64
ckfp_hash_citext(Datum item, uint64 seed)
{
	text *value = DatumGetTextPP(item);
	char *folded = str_tolower(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), DEFAULT_COLLATION_OID);
	uint64 hash = ckfp_hash_text(folded, (int)strlen(folded), seed);

	pfree(folded);
	if ((Pointer)value != DatumGetPointer(item))
		pfree(value);
	return ckfp_words_of_one(CKF_SHAPE_FOLDED, ckfp_hashes_of(hash), seed).hash;
}

uint64
ckfp_hash_char(Datum item, uint64 seed)
{
	text *value = DatumGetTextPP(DirectFunctionCall1(char_text, item));
	uint64 hash = ckfp_hash_text(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), seed);

	pfree(value);
	return hash;
}
