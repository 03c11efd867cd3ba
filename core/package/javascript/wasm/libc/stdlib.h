/*
 * stdlib.h - memory.c implements these.
 */
#ifndef CKFW_STDLIB_H
#define CKFW_STDLIB_H

#include <stddef.h>

/* Memory, aligned to 16 bytes; NULL: there is none. */
void *malloc(size_t size);
void free(void *memory);

#endif
