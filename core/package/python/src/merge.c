/*
 * merge.c - operations of two filters, and merges of many.
 */
#include "module.h"

#include <string.h>

typedef cuckoofilter *ckfy_merge(const cuckoofilter *a, const cuckoofilter *b,
								 cuckoofilter_error *error);

/* A filter of two, without the interpreter's lock. */
static PyObject *
ckfy_merged(PyObject *a, PyObject *b, ckfy_merge *merge)
{
	ckfy_shared *left, *right;
	cuckoofilter *filter;
	ckfy_call call;

	if (!PyObject_TypeCheck(a, ckfy_filter_type) || !PyObject_TypeCheck(b, ckfy_filter_type))
	{
		Py_INCREF(Py_NotImplemented);
		return Py_NotImplemented;
	}
	left = ckfy_share(CKFY_FILTER(a));
	right = ckfy_share(CKFY_FILTER(b));
	ckfy_call_start(&call);
	ckfy_unlock(&call);
	filter = merge(left->filter, right->filter, &call.error);
	ckfy_lock(&call);
	ckfy_release(left);
	ckfy_release(right);
	return ckfy_result(ckfy_filter_type, filter, &call);
}

CKFY_METHOD(ckfy_or, ckfy_merged(self, argument, cuckoofilter_union));

CKFY_METHOD(ckfy_and, ckfy_merged(self, argument, cuckoofilter_intersect));

/* Whether a method's argument is a Filter; else an exception is set. */
static bool
ckfy_is_filter(PyObject *other)
{
	if (PyObject_TypeCheck(other, ckfy_filter_type))
		return true;
	PyErr_Format(PyExc_TypeError, "the argument must be a Filter, not %R",
				 (PyObject *)Py_TYPE(other));
	return false;
}

CKFY_METHOD(ckfy_sum,
			ckfy_is_filter(argument) ? ckfy_merged(self, argument, cuckoofilter_sum) : NULL);

/* ------------------------------------------------------------ many filters */

typedef cuckoofilter *ckfy_merge_many(const cuckoofilter *const *filters, size_t n,
									  cuckoofilter_error *error);

/* A filter of these, without the interpreter's lock.  The arrays have room for n. */
static cuckoofilter *
ckfy_merge_shared(PyObject *filters, size_t n, ckfy_shared **shared, const cuckoofilter **in,
				  ckfy_merge_many *merge, ckfy_call *call)
{
	cuckoofilter *merged;
	size_t i;

	for (i = 0; i < n; i++)
	{
		shared[i] = ckfy_share(CKFY_FILTER(PyTuple_GetItem(filters, (Py_ssize_t)i)));
		in[i] = shared[i]->filter;
	}
	ckfy_call_start(call);
	ckfy_unlock(call);
	merged = merge(in, n, &call->error);
	ckfy_lock(call);
	for (i = 0; i < n; i++)
		ckfy_release(shared[i]);
	return merged;
}

static PyObject *
ckfy_merged_all(PyObject *type, PyObject *argument, ckfy_merge_many *merge)
{
	PyObject *filters = PySequence_Tuple(argument), *result = NULL;
	size_t n = filters ? (size_t)PyTuple_Size(filters) : 0, i;
	ckfy_shared **shared = PyMem_Malloc((n + 1) * sizeof *shared);
	const cuckoofilter **in = PyMem_Malloc((n + 1) * sizeof *in);
	bool ok = filters != NULL;
	ckfy_call call;

	if (ok && (!shared || !in))
		ok = PyErr_NoMemory() != NULL;
	for (i = 0; ok && i < n; i++)
		ok = ckfy_is_filter(PyTuple_GetItem(filters, (Py_ssize_t)i));
	if (ok)
	{
		cuckoofilter *merged = ckfy_merge_shared(filters, n, shared, in, merge, &call);

		result = ckfy_result((PyTypeObject *)type, merged, &call);
	}
	PyMem_Free(shared);
	PyMem_Free(in);
	Py_XDECREF(filters);
	return result;
}

CKFY_METHOD(ckfy_union_all, ckfy_merged_all(self, argument, cuckoofilter_union_many));

CKFY_METHOD(ckfy_sum_all, ckfy_merged_all(self, argument, cuckoofilter_sum_many));

/* ------------------------------------------------------------- comparisons */

/* A number of the comparison of two filters: the member that begins at this byte. */
static PyObject *
ckfy_compared(PyObject *self, PyObject *other, size_t member)
{
	ckfy_shared *left, *right;
	ckf_comparison comparison;
	ckfy_call call;
	bool ok;

	if (!ckfy_is_filter(other))
		return NULL;
	left = ckfy_share(CKFY_FILTER(self));
	right = ckfy_share(CKFY_FILTER(other));
	ckfy_call_start(&call);
	ckfy_unlock(&call);
	ok = cuckoofilter_compare(left->filter, right->filter, &comparison, &call.error);
	ckfy_lock(&call);
	ckfy_release(left);
	ckfy_release(right);
	if (!ok)
		return ckfy_raise(&call.error);
	if (comparison.empty && member == offsetof(ckf_comparison, jaccard))
		Py_RETURN_NONE;
	return PyFloat_FromDouble(*(const double *)(const void *)((const char *)&comparison + member));
}

CKFY_METHOD(ckfy_overlap, ckfy_compared(self, argument, offsetof(ckf_comparison, overlap)));

CKFY_METHOD(ckfy_overlap_error, ckfy_compared(self, argument, offsetof(ckf_comparison, error)));

CKFY_METHOD(ckfy_jaccard, ckfy_compared(self, argument, offsetof(ckf_comparison, jaccard)));

PyObject *
ckfy_equal(PyObject *self, PyObject *other, int operation)
{
	const void *a, *b;
	size_t size, other_size;
	bool same;

	if ((operation != Py_EQ && operation != Py_NE) || !PyObject_TypeCheck(other, ckfy_filter_type))
	{
		Py_INCREF(Py_NotImplemented);
		return Py_NotImplemented;
	}
	a = cuckoofilter_data(CKFY_FILTER(self)->shared->filter, &size);
	b = cuckoofilter_data(CKFY_FILTER(other)->shared->filter, &other_size);
	same = size == other_size && memcmp(a, b, size) == 0;
	return PyBool_FromLong(same == (operation == Py_EQ));
}
