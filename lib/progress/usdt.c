// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A note's descriptor: the address of the probe, the address that .stapsdt.base had when the note
 * was written (prelink moves both, but does not rewrite the note), the address of the semaphore
 * (0: none), then PROVIDER, NAME and the arguments as three strings.
 */
#include "progress/usdt.h"

#include "progress/notes.h"

struct search {
	const char *provider, *name;
	struct usdt_site *sites;
	size_t n, cap;
	size_t others;
	char seen[512]; /* probes that did not match, for the message */
};

static void remember(struct search *s, const char *provider, const char *name)
{
	_cleanup_free_ char *item = xasprintf("%s:%s", provider, name);
	size_t used = strlen(s->seen), n = strlen(item);

	s->others++;
	if (used && s->seen[used - 1] == '.')
		return;
	for (const char *p = s->seen; (p = strstr(p, item)); p += n)
		if ((p == s->seen || p[-1] == ' ') && (!p[n] || p[n] == ','))
			return;
	if (used + n + sizeof(", ...") < sizeof(s->seen))
		sprintf(s->seen + used, "%s%s", used ? ", " : "", item);
	else
		strcpy(s->seen + used, ", ...");
}

static int found_note(const struct elf_note *note, void *arg, struct error *err)
{
	size_t w = note->wordsize, left;
	uint64_t pc, base, semaphore, now;
	const char *provider, *name;
	struct search *s = arg;
	struct usdt_site site;

	if (note->len < 3 * w)
		return error_set(err, EINVAL, "it is too short for three addresses");
	pc = elf_note_word(note->desc, w);
	base = elf_note_word(note->desc + w, w);
	semaphore = elf_note_word(note->desc + 2 * w, w);
	provider = (const char *)note->desc + 3 * w;
	left = note->len - 3 * w;
	if (!memchr(provider, 0, left))
		return error_set(err, EINVAL, "the provider's name does not end");
	name = provider + strlen(provider) + 1;
	left -= name - provider;
	if (!left || !memchr(name, 0, left))
		return error_set(err, EINVAL, "the probe's name does not end");
	if (!pc)
		return 0; /* the linker has dropped the function */
	if (strcmp(provider, s->provider) || strcmp(name, s->name)) {
		remember(s, provider, name);
		return 0;
	}
	now = elf_file_section(note->file, ".stapsdt.base");
	if (base && now) {
		pc += now - base;
		if (semaphore)
			semaphore += now - base;
	}
	if (!elf_file_offset(note->file, pc, true, &site.probe_offset))
		return error_set(err, EINVAL, "probe %s:%s is at 0x%llx, where there is no code",
				 provider, name, (unsigned long long)pc);
	site.semaphore_offset = 0;
	if (semaphore && !elf_file_offset(note->file, semaphore, false, &site.semaphore_offset))
		return error_set(err, EINVAL,
				 "the semaphore of probe %s:%s is at 0x%llx, outside of the file",
				 provider, name, (unsigned long long)semaphore);
	array_reserve(s->sites, s->cap, s->n + 1);
	s->sites[s->n++] = site;
	return 0;
}

int usdt_find(const struct held_file *file, const char *provider, const char *name,
	      struct usdt_site **ret, size_t *n, struct error *err)
{
	struct elf_notes want = {
		.file = file, .section = ".note.stapsdt", .owner = "stapsdt", .type = 3
	};
	struct search s = { .provider = provider, .name = name };
	int r = elf_notes_walk(&want, found_note, &s, err);

	*ret = NULL;
	*n = 0;
	if (!r && !s.n)
		r = error_set(err, ENOENT, "%s has no USDT probe %s:%s; %s%s", file->name, provider,
			      name,
			      s.others ? "it has "
				       : "it has none at all: was it built with "
					 "probes (dtrace, sys/sdt.h)?",
			      s.seen);
	if (r) {
		free(s.sites);
		return r;
	}
	*ret = s.sites;
	*n = s.n;
	return 0;
}
