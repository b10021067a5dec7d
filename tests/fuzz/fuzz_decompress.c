// SPDX-License-Identifier: GPL-2.0-or-later
/* Compressed sections: the first byte says by which method, and how much room there is at a time.
 */
#include "tests/fuzz/fuzz.h"

#include "elf/decompress.h"

#define MOST (4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room, made = 0, fed = 1;
	struct decompressor d;
	uint8_t *out;

	if (!size || !decompress_begin(&d, data[0] & 3))
		return 0;
	room = (size_t)1 << (data[0] >> 4);
	out = xmalloc(room);
	while (made < MOST) {
		size_t in, n_out;

		/* In pieces, as a file is read. */
		if (!d.n_in && fed < size) {
			d.in = data + fed;
			d.n_in = size - fed < room ? size - fed : room;
			fed += d.n_in;
		}
		d.out = out;
		d.n_out = n_out = room;
		in = d.n_in;
		if (!decompress_step(&d))
			break;
		made += n_out - d.n_out;
		if (d.n_in == in && d.n_out == n_out)
			break;
	}
	decompress_end(&d);
	free(out);
	return 0;
}
