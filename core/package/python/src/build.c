/*
 * build.c - Filter.build and Filter.create.
 */
#include "module.h"
#include "messages.h"

#include <math.h>

/* The integer that a number is, such as a float or Decimal; NULL with an exception. */
static PyObject *
ckfy_integer(PyObject *object)
{
	PyObject *integer;
	int equal;

	if (PyIndex_Check(object) || !PyNumber_Check(object))
		return PyNumber_Index(object);
	integer = PyNumber_Long(object);
	equal = integer ? PyObject_RichCompareBool(integer, object, Py_EQ) : -1;
	if (equal == 1)
		return integer;
	Py_XDECREF(integer);
	/* NaN and infinity have no integer */
	if (equal == 0 || PyErr_ExceptionMatches(PyExc_ValueError) ||
		PyErr_ExceptionMatches(PyExc_OverflowError))
	{
		PyErr_Clear();
		ckfy_raise_parameter(PyUnicode_FromFormat("capacity must be an integer, not %R", object),
							 "");
	}
	return NULL;
}

/* Is a number that is not infinite too large for a float?  A Decimal of many digits is not made an
 * integer, which can take hours. */
static bool
ckfy_is_vast(PyObject *object)
{
	double about = PyIndex_Check(object) || !PyNumber_Check(object) ? 0 : PyFloat_AsDouble(object);
	PyObject *infinity = isinf(about) ? PyFloat_FromDouble(about) : NULL;
	bool vast = infinity && PyObject_RichCompareBool(object, infinity, Py_EQ) == 0;

	Py_XDECREF(infinity);
	PyErr_Clear();
	return vast;
}

/* A capacity: a number that is an integer, or None for 0.  The library checks its range. */
static bool
ckfy_read_capacity(PyObject *object, int64_t *capacity)
{
	PyObject *integer = NULL;
	int overflow = 0;

	*capacity = 0;
	if (!object || object == Py_None)
		return true;
	if (ckfy_is_vast(object))
		overflow = 1;
	else
		integer = ckfy_integer(object);
	*capacity = integer ? PyLong_AsLongLongAndOverflow(integer, &overflow) : 0;
	Py_XDECREF(integer);
	if (overflow)
		return ckfy_raise_parameter(
			PyUnicode_FromFormat(CKF_SAY_BAD_CAPACITY("%R"), (long long)CKF_MAX_CAPACITY, object),
			"");
	return !PyErr_Occurred();
}

/* One option as the databases write it; NULL with an exception.  A value is not a list of options,
 * nor is it cut at a zero. */
static PyObject *
ckfy_option(const char *format, PyObject *value)
{
	PyObject *option = PyUnicode_FromFormat(format, value);
	Py_ssize_t length = option ? PyUnicode_GetLength(option) : 0;

	if (!option || (PyUnicode_FindChar(option, ',', 0, length, 1) == -1 &&
					PyUnicode_FindChar(option, 0, 0, length, 1) == -1))
		return option;
	ckfy_raise_parameter(PyUnicode_FromFormat("invalid cuckoofilter option \"%U\"", option),
						 CKF_HINT_BAD_OPTION);
	Py_DECREF(option);
	return NULL;
}

/* The options as the databases write them; NULL with an exception. */
static PyObject *
ckfy_options(PyObject *kind, PyObject *bucket_size, PyObject *layout, PyObject *seed)
{
	PyObject *parts[] = {kind, bucket_size, layout, seed};
	static const char *const formats[] = {"kind=%S", "bucket_size=%S", "layout=%S", "seed=%S"};
	PyObject *text = PyUnicode_FromString("");

	for (int i = 0; text && i < 4; i++)
		if (parts[i] && parts[i] != Py_None)
		{
			PyObject *option = ckfy_option(formats[i], parts[i]), *before = text;

			text = option
					   ? PyUnicode_FromFormat("%U%s%U", before,
											  PyUnicode_GetLength(before) > 0 ? ", " : "", option)
					   : NULL;
			Py_XDECREF(option);
			Py_DECREF(before);
		}
	return text;
}

/* Arguments of both functions. */
typedef struct ckfy_arguments
{
	PyObject *items;
	double fpr;
	int64_t capacity;
	PyObject *options; /* UTF-8 */
} ckfy_arguments;

static bool
ckfy_read_arguments(ckfy_arguments *to, const char *format, char **names, PyObject *arguments,
					PyObject *keywords, bool create)
{
	PyObject *capacity = NULL, *kind = NULL, *bucket_size = NULL, *layout = NULL, *seed = NULL;
	PyObject *text;
	bool ok;

	*to = (ckfy_arguments){.fpr = CKF_DEFAULT_FPR};
	ok = create
			 ? PyArg_ParseTupleAndKeywords(arguments, keywords, format, names, &capacity, &to->fpr,
										   &kind, &bucket_size, &layout, &seed)
			 : PyArg_ParseTupleAndKeywords(arguments, keywords, format, names, &to->items, &to->fpr,
										   &capacity, &kind, &bucket_size, &layout, &seed);
	if (!ok || !ckfy_read_capacity(capacity, &to->capacity))
		return false;
	text = ckfy_options(kind, bucket_size, layout, seed);
	to->options = text ? PyUnicode_AsUTF8String(text) : NULL;
	Py_XDECREF(text);
	return to->options != NULL;
}

PyObject *
ckfy_create(PyObject *type, PyObject *arguments, PyObject *keywords)
{
	static char *names[] = {"capacity", "fpr", "kind", "bucket_size", "layout", "seed", NULL};
	ckfy_arguments read;
	cuckoofilter *filter;
	ckfy_call call;

	if (!ckfy_read_arguments(&read, "O|d$OOOO:create", names, arguments, keywords, true))
		return NULL;
	ckfy_call_start(&call);
	filter =
		cuckoofilter_create(read.capacity, read.fpr, PyBytes_AsString(read.options), &call.error);
	Py_DECREF(read.options);
	return ckfy_result((PyTypeObject *)type, filter, &call);
}

/* Hand all items to a builder. */
static bool
ckfy_build_items(cuckoofilter_builder *builder, PyObject *argument, bool pairs, ckfy_call *call)
{
	uint64_t seed = cuckoofilter_build_seed(builder);
	ckfy_items items;
	int more = -1;
	bool ok = true;

	if (ckfy_items_start(&items, argument, seed, pairs))
	{
		if (items.array)
			ckfy_unlock(call);
		while (ok && (more = ckfy_items_next(&items)) > 0)
			ok = cuckoofilter_build_add_hashes(builder, items.hashes, items.count,
											   items.item_classes, &call->error);
		if (items.array)
			ckfy_lock(call);
	}
	ckfy_items_end(&items);
	if (!ok)
		ckfy_raise(&call->error);
	return ok && more == 0;
}

static PyObject *
ckfy_build_of(PyObject *type, PyObject *arguments, PyObject *keywords, const char *format,
			  char *items, bool pairs)
{
	char *names[] = {items, "fpr", "capacity", "kind", "bucket_size", "layout", "seed", NULL};
	cuckoofilter_builder *builder;
	cuckoofilter *filter = NULL;
	ckfy_arguments read;
	ckfy_call call;

	if (!ckfy_read_arguments(&read, format, names, arguments, keywords, false))
		return NULL;
	ckfy_call_start(&call);
	builder =
		cuckoofilter_build(read.fpr, read.capacity, PyBytes_AsString(read.options), &call.error);
	Py_DECREF(read.options);
	if (!builder)
		return ckfy_raise(&call.error);
	if (ckfy_build_items(builder, read.items, pairs, &call))
	{
		ckfy_unlock(&call);
		filter = cuckoofilter_build_end(builder, &call.error);
		ckfy_lock(&call);
		if (!filter)
			ckfy_raise(&call.error);
	}
	cuckoofilter_build_free(builder);
	return filter ? ckfy_new((PyTypeObject *)type, filter) : NULL;
}

PyObject *
ckfy_build(PyObject *type, PyObject *arguments, PyObject *keywords)
{
	return ckfy_build_of(type, arguments, keywords, "O|dO$OOOO:build", "items", false);
}

PyObject *
ckfy_build_pairs(PyObject *type, PyObject *arguments, PyObject *keywords)
{
	return ckfy_build_of(type, arguments, keywords, "O|dO$OOOO:build_pairs", "pairs", true);
}
