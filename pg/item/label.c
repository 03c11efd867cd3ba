/*
 * label.c - enum labels to hashes. A label is hashed as its text. Reading it takes a lookup in the
 * system cache, so a hasher keeps the hashes of recently used labels.
 */
#include "item/item.h"

#include "access/htup_details.h"
#include "catalog/pg_enum.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

/* A direct-mapped cache of CKFP_LABELS hashes, indexed by the OID of the label. */
typedef struct ckfp_label
{
	Oid oid;
	uint64 seed;
	uint64 hash;
} ckfp_label;

#define CKFP_LABELS 64

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

/* Counts the invalidations of pg_enum in this session: ALTER TYPE .. RENAME VALUE, or its
 * rollback. */
static uint64 ckfp_label_changes;

static void
ckfp_labels_changed(Datum arg, int cache, uint32 value)
{
	(void)arg;
	(void)cache;
	(void)value;
	ckfp_label_changes++;
}

/* The cache entry for a label. The cache is cleared if a label has changed since: the hasher of
 * an expression in PL/pgSQL outlives statements. */
static ckfp_label *
ckfp_label_entry(ckfp_hasher *hasher, Oid oid)
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

uint64
ckfp_hash_enum(ckfp_hasher *hasher, Oid oid, uint64 seed)
{
	ckfp_label *label = ckfp_label_entry(hasher, oid);

	if (label->oid != oid || label->seed != seed)
	{
		label->oid = InvalidOid;
		label->hash = ckfp_hash_label(oid, seed);
		label->seed = seed;
		label->oid = oid;
	}
	return label->hash;
}
