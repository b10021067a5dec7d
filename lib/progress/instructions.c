// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/instructions.h"

#include <Zydis/Zydis.h>
#include <elf.h>

#define BEGINS 1u /* an instruction that was reached begins at this byte */
#define INSIDE 2u /* one goes on here */

struct instruction {
	unsigned int length;   /* 0: none */
	unsigned int prefixes; /* bytes that some code jumps over, to go without them */
	bool nop;
	bool ends;		/* control does not go on behind it */
	bool branch;		/* to @target */
	bool call;		/* @target is called */
	bool returns, computes; /* of what ends: it returns, jumps where it computes */
	uint64_t target;
	const char *no_probe; /* why the kernel puts no probe there, or NULL */
};

bool code_machine_known(uint16_t machine)
{
	return machine == EM_X86_64 || machine == EM_386 || machine == EM_AARCH64;
}

/*
 * What the kernel's uprobes refuse, by the first byte of the opcode (of VEX and EVEX the only one):
 * arch/x86/kernel/uprobes.c, alike from 6.1 to 6.12. Two-byte opcodes go.
 */
static bool is_refused_opcode(const ZydisDecodedInstruction *z)
{
	static const uint8_t always[] = { 0x6c, 0x6d, 0x6e, 0x6f, 0xcc, 0xcd, 0xce,
					  0xcf, 0xe4, 0xe5, 0xe6, 0xe7, 0xec, 0xed,
					  0xee, 0xef, 0xf1, 0xf4, 0xfa, 0xfb };
	static const uint8_t wide[] = {
		0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37,
		0x3f, 0x60, 0x61, 0x62, 0x82, 0x9a, 0xd4, 0xd5, 0xd6, 0xea
	};

	if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    z->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return false;
	if (memchr(always, z->opcode, sizeof(always)))
		return true;
	if (z->machine_mode == ZYDIS_MACHINE_MODE_LONG_64)
		return memchr(wide, z->opcode, sizeof(wide));
	return z->opcode == 0x07 || z->opcode == 0x17 || z->opcode == 0x1f;
}

static const char *refused_x86(const ZydisDecodedInstruction *z, const struct instruction *i)
{
	for (unsigned int k = 0; k < z->raw.prefix_count; k++) {
		switch (z->raw.prefixes[k].value) {
		case 0xf0:
			return "a lock prefix";
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
			return "a segment prefix";
		case 0x66:
			if (i->branch || i->call)
				return "a 66 prefix of a branch";
		}
	}
	if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z->opcode == 0x8e && z->raw.modrm.reg == 2)
		return "it loads the stack segment";
	return is_refused_opcode(z) ? "its opcode" : NULL;
}

static void classify_x86(const ZydisDecodedInstruction *z, uint64_t addr, struct instruction *i)
{
	i->length = z->length;
	i->prefixes = z->raw.prefix_count;
	i->nop = z->mnemonic == ZYDIS_MNEMONIC_NOP;
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_UNCOND_BR:
		i->ends = true;
		i->branch = z->raw.imm[0].is_relative;
		i->computes = !i->branch;
		break;
	case ZYDIS_CATEGORY_COND_BR:
		i->branch = z->raw.imm[0].is_relative;
		break;
	case ZYDIS_CATEGORY_CALL:
		i->call = z->raw.imm[0].is_relative;
		break;
	case ZYDIS_CATEGORY_RET:
		i->ends = i->returns = true;
		break;
	default:
		break;
	}
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
		i->ends = true;
		break;
	default:
		break;
	}
	if (i->branch || i->call)
		i->target = addr + z->length + z->raw.imm[0].value.s;
	i->no_probe = refused_x86(z, i);
}

static void decode_x86(const struct code *c, uint64_t addr, struct instruction *i)
{
	bool wide = c->machine == EM_X86_64;
	ZydisDecodedInstruction z;
	ZydisDecoder decoder;

	if (ZYAN_FAILED(ZydisDecoderInit(
		    &decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
		    wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)))
		return;
	if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, c->bytes + (addr - c->start),
						       c->end - addr, &z)))
		classify_x86(&z, addr, i);
	if (!wide)
		i->target &= UINT32_MAX;
}

static int64_t signed_field(uint32_t word, int from, int bits)
{
	return ((int64_t)(int32_t)(word << (32 - from - bits)) >> (32 - bits)) * 4;
}

/* arch/arm64/kernel/probes/decode-insn.c */
static const char *refused_arm64(uint32_t word)
{
	if ((word & 0x3f800000) == 0x08000000)
		return "it is one of an exclusive load and store";
	if ((word & 0xbf000000) == 0x18000000 || (word & 0xff000000) == 0x98000000 ||
	    (word & 0xff000000) == 0xd8000000)
		return "it loads what lies beside it";
	if ((word & 0xfff8f01f) == 0xd500401f || (word & 0xfff00000) == 0xd5100000)
		return "it writes a system register";
	if ((word & 0xff000000) == 0xd4000000)
		return "it makes an exception";
	if ((word & 0xffffff1f) == 0xd503201f && word != 0xd503201f && /* yield to sevl */
	    (word >> 5 & 0x7f) <= 5)
		return "it is a hint";
	if ((word & 0xfe000000) == 0xd6000000 && (word & 0xfffffc1f) != 0xd61f0000 &&
	    (word & 0xfffffc1f) != 0xd63f0000 && (word & 0xfffffc1f) != 0xd65f0000)
		return "it checks the address to which it goes";
	return NULL;
}

static void decode_arm64(const struct code *c, uint64_t addr, struct instruction *i)
{
	const uint8_t *p = c->bytes + (addr - c->start);
	uint32_t word;

	if (addr % 4 || c->end - addr < 4)
		return;
	word = p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
	/* The top half is never 0 in an instruction, but in small numbers: udf. */
	if (!(word >> 16))
		return;
	i->length = 4;
	i->nop = word == 0xd503201f;
	i->no_probe = refused_arm64(word);
	if ((word & 0x7c000000) == 0x14000000) { /* b, bl */
		i->call = word >> 31;
		i->branch = i->ends = !i->call;
		i->target = addr + signed_field(word, 0, 26);
	} else if ((word & 0xff000000) == 0x54000000 || /* b.cond */
		   (word & 0x7e000000) == 0x34000000) { /* cbz, cbnz */
		i->branch = true;
		i->target = addr + signed_field(word, 5, 19);
	} else if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		i->branch = true;
		i->target = addr + signed_field(word, 5, 14);
	} else if ((word & 0xfe000000) == 0xd6000000) { /* to a register: br, ret; blr returns */
		i->ends = (word & 0x00600000) != 0x00200000;
		i->returns = (word & 0x00600000) == 0x00400000;
		i->computes = i->ends && !i->returns;
	} else if ((word & 0xffe0001f) == 0xd4200000 || /* brk, hlt */
		   (word & 0xffe0001f) == 0xd4400000) {
		i->ends = true;
	}
}

static struct instruction decode(const struct code *c, uint64_t addr)
{
	struct instruction i = { .length = 0 };

	if (addr < c->start || addr >= c->end)
		return i;
	if (c->machine == EM_AARCH64)
		decode_arm64(c, addr, &i);
	else if (code_machine_known(c->machine))
		decode_x86(c, addr, &i);
	return i;
}

unsigned int code_length(const struct code *c, uint64_t addr)
{
	return decode(c, addr).length;
}

bool code_is_nop(const struct code *c, uint64_t addr)
{
	return decode(c, addr).nop;
}

const char *code_no_probe(const struct code *c, uint64_t addr)
{
	return decode(c, addr).no_probe;
}

void code_flow_init(struct code_flow *f, const struct code *c)
{
	*f = (struct code_flow){ .code = *c };
	f->state = xcalloc(c->end - c->start + 1, 1);
}

void code_flow_deinit(struct code_flow *f)
{
	free(f->state);
	f->state = NULL;
}

static uint8_t *state_at(const struct code_flow *f, uint64_t addr)
{
	return &f->state[addr - f->code.start];
}

static void set_conflict(struct code_flow *f, uint64_t addr)
{
	if (!f->conflict)
		f->conflict_at = addr;
	f->conflict = true;
}

/* Is @addr what remains of an instruction when its prefixes are jumped over (lock, mostly)? */
static bool follows_prefixes(const struct code_flow *f, uint64_t addr)
{
	for (uint64_t back = 1; back < 15 && addr - f->code.start >= back; back++) {
		if (*state_at(f, addr - back) & BEGINS)
			return decode(&f->code, addr - back).prefixes >= back;
	}
	return false;
}

static void mark(struct code_flow *f, uint64_t addr, const struct instruction *i)
{
	if (*state_at(f, addr) & INSIDE && !follows_prefixes(f, addr))
		set_conflict(f, addr);
	*state_at(f, addr) |= BEGINS;
	for (unsigned int k = 1; k < i->length; k++) {
		if (*state_at(f, addr + k) & BEGINS && k > i->prefixes)
			set_conflict(f, addr + k);
		*state_at(f, addr + k) |= INSIDE;
	}
}

void code_flow_enter(struct code_flow *f, uint64_t entry)
{
	const struct code *c = &f->code;
	uint64_t *todo = NULL;
	size_t n = 0, cap = 0;

	array_reserve(todo, cap, 1);
	todo[n++] = entry;
	while (n) {
		uint64_t addr = todo[--n];

		while (addr >= c->start && addr < c->end && !(*state_at(f, addr) & BEGINS)) {
			struct instruction i = decode(c, addr);

			if (!i.length)
				break;
			mark(f, addr, &i);
			if (i.branch && i.target != addr) {
				array_reserve(todo, cap, n + 1);
				todo[n++] = i.target;
			}
			/*
			 * A call to a place in the midst of the function is how old code gets the
			 * address of what follows, which may be data.
			 */
			if (i.call && i.target > c->start && i.target < c->end) {
				array_reserve(todo, cap, n + 1);
				todo[n++] = i.target;
				if (i.target > addr)
					break;
			}
			if (i.ends)
				break;
			addr += i.length;
		}
	}
	free(todo);
}

bool code_flow_begins(const struct code_flow *f, uint64_t addr)
{
	return addr >= f->code.start && addr < f->code.end && *state_at(f, addr) == BEGINS;
}

enum code_step code_flow_step(const struct code_flow *f, uint64_t addr, uint64_t *target)
{
	struct instruction i;

	if (!code_flow_begins(f, addr))
		return CODE_GOES_ON;
	i = decode(&f->code, addr);
	if (i.branch) {
		*target = i.target;
		return i.ends ? CODE_JUMPS : CODE_MAY_JUMP;
	}
	if (i.returns)
		return CODE_RETURNS;
	return i.computes ? CODE_JUMPS_ANYWHERE : CODE_GOES_ON;
}

bool code_flow_before(const struct code_flow *f, uint64_t addr, uint64_t *ret)
{
	while (addr > f->code.start) {
		if (code_flow_begins(f, --addr)) {
			*ret = addr;
			return true;
		}
	}
	return false;
}

bool code_flow_after(const struct code_flow *f, uint64_t addr, uint64_t *ret)
{
	while (++addr < f->code.end) {
		if (code_flow_begins(f, addr)) {
			*ret = addr;
			return true;
		}
	}
	return false;
}
