/*
 * sample.h - how much of a long suite runs: ROUNDS=n is n per cent (100), SEED=n shifts which part.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdlib.h>

/* ROUNDS, 1 .. 100. */
static inline long
sample_percent(void)
{
	const char *rounds = getenv("ROUNDS");
	long percent = rounds ? strtol(rounds, NULL, 10) : 100;

	return percent < 1 ? 1 : percent > 100 ? 100 : percent;
}

/* Of failures in a row only each so-manyth comes. */
static inline long
sample_step(void)
{
	return (100 + sample_percent() - 1) / sample_percent();
}

/* The first one that comes, 0 .. sample_step() - 1. */
static inline long
sample_start(void)
{
	const char *seed = getenv("SEED");

	return seed ? (long)(strtoull(seed, NULL, 0) % (unsigned long long)sample_step()) : 0;
}

#endif
