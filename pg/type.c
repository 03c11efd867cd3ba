/*
 * type.c - the type cuckoofilter: text (base64), binary and bytea, in and out.
 *
 * What comes from outside is validated slot by slot before it is a value;
 * "=" and the like are those of bytea, in SQL.
 */
#include "error.h"

#include "common/base64.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(cuckoofilter_in);
PG_FUNCTION_INFO_V1(cuckoofilter_out);
PG_FUNCTION_INFO_V1(cuckoofilter_recv);
PG_FUNCTION_INFO_V1(cuckoofilter_send);
PG_FUNCTION_INFO_V1(cuckoofilter_from_bytea);

/* Letters of the text form of `size` bytes. */
static int64
ckfp_text_length(int size)
{
	return ((int64)size + 2) / 3 * 4;
}

/* Bytes from outside, with the SQLSTATE of their door. */
static void
ckfp_check_foreign(const struct varlena *value, int sqlstate)
{
	ckf_filter filter;
	ckf_status status =
		ckf_open(&filter, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), CKF_FOREIGN);

	if (status != CKF_OK)
		ckfp_error(status, (ckfp_subject){.sqlstate = sqlstate});
}

/*
 * base64 as cuckoofilter_out writes it, and no other: no blanks, all padding,
 * no bits set behind the last byte.
 */
Datum
cuckoofilter_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	size_t length = strlen(text);
	struct varlena *value = palloc(VARHDRSZ + pg_b64_dec_len((int)length));
	char last[8];
	int size;
	int rest;

	size = pg_b64_decode((void *)unconstify(char *, text), (int)length, (void *)VARDATA(value),
						 pg_b64_dec_len((int)length));
	if (size <= 0 || ckfp_text_length(size) != (int64)length)
		ckfp_error_base64();
	rest = (size - 1) % 3 + 1;
	(void)pg_b64_encode((void *)(VARDATA(value) + size - rest), rest, (void *)last, sizeof last);
	if (memcmp(last, text + length - 4, 4) != 0)
		ckfp_error_base64();
	SET_VARSIZE(value, VARHDRSZ + size);
	ckfp_check_foreign(value, ERRCODE_INVALID_TEXT_REPRESENTATION);
	PG_RETURN_POINTER(value);
}

Datum
cuckoofilter_out(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	int size = VARSIZE_ANY_EXHDR(value);
	int64 length = ckfp_text_length(size);
	char *text;

	if (length >= (int64)MaxAllocSize)
		ckfp_error_no_text((size_t)size);
	text = palloc((Size)length + 1);
	(void)pg_b64_encode((void *)VARDATA_ANY(value), size, (void *)text, (int)length);
	text[length] = '\0';
	PG_RETURN_CSTRING(text);
}

Datum
cuckoofilter_recv(PG_FUNCTION_ARGS)
{
	StringInfo buffer = (StringInfo)PG_GETARG_POINTER(0);
	int size = buffer->len - buffer->cursor;
	struct varlena *value = palloc(VARHDRSZ + (Size)size);

	pq_copymsgbytes(buffer, VARDATA(value), size);
	SET_VARSIZE(value, VARHDRSZ + size);
	ckfp_check_foreign(value, ERRCODE_INVALID_BINARY_REPRESENTATION);
	PG_RETURN_POINTER(value);
}

Datum
cuckoofilter_send(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	StringInfoData buffer;

	pq_begintypsend(&buffer);
	pq_sendbytes(&buffer, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
	PG_RETURN_BYTEA_P(pq_endtypsend(&buffer));
}

/* bytea::cuckoofilter */
Datum
cuckoofilter_from_bytea(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);

	ckfp_check_foreign(value, ERRCODE_INVALID_BINARY_REPRESENTATION);
	PG_RETURN_POINTER(value);
}
