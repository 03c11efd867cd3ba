/*
 * module.h - what the files of the Python module share.
 *
 * The module keeps to the limited API of Python 3.9, so that one library serves every Python from
 * 3.9 on.  It sits on libcuckoofilter's layer (cuckoofilter_program.h), which is linked in.
 */
#ifndef CKFY_MODULE_H
#define CKFY_MODULE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include "cuckoofilter_program.h"

/* ------------------------------------------------------------------ module */

/* Classes and functions of the package's Python files, which the module calls. */
extern PyObject *ckfy_error_class; /* _errors.Error; of a message alone, an error of a parameter */
extern PyObject *ckfy_item_error_class; /* _errors.ItemError */
extern PyObject *ckfy_convert;          /* _items.convert */
extern PyObject *ckfy_digits;           /* _items.digits */
extern PyObject *ckfy_describe;         /* _arrays.describe */
extern PyObject *ckfy_decode;           /* _text.decode */
extern PyObject *ckfy_read;             /* _arguments.read */
extern PyTypeObject *ckfy_filter_type;

/* Raise the error of a call of the library.  Returns NULL. */
PyObject *ckfy_raise(const cuckoofilter_error *error);

/* Raise Error about a parameter, with a sentence that is a new reference, or NULL with an
 * exception, since the repr of the parameter may fail.  Returns NULL. */
PyObject *ckfy_raise_parameter(PyObject *sentence);

/* ------------------------------------------------------------------- items */

typedef struct ckfy_hashed
{
	ckf_hashes hashes;
	unsigned item_class; /* ckf_item_class */
} ckfy_hashed;

/* Hash an object under a seed: 1; 0 if it is None, which is no item; -1 with an exception.  It may
 * run Python code, and so change any object. */
int ckfy_hash(PyObject *object, uint64_t seed, ckfy_hashed *hashed);

/* The same of a pair, an item with a value.  If one of them is None, it is no item. */
int ckfy_hash_pair(PyObject *item, PyObject *value, uint64_t seed, ckfy_hashed *hashed);

/* The same of a pair in a tuple or list. */
int ckfy_hash_entry(PyObject *pair, uint64_t seed, ckfy_hashed *hashed);

/* Hash the argument of a method under the filter's seed: an item; a tuple of an item and its value;
 * or an integer that is the hash. */
typedef int ckfy_hasher(PyObject *self, PyObject *argument, ckfy_hashed *hashed);

ckfy_hasher ckfy_hash_item, ckfy_hash_arguments, ckfy_hash_given;

/* What a method returns if nothing was hashed: None if the result is 0, else NULL. */
PyObject *ckfy_no_item(int result);

/* ----------------------------------------------------------- many items */

/*
 * The items of an argument, as hashes, in pieces: of an iterable, or of an array of numpy, whose
 * numbers are read where they are.
 */
#define CKFY_PIECE 1024

typedef struct ckfy_items
{
	uint64_t seed;
	/* ckfy_hash or ckfy_hash_entry */
	int (*hash)(PyObject *object, uint64_t seed, ckfy_hashed *hashed);
	PyObject *iterator;    /* or NULL: of an array */
	PyObject *array;       /* what owns the numbers at `at`; or NULL */
	PyObject *result;      /* of an array: a new array of booleans, for the answers */
	uint8_t *answers;      /* the memory of `result` */
	const char *at;        /* of an array: the first number */
	char code;             /* of an array: as in the module struct; M: microseconds since 2000 */
	Py_ssize_t next;       /* of an array: items taken so far */
	Py_ssize_t n;          /* items of the piece, with those that are NULL */
	size_t count;          /* hashes of the piece */
	unsigned item_classes; /* of the piece */
	Py_ssize_t length;     /* of an array */
	uint64_t hashes[CKFY_PIECE];    /* of the piece */
	uint64_t rounded[CKFY_PIECE];   /* their older ones, if item_classes has CKF_ITEM_DECIMAL */
	uint16_t positions[CKFY_PIECE]; /* where each hash's item is in the piece */
} ckfy_items;

/* Begin; false with an exception.  ckfy_items_end in every case.  pairs: of tuples or lists of two
 * items. */
bool ckfy_items_start(ckfy_items *items, PyObject *argument, uint64_t seed, bool pairs);

/* The next piece: 1; 0: there is none; -1 with an exception.  Of an array, it runs without the
 * interpreter's lock. */
int ckfy_items_next(ckfy_items *items);

void ckfy_items_end(ckfy_items *items);

/* --------------------------------------------------------------- interrupts */

/*
 * A call without the interpreter's lock: ckfy_unlock(&call); cuckoofilter_..(.., &call.error);
 * ckfy_lock(&call).  The call ends with CUCKOOFILTER_INTERRUPTED if a signal's handler raises.
 */
typedef struct ckfy_call
{
	cuckoofilter_error error;
	PyThreadState *thread; /* NULL: the lock is held */
} ckfy_call;

/* Prepare a call that holds the interpreter's lock. */
void ckfy_call_start(ckfy_call *call);

void ckfy_unlock(ckfy_call *call);
void ckfy_lock(ckfy_call *call);

/* ------------------------------------------------------------------ filters */

/* Bytes from which a call gives up the interpreter's lock. */
#define CKFY_LARGE 65536

/*
 * What a Filter has.  A call without the interpreter's lock keeps a reference to it; who changes
 * a filter to which others refer changes a copy.  References count under the interpreter's lock.
 */
typedef struct ckfy_shared
{
	cuckoofilter *filter;
	Py_ssize_t references;
} ckfy_shared;

typedef struct ckfy_filter
{
	PyObject_HEAD ckfy_shared *shared;
	PyThread_type_lock lock;  /* of who changes the filter */
	unsigned long changed_by; /* the thread that has the lock; 0: none */
} ckfy_filter;

#define CKFY_FILTER(object) ((ckfy_filter *)(object))

/* A new Filter of a class, which takes over the filter; NULL with an exception. */
PyObject *ckfy_new(PyTypeObject *type, cuckoofilter *filter);

/* The same of a call's result: NULL raises the call's error. */
PyObject *ckfy_result(PyTypeObject *type, cuckoofilter *filter, const ckfy_call *call);

/* Refer to a filter's content, and release it. */
ckfy_shared *ckfy_share(ckfy_filter *self);
void ckfy_release(ckfy_shared *shared);

const ckf_filter *ckfy_engine(const ckfy_filter *self);

/* Methods of Filter. */
PyObject *ckfy_build(PyObject *type, PyObject *arguments, PyObject *keywords);
PyObject *ckfy_build_pairs(PyObject *type, PyObject *arguments, PyObject *keywords);
PyObject *ckfy_create(PyObject *type, PyObject *arguments, PyObject *keywords);
Py_ssize_t ckfy_length(PyObject *self);
int ckfy_in(PyObject *self, PyObject *item);
PyObject *ckfy_equal(PyObject *self, PyObject *other, int operation);

/* Methods of one argument, which is a tuple in ckfy_.._pair and nothing in ckfy_compact. */
typedef PyObject *ckfy_method(PyObject *self, PyObject *argument);

/* Define one that returns an expression of `self` and `argument`. */
#define CKFY_METHOD(name, result)                                                                  \
	PyObject *name(PyObject *self, PyObject *argument)                                             \
	{                                                                                              \
		return result;                                                                             \
	}                                                                                              \
	extern ckfy_method name

ckfy_method ckfy_contains, ckfy_contains_pair, ckfy_contains_hash, ckfy_copies, ckfy_hash_method;
ckfy_method ckfy_add, ckfy_add_pair, ckfy_add_hash, ckfy_remove, ckfy_remove_pair, ckfy_remove_hash;
ckfy_method ckfy_contains_many, ckfy_add_many, ckfy_remove_many, ckfy_compact;
ckfy_method ckfy_or, ckfy_and, ckfy_sum, ckfy_overlap, ckfy_overlap_error, ckfy_jaccard;
ckfy_method ckfy_union_all, ckfy_sum_all; /* of the class */

/* A signed or unsigned 64-bit integer: a hash, or a seed.  false with an exception. */
bool ckfy_read_hash(PyObject *object, uint64_t *hash);

#endif
