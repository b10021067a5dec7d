// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Line number programs, DWARF 2 to 5.
 *
 * libdw could do this, and nearly as fast, but dwarf_getsrclines() sorts the rows of a unit by
 * address over all its sequences. What the linker discarded stays in there as sequences that
 * begin at address 0 (or at a tombstone), and if one is longer than the distance to the text its
 * rows end up among those of real code. Here a sequence is dropped as a whole when it does not
 * begin in the text. It also saves keeping 40 bytes a row until the unit is done.
 *
 * The bytes are not to be trusted: see dwarf_cursor.h.
 */
#include "elf/dwarf_line.h"

#include <dwarf.h>

struct value {
	const char *s;
	uint64_t u;
};

static struct value get_form(struct line_reader *r, struct cursor *c, uint64_t form,
			     unsigned int offset_size)
{
	struct value v = { NULL, 0 };

	switch (form) {
	case DW_FORM_string:
		v.s = cursor_string(c);
		break;
	case DW_FORM_line_strp:
		v.s = section_string(&r->line_str, cursor_get(c, offset_size));
		break;
	case DW_FORM_strp:
		v.s = section_string(&r->str, cursor_get(c, offset_size));
		break;
	case DW_FORM_udata:
		v.u = cursor_uleb(c);
		break;
	case DW_FORM_data1:
		v.u = cursor_get(c, 1);
		break;
	case DW_FORM_data2:
		v.u = cursor_get(c, 2);
		break;
	case DW_FORM_data4:
		v.u = cursor_get(c, 4);
		break;
	case DW_FORM_data8:
		v.u = cursor_get(c, 8);
		break;
	case DW_FORM_data16: /* MD5 */
		cursor_skip(c, 16);
		break;
	case DW_FORM_block:
		cursor_skip(c, cursor_uleb(c));
		break;
	default:
		c->bad = true;
	}
	return v;
}

static void add_dir(struct line_reader *r, const char *dir)
{
	array_reserve(r->dir, r->cap_dir, r->n_dir + 1);
	r->dir[r->n_dir++] = dir;
}

static void add_file(struct line_reader *r, const char *name, uint64_t dir)
{
	array_reserve(r->file, r->cap_file, r->n_file + 1);
	r->file[r->n_file++] = (struct line_file){ name, dir, NONE };
}

/* DWARF 5: entries of a self-described shape, once for directories, once for files. */
static void read_entries(struct line_reader *r, struct cursor *c, unsigned int offset_size,
			 bool files)
{
	struct {
		uint64_t type, form;
	} format[16];
	size_t n_format = cursor_get(c, 1);
	uint64_t n;

	if (n_format > ARRAY_SIZE(format)) {
		c->bad = true;
		return;
	}
	for (size_t i = 0; i < n_format; i++) {
		format[i].type = cursor_uleb(c);
		format[i].form = cursor_uleb(c);
	}
	n = cursor_uleb(c);
	if (!n_format || n > (uint64_t)(c->end - c->p)) {
		c->bad |= n != 0;
		return;
	}
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		const char *name = NULL;
		uint64_t dir = 0;

		for (size_t k = 0; k < n_format; k++) {
			struct value v = get_form(r, c, format[k].form, offset_size);

			if (format[k].type == DW_LNCT_path)
				name = v.s;
			else if (format[k].type == DW_LNCT_directory_index)
				dir = v.u;
		}
		if (files)
			add_file(r, name, dir);
		else
			add_dir(r, name);
	}
}

static const char *read_file_table(struct line_reader *r, struct cursor *c,
				   unsigned int offset_size)
{
	r->n_dir = r->n_file = 0;
	if (r->version >= 5) {
		read_entries(r, c, offset_size, false);
		read_entries(r, c, offset_size, true);
		return c->bad ? "its list of files is malformed" : NULL;
	}
	add_dir(r, NULL);
	while (!c->bad && c->p < c->end && *c->p)
		add_dir(r, cursor_string(c));
	cursor_get(c, 1);
	add_file(r, NULL, 0); /* files count from 1 */
	while (!c->bad && c->p < c->end && *c->p) {
		const char *name = cursor_string(c);
		uint64_t dir = cursor_uleb(c);

		cursor_uleb(c);
		cursor_uleb(c);
		add_file(r, name, dir);
	}
	cursor_get(c, 1);
	return c->bad ? "its list of files is malformed" : NULL;
}

/* "dir/name" without empty and "." components of @name's front. */
static char *join(const char *dir, const char *name)
{
	size_t n = dir ? strlen(dir) : 0;

	while (name[0] == '.' && name[1] == '/')
		name += 2;
	if (!n || name[0] == '/')
		return xstrdup(name);
	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (n == 1 && dir[0] == '/')
		return xasprintf("/%s", name);
	return xasprintf("%.*s/%s", (int)n, dir, name);
}

uint32_t line_program_file(struct line_reader *r, uint64_t index)
{
	struct line_file *f;

	if (index >= r->n_file || !r->file[index].name)
		return NONE;
	f = &r->file[index];
	if (f->id == NONE) {
		const char *dir = f->dir < r->n_dir ? r->dir[f->dir] : NULL;
		_cleanup_free_ char *in_dir = join(dir, f->name);
		/* -fdebug-prefix-map can make both relative, and the same: once is enough. */
		bool twice = dir && r->comp_dir && !strcmp(dir, r->comp_dir);
		_cleanup_free_ char *given = join(twice ? NULL : r->comp_dir, in_dir);
		/* "build/../main.c" of two programs would be "../main.c" where paths are cut. */
		_cleanup_free_ char *path = path_normalized(given);

		f->id = builder_file(r->b, path);
	}
	return f->id;
}

struct line_state {
	uint64_t addr, file, op_index;
	uint32_t line;
	bool stmt;
};

struct line_program {
	struct cursor c;
	uint8_t min_inst_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	bool default_is_stmt;
	uint8_t operands[256];
};

static void advance(const struct line_program *p, struct line_state *s, uint64_t ops)
{
	if (p->max_ops <= 1) {
		s->addr += ops * p->min_inst_length;
		return;
	}
	s->addr += p->min_inst_length * ((s->op_index + ops) / p->max_ops);
	s->op_index = (s->op_index + ops) % p->max_ops;
}

static void reset(const struct line_program *p, struct line_state *s)
{
	*s = (struct line_state){ .file = 1, .line = 1, .stmt = p->default_is_stmt };
}

struct emitter {
	struct line_reader *r;
	uint64_t file; /* the last one, and its number in the builder */
	uint32_t id;
};

static void emit(struct emitter *e, const struct line_state *s)
{
	if (s->file != e->file) {
		e->file = s->file;
		e->id = line_program_file(e->r, s->file);
	}
	builder_row(e->r->b, s->addr, e->id, e->id == NONE ? 0 : s->line, s->stmt);
}

static void extended(const struct line_program *p, struct cursor *c, struct emitter *e,
		     struct line_state *s)
{
	uint64_t len = cursor_uleb(c);
	struct cursor x = { c->p, c->p, false };

	if (!len)
		return;
	cursor_skip(c, len);
	x.end = c->p;
	switch (cursor_get(&x, 1)) {
	case DW_LNE_end_sequence:
		builder_sequence_end(e->r->b, s->addr);
		reset(p, s);
		break;
	case DW_LNE_set_address:
		s->addr = cursor_get(&x, len - 1);
		s->op_index = 0;
		if (x.bad)
			c->bad = true;
		break;
	case DW_LNE_define_file: {
		const char *name = cursor_string(&x);
		uint64_t dir = cursor_uleb(&x);

		if (!x.bad)
			add_file(e->r, name, dir);
		break;
	}
	default:
		break;
	}
}

static void run(struct line_reader *r, struct line_program *p)
{
	struct emitter e = { r, UINT64_MAX, NONE };
	struct cursor *c = &p->c;
	struct line_state s;

	reset(p, &s);
	while (c->p < c->end && !c->bad) {
		uint8_t op = *c->p++;

		if (op >= p->opcode_base) {
			op -= p->opcode_base;
			advance(p, &s, op / p->line_range);
			s.line += p->line_base + op % p->line_range;
			emit(&e, &s);
			continue;
		}
		switch (op) {
		case 0:
			extended(p, c, &e, &s);
			break;
		case DW_LNS_copy:
			emit(&e, &s);
			break;
		case DW_LNS_advance_pc:
			advance(p, &s, cursor_uleb(c));
			break;
		case DW_LNS_advance_line:
			s.line += cursor_sleb(c);
			break;
		case DW_LNS_set_file:
			s.file = cursor_uleb(c);
			break;
		case DW_LNS_negate_stmt:
			s.stmt = !s.stmt;
			break;
		case DW_LNS_const_add_pc:
			advance(p, &s, (255 - p->opcode_base) / p->line_range);
			break;
		case DW_LNS_fixed_advance_pc:
			s.addr += cursor_get(c, 2);
			s.op_index = 0;
			break;
		default: /* set_column, set_basic_block, ... and what later versions add */
			for (int i = 0; i < p->operands[op]; i++)
				cursor_uleb(c);
			break;
		}
	}
	builder_sequence_drop(r->b);
}

static bool same_offset(const void *programs, uint32_t i, const void *offset)
{
	return ((const uint64_t *)programs)[i] == *(const uint64_t *)offset;
}

const char *line_program_read(struct line_reader *r, uint64_t offset, const char *comp_dir)
{
	struct line_program p = { .c = { r->line.p, r->line.p + r->line.n, false } };
	uint64_t total = r->total ? r->total : r->line.n;
	struct cursor *c = &p.c;
	unsigned int offset_size = 4;
	uint64_t len, header_len;
	const uint8_t *program;
	const char *why;

	r->n_dir = r->n_file = 0;
	r->comp_dir = comp_dir;
	if (offset < r->origin || offset - r->origin >= r->line.n)
		return "it lies beyond .debug_line";
	c->p += offset - r->origin;
	len = cursor_get(c, 4);
	if (len == 0xffffffff) {
		len = cursor_get(c, 8);
		offset_size = 8;
	}
	if (c->bad)
		return "its header is cut off";
	if (len > (uint64_t)(c->end - c->p))
		return dwarf_why("its length, 0x%llx, reaches beyond .debug_line",
				 (unsigned long long)len);
	c->end = c->p + len;
	r->version = cursor_get(c, 2);
	if (c->bad)
		return "its header is cut off";
	if (r->version < 2 || r->version > 5)
		return dwarf_why("version %u: none of 2 to 5", r->version);
	if (r->version >= 5)
		cursor_get(c, 2); /* address size, segment selector size */
	header_len = cursor_get(c, offset_size);
	if (c->bad)
		return "its header is cut off";
	if (header_len > (uint64_t)(c->end - c->p))
		return dwarf_why("its header, of 0x%llx bytes, reaches beyond its end",
				 (unsigned long long)header_len);
	/* Units may share a program, but not so that reading them takes for ever. */
	r->header_bytes += header_len;
	if (r->header_bytes > 64 * total + (64 << 20))
		return "too many units read its list of files";
	program = c->p + header_len;
	p.min_inst_length = cursor_get(c, 1);
	p.max_ops = r->version >= 4 ? cursor_get(c, 1) : 1;
	p.default_is_stmt = cursor_get(c, 1);
	p.line_base = cursor_get(c, 1);
	p.line_range = cursor_get(c, 1);
	p.opcode_base = cursor_get(c, 1);
	if (c->bad)
		return "its header is cut off";
	if (!p.line_range || !p.opcode_base)
		return dwarf_why("line range %u, opcode base %u: neither may be 0", p.line_range,
				 p.opcode_base);
	for (int i = 1; i < p.opcode_base; i++)
		p.operands[i] = cursor_get(c, 1);
	why = read_file_table(r, c, offset_size);
	if (why)
		return why;
	if (hash_index_find(&r->done, offset, same_offset, r->programs, &offset) != HASH_NONE)
		return NULL;
	array_reserve(r->programs, r->cap_programs, r->done.n + 1);
	r->programs[r->done.n] = offset;
	hash_index_add(&r->done, offset, r->done.n);
	c->p = program;
	run(r, &p);
	return c->bad ? "it ends in the middle of an instruction" : NULL;
}

void line_reader_deinit(struct line_reader *r)
{
	hash_index_deinit(&r->done);
	free(r->programs);
	free(r->dir);
	free(r->file);
}
