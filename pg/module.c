/*
 * module.c - the library of the type and its functions.  It has no hooks and no settings:
 * join filters are a library of their own, cuckoofilter_join (join/module.c).
 */
#include "host.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/varlena.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(cuckoofilter_version);

/* Does a list of libraries, as the preload settings have it, name this one? */
static bool
ckfp_is_listed(const char *libraries)
{
	char *copy = pstrdup(libraries != NULL ? libraries : "");
	List *names = NIL;
	ListCell *cell;
	bool listed = false;

	if (SplitDirectoriesString(copy, ',', &names))
		foreach (cell, names)
		{
			const char *name = last_dir_separator(lfirst(cell));
			size_t length;

			name = name != NULL ? name + 1 : lfirst(cell);
			length = strcspn(name, "."); /* before .so and its like */
			listed |=
				length == strlen("cuckoofilter") && strncmp(name, "cuckoofilter", length) == 0;
		}
	list_free_deep(names);
	pfree(copy);
	return listed;
}

/*
 * When the library is loaded.  Until 1.3 it had the join filters, and was preloaded for them:
 * such a setting does nothing any more, so the log says what to load.
 */
void
_PG_init(void)
{
	if (process_shared_preload_libraries_in_progress ||
		ckfp_is_listed(session_preload_libraries_string) ||
		ckfp_is_listed(local_preload_libraries_string))
		ereport(
			LOG,
			(errmsg("preloading \"cuckoofilter\" has no effect"),
			 errhint("Join filters are in the library \"cuckoofilter_join\": preload that one.")));
}

/* cuckoofilter_version() -> text */
Datum
cuckoofilter_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(CKF_VERSION));
}
