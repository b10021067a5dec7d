// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/kallsyms.h"
#include "host/kernel_asks.h"

#include <pthread.h>

/* Files of /proc say that a block of theirs is 1 KB; at a time they give four. */
#define BUFFER 65536

bool kallsyms_parse(char *line, struct kallsym *ret)
{
	char *end, *name;

	ret->address = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	name = end + 3;
	name[strcspn(name, " \t\n")] = '\0';
	ret->type = end[1];
	ret->name = name;
	return *name;
}

int kallsyms_each(bool (*each)(const struct kallsym *sym, void *arg), void *arg)
{
	_cleanup_free_ char *path = sysroot_path("/proc/kallsyms"), *line = NULL;
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	struct kallsym sym;
	size_t cap = 0;

	if (!f)
		return -errno;
	setvbuf(f, NULL, _IOFBF, BUFFER);
	while (getline(&line, &cap, f) > 0) {
		if (kallsyms_parse(line, &sym) && each(&sym, arg))
			break;
	}
	return 0;
}

static struct kernel_addresses addresses;

static const struct {
	const char *name;
	uint64_t *address;
} wanted[] = {
	{ "timerfd_tmrproc", &addresses.timerfd_tmrproc },
	{ "posix_timer_fn", &addresses.posix_timer_fn },
	{ "it_real_fn", &addresses.it_real_fn },
	{ "hrtimer_wakeup", &addresses.hrtimer_wakeup },
	{ "__sched_text_start", &addresses.sched_text_start },
	{ "__sched_text_end", &addresses.sched_text_end },
	{ "__per_cpu_offset", &addresses.per_cpu_offset },
	{ "__preempt_count", &addresses.preempt_count },
	{ "pcpu_hot", &addresses.pcpu_hot },
};

static bool note_address(const struct kallsym *sym, void *arg)
{
	size_t *found = arg;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		/* The kernel's own come before those of modules. */
		if (*sym->name == *wanted[i].name && !*wanted[i].address &&
		    !strcmp(sym->name, wanted[i].name)) {
			*wanted[i].address = sym->address;
			(*found)++;
			break;
		}
	}
	return *found == ARRAY_SIZE(wanted);
}

static void find_addresses(void)
{
	struct kernel_asks *k = *sysroot ? NULL : kernel_asks_open();

	for (size_t i = 0; k && i < ARRAY_SIZE(wanted); i++)
		*wanted[i].address = kernel_asks_address(k, wanted[i].name);
	if (!k)
		kallsyms_each(note_address, &(size_t){ 0 });
	kernel_asks_close(k);
}

const struct kernel_addresses *kernel_addresses(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_addresses);
	return &addresses;
}
