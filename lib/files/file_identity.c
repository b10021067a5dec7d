// SPDX-License-Identifier: GPL-2.0-or-later
#include "files/file_identity.h"

#include "base/hash_index.h"
#include "files/file_open.h"

#include <unistd.h>

char *file_identity(const char *path)
{
	size_t room = 1 << 16, got;
	_cleanup_free_ uint8_t *bytes = xmalloc(room);
	uint64_t hash = HASH_START, size = 0;
	_cleanup_close_ int fd = -1;
	struct stat st;
	ssize_t n;

	fd = file_open(NULL, path, &st);
	if (fd < 0)
		return NULL;
	if (st.st_size > IDENTITY_HASHED)
		return xasprintf("%lld at %lld.%09ld", (long long)st.st_size,
				 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	/* Who wants to deceive gets a profile of two programs, and nothing else. */
	do {
		for (got = 0; got < room && (n = read(fd, bytes + got, room - got)) > 0; got += n)
			;
		if (n < 0)
			return NULL;
		hash = hash_bytes(hash, bytes, got);
		size += got;
	} while (got == room && size <= IDENTITY_HASHED);
	return xasprintf("%llu:%016llx", (unsigned long long)size, (unsigned long long)hash);
}
