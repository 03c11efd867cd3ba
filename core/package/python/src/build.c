/*
 * build.c - Filter.build and Filter.create.
 */
#include "module.h"
#include "messages.h"

#include <math.h>

/* Raise Error with a sentence about a capacity, a new reference or NULL.  Returns false. */
static bool
ckfy_refuse_capacity(PyObject *sentence)
{
	PyObject *exception =
		sentence ? PyObject_CallFunction(ckfy_error_class, "Osss", sentence, "22023", "", "")
				 : NULL;

	if (exception)
		PyErr_SetObject(ckfy_error_class, exception);
	Py_XDECREF(exception);
	Py_XDECREF(sentence);
	return false;
}

/* A capacity: an integer, a real that is one, or None for 0.  The library checks its range. */
static bool
ckfy_read_capacity(PyObject *object, int64_t *capacity)
{
	PyObject *integer;
	double real;
	int overflow = 0;

	*capacity = 0;
	if (!object || object == Py_None)
		return true;
	if (PyFloat_Check(object))
	{
		real = PyFloat_AsDouble(object);
		if (floor(real) != real || isinf(real)) /* or NaN */
			return ckfy_refuse_capacity(
				PyUnicode_FromFormat("capacity must be an integer, not %R", object));
		overflow = fabs(real) > 9e18;
		*capacity = overflow ? 0 : (int64_t)real;
	}
	else
	{
		integer = PyNumber_Index(object);
		*capacity = integer ? PyLong_AsLongLongAndOverflow(integer, &overflow) : 0;
		Py_XDECREF(integer);
	}
	if (overflow)
		return ckfy_refuse_capacity(
			PyUnicode_FromFormat(CKF_SAY_HUGE_CAPACITY("%R"), (long long)CKF_MAX_CAPACITY, object));
	return !PyErr_Occurred();
}

/* The options as the databases write them; NULL with an exception. */
static PyObject *
ckfy_options(PyObject *kind, PyObject *bucket_size, PyObject *layout, PyObject *seed)
{
	PyObject *parts[] = {kind, bucket_size, layout, seed};
	static const char *const formats[] = {"%U%skind=%S", "%U%sbucket_size=%S", "%U%slayout=%S",
										  "%U%sseed=%S"};
	PyObject *text = PyUnicode_FromString("");

	for (int i = 0; text && i < 4; i++)
		if (parts[i] && parts[i] != Py_None)
		{
			PyObject *longer = PyUnicode_FromFormat(
				formats[i], text, PyUnicode_GetLength(text) > 0 ? ", " : "", parts[i]);

			Py_DECREF(text);
			text = longer;
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

	if (pairs ? ckfy_pairs_start(&items, argument, seed) : ckfy_items_start(&items, argument, seed))
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
			  char **names, bool pairs)
{
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
	static char *names[] = {"items",       "fpr",    "capacity", "kind",
							"bucket_size", "layout", "seed",     NULL};

	return ckfy_build_of(type, arguments, keywords, "O|dO$OOOO:build", names, false);
}

PyObject *
ckfy_build_pairs(PyObject *type, PyObject *arguments, PyObject *keywords)
{
	static char *names[] = {"pairs",       "fpr",    "capacity", "kind",
							"bucket_size", "layout", "seed",     NULL};

	return ckfy_build_of(type, arguments, keywords, "O|dO$OOOO:build_pairs", names, true);
}
