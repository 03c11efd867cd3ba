/*
 * items.c - Python values to hashes.
 *
 * Numbers, texts and bytes are hashed here.  Dates, UUIDs and whatever else is an item are
 * converted by _items.convert first.
 */
#include "module.h"

#include <math.h>

static int
ckfy_hashed_as(ckfy_hashed *hashed, cuckoofilter_item item, uint64_t seed)
{
	hashed->hash = cuckoofilter_hash(item, seed);
	hashed->item_class = ckf_item_class_of(item.item_class);
	return 1;
}

/* An integer that does not fit in 64 bits is the nearest double, as a numeric is. */
static int
ckfy_hash_int(PyObject *object, uint64_t seed, ckfy_hashed *hashed)
{
	int overflow;
	long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
	double real;

	if (value == -1 && !overflow && PyErr_Occurred())
		return -1;
	if (!overflow)
	{
		hashed->hash = ckf_hash_integer(value, seed);
		hashed->item_class = CKF_ITEM_NUMBER;
		return 1;
	}
	real = PyLong_AsDouble(object);
	if (real == -1 && PyErr_Occurred())
	{
		if (!PyErr_ExceptionMatches(PyExc_OverflowError))
			return -1;
		PyErr_Clear();
		real = overflow > 0 ? HUGE_VAL : -HUGE_VAL;
	}
	return ckfy_hashed_as(hashed, cuckoofilter_real(real), seed);
}

static int
ckfy_hash_bytes(PyObject *object, uint64_t seed, ckfy_hashed *hashed, bool text)
{
	char *bytes;
	Py_ssize_t size;

	if (PyBytes_AsStringAndSize(object, &bytes, &size) < 0)
		return -1;
	return ckfy_hashed_as(hashed,
						  text ? cuckoofilter_text(bytes, (size_t)size)
							   : cuckoofilter_bytes(bytes, (size_t)size),
						  seed);
}

static int
ckfy_hash_str(PyObject *object, uint64_t seed, ckfy_hashed *hashed)
{
	PyObject *utf8 = PyUnicode_AsUTF8String(object);
	int result = utf8 ? ckfy_hash_bytes(utf8, seed, hashed, true) : -1;

	Py_XDECREF(utf8);
	return result;
}

/* A tuple is a row: ROW(item, value). */
static int
ckfy_hash_tuple(PyObject *object, uint64_t seed, ckfy_hashed *hashed)
{
	Py_ssize_t n = PyTuple_Size(object), i;
	uint64_t *words = PyMem_Malloc((size_t)(n + 2) * sizeof *words);
	int result = 1;

	if (!words)
	{
		PyErr_NoMemory();
		return -1;
	}
	words[0] = CKF_SHAPE_RECORD;
	words[1] = (uint64_t)n;
	for (i = 0; result >= 0 && i < n; i++)
	{
		result = ckfy_hash(PyTuple_GetItem(object, i), seed, hashed);
		words[i + 2] = result == 0 ? ckf_hash_words(NULL, 0, seed) : hashed->hash;
	}
	if (result >= 0)
	{
		hashed->hash = ckf_hash_words(words, (size_t)n + 2, seed);
		hashed->item_class = CKF_ITEM_OTHER;
	}
	PyMem_Free(words);
	return result < 0 ? -1 : 1;
}

int
ckfy_hash_pair(PyObject *item, PyObject *value, uint64_t seed, ckfy_hashed *hashed)
{
	ckfy_hashed parts[2];
	int of_item = ckfy_hash(item, seed, &parts[0]);
	int of_value = of_item < 0 ? -1 : ckfy_hash(value, seed, &parts[1]);

	if (of_value < 0)
		return -1;
	hashed->hash = of_item && of_value ? ckf_hash_pair(parts[0].hash, parts[1].hash, seed) : 0;
	hashed->item_class = CKF_ITEM_OTHER;
	return of_item && of_value;
}

int
ckfy_hash_entry(PyObject *pair, uint64_t seed, ckfy_hashed *hashed)
{
	PyObject *parts = PyTuple_Check(pair) || PyList_Check(pair) ? PySequence_Tuple(pair) : NULL;
	int result = -1;

	if (parts && PyTuple_Size(parts) == 2)
		result = ckfy_hash_pair(PyTuple_GetItem(parts, 0), PyTuple_GetItem(parts, 1), seed, hashed);
	else if (!PyErr_Occurred())
		PyErr_SetString(PyExc_TypeError, "a pair must be a tuple of two items, (item, value)");
	Py_XDECREF(parts);
	return result;
}

/* What _items.convert returned: None, or a class and a value. */
static int
ckfy_hash_converted(PyObject *converted, uint64_t seed, ckfy_hashed *hashed)
{
	PyObject *value;
	long item_class;

	if (converted == Py_None)
		return 0;
	if (!PyTuple_Check(converted))
		return ckfy_hash(converted, seed, hashed);
	item_class = PyLong_AsLong(PyTuple_GetItem(converted, 0));
	value = PyTuple_GetItem(converted, 1);
	hashed->hash = ckf_hash_word((ckf_class)item_class, PyLong_AsUnsignedLongLongMask(value), seed);
	hashed->item_class = ckf_item_class_of((ckf_class)item_class);
	return PyErr_Occurred() ? -1 : 1;
}

/* A value of none of the usual types. */
static int
ckfy_hash_other(PyObject *object, uint64_t seed, ckfy_hashed *hashed)
{
	PyObject *converted;
	int result = -1;

	if (PyLong_Check(object))
		return ckfy_hash_int(object, seed, hashed);
	if (PyUnicode_Check(object))
		return ckfy_hash_str(object, seed, hashed);
	if (PyBytes_Check(object))
		return ckfy_hash_bytes(object, seed, hashed, false);
	if (PyFloat_Check(object))
		return ckfy_hashed_as(hashed, cuckoofilter_real(PyFloat_AsDouble(object)), seed);
	if (Py_EnterRecursiveCall(" in an item of a cuckoofilter"))
		return -1;
	if (PyTuple_Check(object))
		result = ckfy_hash_tuple(object, seed, hashed);
	else if ((converted = PyObject_CallFunctionObjArgs(ckfy_convert, object, NULL)) != NULL)
	{
		result = ckfy_hash_converted(converted, seed, hashed);
		Py_DECREF(converted);
	}
	Py_LeaveRecursiveCall();
	return result;
}

int
ckfy_hash(PyObject *object, uint64_t seed, ckfy_hashed *hashed)
{
	if (PyLong_CheckExact(object))
		return ckfy_hash_int(object, seed, hashed);
	if (PyUnicode_CheckExact(object))
		return ckfy_hash_str(object, seed, hashed);
	if (PyFloat_CheckExact(object))
		return ckfy_hashed_as(hashed, cuckoofilter_real(PyFloat_AsDouble(object)), seed);
	if (PyBytes_CheckExact(object))
		return ckfy_hash_bytes(object, seed, hashed, false);
	if (object == Py_None)
		return 0;
	return ckfy_hash_other(object, seed, hashed);
}

bool
ckfy_read_hash(PyObject *object, uint64_t *hash)
{
	int overflow;
	long long value = PyLong_AsLongLongAndOverflow(object, &overflow);

	if (value == -1 && !overflow && PyErr_Occurred())
		return false;
	*hash = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : (uint64_t)value;
	if (overflow < 0)
		PyErr_SetString(PyExc_OverflowError, "the hash must be a 64-bit integer");
	return !PyErr_Occurred();
}
