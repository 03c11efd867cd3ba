/*
 * type.c - the type cuckoofilter: text (base64), binary and bytea, in and out.
 *
 * What comes from outside is validated slot by slot before it is a value;
 * "=" and the like are those of bytea, in SQL.
 */
#include "type/argument.h"
#include "error.h"
#include "type/owned.h"

#include "common/base64.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(cuckoofilter_in);
PG_FUNCTION_INFO_V1(cuckoofilter_out);
PG_FUNCTION_INFO_V1(cuckoofilter_recv);
PG_FUNCTION_INFO_V1(cuckoofilter_send);
PG_FUNCTION_INFO_V1(cuckoofilter_to_bytea);
PG_FUNCTION_INFO_V1(cuckoofilter_from_bytea);

/* base64 is read and written in pieces, so that the server can be interrupted
 * between them, and no length passes an int: bytes, and letters, of a piece. */
#define CKFP_PIECE (3 * 16384)
#define CKFP_LETTERS (CKFP_PIECE / 3 * 4)

/* Letters of the text form of `size` bytes. */
static size_t
ckfp_text_length(size_t size)
{
	return (size + 2) / 3 * 4;
}

/* Bytes of a text form of `length` letters, 4 or more; its last letters tell. */
static size_t
ckfp_text_size(const char *text, size_t length)
{
	return length / 4 * 3 - (text[length - 1] == '=') - (text[length - 2] == '=');
}

static void
ckfp_encode(const char *bytes, size_t size, char *text)
{
	while (size > 0)
	{
		int piece = (int)Min(size, CKFP_PIECE);

		text += pg_b64_encode((void *)unconstify(char *, bytes), piece, (void *)text, CKFP_LETTERS);
		bytes += piece;
		size -= (size_t)piece;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Decode a piece of text to `size` bytes.  base64 as ckfp_encode writes it, and
 * no other: no blanks, all padding, no bits set behind the last byte.
 */
static bool
ckfp_decode_piece(const char *text, int length, char *bytes, int size)
{
	int rest = (size - 1) % 3 + 1;
	char last[8];

	if (pg_b64_decode((void *)unconstify(char *, text), length, (void *)bytes, size) != size)
		return false;
	return pg_b64_encode((void *)(bytes + size - rest), rest, (void *)last, sizeof last) == 4 &&
		   memcmp(last, text + length - 4, 4) == 0;
}

static bool
ckfp_decode(const char *text, size_t length, char *bytes, size_t size)
{
	while (length > 0)
	{
		int letters = (int)Min(length, CKFP_LETTERS);
		int piece = (int)Min(size, CKFP_PIECE);

		if (!ckfp_decode_piece(text, letters, bytes, piece))
			return false;
		text += letters;
		length -= (size_t)letters;
		bytes += piece;
		size -= (size_t)piece;
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* Bytes from outside, with the SQLSTATE of their door: false where `soft` takes
 * the error.  A state of an aggregate goes out as an ordinary filter, so that
 * none comes in. */
static bool
ckfp_check_foreign(const struct varlena *value, int sqlstate, fmNodePtr soft)
{
	ckf_filter filter;
	ckf_status status = ckfp_open_checked(value, &filter);

	if (status == CKF_UNFINISHED)
		status = CKF_BAD_BYTES;
	if (status != CKF_OK)
		ckfp_error_input(status, sqlstate, soft);
	return status == CKF_OK;
}

/* Is it the state of an aggregate, which was called without its final function?
 * What else there may be wrong with a value does not keep it from going out. */
static bool
ckfp_is_state(Datum value)
{
	ckf_filter filter;

	return ckfp_try_header(value, &filter) == CKF_UNFINISHED;
}

/* The ordinary filter that a state leaves its process as. */
static struct varlena *
ckfp_export(Datum value)
{
	ckf_filter state;
	ckf_filter owned;

	ckfp_open_datum(value, CKF_STATE, &state);
	ckfp_run(CKF_EXPORT, &state, NULL, &owned);
	return ckfp_result(&owned);
}

/* The value of a text; NULL where it is not base64. */
static struct varlena *
ckfp_decode_text(const char *text)
{
	size_t length = strlen(text);
	struct varlena *value;
	size_t size;

	if (length < 4 || length % 4 != 0)
		return NULL;
	size = ckfp_text_size(text, length);
	value = palloc(VARHDRSZ + size);
	SET_VARSIZE(value, VARHDRSZ + size);
	return ckfp_decode(text, length, VARDATA(value), size) ? value : NULL;
}

Datum
cuckoofilter_in(PG_FUNCTION_ARGS)
{
	struct varlena *value = ckfp_decode_text(PG_GETARG_CSTRING(0));

	if (value == NULL)
		ckfp_error_base64(fcinfo->context);
	else if (ckfp_check_foreign(value, ERRCODE_INVALID_TEXT_REPRESENTATION, fcinfo->context))
		PG_RETURN_POINTER(value);
	PG_RETURN_DATUM((Datum)0); /* a soft error, which the caller has */
}

Datum
cuckoofilter_out(PG_FUNCTION_ARGS)
{
	Datum datum = PG_GETARG_DATUM(0);
	struct varlena *value = ckfp_is_state(datum) ? ckfp_export(datum) : PG_GETARG_VARLENA_PP(0);
	size_t size = VARSIZE_ANY_EXHDR(value);
	size_t length = ckfp_text_length(size);
	char *text;

	if (length >= MaxAllocSize)
		ckfp_error_no_text(size);
	text = palloc(length + 1);
	ckfp_encode(VARDATA_ANY(value), size, text);
	text[length] = '\0';
	PG_RETURN_CSTRING(text);
}

Datum
cuckoofilter_recv(PG_FUNCTION_ARGS)
{
	StringInfo buffer = (StringInfo)PG_GETARG_POINTER(0);
	int size = buffer->len - buffer->cursor;
	struct varlena *value = palloc(VARHDRSZ + (Size)size);

	ckfp_copy_bytes(VARDATA(value), pq_getmsgbytes(buffer, size), (size_t)size);
	SET_VARSIZE(value, VARHDRSZ + size);
	(void)ckfp_check_foreign(value, ERRCODE_INVALID_BINARY_REPRESENTATION, NULL);
	PG_RETURN_POINTER(value);
}

/* Also the cast to bytea.  A filter's bytes are what they are: they are not even
 * fetched here, if they are toasted. */
Datum
cuckoofilter_send(PG_FUNCTION_ARGS)
{
	Datum value = PG_GETARG_DATUM(0);

	/* a copy: array_send and logical replication free what they get */
	PG_RETURN_POINTER(ckfp_is_state(value) ? ckfp_export(value) : PG_DETOAST_DATUM_COPY(value));
}

/* cuckoofilter::bytea, which does not even fetch a filter's bytes */
Datum
cuckoofilter_to_bytea(PG_FUNCTION_ARGS)
{
	Datum value = PG_GETARG_DATUM(0);

	if (ckfp_is_state(value))
		PG_RETURN_POINTER(ckfp_export(value));
	PG_RETURN_DATUM(value);
}

/* bytea::cuckoofilter */
Datum
cuckoofilter_from_bytea(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);

	(void)ckfp_check_foreign(value, ERRCODE_INVALID_BINARY_REPRESENTATION, NULL);
	PG_RETURN_POINTER(value);
}
