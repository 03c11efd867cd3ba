/*
 * filter.c - the type Filter.
 */
#include "module.h"

#include "info_fields.h"

/* --------------------------------------------------------------- lifetime */

const ckf_filter *
ckfy_engine(const ckfy_filter *self)
{
	return cuckoofilter_engine(self->shared->filter);
}

ckfy_shared *
ckfy_share(ckfy_filter *self)
{
	self->shared->references++;
	return self->shared;
}

void
ckfy_release(ckfy_shared *shared)
{
	if (--shared->references > 0)
		return;
	cuckoofilter_free(shared->filter);
	PyMem_Free(shared);
}

PyObject *
ckfy_new(PyTypeObject *type, cuckoofilter *filter)
{
	allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
	ckfy_shared *shared = PyMem_Malloc(sizeof *shared);
	PyThread_type_lock lock = PyThread_allocate_lock();
	PyObject *self = shared && lock ? allocate(type, 0) : NULL;

	if (!self)
	{
		if (lock)
			PyThread_free_lock(lock);
		PyMem_Free(shared);
		cuckoofilter_free(filter);
		return PyErr_Occurred() ? NULL : PyErr_NoMemory();
	}
	shared->filter = filter;
	shared->references = 1;
	CKFY_FILTER(self)->shared = shared;
	CKFY_FILTER(self)->lock = lock;
	CKFY_FILTER(self)->changed_by = 0;
	return self;
}

PyObject *
ckfy_result(PyTypeObject *type, cuckoofilter *filter, const ckfy_call *call)
{
	return filter ? ckfy_new(type, filter) : ckfy_raise(&call->error);
}

/* The bytes of an argument, as a bytes object. */
static PyObject *
ckfy_bytes_of(PyObject *object)
{
	if (!PyBytes_Check(object))
		return PyObject_CallFunctionObjArgs(ckfy_decode, object, NULL);
	Py_INCREF(object);
	return object;
}

/* Filter(bytes) */
static PyObject *
ckfy_open(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	static char *names[] = {"data", NULL};
	PyObject *object, *bytes;
	cuckoofilter *filter;
	char *data;
	Py_ssize_t size;
	ckfy_call call;

	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:Filter", names, &object))
		return NULL;
	bytes = ckfy_bytes_of(object);
	if (!bytes || PyBytes_AsStringAndSize(bytes, &data, &size) < 0)
	{
		Py_XDECREF(bytes);
		return NULL;
	}
	ckfy_call_start(&call);
	if (size > CKFY_LARGE)
		ckfy_unlock(&call);
	filter = cuckoofilter_open(data, (size_t)size, &call.error);
	if (call.thread)
		ckfy_lock(&call);
	Py_DECREF(bytes);
	return ckfy_result(type, filter, &call);
}

static void
ckfy_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

	ckfy_release(CKFY_FILTER(self)->shared);
	PyThread_free_lock(CKFY_FILTER(self)->lock);
	release(self);
	Py_DECREF(type);
}

/* -------------------------------------------------------------------- bytes */

static PyObject *
ckfy_bytes(PyObject *self, PyObject *unused)
{
	size_t size;
	const void *bytes = cuckoofilter_data(CKFY_FILTER(self)->shared->filter, &size);

	(void)unused;
	return PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
}

static PyObject *
ckfy_reduce(PyObject *self, PyObject *unused)
{
	return Py_BuildValue("O(N)", (PyObject *)Py_TYPE(self), ckfy_bytes(self, unused));
}

static PyObject *
ckfy_copy(PyObject *self, PyObject *unused)
{
	cuckoofilter_error error;
	cuckoofilter *copy;

	(void)unused;
	error.interrupted = NULL;
	copy = cuckoofilter_copy(CKFY_FILTER(self)->shared->filter, &error);
	return copy ? ckfy_new(Py_TYPE(self), copy) : ckfy_raise(&error);
}

static PyObject *
ckfy_sizeof(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromSize_t(sizeof(ckfy_filter) + sizeof(ckfy_shared) + sizeof(ckf_filter) +
							 ckfy_engine(CKFY_FILTER(self))->room);
}

/* -------------------------------------------------------------------- info */

static PyObject *
ckfy_repr(PyObject *self)
{
	const ckf_filter *filter = ckfy_engine(CKFY_FILTER(self));
	PyObject *rate = PyFloat_FromDouble(ckf_fpr(filter)), *text;

	if (!rate)
		return NULL;
	text = PyUnicode_FromFormat("<cuckoofilter.Filter: %llu items, %zu bytes, rate %R>",
								(unsigned long long)filter->count, filter->size, rate);
	Py_DECREF(rate);
	return text;
}

static PyObject *
ckfy_fpr(PyObject *self, void *unused)
{
	(void)unused;
	return PyFloat_FromDouble(cuckoofilter_fpr(CKFY_FILTER(self)->shared->filter));
}

static PyObject *
ckfy_words(const char *const *words)
{
	PyObject *list = PyList_New(0);

	for (; list && *words; words++)
	{
		PyObject *word = PyUnicode_FromString(*words);

		if (!word || PyList_Append(list, word) < 0)
			Py_CLEAR(list);
		Py_XDECREF(word);
	}
	return list;
}

/* Put a value, a new reference, in a dict. */
static bool
ckfy_put(PyObject *dict, const char *name, PyObject *value)
{
	bool ok = value && PyDict_SetItemString(dict, name, value) == 0;

	Py_XDECREF(value);
	return ok;
}

static PyObject *
ckfy_info(PyObject *self, void *unused)
{
	PyObject *dict = PyDict_New();
	ckf_info info;
	bool ok = dict != NULL;

	(void)unused;
	cuckoofilter_info(CKFY_FILTER(self)->shared->filter, &info);
#define COUNT(name) ok = ok && ckfy_put(dict, #name, PyLong_FromUnsignedLongLong(info.name));
#define INTEGER(name) ok = ok && ckfy_put(dict, #name, PyLong_FromLongLong(info.name));
#define BITS(name) ok = ok && ckfy_put(dict, #name, PyLong_FromLongLong((long long)info.name));
#define REAL(name) ok = ok && ckfy_put(dict, #name, PyFloat_FromDouble(info.name));
#define WORD(name) ok = ok && ckfy_put(dict, #name, PyUnicode_FromString(info.name));
#define WORDS(name) ok = ok && ckfy_put(dict, #name, ckfy_words(info.name));
	CKF_INFO_FIELDS(COUNT, INTEGER, BITS, REAL, WORD, WORDS)
	if (!ok)
		Py_CLEAR(dict);
	return dict;
}

/* -------------------------------------------------------------------- type */

static PyMethodDef methods[] = {
	{"build", (PyCFunction)(void (*)(void))ckfy_build, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	 "build(items, fpr=0.01, capacity=None, *, kind='deletable', bucket_size=4, layout=None, "
	 "seed=0)\n"
	 "--\n\n"
	 "The filter of the distinct items, the bytes of cuckoofilter_agg in SQL.\n\n"
	 "items: an iterable, or a numpy array. fpr: the false positive rate. capacity: the number of\n"
	 "distinct items up to which the rate holds, if more are to be added. None is skipped."},
	{"build_pairs", (PyCFunction)(void (*)(void))ckfy_build_pairs,
	 METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	 "build_pairs(pairs, fpr=0.01, capacity=None, *, kind='deletable', bucket_size=4, "
	 "layout=None, seed=0)\n"
	 "--\n\n"
	 "The filter of items with a value, the bytes of cuckoofilter_agg_pair in SQL.\n\n"
	 "pairs: an iterable of tuples (item, value). A pair with None is skipped."},
	{"create", (PyCFunction)(void (*)(void))ckfy_create, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
	 "create(capacity, fpr=0.01, *, kind='deletable', bucket_size=4, layout=None, seed=0)\n"
	 "--\n\n"
	 "An empty filter, whose rate stays at or under fpr up to `capacity` distinct items."},
	{"contains", ckfy_contains, METH_O,
	 "contains($self, item, /)\n--\n\nTrue: probably. False: certainly not. None: item is None."},
	{"contains_many", ckfy_contains_many, METH_O,
	 "contains_many($self, items, /)\n--\n\n"
	 "The answer for each item: a list of bool; for a numpy array an array of bool."},
	{"contains_pair", ckfy_contains_pair, METH_VARARGS,
	 "contains_pair($self, item, value, /)\n--\n\n"
	 "The same of a pair: an item with a value, ROW(item, value) in SQL. None: one of them is "
	 "None."},
	{"contains_hash", ckfy_contains_hash, METH_O,
	 "contains_hash($self, hash, /)\n--\n\nThe same by a 64-bit hash, such as hash() returns."},
	{"copies", ckfy_copies, METH_O,
	 "copies($self, item, /)\n--\n\nHow many copies of the item are stored: 0 .. 2 x bucket size."},
	{"hash", ckfy_hash_method, METH_O,
	 "hash($self, item, /)\n--\n\nThe item's hash under the filter's seed: cuckoofilter_hash in "
	 "SQL."},
	{"add", ckfy_add, METH_O,
	 "add($self, item, /)\n--\n\nStore one copy of the item. None changes nothing."},
	{"add_many", ckfy_add_many, METH_O,
	 "add_many($self, items, /)\n--\n\n"
	 "Store one copy of each item, much faster than one by one. All or, with an error, nothing."},
	{"add_pair", ckfy_add_pair, METH_VARARGS,
	 "add_pair($self, item, value, /)\n--\n\n"
	 "Store one copy of a pair. If item or value is None, nothing changes."},
	{"add_hash", ckfy_add_hash, METH_O,
	 "add_hash($self, hash, /)\n--\n\nStore one copy of a 64-bit hash."},
	{"remove", ckfy_remove, METH_O,
	 "remove($self, item, /)\n--\n\n"
	 "Remove one copy of the item. True: a copy was removed. Remove only what was added."},
	{"remove_many", ckfy_remove_many, METH_O,
	 "remove_many($self, items, /)\n--\n\nRemove one copy of each item."},
	{"remove_pair", ckfy_remove_pair, METH_VARARGS,
	 "remove_pair($self, item, value, /)\n--\n\n"
	 "Remove one copy of a pair. True: a copy was removed."},
	{"remove_hash", ckfy_remove_hash, METH_O,
	 "remove_hash($self, hash, /)\n--\n\n"
	 "Remove one copy of a 64-bit hash. True: a copy was removed."},
	{"compact", ckfy_compact, METH_NOARGS,
	 "compact($self, /)\n--\n\nRewrite the filter in the fewest bytes."},
	{"sum", ckfy_sum, METH_O,
	 "sum($self, other, /)\n--\n\n"
	 "A filter with the copies of both, for filters that have no item in common. It is deletable\n"
	 "if both are; a union, self | other, is a set."},
	{"union_all", ckfy_union_all, METH_O | METH_CLASS,
	 "union_all($type, filters, /)\n--\n\n"
	 "The union of an iterable of filters, much faster than one by one: the bytes of\n"
	 "cuckoofilter_union_agg in SQL."},
	{"sum_all", ckfy_sum_all, METH_O | METH_CLASS,
	 "sum_all($type, filters, /)\n--\n\n"
	 "The sum of an iterable of filters: the bytes of cuckoofilter_sum_agg in SQL."},
	{"overlap", ckfy_overlap, METH_O,
	 "overlap($self, other, /)\n--\n\nHow many distinct items are in both, about."},
	{"overlap_error", ckfy_overlap_error, METH_O,
	 "overlap_error($self, other, /)\n--\n\nThe standard error of overlap(other)."},
	{"jaccard", ckfy_jaccard, METH_O,
	 "jaccard($self, other, /)\n--\n\n"
	 "The overlap divided by the distinct items of the union; None if both are empty."},
	{"copy", ckfy_copy, METH_NOARGS, "copy($self, /)\n--\n\nA copy of the filter."},
	{"__copy__", ckfy_copy, METH_NOARGS, NULL},
	{"__deepcopy__", ckfy_copy, METH_O, NULL},
	{"__bytes__", ckfy_bytes, METH_NOARGS,
	 "__bytes__($self, /)\n--\n\nThe bytes that PostgreSQL and SQLite store."},
	{"__reduce__", ckfy_reduce, METH_NOARGS, NULL},
	{"__sizeof__", ckfy_sizeof, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {
	{"fpr", ckfy_fpr, NULL, "The false positive rate to expect now.", NULL},
	{"info", ckfy_info, NULL, "What cuckoofilter_info of SQL shows, as a dict.", NULL},
	{NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {
	{Py_tp_doc,
	 "Filter(data)\n--\n\n"
	 "A cuckoo filter: `item in filter` is False (certainly not in it) or True (probably).\n\n"
	 "data: the bytes of a filter, from PostgreSQL, SQLite or bytes(filter), or their base64, the\n"
	 "text of a filter in PostgreSQL. They are validated.\n"
	 "Filter.build makes the filter of items."},
	{Py_tp_new, ckfy_open},
	{Py_tp_dealloc, ckfy_dealloc},
	{Py_tp_repr, ckfy_repr},
	{Py_tp_richcompare, ckfy_equal},
	{Py_tp_hash, PyObject_HashNotImplemented},
	{Py_tp_methods, methods},
	{Py_tp_getset, properties},
	{Py_sq_contains, ckfy_in},
	{Py_sq_length, ckfy_length},
	{Py_nb_or, ckfy_or},
	{Py_nb_and, ckfy_and},
	{0, NULL}};

PyType_Spec ckfy_filter_spec = {.name = "cuckoofilter.Filter",
								.basicsize = sizeof(ckfy_filter),
								.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
								.slots = slots};
