// SPDX-License-Identifier: GPL-2.0-or-later
/* Where marks are in a binary, and what they are called. */
#include "progress/marks.h"

#include "progress/notes.h"
#include "scoz.h"

struct site_list {
	struct mark_site *sites;
	size_t n, cap;
};

static int found_note(const struct elf_note *note, void *arg, struct error *err)
{
	uint64_t at[3], kind;
	struct site_list *list = arg;
	struct mark_site site;
	char name[SCOZ_NAME_SIZE_];

	if (note->len < 28 || !note->vaddr)
		return error_set(err, EINVAL, "it is not one that scoz.h writes");
	for (int i = 0; i < 3; i++)
		at[i] = note->vaddr + i * 8 + elf_note_word(note->desc + i * 8, 8);
	kind = elf_note_word(note->desc + 24, 4);
	if (kind > MARK_END)
		return error_set(err, EINVAL, "there is no kind of mark %llu",
				 (unsigned long long)kind);
	if (!elf_file_string(note->file, at[2], name, sizeof(name)))
		return error_set(err, EINVAL, "the mark's name is not in the file");
	if (!elf_file_offset(note->file, at[0], true, &site.probe_offset))
		return error_set(err, EINVAL, "the probe of mark '%s' is not in the code", name);
	if (!elf_file_offset(note->file, at[1], false, &site.semaphore_offset))
		return error_set(err, EINVAL, "the semaphore of mark '%s' is not in the file",
				 name);
	site.name = xstrdup(name);
	site.kind = kind;
	array_reserve(list->sites, list->cap, list->n + 1);
	list->sites[list->n++] = site;
	return 0;
}

int marks_find_sites(const struct held_file *file, struct mark_site **ret, size_t *n,
		     struct error *err)
{
	struct elf_notes want = {
		.file = file, .section = ".note.scoz", .owner = "scoz", .type = 1
	};
	struct site_list list = { 0 };
	int r = elf_notes_walk(&want, found_note, &list, err);

	*ret = NULL;
	*n = 0;
	if (r) {
		mark_sites_free(list.sites, list.n);
		return r;
	}
	*ret = list.sites;
	*n = list.n;
	return 0;
}

void mark_sites_free(struct mark_site *sites, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(sites[i].name);
	free(sites);
}

bool mark_name_matches(const char *pattern, const char *name)
{
	size_t np = strlen(pattern);
	const char *colon = strrchr(pattern, ':');

	/* Longer names are known by their end only. */
	if (np > SCOZ_NAME_SIZE_ - 1)
		pattern += np - (SCOZ_NAME_SIZE_ - 1);
	if (!strcmp(pattern, name))
		return true;
	if (!colon || colon == pattern || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
		return false;
	return path_ends_with(name, pattern);
}
