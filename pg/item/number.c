/*
 * number.c - numerics and dates to hashes.
 */
#include "item/item.h"

#include "datatype/timestamp.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/numeric.h"

ckf_hashes
ckfp_hash_numeric(Datum item, uint64 seed)
{
	Numeric value = DatumGetNumeric(item);
	ckf_hashes hashes;

	if (numeric_is_nan(value))
		hashes = ckfp_hashes_of(ckf_hash_real(get_float8_nan(), seed));
	else
	{
		char *digits = numeric_normalize(value); /* without trailing zeros in the fraction */

		if (!ckf_hash_decimal(digits, strlen(digits), seed, &hashes))
			hashes = ckfp_hashes_of(ckf_hash_real(
				digits[0] == '-' ? -get_float8_infinity() : get_float8_infinity(), seed));
		pfree(digits);
	}
	if ((Pointer)value != DatumGetPointer(item))
		pfree(value);
	return hashes;
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
