// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/call_check.h"

#include <unistd.h>

#define CALL_BYTES   8	   /* more than the longest call */
#define FRAME_BYTES  16384 /* from a function's frame to its calls */
#define FRAME_SPREAD 16	   /* between the instructions that make it */

/*
 * Files are kept open, up to a limit: a process may be gone when its second frame is looked at.
 * What they said is kept by the caller, so a file that was closed again is not missed much.
 */
#define MAX_OPEN 256
#define UNTRIED	 (-2)

struct code {
	int *fds; /* by binary: -1 not there, or closed again */
	const struct maptable **tables;
	size_t n;
	uint32_t open[MAX_OPEN]; /* binaries, a ring */
	size_t n_open;
};

#if defined(__x86_64__)
enum code_call code_decode_call(const uint8_t *bytes, size_t n, uint64_t end, uint64_t *target)
{
	const uint8_t *p = bytes + n;
	int32_t relative;

	/*
	 * FF /2 with any addressing mode, with or without prefixes: 2 to 7 bytes. A direct call is
	 * tried first: its displacement may look like one of these.
	 */
	if (n >= 5 && p[-5] == 0xe8) {
		memcpy(&relative, p - 4, sizeof(relative));
		*target = end + relative;
		return CODE_DIRECT;
	}
	for (size_t length = 2; length <= 7 && length <= n; length++) {
		uint8_t modrm = p[1 - (long)length], mode = modrm >> 6, rm = modrm & 7;
		size_t need = 2 + (mode != 3 && rm == 4) + (mode == 1) * 1 + (mode == 2) * 4 +
			      (mode == 0 && rm == 5) * 4;

		if (p[-(long)length] != 0xff || (modrm >> 3 & 7) != 2)
			continue;
		if (mode == 0 && rm == 4 && length >= 3 && (p[2 - (long)length] & 7) == 5)
			need += 4;
		if (need == length)
			return CODE_INDIRECT;
	}
	return CODE_NO_CALL;
}

static bool is_stub(const uint8_t *p, size_t n)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (n >= 4 && !memcmp(p, endbr64, 4))
		p += 4, n -= 4;
	if (n && *p == 0xf2) /* bnd */
		p++, n--;
	return n >= 2 && p[0] == 0xff && p[1] == 0x25;
}

/* Behind push %rbp: is mov %rsp,%rbp next that has to do with the stack? Others may be between. */
static bool makes_frame(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + 3 <= n && i < FRAME_SPREAD; i++) {
		if (p[i] == 0x48 && ((p[i + 1] == 0x89 && p[i + 2] == 0xe5) ||
				     (p[i + 1] == 0x8b && p[i + 2] == 0xec)))
			return true;
		if (p[i] >> 3 == 0x50 >> 3 || /* push, or sub from %rsp */
		    (p[i] == 0x48 && (p[i + 1] & ~2) == 0x81 && p[i + 2] == 0xec))
			return false;
	}
	return false;
}

size_t code_find_frame(const uint8_t *bytes, size_t n)
{
	for (size_t at = n; at--;) {
		if (bytes[at] == 0x55 && makes_frame(bytes + at + 1, n - at - 1))
			return at;
	}
	return n;
}
#elif defined(__aarch64__)
enum code_call code_decode_call(const uint8_t *bytes, size_t n, uint64_t end, uint64_t *target)
{
	uint32_t insn;

	if (n < 4)
		return CODE_UNKNOWN;
	memcpy(&insn, bytes + n - 4, sizeof(insn));
	if (insn >> 26 == 0x25) { /* bl */
		*target = end - 4 + ((int64_t)((uint64_t)insn << 38) >> 36);
		return CODE_DIRECT;
	}
	if ((insn & 0xfffffc1f) == 0xd63f0000 || (insn & 0xfeffff80) == 0xd63f0800) /* blr */
		return CODE_INDIRECT;
	return CODE_NO_CALL;
}

static bool is_stub(const uint8_t *p, size_t n)
{
	uint32_t insn;

	if (n < 4)
		return false;
	memcpy(&insn, p, sizeof(insn));
	return (insn & 0x9f00001f) == 0x90000010; /* adrp x16 */
}

size_t code_find_frame(const uint8_t *bytes, size_t n)
{
	uint32_t insn;

	for (size_t at = n / 4 * 4; at >= 4;) {
		at -= 4;
		memcpy(&insn, bytes + n % 4 + at, sizeof(insn));
		if ((insn & 0xffc003ff) == 0x910003fd) /* add x29, sp */
			return n % 4 + at;
	}
	return n;
}
#else
enum code_call code_decode_call(const uint8_t *bytes, size_t n, uint64_t end, uint64_t *target)
{
	(void)bytes;
	(void)n;
	(void)end;
	(void)target;
	return CODE_UNKNOWN;
}

static bool is_stub(const uint8_t *p, size_t n)
{
	(void)p;
	(void)n;
	return false;
}

size_t code_find_frame(const uint8_t *bytes, size_t n)
{
	(void)bytes;
	return n;
}
#endif

struct code *code_create(void)
{
	return xcalloc(1, sizeof(struct code));
}

void code_destroy(struct code *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	}
	free(c->fds);
	free(c->tables);
	free(c);
}

static int code_file(struct code *c, const struct maps_binary *b, int pid)
{
	if (b->id >= c->n) {
		size_t n = (b->id + 1) * 2;

		c->fds = xreallocarray(c->fds, n, sizeof(*c->fds));
		c->tables = xreallocarray(c->tables, n, sizeof(*c->tables));
		for (; c->n < n; c->n++) {
			c->fds[c->n] = UNTRIED;
			c->tables[c->n] = NULL;
		}
	}
	if (c->fds[b->id] == UNTRIED) {
		uint32_t *oldest = &c->open[c->n_open % MAX_OPEN];

		c->fds[b->id] = maps_open_file_of(pid, b->path, &b->file);
		if (c->fds[b->id] < 0)
			c->fds[b->id] = maps_open_file(b->path, &b->file);
		c->tables[b->id] = b->table;
		if (c->fds[b->id] < 0)
			return c->fds[b->id] = -1;
		if (c->n_open++ >= MAX_OPEN) {
			close(c->fds[*oldest]);
			c->fds[*oldest] = -1;
		}
		*oldest = b->id;
	}
	return c->fds[b->id];
}

enum code_call code_call_before(struct code *c, const struct maps_binary *b, int pid,
				uint64_t vaddr, uint64_t *target)
{
	int fd = code_file(c, b, pid);
	uint8_t bytes[CALL_BYTES];
	uint64_t offset;

	if (fd < 0 || !maptable_vaddr_to_offset(b->table, vaddr - 1, &offset) ||
	    offset + 1 < CALL_BYTES ||
	    pread(fd, bytes, sizeof(bytes), offset + 1 - CALL_BYTES) != sizeof(bytes))
		return CODE_UNKNOWN;
	return code_decode_call(bytes, sizeof(bytes), vaddr, target);
}

bool code_frame_before(struct code *c, const struct maps_binary *b, int pid, uint64_t vaddr,
		       uint64_t *begins)
{
	int fd = code_file(c, b, pid);
	uint8_t bytes[FRAME_BYTES];
	uint64_t offset;
	size_t want, at;
	ssize_t n;

	if (fd < 0 || !maptable_vaddr_to_offset(b->table, vaddr - 1, &offset))
		return false;
	want = offset < sizeof(bytes) ? offset : sizeof(bytes);
	n = pread(fd, bytes, want, offset - want);
	if (n < 0 || (size_t)n < want)
		return false;
	at = code_find_frame(bytes, want);
	*begins = vaddr - 1 - want + at;
	return at < want;
}

bool code_is_stub(struct code *c, uint32_t binary, uint64_t vaddr)
{
	uint8_t bytes[12];
	uint64_t offset;

	return binary < c->n && c->fds[binary] >= 0 &&
	       maptable_vaddr_to_offset(c->tables[binary], vaddr, &offset) &&
	       pread(c->fds[binary], bytes, sizeof(bytes), offset) == sizeof(bytes) &&
	       is_stub(bytes, sizeof(bytes));
}
