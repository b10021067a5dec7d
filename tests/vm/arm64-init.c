// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * First process of the guest of long-arm64, which has no file system but an initramfs: runs what
 * the kernel's command line says (run=/PROGRAM:ARG:...,/PROGRAM...) one after the other and ends.
 * As /bin/sh, which the selftests start once, it only burns.
 */
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void mount_on(const char *dir, const char *type)
{
	mkdir(dir, 0755);
	if (mount(type, dir, type, 0, NULL))
		perror(dir);
}

static void run(char *command)
{
	char *argv[8] = {}, *save = NULL;
	int n = 0, status = -1;
	pid_t pid;

	printf("== %s\n", command);
	fflush(stdout);
	for (char *a = strtok_r(command, ":", &save); a && n < 7; a = strtok_r(NULL, ":", &save))
		argv[n++] = a;
	pid = fork();
	if (!pid) {
		execv(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	printf("== %s: status %d\n", argv[0], WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	char line[2048] = "", *list, *save = NULL;
	int fd, s;

	(void)argc;
	if (strstr(argv[0], "sh"))
		for (volatile unsigned int i = 0;; i++)
			;
	mount_on("/dev", "devtmpfs");
	fd = open("/dev/console", O_RDWR);
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	mount_on("/proc", "proc");
	mount_on("/sys", "sysfs");
	mount_on("/dev/shm", "tmpfs");
	mount_on("/tmp", "tmpfs");
	mount_on("/sys/kernel/tracing", "tracefs");
	s = socket(AF_INET, SOCK_DGRAM, 0);
	if (ioctl(s, SIOCSIFFLAGS, &lo))
		perror("lo");
	close(s);
	fd = open("/proc/cmdline", O_RDONLY);
	if (read(fd, line, sizeof(line) - 1) < 0)
		perror("/proc/cmdline");
	close(fd);
	list = strstr(line, "run=");
	if (list) {
		list += 4;
		list[strcspn(list, " \n")] = 0;
		for (char *c = strtok_r(list, ",", &save); c; c = strtok_r(NULL, ",", &save))
			run(c);
	}
	sleep(1);
	reboot(RB_AUTOBOOT);
	return 1;
}
