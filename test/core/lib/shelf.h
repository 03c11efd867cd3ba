/*
 * shelf.h - what a host does with chunks: store them as rows, find the chunk of a hash, change it,
 * feed all chunks to a pack or an export.  Every buffer is guarded, and the promises of
 * cuckoofilter_chunk.h about parts are checked.
 */
#ifndef SHELF_H
#define SHELF_H

#include "cuckoofilter_chunk.h"
#include "inputs.h"

typedef struct row
{
	uint64_t start;
	uint8_t *bytes; /* guarded */
	size_t size;
} row;

typedef struct shelf
{
	ckf_chunks *chunks; /* guarded, read-only */
	row *rows;          /* in order */
	size_t n, room;
	uint64_t count;   /* copies, by what edits told */
	uint64_t added;   /* items added, stored or not */
	unsigned classes; /* of them, as class_of_hash tells */
	ckf_edit *edit;   /* guarded */
} shelf;

/* false: there are no such chunks, as there is no such filter. */
bool shelf_new(shelf *s, const ckf_params *params, uint32_t page_room, uint32_t row_room);

/* A table of any parameters. */
void shelf_draw(shelf *s, const world *w);
void shelf_free(shelf *s);

/* The chunk of a hash; the case fails where it does not open.  false: there is none. */
bool shelf_find(const shelf *s, uint64_t hash, ckf_chunk *chunk);

unsigned shelf_copies(const shelf *s, uint64_t hash);

/* Add items in ascending order, whole hashes or prefixes. */
void shelf_add(shelf *s, const uint64_t *items, size_t n, bool whole);

/* Remove hashes, which are in ascending order.  CKF_OK, CKF_IS_SET. */
ckf_status shelf_remove(shelf *s, const uint64_t *hashes, size_t n);

void shelf_pack(shelf *s);

/* Add a filter's items. Returns the status of ckf_prefixes_start. */
ckf_status shelf_merge(shelf *s, const owned *filter);

/* Export a filter of at most `most` bytes. Returns the status of the export. The case fails if
 * the export asks for a larger buffer. */
ckf_status shelf_export(const shelf *s, uint64_t most, owned *result, ckf_refusal *refusal);

/* Check that each row opens and is valid, that their ranges follow each other, and that they
 * have as many copies as the edits returned. Returns the size of all rows. */
uint64_t shelf_check(const shelf *s);

/* The number of copies in lists, and in tables that are at most three quarters full: where a table
 * cannot be filled, it gets more buckets step by step. */
uint64_t shelf_crowded(const shelf *s);

/* The distinct items. */
uint64_t shelf_distinct(const shelf *s);

/* Is the table in whole hashes? */
bool shelf_whole(const shelf *s);

#endif
