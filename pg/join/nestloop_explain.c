/*
 * nestloop_explain.c - whether the filter of a nested loop was built, or why not, for EXPLAIN.
 */
#include "nestloop_explain.h"
#include "nestloop_state.h"

/* A number with commas between thousands. */
static const char *
ckfp_with_commas(uint64 number)
{
	char *digits = psprintf(UINT64_FORMAT, number);
	size_t n = strlen(digits);
	StringInfoData text;
	size_t i;

	initStringInfo(&text);
	for (i = 0; i < n; i++)
	{
		if (i > 0 && (n - i) % 3 == 0)
			appendStringInfoChar(&text, ',');
		appendStringInfoChar(&text, digits[i]);
	}
	return text.data;
}

const char *
ckfp_nest_text(const ckfp_build *build, const ckfp_join_counts *counts)
{
	const char *rows = ckfp_with_commas(counts->watched);

	if (build->nest->serializable)
		return "not built, the transaction is serializable";
	if (counts->memory > 0)
		return psprintf("built after %s rows, %s keys", ckfp_with_commas(counts->built_after),
						ckfp_with_commas(counts->keys));
	if (counts->given_up == CKFP_GIVEN_UP_MEMORY)
		return psprintf("given up after %s rows, memory", rows);
	if (counts->given_up == CKFP_GIVEN_UP_KEYS)
		return psprintf("given up after %s rows, the table has more keys than expected", rows);
	if (!build->nest->installed)
		return "not built, cuckoofilter.join_filter was off when the query began";
	if (counts->watched == 0)
		return "not built, too few rows";
	if (counts->not_run)
		return psprintf("not built after %s rows, a subquery of its condition has not run", rows);
	return psprintf("not built after %s rows, %.1f %% of them match%s", rows,
					100.0 * (double)counts->matched / (double)counts->watched,
					(double)counts->matched > ckfp_join_max_pass * (double)counts->watched
						? ""
						: " and it does not pay");
}
