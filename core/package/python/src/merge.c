/*
 * merge.c - operations of two filters.
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

PyObject *
ckfy_or(PyObject *a, PyObject *b)
{
	return ckfy_merged(a, b, cuckoofilter_union);
}

PyObject *
ckfy_and(PyObject *a, PyObject *b)
{
	return ckfy_merged(a, b, cuckoofilter_intersect);
}

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

PyObject *
ckfy_sum(PyObject *self, PyObject *other)
{
	return ckfy_is_filter(other) ? ckfy_merged(self, other, cuckoofilter_sum) : NULL;
}

static bool
ckfy_compare(PyObject *self, PyObject *other, ckf_comparison *comparison)
{
	ckfy_shared *left, *right;
	ckfy_call call;
	bool ok;

	if (!ckfy_is_filter(other))
		return false;
	left = ckfy_share(CKFY_FILTER(self));
	right = ckfy_share(CKFY_FILTER(other));
	ckfy_call_start(&call);
	ckfy_unlock(&call);
	ok = cuckoofilter_compare(left->filter, right->filter, comparison, &call.error);
	ckfy_lock(&call);
	ckfy_release(left);
	ckfy_release(right);
	if (!ok)
		ckfy_raise(&call.error);
	return ok;
}

PyObject *
ckfy_overlap(PyObject *self, PyObject *other)
{
	ckf_comparison comparison;

	return ckfy_compare(self, other, &comparison) ? PyFloat_FromDouble(comparison.overlap) : NULL;
}

PyObject *
ckfy_jaccard(PyObject *self, PyObject *other)
{
	ckf_comparison comparison;

	if (!ckfy_compare(self, other, &comparison))
		return NULL;
	if (comparison.empty)
		Py_RETURN_NONE;
	return PyFloat_FromDouble(comparison.jaccard);
}

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
