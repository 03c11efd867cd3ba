/*
 * call.c - calls of the library: interrupts, the interpreter's lock, errors.
 */
#include "module.h"

/* A signal's handler has raised: with the lock, and without. */
static bool
ckfy_stop(void *data)
{
	ckfy_call *call = data;
	bool unlocked = call->thread != NULL, stop;

	if (unlocked)
		ckfy_lock(call);
	stop = PyErr_CheckSignals() < 0;
	if (unlocked)
		ckfy_unlock(call);
	return stop;
}

void
ckfy_call_start(ckfy_call *call)
{
	call->error.interrupted = ckfy_stop;
	call->error.data = call;
	call->error.code = CUCKOOFILTER_OK;
	call->thread = NULL;
}

void
ckfy_unlock(ckfy_call *call)
{
	call->thread = PyEval_SaveThread();
}

void
ckfy_lock(ckfy_call *call)
{
	PyThreadState *thread = call->thread;

	call->thread = NULL;
	PyEval_RestoreThread(thread);
}

PyObject *
ckfy_raise(const cuckoofilter_error *error)
{
	PyObject *type =
		error->code == CUCKOOFILTER_UNLIKE_ITEM ? ckfy_item_error_class : ckfy_error_class;
	PyObject *exception;

	if (error->code == CUCKOOFILTER_INTERRUPTED)
		return NULL; /* by what the signal's handler raised */
	if (error->code == CUCKOOFILTER_NO_MEMORY)
		return PyErr_NoMemory();
	exception =
		PyObject_CallFunction(type, "ssss", error->message, cuckoofilter_sqlstate(error->code),
							  error->detail, error->hint);
	if (exception)
		PyErr_SetObject(type, exception);
	Py_XDECREF(exception);
	return NULL;
}

PyObject *
ckfy_raise_parameter(PyObject *sentence)
{
	if (sentence)
		PyErr_SetObject(ckfy_error_class, sentence);
	Py_XDECREF(sentence);
	return NULL;
}
