/*
 * lookup.c - lookups about one item.
 */
#include "module.h"

int
ckfy_hash_item(PyObject *self, PyObject *item, ckfy_hashed *hashed)
{
	return ckfy_hash(item, ckfy_engine(CKFY_FILTER(self))->seed, hashed);
}

int
ckfy_hash_arguments(PyObject *self, PyObject *arguments, ckfy_hashed *hashed)
{
	PyObject *item, *value;

	return PyArg_ParseTuple(arguments, "OO", &item, &value)
			   ? ckfy_hash_pair(item, value, ckfy_engine(CKFY_FILTER(self))->seed, hashed)
			   : -1;
}

int
ckfy_hash_given(PyObject *self, PyObject *hash, ckfy_hashed *hashed)
{
	(void)self; /* the caller's hash includes the seed */
	hashed->item_class = CKF_ITEM_HASH;
	if (hash == Py_None)
		return 0;
	if (!ckfy_read_hash(hash, &hashed->hashes.hash))
		return -1;
	hashed->hashes.rounded = hashed->hashes.hash;
	return 1;
}

PyObject *
ckfy_no_item(int result)
{
	if (result == 0)
		Py_RETURN_NONE;
	return NULL;
}

/* Hash the argument of a lookup; inline, since `hash` is a constant.  1; 0: it is None; -1 with
 * an exception, also if the filter has no item of its class. */
static inline int
ckfy_hash_lookup(PyObject *self, PyObject *argument, ckfy_hasher *hash, ckfy_hashed *hashed)
{
	int result = hash(self, argument, hashed);
	cuckoofilter_error error;

	if (result <= 0 || hashed->item_class == CKF_ITEM_HASH ||
		ckf_may_hold(ckfy_engine(CKFY_FILTER(self)), hashed->item_class))
		return result;
	error.interrupted = NULL;
	(void)cuckoofilter_contains_hashes(CKFY_FILTER(self)->shared->filter, &hashed->hashes.hash, 1,
									   hashed->item_class, NULL, &error);
	ckfy_raise(&error);
	return -1;
}

static inline PyObject *
ckfy_look_up(PyObject *self, PyObject *argument, ckfy_hasher *hash)
{
	ckfy_hashed hashed;
	int result = ckfy_hash_lookup(self, argument, hash, &hashed);

	return result > 0
			   ? PyBool_FromLong(ckf_contains_item(ckfy_engine(CKFY_FILTER(self)), hashed.hashes))
			   : ckfy_no_item(result);
}

int
ckfy_in(PyObject *self, PyObject *item)
{
	ckfy_hashed hashed;
	int result = ckfy_hash_lookup(self, item, ckfy_hash_item, &hashed);

	return result > 0 ? ckf_contains_item(ckfy_engine(CKFY_FILTER(self)), hashed.hashes) : result;
}

CKFY_METHOD(ckfy_contains, ckfy_look_up(self, argument, ckfy_hash_item));

CKFY_METHOD(ckfy_contains_pair, ckfy_look_up(self, argument, ckfy_hash_arguments));

CKFY_METHOD(ckfy_contains_hash, ckfy_look_up(self, argument, ckfy_hash_given));

PyObject *
ckfy_copies(PyObject *self, PyObject *item)
{
	ckfy_hashed hashed;
	int result = ckfy_hash_lookup(self, item, ckfy_hash_item, &hashed);

	return result > 0 ? PyLong_FromLong(
							(long)ckf_copies_of_item(ckfy_engine(CKFY_FILTER(self)), hashed.hashes))
					  : ckfy_no_item(result);
}

PyObject *
ckfy_hash_method(PyObject *self, PyObject *item)
{
	ckfy_hashed hashed;
	int result = ckfy_hash_item(self, item, &hashed);

	return result > 0 ? PyLong_FromLongLong((long long)hashed.hashes.hash) : ckfy_no_item(result);
}

Py_ssize_t
ckfy_length(PyObject *self)
{
	return (Py_ssize_t)cuckoofilter_count(CKFY_FILTER(self)->shared->filter);
}
