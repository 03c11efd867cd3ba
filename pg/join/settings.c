/*
 * settings.c - the settings cuckoofilter.join_filter and its like.
 */
#include "join.h"

#include "utils/guc.h"

int ckfp_join_mode_setting = CKFP_JOIN_OFF;
int ckfp_join_min_rows = 100000;
double ckfp_join_max_pass = 0.7;
int ckfp_join_memory = 65536;
bool ckfp_join_remote = false;

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

void
ckfp_join_init_settings(void)
{
	DefineCustomEnumVariable(
		"cuckoofilter.join_filter",
		"Lets hash joins filter the rows of their large side by the keys of their small side.",
		"off: never. auto: where it is expected to pay. on: wherever it is legal. verify: ask, "
		"drop "
		"nothing, and report an error where the filter denied a row that the join finds a partner "
		"for.",
		&ckfp_join_mode_setting, CKFP_JOIN_OFF, ckfp_join_modes, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("cuckoofilter.join_filter_min_rows",
							"Estimated rows of the large side below which a join has no filter.",
							NULL, &ckfp_join_min_rows, 100000, 0, INT_MAX, PGC_USERSET, 0, NULL,
							NULL, NULL);
	DefineCustomRealVariable(
		"cuckoofilter.join_filter_max_pass",
		"Share of rows, estimated or measured, past which a filter is not worth it.", NULL,
		&ckfp_join_max_pass, 0.7, 0.0, 1.0, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable(
		"cuckoofilter.join_filter_memory",
		"Memory that each join filter may take, gathering its keys included.",
		"A filter that would need more is given up, and the query goes on without.",
		&ckfp_join_memory, 65536, 64, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomBoolVariable("cuckoofilter.join_filter_remote",
							 "Lets foreign servers that have this extension ask join filters.",
							 "The filter tells the other server about the keys of local tables.",
							 &ckfp_join_remote, false, PGC_USERSET, 0, NULL, NULL, NULL);
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("cuckoofilter");
#else
	EmitWarningsOnPlaceholders("cuckoofilter");
#endif
}

void
ckfp_join_init(void)
{
	ckfp_join_init_settings();
	ckfp_join_init_planner();
	ckfp_join_init_executor();
}
