/*
 * items.c - Python values to hashes.
 *
 * Numbers, texts and bytes are hashed here.  Dates, UUIDs and whatever else is an item are
 * converted by _items.convert first.
 */
#include "module.h"

static int
ckfy_hashed_as(ckfy_hashed *hashed, cuckoofilter_item item, uint64_t seed)
{
	hashed->hashes = cuckoofilter_hashes(item, seed);
	hashed->item_class = item.item_class == CKF_CLASS_DECIMAL
							 ? CKF_ITEM_NUMBER | ckf_decimal_class(hashed->hashes)
							 : ckf_item_class_of(item.item_class);
	return 1;
}

/* A number by its decimal digits, which are its str. */
static int
ckfy_hash_digits(PyObject *digits, uint64_t seed, ckfy_hashed *hashed)
{
	PyObject *utf8 = digits ? PyUnicode_AsUTF8String(digits) : NULL;
	char *bytes;
	Py_ssize_t size;
	int result = -1;

	if (utf8 && PyBytes_AsStringAndSize(utf8, &bytes, &size) >= 0)
		result = ckfy_hashed_as(hashed, cuckoofilter_decimal(bytes, (size_t)size), seed);
	Py_XDECREF(utf8);
	Py_XDECREF(digits);
	return result;
}

/* The digits of an integer of any size; Python itself refuses those of a very large one. */
static int
ckfy_hash_large(PyObject *object, uint64_t seed, ckfy_hashed *hashed)
{
	PyObject *digits = PyObject_CallFunctionObjArgs(ckfy_digits, object, NULL);

	return ckfy_hash_digits(digits, seed, hashed);
}

static int
ckfy_hash_int(PyObject *object, uint64_t seed, ckfy_hashed *hashed)
{
	int overflow;
	long long value = PyLong_AsLongLongAndOverflow(object, &overflow);

	if (value == -1 && !overflow && PyErr_Occurred())
		return -1;
	if (overflow)
		return ckfy_hash_large(object, seed, hashed);
	hashed->hashes.hash = hashed->hashes.rounded = ckf_hash_integer(value, seed);
	hashed->item_class = CKF_ITEM_NUMBER;
	return 1;
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
	uint64_t *words = PyMem_Malloc((size_t)(n + 2) * 2 * sizeof *words), *rounded;
	unsigned decimal = 0;
	int result = 1;

	if (!words)
	{
		PyErr_NoMemory();
		return -1;
	}
	rounded = words + n + 2;
	words[0] = rounded[0] = CKF_SHAPE_RECORD;
	words[1] = rounded[1] = (uint64_t)n;
	for (i = 0; result >= 0 && i < n; i++)
	{
		result = ckfy_hash(PyTuple_GetItem(object, i), seed, hashed);
		if (result == 0)
			hashed->hashes.hash = hashed->hashes.rounded = ckf_hash_words(NULL, 0, seed);
		if (result > 0)
			decimal |= hashed->item_class & CKF_ITEM_DECIMAL;
		words[i + 2] = hashed->hashes.hash;
		rounded[i + 2] = hashed->hashes.rounded;
	}
	if (result >= 0)
	{
		hashed->hashes.hash = ckf_hash_words(words, (size_t)n + 2, seed);
		hashed->hashes.rounded =
			decimal ? ckf_hash_words(rounded, (size_t)n + 2, seed) : hashed->hashes.hash;
		hashed->item_class = CKF_ITEM_OTHER | decimal;
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

	if (of_value <= 0 || of_item == 0)
		return of_value < 0 ? -1 : 0;
	hashed->hashes = ckf_hashes_of_pair(parts[0].hashes, parts[1].hashes, seed);
	hashed->item_class = CKF_ITEM_OTHER | ckf_decimal_class(hashed->hashes);
	return 1;
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

/* What _items.convert returned: None, or a class and a value, which is digits or microseconds. */
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
	if (item_class == CKF_CLASS_DECIMAL)
	{
		Py_INCREF(value);
		return ckfy_hash_digits(value, seed, hashed);
	}
	hashed->hashes.hash = hashed->hashes.rounded =
		ckf_hash_word((ckf_class)item_class, PyLong_AsUnsignedLongLongMask(value), seed);
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
