/*
 * type.c - input and output of the type cuckoofilter: text (base64), binary and bytea.
 *
 * Input is untrusted: each slot is checked before it becomes a value. "=" and the other comparison
 * operators are those of bytea, defined in SQL.
 */
#include "type/argument_cache.h"
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

/* base64 is read and written in pieces, so that the server can be interrupted between them, and
 * no length exceeds an int. These are the bytes and the characters of a piece. */
#define CKFP_PIECE (3 * 16384)
#define CKFP_CHARACTERS (CKFP_PIECE / 3 * 4)

/* The number of characters in the text form of `size` bytes. */
static size_t
ckfp_text_length(size_t size)
{
	return (size + 2) / 3 * 4;
}

/* The number of bytes in a text form of `length` characters, at least 4. It depends on the
 * padding. */
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

		text +=
			pg_b64_encode((void *)unconstify(char *, bytes), piece, (void *)text, CKFP_CHARACTERS);
		bytes += piece;
		size -= (size_t)piece;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Decode a piece of text to `size` bytes. Only the form that ckfp_encode writes is valid: no
 * whitespace, full padding, zeros in the unused bits after the last byte.
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
		int characters = (int)Min(length, CKFP_CHARACTERS);
		int piece = (int)Min(size, CKFP_PIECE);

		if (!ckfp_decode_piece(text, characters, bytes, piece))
			return false;
		text += characters;
		length -= (size_t)characters;
		bytes += piece;
		size -= (size_t)piece;
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* Check each slot of input, and report an error with the SQLSTATE of the input function. Returns
 * false if `soft` collects the error. The state of an aggregate is refused: it is exported as an
 * ordinary filter. */
static bool
ckfp_check_input(const struct varlena *value, int sqlstate, struct Node *soft)
{
	ckf_filter filter;
	ckf_status status = ckf_open(&filter, VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), CKF_STORED);

	CHECK_FOR_INTERRUPTS(); /* for the time that detoasting took */
	if (status == CKF_OK)
		status = ckf_host_check(CKFP_HOST, &filter);
	if (status == CKF_UNFINISHED)
		status = CKF_BAD_BYTES;
	if (status != CKF_OK)
		ckfp_error_input(status, sqlstate, soft);
	return status == CKF_OK;
}

/*
 * What is written must be a value of now: not the state of an aggregate that a version before
 * 1.4 has stored.  What else there may be wrong with a value does not keep it from going out.
 */
static void
ckfp_require_finished(Datum value)
{
	ckf_filter filter;

	if (!VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)) && /* a state of now */
		ckfp_try_header(value, &filter) == CKF_UNFINISHED)
		ckfp_error(CKF_UNFINISHED, (ckf_about){0});
}

/* The value of a text, or NULL if it is not base64. */
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

/* Whether a text is a bytea in hexadecimal, or the magic bytes of a filter are. */
static bool
ckfp_is_hex(const char *text)
{
	return strncmp(text, "\\x", 2) == 0 || pg_strncasecmp(text, "434b46", 6) == 0;
}

Datum
cuckoofilter_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	bool hex = ckfp_is_hex(text);
	struct varlena *value = hex ? NULL : ckfp_decode_text(text);

	if (value == NULL)
		ckfp_error_base64(hex, fcinfo->context);
	else if (ckfp_check_input(value, ERRCODE_INVALID_TEXT_REPRESENTATION, fcinfo->context))
		PG_RETURN_POINTER(value);
	PG_RETURN_DATUM((Datum)0); /* a soft error, which the caller handles */
}

Datum
cuckoofilter_out(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	size_t size = VARSIZE_ANY_EXHDR(value);
	size_t length = ckfp_text_length(size);
	char *text;

	ckfp_require_finished(PointerGetDatum(value));
	if (length >= MaxAllocSize)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("cuckoofilter of %zu bytes is too large for its text form", size),
						errhint("Use COPY in binary format.")));
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

	(void)ckf_host_copy_bytes(CKFP_HOST, VARDATA(value), pq_getmsgbytes(buffer, size),
							  (size_t)size);
	SET_VARSIZE(value, VARHDRSZ + size);
	(void)ckfp_check_input(value, ERRCODE_INVALID_BINARY_REPRESENTATION, NULL);
	PG_RETURN_POINTER(value);
}

/* The bytes of a filter, as they are. In the SQL of 1.0.0 this is also the cast to bytea. */
Datum
cuckoofilter_send(PG_FUNCTION_ARGS)
{
	Datum value = PG_GETARG_DATUM(0);

	ckfp_require_finished(value);
	/* a copy: array_send and logical replication free what they get */
	PG_RETURN_POINTER(PG_DETOAST_DATUM_COPY(value));
}

/* cuckoofilter::bytea; a toasted filter is not fetched */
Datum
cuckoofilter_to_bytea(PG_FUNCTION_ARGS)
{
	Datum value = PG_GETARG_DATUM(0);

	ckfp_require_finished(value);
	if (VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
		PG_RETURN_POINTER(PG_DETOAST_DATUM(value));
	PG_RETURN_DATUM(value);
}

/* bytea::cuckoofilter */
Datum
cuckoofilter_from_bytea(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);

	(void)ckfp_check_input(value, ERRCODE_INVALID_BINARY_REPRESENTATION, NULL);
	PG_RETURN_POINTER(value);
}
