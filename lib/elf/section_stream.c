// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/section_stream.h"

#include <unistd.h>

#define WINDOW (1 << 20)
#define INPUT  (1 << 16)

/*
 * zlib makes at most about a thousand bytes of one; zstd can make more, but not of debug
 * information: what claims that is to use up the memory. Small sections of zeros may.
 */
static bool too_large(const struct elf_section *place)
{
	return place->uncompressed > 1 << 20 && place->uncompressed / 1100 > place->size;
}

static const char *open_place(struct section_stream *s, const struct elf_image *image,
			      const struct elf_section *place)
{
	*s = (struct section_stream){
		.fd = image->fd,
		.file_off = place->offset,
		.file_size = place->size,
		.size = place->uncompressed,
		.compression = place->compression,
	};
	if (place->compression == ELF_OTHER)
		return "it is compressed by a method other than zlib and zstd";
	if (place->offset > image->size || place->size > image->size - place->offset)
		return "it reaches beyond the end of the file";
	if (place->compression != ELF_PLAIN && too_large(place))
		return "it claims to be larger than it can be";
	return NULL;
}

const char *section_stream_open(struct section_stream *s, const struct elf_image *image,
				const char *name)
{
	struct elf_section place;
	size_t n;

	*s = (struct section_stream){ .fd = image->fd };
	if (!elf_image_find_section(image, name, &place))
		return NULL;
	if (!image->relocatable)
		return open_place(s, image, &place);
	/* Relocations have been applied to the copy in memory. */
	s->mem = elf_image_section(image, name, &n);
	s->size = n;
	return s->mem || !place.size ? NULL : "it cannot be read";
}

static bool read_at(int fd, uint8_t *dst, size_t n, uint64_t off)
{
	while (n) {
		ssize_t got = pread(fd, dst, n, off);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		dst += got;
		n -= got;
		off += got;
	}
	return true;
}

static void reserve(struct section_stream *s, size_t n)
{
	if (n <= s->cap)
		return;
	s->buf = xreallocarray(s->buf, n, 1);
	s->cap = n;
}

static bool restart(struct section_stream *s)
{
	decompress_end(&s->d);
	s->in_done = s->at = s->n = 0;
	/* Units may ask in any order, but not so that reading them takes for ever. */
	if (s->made > 64 * s->size + (64 << 20)) {
		s->trouble = "its units lie in too wild an order";
		return false;
	}
	if (!decompress_begin(&s->d, s->compression)) {
		s->trouble = "no memory to decompress it";
		return false;
	}
	if (!s->in)
		s->in = xmalloc(INPUT);
	return true;
}

/* Gives the decompressor more of the file when it has used up what it had. */
static bool feed(struct section_stream *s)
{
	uint64_t left = s->file_size - s->in_done;
	size_t take = left < INPUT ? left : INPUT;

	if (s->d.n_in || !take || !read_at(s->fd, s->in, take, s->file_off + s->in_done))
		return false;
	s->in_done += take;
	s->d.in = s->in;
	s->d.n_in = take;
	return true;
}

/* Puts up to @n bytes behind those in the buffer; false when there are no more. */
static bool decompress_some(struct section_stream *s, size_t n)
{
	const char *trouble = NULL;

	reserve(s, s->n + n);
	s->d.out = s->buf + s->n;
	s->d.n_out = n;
	while (s->d.n_out && !trouble) {
		bool fed = feed(s);
		size_t in = s->d.n_in, out = s->d.n_out;

		if (!decompress_step(&s->d))
			trouble = "its compressed data are damaged";
		else if (!fed && s->d.n_in == in && s->d.n_out == out)
			trouble = "its compressed data end too early";
	}
	n -= s->d.n_out;
	s->n += n;
	s->made += n;
	if (s->at + s->n < s->size)
		s->trouble = trouble;
	return n > 0;
}

static const uint8_t *get_decompressed(struct section_stream *s, uint64_t off, size_t n)
{
	if ((!s->d.method || off < s->at) && !restart(s))
		return NULL;
	/* What lies before @off is forgotten. */
	while (s->at + s->n <= off) {
		s->at += s->n;
		s->n = 0;
		if (s->at == off)
			break;
		if (!decompress_some(s, off - s->at < WINDOW ? off - s->at : WINDOW))
			return NULL;
	}
	if (off > s->at) {
		memmove(s->buf, s->buf + (off - s->at), s->n - (off - s->at));
		s->n -= off - s->at;
		s->at = off;
	}
	while (s->n < n) {
		/* The length may be wrong: no more memory than the data there are call for. */
		size_t more = n - s->n < s->n ? n - s->n : s->n;

		if (!decompress_some(s, more > WINDOW ? more : WINDOW))
			return NULL;
	}
	return s->buf;
}

const uint8_t *section_stream_get(struct section_stream *s, uint64_t off, size_t n)
{
	size_t more;

	if (off > s->size || n > s->size - off)
		return NULL;
	if (s->mem)
		return s->mem + off;
	if (off >= s->at && off - s->at <= s->n && n <= s->n - (off - s->at))
		return s->buf + (off - s->at);
	if (s->compression != ELF_PLAIN)
		return get_decompressed(s, off, n);
	more = s->size - off < WINDOW ? s->size - off : WINDOW;
	if (more < n)
		more = n;
	reserve(s, more);
	s->at = off;
	s->n = 0;
	if (!read_at(s->fd, s->buf, more, s->file_off + off))
		return NULL;
	s->n = more;
	return s->buf;
}

void section_stream_close(struct section_stream *s)
{
	decompress_end(&s->d);
	free(s->in);
	free(s->buf);
	*s = (struct section_stream){ .fd = -1 };
}

const char *section_read_whole(const struct elf_image *image, const struct elf_section *place,
			       uint8_t **ret)
{
	struct section_stream s;
	const char *why = open_place(&s, image, place);

	if (!why) {
		reserve(&s, 1);
		if (section_stream_get(&s, 0, s.size)) {
			*ret = xreallocarray(s.buf, s.size + 1, 1);
			s.buf = NULL;
		} else {
			why = s.trouble ? s.trouble : "it cannot be read";
		}
	}
	section_stream_close(&s);
	return why;
}
