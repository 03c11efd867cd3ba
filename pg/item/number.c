/*
 * number.c - numerics and dates to hashes.
 */
#include "item/item.h"

#include "datatype/timestamp.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

uint64
ckfp_hash_numeric(Datum item, uint64 seed)
{
	Numeric value = DatumGetNumeric(item);
	char *digits = numeric_normalize(value); /* without trailing zeros in the fraction */
	char *end;
	int64 integer;
	uint64 hash;

	errno = 0;
	integer = strtoll(digits, &end, 10);
	if (errno == 0 && end != digits && *end == '\0')
		hash = ckf_hash_integer(integer, seed);
	else
		hash = ckf_hash_real(strtod(digits, NULL), seed);
	pfree(digits);
	if ((Pointer)value != DatumGetPointer(item))
		pfree(value);
	return hash;
}

uint64
ckfp_hash_date(DateADT date, uint64 seed)
{
	uint64 midnight = (uint64)(int64)date * (uint64)USECS_PER_DAY;

	if (DATE_IS_NOBEGIN(date))
		midnight = (uint64)DT_NOBEGIN;
	else if (DATE_IS_NOEND(date))
		midnight = (uint64)DT_NOEND;
	return ckf_hash_word(CKF_CLASS_TIMESTAMP, midnight, seed);
}
