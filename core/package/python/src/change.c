/*
 * change.c - lookups about many items, and everything that changes a filter.
 *
 * A filter is changed by one thread at a time.  While a thread works on a filter without the
 * interpreter's lock, others go on to use it: a lookup reads what it refers to, and a change
 * is made in a copy, which then takes the filter's place.
 */
#include "module.h"

#include <string.h>

/* Begin to change a filter.  false with an exception: this thread is already changing it, and a
 * signal's handler makes this call. */
static bool
ckfy_change_begin(ckfy_filter *self)
{
	if (!PyThread_acquire_lock(self->lock, 0))
	{
		if (self->changed_by == PyThread_get_thread_ident())
		{
			PyErr_SetString(PyExc_RuntimeError, "the filter is being changed");
			return false;
		}
		Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(self->lock, 1);
		Py_END_ALLOW_THREADS
	}
	self->changed_by = PyThread_get_thread_ident();
	return true;
}

static void
ckfy_change_end(ckfy_filter *self)
{
	self->changed_by = 0;
	PyThread_release_lock(self->lock);
}

/* Put a changed filter in place. */
static bool
ckfy_replace(ckfy_filter *self, cuckoofilter *changed)
{
	ckfy_shared *shared = PyMem_Malloc(sizeof *shared);

	if (!shared)
	{
		cuckoofilter_free(changed);
		PyErr_NoMemory();
		return false;
	}
	shared->filter = changed;
	shared->references = 1;
	ckfy_release(self->shared);
	self->shared = shared;
	return true;
}

/* A change of a filter by hashes. */
typedef enum ckfy_what
{
	CKFY_ADD,
	CKFY_REMOVE,
	CKFY_COMPACT
} ckfy_what;

typedef struct ckfy_change
{
	ckfy_what what;
	const uint64_t *hashes, *rounded;
	size_t n;
	unsigned item_classes;
	bool one; /* an item, and not a list of one */
} ckfy_change;

static bool
ckfy_apply(cuckoofilter *filter, const ckfy_change *change, cuckoofilter_error *error)
{
	switch (change->what)
	{
		case CKFY_ADD:
			return cuckoofilter_add_hashes(filter, change->hashes, change->n, change->item_classes,
										   error);
		case CKFY_REMOVE:
			return cuckoofilter_remove_both(filter, change->hashes, change->rounded, change->n,
											change->item_classes, error);
		default:
			return cuckoofilter_compact(filter, error);
	}
}

/* Change a copy without the interpreter's lock, then put it in place. */
static bool
ckfy_change_copy(ckfy_filter *self, const ckfy_change *change)
{
	ckfy_shared *shared = ckfy_share(self);
	cuckoofilter *copy;
	ckfy_call call;
	bool ok;

	ckfy_call_start(&call);
	ckfy_unlock(&call);
	copy = cuckoofilter_copy(shared->filter, &call.error);
	ok = copy && ckfy_apply(copy, change, &call.error);
	ckfy_lock(&call);
	ckfy_release(shared);
	if (ok)
		return ckfy_replace(self, copy);
	cuckoofilter_free(copy);
	ckfy_raise(&call.error);
	return false;
}

/* Hashes that are added or removed with the interpreter's lock held: some milliseconds. */
#define CKFY_MOST_IN_PLACE 50000

/* Whether to change the filter in its place, which nobody else may read then. */
static bool
ckfy_in_place(const ckfy_filter *self, const ckfy_change *change)
{
	return self->shared->references == 1 && change->what != CKFY_COMPACT &&
		   (change->n == 1 ||
			(change->n <= CKFY_MOST_IN_PLACE && ckf_few(ckfy_engine(self), change->n)));
}

/* Returns None; of one item's removal, whether there was one. */
static PyObject *
ckfy_make_change(ckfy_filter *self, const ckfy_change *change)
{
	uint64_t count;
	bool ok;

	if (!ckfy_change_begin(self))
		return NULL;
	count = ckfy_engine(self)->count;
	if (ckfy_in_place(self, change))
	{
		cuckoofilter_error error;

		error.interrupted = NULL; /* a signal's handler would let other threads read */
		ok = ckfy_apply(self->shared->filter, change, &error);
		if (!ok)
			ckfy_raise(&error);
	}
	else
		ok = ckfy_change_copy(self, change);
	count -= ckfy_engine(self)->count;
	ckfy_change_end(self);
	if (!ok)
		return NULL;
	if (change->what != CKFY_REMOVE || !change->one)
		Py_RETURN_NONE;
	return PyBool_FromLong(count != 0);
}

/* -------------------------------------------------------------- one item */

/* Change the filter by one copy of an argument. */
static PyObject *
ckfy_change_one(PyObject *self, PyObject *argument, ckfy_hasher *hash, ckfy_what what)
{
	ckfy_hashed hashed = {0};
	int result = hash(self, argument, &hashed);
	ckfy_change change = {what, &hashed.hashes.hash, &hashed.hashes.rounded,
						  1,    hashed.item_class,   true};

	return result > 0 ? ckfy_make_change(CKFY_FILTER(self), &change) : ckfy_no_item(result);
}

CKFY_METHOD(ckfy_add, ckfy_change_one(self, argument, ckfy_hash_item, CKFY_ADD));

CKFY_METHOD(ckfy_remove, ckfy_change_one(self, argument, ckfy_hash_item, CKFY_REMOVE));

CKFY_METHOD(ckfy_add_pair, ckfy_change_one(self, argument, ckfy_hash_arguments, CKFY_ADD));

CKFY_METHOD(ckfy_remove_pair, ckfy_change_one(self, argument, ckfy_hash_arguments, CKFY_REMOVE));

CKFY_METHOD(ckfy_add_hash, ckfy_change_one(self, argument, ckfy_hash_given, CKFY_ADD));

CKFY_METHOD(ckfy_remove_hash, ckfy_change_one(self, argument, ckfy_hash_given, CKFY_REMOVE));

PyObject *
ckfy_compact(PyObject *self, PyObject *unused)
{
	(void)unused;
	return ckfy_make_change((ckfy_filter *)self, &(ckfy_change){.what = CKFY_COMPACT});
}

/* -------------------------------------------------------------- many items */

/* Append hashes to a bytearray, whose memory is aligned for them. */
static bool
ckfy_append(PyObject *all, const uint64_t *hashes, size_t n)
{
	Py_ssize_t before = PyByteArray_Size(all);
	size_t added = n * sizeof *hashes;

	if (PyByteArray_Resize(all, before + (Py_ssize_t)added) < 0)
		return false;
	memcpy(PyByteArray_AsString(all) + before, hashes, added);
	return true;
}

/* Append the hashes of a piece, and their older ones. */
static bool
ckfy_append_piece(PyObject *all, PyObject *rounded, const ckfy_items *items)
{
	bool decimals = (items->item_classes & CKF_ITEM_DECIMAL) != 0;

	return ckfy_append(all, items->hashes, items->count) &&
		   ckfy_append(rounded, decimals ? items->rounded : items->hashes, items->count);
}

static PyObject *
ckfy_change_many(PyObject *self, PyObject *argument, ckfy_what what)
{
	PyObject *all = PyByteArray_FromStringAndSize(NULL, 0), *result = NULL;
	PyObject *rounded = all ? PyByteArray_FromStringAndSize(NULL, 0) : NULL;
	ckfy_change change = {.what = what};
	ckfy_items items;
	int more = -1;

	if (!rounded)
	{
		Py_XDECREF(all);
		return NULL;
	}
	if (ckfy_items_start(&items, argument, ckfy_engine(CKFY_FILTER(self))->seed, false))
		while ((more = ckfy_items_next(&items)) > 0)
		{
			change.item_classes |= items.item_classes;
			if (!ckfy_append_piece(all, rounded, &items))
			{
				more = -1;
				break;
			}
		}
	ckfy_items_end(&items);
	if (more == 0)
	{
		change.hashes = (const uint64_t *)(void *)PyByteArray_AsString(all);
		change.rounded = (const uint64_t *)(void *)PyByteArray_AsString(rounded);
		change.n = (size_t)PyByteArray_Size(all) / sizeof *change.hashes;
		result = ckfy_make_change(CKFY_FILTER(self), &change);
	}
	Py_DECREF(all);
	Py_DECREF(rounded);
	return result;
}

CKFY_METHOD(ckfy_add_many, ckfy_change_many(self, argument, CKFY_ADD));

CKFY_METHOD(ckfy_remove_many, ckfy_change_many(self, argument, CKFY_REMOVE));

/* ------------------------------------------------------------- lookups */

/* The answers to a piece, as bytes.  false: *error is filled. */
static bool
ckfy_look_up_piece(const ckfy_items *items, const cuckoofilter *filter, uint8_t *answers,
				   cuckoofilter_error *error)
{
	uint8_t found[CKFY_PIECE];
	size_t i;

	if (!cuckoofilter_contains_both(filter, items->hashes, items->rounded, items->count,
									items->item_classes, found, error))
		return false;
	memset(answers, 0, (size_t)items->n);
	for (i = 0; i < items->count; i++)
		answers[items->positions[i]] = found[i];
	return true;
}

/* The answers to an array, in a new array of booleans. */
static PyObject *
ckfy_look_up_array(ckfy_items *items, const cuckoofilter *filter)
{
	Py_ssize_t done = 0;
	ckfy_call call;
	bool ok = true;

	ckfy_call_start(&call);
	ckfy_unlock(&call);
	while (ok && ckfy_items_next(items) > 0)
	{
		ok = ckfy_look_up_piece(items, filter, items->answers + done, &call.error);
		done += items->n;
		if (ok && (done / CKFY_PIECE) % 256 == 0 && call.error.interrupted(&call))
		{
			call.error.code = CUCKOOFILTER_INTERRUPTED;
			ok = false;
		}
	}
	ckfy_lock(&call);
	if (!ok)
		return ckfy_raise(&call.error);
	Py_INCREF(items->result);
	return items->result;
}

/* The answers to other items, in a list. */
static PyObject *
ckfy_look_up_list(ckfy_items *items, const cuckoofilter *filter)
{
	PyObject *list = PyList_New(0);
	uint8_t answers[CKFY_PIECE];
	cuckoofilter_error error;
	int more = -1;

	error.interrupted = NULL;
	while (list && (more = ckfy_items_next(items)) > 0)
	{
		bool ok = ckfy_look_up_piece(items, filter, answers, &error);

		if (!ok)
			ckfy_raise(&error);
		for (Py_ssize_t i = 0; ok && i < items->n; i++)
			ok = PyList_Append(list, answers[i] ? Py_True : Py_False) == 0;
		if (!ok)
			Py_CLEAR(list);
	}
	if (more < 0)
		Py_CLEAR(list);
	return list;
}

PyObject *
ckfy_contains_many(PyObject *self, PyObject *argument)
{
	ckfy_shared *shared;
	ckfy_items items;
	PyObject *answers = NULL;

	if (ckfy_items_start(&items, argument, ckfy_engine(CKFY_FILTER(self))->seed, false))
	{
		shared = ckfy_share(CKFY_FILTER(self));
		answers = items.array ? ckfy_look_up_array(&items, shared->filter)
							  : ckfy_look_up_list(&items, shared->filter);
		ckfy_release(shared);
	}
	ckfy_items_end(&items);
	return answers;
}
