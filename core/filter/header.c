/*
 * header.c - write the header (FORMAT.md, section 2).
 */
#include "filter/header.h"

void
ckf_settle_format(ckf_filter *t)
{
	uint8_t old = ckf_forms_of_old(t->item_classes);
	bool decimals = t->format == CKF_FORMAT_DECIMALS;

	t->format = CKF_FORMAT_VERSION;
	if (t->item_classes == 0)
	{
		t->number_forms &= CKF_FORM_ANY; /* two filters may share numbers, but no hash of one */
		if (decimals || t->number_forms != 0) /* or the state of an aggregate without items yet */
			t->format = CKF_FORMAT_DECIMALS;
		return;
	}
	if (t->item_classes & CKF_ITEM_HASH) /* whoever computed it may have rounded */
		t->number_forms |= CKF_FORM_ROUNDED;
	if (!decimals && !(t->number_forms & ~CKF_FORM_ROUNDED))
		t->number_forms = old;
	if (t->number_forms != old)
		t->format = CKF_FORMAT_DECIMALS;
}

static void
ckf_write_format(const ckf_filter *t)
{
	t->bytes[CKF_AT_FORMAT] = t->format;
	t->bytes[CKF_AT_ITEM_CLASSES] = t->item_classes;
	t->bytes[CKF_AT_NUMBER_FORMS] = t->format < CKF_FORMAT_DECIMALS ? 0 : t->number_forms;
}

void
ckf_set_item_classes(ckf_filter *t, unsigned classes)
{
	t->item_classes = (uint8_t)classes;
	t->number_forms |= (uint8_t)(classes >> 8); /* CKF_ITEM_DECIMAL */
	ckf_settle_format(t);
	ckf_write_format(t);
}

void
ckf_write_header(const ckf_filter *t)
{
	uint8_t *p = t->bytes;
	uint64_t fpr;

	memcpy(&fpr, &t->fpr, sizeof fpr);
	memcpy(p + CKF_AT_MAGIC, "CKF", 3);
	p[CKF_AT_HASH] = CKF_HASH_VERSION;
	p[CKF_AT_ENCODING] = t->encoding;
	p[CKF_AT_FLAGS] = t->flags;
	p[CKF_AT_B] = t->b;
	p[CKF_AT_F] = t->f;
	p[CKF_AT_W] = t->w;
	p[CKF_AT_G] = t->g;
	p[CKF_AT_C] = t->c;
	p[CKF_AT_M] = (uint8_t)t->m;
	p[CKF_AT_M + 1] = (uint8_t)(t->m >> 8);
	ckf_write_format(t);
	ckf_store64(p + CKF_AT_COUNT, t->count);
	ckf_store64(p + CKF_AT_SEED, t->seed);
	ckf_store64(p + CKF_AT_CAPACITY, (uint64_t)t->capacity);
	ckf_store64(p + CKF_AT_FPR, fpr);
}
