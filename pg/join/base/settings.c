/*
 * settings.c - cuckoofilter.join_filter and the other settings.
 */
#include "join/base/join.h"

#include "utils/guc.h"

int ckfp_join_mode_setting = CKFP_JOIN_AUTO;
int ckfp_join_min_rows = 100000;
double ckfp_join_max_pass = 0.7;
int ckfp_join_memory = 65536;
bool ckfp_join_remote = false;
bool ckfp_join_blocks = true;

static const struct config_enum_entry ckfp_join_modes[] = {
	{"off", CKFP_JOIN_OFF, false},
	{"auto", CKFP_JOIN_AUTO, false},
	{"on", CKFP_JOIN_ON, false},
	{"verify", CKFP_JOIN_VERIFY, false},
	{"false", CKFP_JOIN_OFF, true},
	{"true", CKFP_JOIN_ON, true},
	{"no", CKFP_JOIN_OFF, true},
	{"yes", CKFP_JOIN_ON, true},
	{"0", CKFP_JOIN_OFF, true},
	{"1", CKFP_JOIN_ON, true},
	{NULL, 0, false},
};

/* Filters are also switched on and off for prepared statements. Other settings change only the
 * estimates, as PostgreSQL's costs do: these plans stay. */
static void
ckfp_switched(bool changed)
{
	if (!changed)
		return;
	ckfp_forget_plans(CKFP_MARK_JOIN);
	ckfp_forget_plans(CKFP_MARK_LOOP);
}

static void
ckfp_assign_mode(int mode, void *extra)
{
	ckfp_switched(mode != ckfp_join_mode_setting);
}

static void
ckfp_assign_blocks(bool blocks, void *extra)
{
	ckfp_switched(blocks != ckfp_join_blocks);
}

void
ckfp_join_init_settings(void)
{
	DefineCustomEnumVariable(
		"cuckoofilter.join_filter",
		"Filters the rows of the large side of joins by the keys of their small side.",
		"off: never. auto: if it is expected to pay. on, for tests: if the result stays the same. "
		"verify, for tests: drop no row, and raise an error if the filter denied a row that has a "
		"match.",
		&ckfp_join_mode_setting, CKFP_JOIN_AUTO, ckfp_join_modes, PGC_USERSET, 0, NULL,
		ckfp_assign_mode, NULL);
	DefineCustomIntVariable(
		"cuckoofilter.join_filter_min_rows",
		"Minimum estimated number of rows of the large side of a join that has a filter.", NULL,
		&ckfp_join_min_rows, 100000, 0, INT_MAX, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomRealVariable(
		"cuckoofilter.join_filter_max_pass",
		"Maximum share of rows, estimated or measured, that may pass a filter.", NULL,
		&ckfp_join_max_pass, 0.7, 0.0, 1.0, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable(
		"cuckoofilter.join_filter_memory",
		"Maximum memory of a join filter, including the keys while they are gathered.",
		"A filter that needs more is given up, and the query continues without it.",
		&ckfp_join_memory, 65536, 64, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	/* For superusers: a user may call a function that reads a table, but not read the table. */
	DefineCustomBoolVariable("cuckoofilter.join_filter_remote",
							 "Lets foreign servers that have this extension use join filters.",
							 "The filter reveals the keys of local tables to the other server.",
							 &ckfp_join_remote, false, PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("cuckoofilter.join_filter_blocks",
							 "Lets sequential scans skip blocks that have no key of a join.",
							 "A BRIN or B-tree index of the key tells which blocks these are.",
							 &ckfp_join_blocks, true, PGC_USERSET, 0, NULL, ckfp_assign_blocks,
							 NULL);
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("cuckoofilter");
#else
	EmitWarningsOnPlaceholders("cuckoofilter");
#endif
}
