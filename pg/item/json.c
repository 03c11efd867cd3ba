/*
 * json.c - jsonb to hashes.
 *
 * jsonb stores the keys of an object in the order of their bytes in the database's encoding. To be
 * portable, the hash takes them in the order of their hashes.
 */
#include "item/item.h"
#include "item/words.h"

#include "miscadmin.h"
#include "utils/jsonb.h"

static ckf_hashes
ckfp_hash_scalar(const JsonbValue *value, uint64 seed)
{
	switch (value->type)
	{
		case jbvNull:
			return ckfp_hashes_of(ckf_hash_words(NULL, 0, seed));
		case jbvString:
			return ckfp_hashes_of(
				ckfp_hash_text(value->val.string.val, value->val.string.len, seed));
		case jbvNumeric:
			return ckfp_hash_numeric(NumericGetDatum(value->val.numeric), seed);
		case jbvBool:
			return ckfp_words_of_one(CKF_SHAPE_JSON_BOOLEAN, ckfp_hashes_of(value->val.boolean),
									 seed);
		default:
			elog(ERROR, "unexpected jsonb scalar of type %d", (int)value->type);
	}
}

/* Compare two members of an object by the hash of the key. A member is two words: the hash of
 * its key and that of its value. */
static int
ckfp_compare_members(const void *a, const void *b)
{
	const uint64 *x = a, *y = b;
	int word = x[0] == y[0]; /* only if the hashes of two different keys are equal */

	return (x[word] > y[word]) - (x[word] < y[word]);
}

/* The hash of an array or object. The iterator has just entered it and is moved past its end. */
static ckf_hashes
ckfp_hash_nested(JsonbIterator **iterator, const JsonbValue *nested, uint64 seed)
{
	bool object = nested->type == jbvObject;
	size_t n = (size_t)(object ? nested->val.object.nPairs : nested->val.array.nElems);
	JsonbIteratorToken token;
	JsonbValue value;
	ckfp_words words;

	check_stack_depth();
	ckfp_words_begin(&words, object ? CKF_SHAPE_JSON_OBJECT : CKF_SHAPE_JSON_ARRAY,
					 2 + (object ? 2 * n : n), seed);
	ckfp_words_put(&words, n);
	while ((token = JsonbIteratorNext(iterator, &value, false)) != WJB_END_ARRAY &&
		   token != WJB_END_OBJECT)
	{
		CHECK_FOR_INTERRUPTS();
		if (token == WJB_BEGIN_ARRAY || token == WJB_BEGIN_OBJECT)
			ckfp_words_put_element(&words, ckfp_hash_nested(iterator, &value, seed));
		else
			ckfp_words_put_element(&words, ckfp_hash_scalar(&value, seed));
	}
	if (object)
		qsort(words.words + 2, n, 2 * sizeof(uint64), ckfp_compare_members);
	if (object && words.rounded != NULL)
		qsort(words.rounded + 2, n, 2 * sizeof(uint64), ckfp_compare_members);
	return ckfp_words_end(&words);
}

static ckf_hashes
ckfp_hash_document(JsonbContainer *root, uint64 seed)
{
	JsonbIterator *iterator;
	JsonbValue value;

	if (JsonbExtractScalar(root, &value))
		return ckfp_words_of_one(CKF_SHAPE_JSON, ckfp_hash_scalar(&value, seed), seed);
	iterator = JsonbIteratorInit(root);
	(void)JsonbIteratorNext(&iterator, &value, false);
	return ckfp_hash_nested(&iterator, &value, seed);
}

ckf_hashes
ckfp_hash_json(Datum item, uint64 seed)
{
	Jsonb *json = DatumGetJsonbP(item);
	ckf_hashes hashes = ckfp_hash_document(&json->root, seed);

	if ((Pointer)json != DatumGetPointer(item))
		pfree(json);
	return hashes;
}
