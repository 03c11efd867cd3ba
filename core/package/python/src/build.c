/*
 * build.c - Filter.build and Filter.create.
 */
#include "module.h"

#include "messages.h"

/* Arguments of both functions. */
typedef struct ckfy_arguments
{
	PyObject *items;
	double fpr;
	int64_t capacity;
	const char *options; /* or NULL */
	PyObject *read;      /* what has the options; or NULL */
} ckfy_arguments;

/* Read them.  false with an exception.  Python's part is left out where it has nothing to do, since
 * a filter of a few items is built in a microsecond. */
static bool
ckfy_read_arguments(ckfy_arguments *to, const char *format, char **names, PyObject *arguments,
					PyObject *keywords, bool create)
{
	PyObject *none = Py_None, *integer;
	PyObject *capacity = none, *kind = none, *bucket_size = none, *layout = none, *seed = none;
	int overflow = 0;
	bool ok, options;

	*to = (ckfy_arguments){.fpr = CKF_DEFAULT_FPR};
	ok = create
			 ? PyArg_ParseTupleAndKeywords(arguments, keywords, format, names, &capacity, &to->fpr,
										   &kind, &bucket_size, &layout, &seed)
			 : PyArg_ParseTupleAndKeywords(arguments, keywords, format, names, &to->items, &to->fpr,
										   &capacity, &kind, &bucket_size, &layout, &seed);
	if (!ok)
		return false;
	integer = capacity;
	options = kind != none || bucket_size != none || layout != none || seed != none;
	if (options || (capacity != none && !PyLong_CheckExact(capacity)))
	{
		to->read = PyObject_CallFunction(ckfy_read, "OOOOOs", capacity, kind, bucket_size, layout,
										 seed, CKF_HINT_BAD_OPTION);
		if (!to->read)
			return false;
		integer = PyTuple_GetItem(to->read, 0);
		to->options = PyBytes_AsString(PyTuple_GetItem(to->read, 1));
	}
	if (integer != none)
		to->capacity = PyLong_AsLongLongAndOverflow(integer, &overflow);
	if (!overflow)
		return true;
	Py_XDECREF(to->read);
	return ckfy_raise_parameter(
		PyUnicode_FromFormat(CKF_SAY_BAD_CAPACITY("%R"), (long long)CKF_MAX_CAPACITY, capacity));
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
	filter = cuckoofilter_create(read.capacity, read.fpr, read.options, &call.error);
	Py_XDECREF(read.read);
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
	builder = cuckoofilter_build(read.fpr, read.capacity, read.options, &call.error);
	Py_XDECREF(read.read);
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
