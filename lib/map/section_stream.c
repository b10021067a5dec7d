// SPDX-License-Identifier: GPL-2.0-or-later
#include "map/section_stream.h"

#include <unistd.h>

#define WINDOW (1 << 20)
#define INPUT  (1 << 16)

const char *section_stream_open(struct section_stream *s, const struct elf_image *image,
				const char *name)
{
	struct elf_section place;
	size_t n;

	*s = (struct section_stream){ .fd = image->fd };
	if (!elf_image_find_section(image, name, &place))
		return NULL;
	if (image->relocatable) { /* relocations have been applied to the copy in memory */
		s->mem = elf_image_section(image, name, &n);
		s->size = n;
		return s->mem || !place.size ? NULL : "it cannot be read";
	}
	s->file_off = place.offset;
	s->file_size = place.size;
	s->size = place.uncompressed;
	s->compressed = place.compression != ELF_PLAIN;
	if (place.compression == ELF_OTHER)
		return "it is compressed by a method other than zlib";
	if (place.offset > image->size || place.size > image->size - place.offset)
		return "it reaches beyond the end of the file";
	/* zlib makes at most about a thousand bytes of one. */
	if (s->compressed && place.uncompressed / 1100 > place.size)
		return "it claims to be larger than it can be";
	return NULL;
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

static bool inflate_restart(struct section_stream *s)
{
	if (s->inflating)
		inflateEnd(&s->z);
	memset(&s->z, 0, sizeof(s->z));
	s->in_done = s->at = s->n = 0;
	s->inflating = inflateInit(&s->z) == Z_OK;
	if (!s->in)
		s->in = xmalloc(INPUT);
	return s->inflating;
}

/* Puts up to @n bytes behind those in the buffer; false when there are no more. */
static bool inflate_some(struct section_stream *s, size_t n)
{
	reserve(s, s->n + n);
	s->z.next_out = s->buf + s->n;
	s->z.avail_out = n;
	while (s->z.avail_out) {
		int rc;

		if (!s->z.avail_in) {
			uint64_t left = s->file_size - s->in_done;
			size_t take = left < INPUT ? left : INPUT;

			if (!take || !read_at(s->fd, s->in, take, s->file_off + s->in_done))
				break;
			s->in_done += take;
			s->z.next_in = s->in;
			s->z.avail_in = take;
		}
		rc = inflate(&s->z, Z_NO_FLUSH);
		if (rc != Z_OK)
			break;
	}
	n -= s->z.avail_out;
	s->n += n;
	return n > 0;
}

static const uint8_t *get_inflated(struct section_stream *s, uint64_t off, size_t n)
{
	if ((!s->inflating || off < s->at) && !inflate_restart(s))
		return NULL;
	/* What lies before @off is forgotten. */
	while (s->at + s->n <= off) {
		s->at += s->n;
		s->n = 0;
		if (s->at == off)
			break;
		if (!inflate_some(s, off - s->at < WINDOW ? off - s->at : WINDOW))
			return NULL;
	}
	if (off > s->at) {
		memmove(s->buf, s->buf + (off - s->at), s->n - (off - s->at));
		s->n -= off - s->at;
		s->at = off;
	}
	while (s->n < n) {
		if (!inflate_some(s, n - s->n > WINDOW ? n - s->n : WINDOW))
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
	if (s->compressed)
		return get_inflated(s, off, n);
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
	if (s->inflating)
		inflateEnd(&s->z);
	free(s->in);
	free(s->buf);
	*s = (struct section_stream){ .fd = -1 };
}
