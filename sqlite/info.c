/*
 * info.c - cuckoofilter_info: all there is to tell about a filter, as JSON.
 */
#include "host.h"

/* The mark of a JSON value among SQLite's functions. */
#define CKFS_JSON_SUBTYPE 'J'

/* cuckoofilter_info(filter): checks every slot, so that it also serves to
 * look for damage. */
void
ckfs_sql_info(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	ckf_filter local;
	const ckf_filter *filter = ckfs_filter(ctx, argv[0], CKF_FOREIGN, &local);
	ckf_info info;
	char *json;

	(void)argc;
	if (!filter)
		return;
	ckf_get_info(filter, &info);
	json = sqlite3_mprintf("{\"count\":%llu,\"capacity\":%lld,\"target_fpr\":%!.15g,"
						   "\"fpr\":%!.15g,\"bytes\":%llu,\"bits_per_item\":%!.15g,"
						   "\"load_factor\":%!.15g,\"encoding\":\"%s\",\"layout\":\"%s\","
						   "\"kind\":\"%s\",\"bucket_size\":%d,\"fingerprint_bits\":%d,"
						   "\"prefix_bits\":%d,\"segments\":%llu,\"seed\":%lld,"
						   "\"format_version\":%d}",
						   info.count, info.capacity, info.target_fpr, info.fpr, info.bytes,
						   info.bits_per_item, info.load_factor, info.encoding, info.layout,
						   info.kind, info.bucket_size, info.fingerprint_bits, info.prefix_bits,
						   info.segments, (int64_t)info.seed, info.format_version);
	if (!json)
	{
		sqlite3_result_error_nomem(ctx);
		return;
	}
	sqlite3_result_text(ctx, json, -1, sqlite3_free);
	sqlite3_result_subtype(ctx, CKFS_JSON_SUBTYPE);
}
