/*
 * many.c - the items of an iterable, or of an array of numpy, in pieces of hashes.
 */
#include "module.h"

#include <string.h>

/* An array, as _arrays.describe tells: (array, code, address, length, result, its address). */
static void
ckfy_set_array(ckfy_items *items, PyObject *array)
{
	const char *code;
	unsigned long long address, answers;
	PyObject *owner, *result;

	/* "O" borrows; the tuple may go before the items do */
	if (!PyArg_ParseTuple(array, "OsKnOK", &owner, &code, &address, &items->length, &result,
						  &answers))
		return;
	Py_INCREF(owner);
	Py_INCREF(result);
	items->array = owner;
	items->result = result;
	items->code = code[0];
	items->at = (const char *)(uintptr_t)address;
	items->answers = (uint8_t *)(uintptr_t)answers;
}

bool
ckfy_items_start(ckfy_items *items, PyObject *argument, uint64_t seed, bool pairs)
{
	PyObject *described = argument;

	/* all but the arrays at the end */
	memset(items, 0, offsetof(ckfy_items, hashes));
	items->seed = seed;
	items->hash = pairs ? ckfy_hash_entry : ckfy_hash;
	if (PyUnicode_Check(argument) || PyBytes_Check(argument))
	{
		PyErr_SetString(PyExc_TypeError, "items must be several, not one str or bytes");
		return false;
	}
	/* a tuple: an array; else the same object, or a list of an array's items */
	if (pairs || PyList_CheckExact(argument) || PyTuple_CheckExact(argument))
		Py_INCREF(described);
	else
		described = PyObject_CallFunctionObjArgs(ckfy_describe, argument, NULL);
	if (!described)
		return false;
	if (described != argument && PyTuple_CheckExact(described))
		ckfy_set_array(items, described);
	else
		items->iterator = PyObject_GetIter(described);
	Py_DECREF(described);
	return items->array || items->iterator;
}

void
ckfy_items_end(ckfy_items *items)
{
	Py_XDECREF(items->iterator);
	Py_XDECREF(items->array);
	Py_XDECREF(items->result);
}

/* ------------------------------------------------------------------ arrays */

/* Hash the numbers of a C type; `hash` is an expression in `value`. */
#define EACH(type, hash)                                                                           \
	for (i = 0; i < n; i++)                                                                        \
	{                                                                                              \
		type value;                                                                                \
                                                                                                   \
		memcpy(&value, at + (size_t)i * sizeof value, sizeof value);                               \
		items->hashes[i] = (hash);                                                                 \
	}                                                                                              \
	break

#define INTEGERS(type) EACH(type, ckf_hash_integer((int64_t)value, seed))

/* Moments in microseconds since 2000; the least one is NaT, which is NULL. */
static void
ckfy_hash_moments(ckfy_items *items, const char *at, Py_ssize_t n)
{
	Py_ssize_t i;

	items->count = 0;
	for (i = 0; i < n; i++)
	{
		int64_t value;

		memcpy(&value, at + (size_t)i * sizeof value, sizeof value);
		if (value == INT64_MIN)
			continue;
		items->positions[items->count] = (uint16_t)i;
		items->hashes[items->count++] =
			ckf_hash_word(CKF_CLASS_TIMESTAMP, (uint64_t)value, items->seed);
	}
	items->item_classes = items->count > 0 ? CKF_ITEM_TIMESTAMP : 0;
}

/* The hash of number i of the piece. */
static uint64_t
ckfy_hash_unsigned(ckfy_items *items, size_t i, uint64_t value)
{
	ckf_hashes hashes;

	if (value <= INT64_MAX)
		return items->rounded[i] = ckf_hash_integer((int64_t)value, items->seed);
	hashes = ckf_hash_unsigned(value, items->seed);
	items->rounded[i] = hashes.rounded;
	items->item_classes |= ckf_decimal_class(hashes);
	return hashes.hash;
}

/* The next piece of an array. */
static int
ckfy_next_of_array(ckfy_items *items)
{
	static const char sizes[] = "b1B1?1h2H2i4I4f4q8Q8d8M8";
	uint64_t seed = items->seed;
	Py_ssize_t n = items->length - items->next, i;
	const char *at = items->at + items->next * (strchr(sizes, items->code)[1] - '0');

	if (n > CKFY_PIECE)
		n = CKFY_PIECE;
	items->n = n;
	items->count = (size_t)n;
	items->item_classes = CKF_ITEM_NUMBER;
	items->next += n;
	switch (items->code)
	{
		case 'b':
			INTEGERS(int8_t);
		case 'B':
			INTEGERS(uint8_t);
		case '?':
			EACH(uint8_t, ckf_hash_integer(value != 0, seed));
		case 'h':
			INTEGERS(int16_t);
		case 'H':
			INTEGERS(uint16_t);
		case 'i':
			INTEGERS(int32_t);
		case 'I':
			INTEGERS(uint32_t);
		case 'q':
			INTEGERS(int64_t);
		case 'Q':
			EACH(uint64_t, ckfy_hash_unsigned(items, (size_t)i, value));
		case 'f':
			EACH(float, ckf_hash_real((double)value, seed));
		case 'd':
			EACH(double, ckf_hash_real(value, seed));
		case 'M':
			ckfy_hash_moments(items, at, n);
			return n > 0;
	}
	for (i = 0; i < n; i++)
		items->positions[i] = (uint16_t)i;
	return n > 0;
}

/* --------------------------------------------------------------- iterables */

int
ckfy_items_next(ckfy_items *items)
{
	PyObject *object;

	if (items->array)
		return ckfy_next_of_array(items);
	if (PyErr_CheckSignals() < 0)
		return -1;
	items->count = 0;
	items->item_classes = 0;
	for (items->n = 0; items->n < CKFY_PIECE && (object = PyIter_Next(items->iterator)) != NULL;
		 items->n++)
	{
		ckfy_hashed hashed;
		int result = items->hash(object, items->seed, &hashed);

		Py_DECREF(object);
		if (result < 0)
			return -1;
		if (result == 0)
			continue;
		items->positions[items->count] = (uint16_t)items->n;
		items->rounded[items->count] = hashed.hashes.rounded;
		items->hashes[items->count++] = hashed.hashes.hash;
		items->item_classes |= hashed.item_class;
	}
	return PyErr_Occurred() ? -1 : items->n > 0;
}
