/*
 * info.c - cuckoofilter_info: all there is to tell about a filter, as jsonb.
 */
#include "argument.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

PG_FUNCTION_INFO_V1(cuckoofilter_info);

/* Looks at every slot, so that it also serves to look for damage. */
Datum
cuckoofilter_info(PG_FUNCTION_ARGS)
{
	ckf_filter filter;
	ckf_info info;
	StringInfoData json;

	ckfp_open_datum(PG_GETARG_DATUM(0), CKF_FOREIGN, &filter);
	ckf_get_info(&filter, &info);
	initStringInfo(&json);
	appendStringInfo(&json,
					 "{\"count\":" UINT64_FORMAT ",\"capacity\":" INT64_FORMAT
					 ",\"target_fpr\":%.15g,\"fpr\":%.15g,\"bytes\":" UINT64_FORMAT
					 ",\"bits_per_item\":%.15g,\"load_factor\":%.15g,",
					 info.count, info.capacity, info.target_fpr, info.fpr, info.bytes,
					 info.bits_per_item, info.load_factor);
	appendStringInfo(&json,
					 "\"encoding\":\"%s\",\"layout\":\"%s\",\"kind\":\"%s\",\"bucket_size\":%d,"
					 "\"fingerprint_bits\":%d,\"prefix_bits\":%d,",
					 info.encoding, info.layout, info.kind, info.bucket_size, info.fingerprint_bits,
					 info.prefix_bits);
	appendStringInfo(
		&json, "\"segments\":" UINT64_FORMAT ",\"seed\":" INT64_FORMAT ",\"format_version\":%d}",
		info.segments, (int64)info.seed, info.format_version);
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}
