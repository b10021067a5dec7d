// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/decompress.h"

struct decompress_method {
	bool (*begin)(struct decompressor *d);
	bool (*step)(struct decompressor *d);
	void (*end)(struct decompressor *d);
};

static bool zlib_begin(struct decompressor *d)
{
	return inflateInit(&d->zlib) == Z_OK;
}

static bool zlib_step(struct decompressor *d)
{
	static const size_t most = 1 << 30; /* its counters have 32 bits */
	uint32_t n_in = d->n_in < most ? d->n_in : most, n_out = d->n_out < most ? d->n_out : most;
	int rc;

	d->zlib.next_in = (uint8_t *)d->in;
	d->zlib.avail_in = n_in;
	d->zlib.next_out = d->out;
	d->zlib.avail_out = n_out;
	rc = inflate(&d->zlib, Z_NO_FLUSH);
	n_in -= d->zlib.avail_in;
	n_out -= d->zlib.avail_out;
	d->in += n_in;
	d->n_in -= n_in;
	d->out += n_out;
	d->n_out -= n_out;
	return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR;
}

static void zlib_end(struct decompressor *d)
{
	inflateEnd(&d->zlib);
}

/* The library refuses windows beyond 128 MB by itself. */
static bool zstd_begin(struct decompressor *d)
{
	d->zstd = ZSTD_createDStream();
	return d->zstd;
}

/* Some linkers make one frame after the other: the end of a frame is not that of the data. */
static bool zstd_step(struct decompressor *d)
{
	ZSTD_inBuffer in = { d->in, d->n_in, 0 };
	ZSTD_outBuffer out = { d->out, d->n_out, 0 };
	size_t rc = ZSTD_decompressStream(d->zstd, &out, &in);

	d->in += in.pos;
	d->n_in -= in.pos;
	d->out += out.pos;
	d->n_out -= out.pos;
	return !ZSTD_isError(rc);
}

static void zstd_end(struct decompressor *d)
{
	ZSTD_freeDStream(d->zstd);
}

static const struct decompress_method methods[] = {
	[ELF_ZLIB] = { zlib_begin, zlib_step, zlib_end },
	[ELF_ZSTD] = { zstd_begin, zstd_step, zstd_end },
};

static const struct decompress_method *find(enum elf_compression how)
{
	return how < ARRAY_SIZE(methods) && methods[how].begin ? &methods[how] : NULL;
}

bool decompress_begin(struct decompressor *d, enum elf_compression how)
{
	/* No input is none that lies somewhere. */
	*d = (struct decompressor){ .method = find(how), .in = (const uint8_t *)"" };
	if (d->method && d->method->begin(d))
		return true;
	d->method = NULL;
	return false;
}

bool decompress_step(struct decompressor *d)
{
	/* What a stream makes after an error is not defined. */
	d->damaged = d->damaged || !d->method->step(d);
	return !d->damaged;
}

void decompress_end(struct decompressor *d)
{
	if (d->method)
		d->method->end(d);
	*d = (struct decompressor){ 0 };
}
