// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/file_identity.h"

#include "files/file_open.h"

#include <unistd.h>

/* FNV-1a: who wants to deceive gets a profile of two programs, and nothing else. */
static uint64_t hash_on(uint64_t hash, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

char *file_identity(const char *path)
{
	size_t room = 1 << 16;
	_cleanup_free_ uint8_t *bytes = xmalloc(room);
	uint64_t hash = 0xcbf29ce484222325, size = 0;
	_cleanup_close_ int fd = -1;
	struct stat st;
	ssize_t n;

	fd = file_open(NULL, path, &st);
	if (fd < 0)
		return NULL;
	if (st.st_size > IDENTITY_HASHED)
		return xasprintf("%lld at %lld.%09ld", (long long)st.st_size,
				 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	while (size <= IDENTITY_HASHED && (n = read(fd, bytes, room)) > 0) {
		hash = hash_on(hash, bytes, n);
		size += n;
	}
	return xasprintf("%llu:%016llx", (unsigned long long)size, (unsigned long long)hash);
}
