/*
 * histories.c - fuzz target: the bytes choose the shape of a filter and the operations on it,
 * compared with the exact model: changes of one item and of many, and merges with filters of other
 * shapes, two at a time or in states of aggregates.
 */
#include "history.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum
{
	OPERATIONS = 40
};

static shape
choose_shape(void)
{
	static const uint8_t sizes[] = {2, 4, 4, 8};
	shape s = {.burst = 100};

	s.capacity = INT64_C(1) << check_below(30);
	s.fpr = ldexp(0.9, -(int)check_below(20));
	s.set = check_chance(30);
	s.plain = check_chance(50);
	s.bucket_size = sizes[check_below(4)];
	s.from = (source)check_below(3);
	return s;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	history h;
	shape s;

	check_feed(data, size);
	s = choose_shape();
	history_start(&h, &s, 0);
	for (unsigned i = 0; i < OPERATIONS && check_fed(); i++)
		history_operate(&h);
	model_check(&h.model, &h.filter);
	history_free(&h);
	return 0;
}
