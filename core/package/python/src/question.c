/*
 * question.c - questions about one item.
 */
#include "module.h"

int
ckfy_hash_arguments(PyObject *self, PyObject *arguments, ckfy_hashed *hashed)
{
	PyObject *item, *value;

	return PyArg_ParseTuple(arguments, "OO", &item, &value)
			   ? ckfy_hash_pair(item, value, ckfy_engine(CKFY_FILTER(self))->seed, hashed)
			   : -1;
}

/* Whether what was hashed with this result is in: 1, 0, or -1 with an exception; 2: it is None. */
static int
ckfy_ask_hashed(PyObject *self, int result, const ckfy_hashed *hashed)
{
	const ckf_filter *filter = ckfy_engine(CKFY_FILTER(self));
	cuckoofilter_error error;

	if (result < 0)
		return -1;
	if (result == 0)
		return 2;
	if (ckf_may_hold(filter, hashed->item_class))
		return ckf_contains(filter, hashed->hash);
	error.interrupted = NULL;
	(void)cuckoofilter_contains_hashes(CKFY_FILTER(self)->shared->filter, &hashed->hash, 1,
									   hashed->item_class, NULL, &error);
	ckfy_raise(&error);
	return -1;
}

static int
ckfy_ask(PyObject *self, PyObject *item)
{
	ckfy_hashed hashed;
	int result = ckfy_hash(item, ckfy_engine(CKFY_FILTER(self))->seed, &hashed);

	return ckfy_ask_hashed(self, result, &hashed);
}

/* What a question returned, as an object. */
static PyObject *
ckfy_answer(int result)
{
	if (result < 0)
		return NULL;
	if (result == 2)
		Py_RETURN_NONE;
	return PyBool_FromLong(result);
}

int
ckfy_in(PyObject *self, PyObject *item)
{
	int result = ckfy_ask(self, item);

	return result == 2 ? 0 : result;
}

PyObject *
ckfy_contains(PyObject *self, PyObject *item)
{
	return ckfy_answer(ckfy_ask(self, item));
}

PyObject *
ckfy_contains_pair(PyObject *self, PyObject *arguments)
{
	ckfy_hashed hashed;
	int result = ckfy_hash_arguments(self, arguments, &hashed);

	return ckfy_answer(ckfy_ask_hashed(self, result, &hashed));
}

PyObject *
ckfy_copies(PyObject *self, PyObject *item)
{
	ckfy_hashed hashed;
	int result = ckfy_ask(self, item); /* for its errors */

	if (result < 0 || ckfy_hash(item, ckfy_engine(CKFY_FILTER(self))->seed, &hashed) < 0)
		return NULL;
	if (result == 2)
		Py_RETURN_NONE;
	return PyLong_FromLong((long)ckf_copies(ckfy_engine(CKFY_FILTER(self)), hashed.hash));
}

PyObject *
ckfy_contains_hash(PyObject *self, PyObject *object)
{
	uint64_t hash;

	if (object == Py_None)
		Py_RETURN_NONE;
	if (!ckfy_read_hash(object, &hash))
		return NULL;
	return PyBool_FromLong(ckf_contains(ckfy_engine(CKFY_FILTER(self)), hash));
}

PyObject *
ckfy_hash_method(PyObject *self, PyObject *item)
{
	ckfy_hashed hashed;
	int result = ckfy_hash(item, ckfy_engine(CKFY_FILTER(self))->seed, &hashed);

	if (result < 0)
		return NULL;
	if (result == 0)
		Py_RETURN_NONE;
	return PyLong_FromLongLong((long long)hashed.hash);
}

Py_ssize_t
ckfy_length(PyObject *self)
{
	return (Py_ssize_t)cuckoofilter_count(CKFY_FILTER(self)->shared->filter);
}
