/*
 * module.c - the module cuckoofilter._filter.
 */
#include "module.h"

#include "messages.h"

PyObject *ckfy_error_class, *ckfy_item_error_class, *ckfy_convert, *ckfy_digits, *ckfy_describe,
	*ckfy_decode, *ckfy_read;
PyTypeObject *ckfy_filter_type;

extern PyType_Spec ckfy_filter_spec;

/* hash(item, seed=0) */
static PyObject *
ckfy_hash_function(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	static char *names[] = {"item", "seed", NULL};
	PyObject *item, *object = NULL;
	ckfy_hashed hashed;
	uint64_t seed = 0;
	int result;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:hash", names, &item, &object) ||
		(object && !ckfy_read_hash(object, &seed)))
		return NULL;
	result = ckfy_hash(item, seed, &hashed);
	return result > 0 ? PyLong_FromLongLong((long long)hashed.hashes.hash) : ckfy_no_item(result);
}

/* part(item, parts) */
static PyObject *
ckfy_part_function(PyObject *module, PyObject *arguments, PyObject *keywords)
{
	static char *names[] = {"item", "parts", NULL};
	PyObject *item, *object, *integer;
	ckfy_hashed hashed;
	long long parts;
	int overflow, result;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO:part", names, &item, &object))
		return NULL;
	integer = PyNumber_Index(object);
	if (!integer)
		return NULL;
	parts = PyLong_AsLongLongAndOverflow(integer, &overflow);
	Py_DECREF(integer);
	if (overflow || parts < 1 || parts > CKF_MOST_PARTS)
		return ckfy_raise_parameter(
			PyUnicode_FromFormat("parts must be from 1 to %lld, not %R", CKF_MOST_PARTS, object));
	result = ckfy_hash(item, 0, &hashed);
	return result > 0 ? PyLong_FromUnsignedLong(ckf_part(hashed.hashes.hash, (uint32_t)parts))
					  : ckfy_no_item(result);
}

static PyMethodDef functions[] = {
	{"hash", (PyCFunction)(void (*)(void))ckfy_hash_function, METH_VARARGS | METH_KEYWORDS,
	 "hash(item, seed=0)\n--\n\n"
	 "The 64-bit hash of an item, signed: cuckoofilter_hash in SQL. None for None."},
	{"part", (PyCFunction)(void (*)(void))ckfy_part_function, METH_VARARGS | METH_KEYWORDS,
	 "part(item, parts)\n--\n\n"
	 "The part of an item, 0 .. parts - 1, in a filter that is kept in parts: cuckoofilter_part\n"
	 "in SQL. None for None."},
	{NULL, NULL, 0, NULL}};

/* An object of one of the package's Python files. */
static bool
ckfy_import(PyObject **to, const char *module_name, const char *name)
{
	PyObject *module = PyImport_ImportModule(module_name);

	*to = module ? PyObject_GetAttrString(module, name) : NULL;
	Py_XDECREF(module);
	return *to != NULL;
}

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "cuckoofilter._filter",
										.m_doc = "Cuckoo filters, in C.", .m_size = -1,
										.m_methods = functions};

PyMODINIT_FUNC PyInit__filter(void);

PyMODINIT_FUNC
PyInit__filter(void)
{
	PyObject *module = PyModule_Create(&definition);
	PyObject *type = module ? PyType_FromSpec(&ckfy_filter_spec) : NULL;

	ckfy_filter_type = (PyTypeObject *)type;
	if (type && ckfy_import(&ckfy_error_class, "cuckoofilter._errors", "Error") &&
		ckfy_import(&ckfy_item_error_class, "cuckoofilter._errors", "ItemError") &&
		ckfy_import(&ckfy_convert, "cuckoofilter._items", "convert") &&
		ckfy_import(&ckfy_digits, "cuckoofilter._items", "digits") &&
		ckfy_import(&ckfy_describe, "cuckoofilter._arrays", "describe") &&
		ckfy_import(&ckfy_decode, "cuckoofilter._text", "decode") &&
		ckfy_import(&ckfy_read, "cuckoofilter._arguments", "read") &&
		PyModule_AddStringConstant(module, "version", cuckoofilter_version()) == 0)
	{
		Py_INCREF(type); /* the module's; ours stays */
		if (PyModule_AddObject(module, "Filter", type) == 0)
			return module;
		Py_DECREF(type);
	}
	Py_XDECREF(module);
	return NULL;
}
