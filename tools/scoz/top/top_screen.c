// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/scoz/top/top_screen.h"

#include <poll.h>
#include <unistd.h>

#include <curses.h>

#define BATCH_HINT "use --batch for plain text"
#define CTRL_L	   ('L' & 0x1f)

static SCREEN *screen;
static const char letters[] = "ukSIL.";
static const short colours[] = { COLOR_GREEN,  COLOR_CYAN,    COLOR_RED,
				 COLOR_YELLOW, COLOR_MAGENTA, COLOR_BLUE };

static void set_colours(void)
{
	if (!has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	for (size_t i = 0; i < ARRAY_SIZE(colours); i++)
		init_pair(i + 1, colours[i], -1);
}

int top_screen_check(struct error *err)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err, ENOTTY, "standard %s is no terminal: " BATCH_HINT,
				 isatty(STDOUT_FILENO) ? "input" : "output");
	if (!term || !*term)
		return error_set(err, ENOENT,
				 "TERM is not set, so the kind of the terminal is not known: set "
				 "it, or " BATCH_HINT);
	return 0;
}

int top_screen_open(struct error *err)
{
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return error_set(err, ENOENT,
				 "the terminal %s is not known here, or can do too little: set "
				 "TERM, or " BATCH_HINT,
				 getenv("TERM"));
	atexit(top_screen_close);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	typeahead(-1); /* drawn after each key, however soon the next one comes */
	set_escdelay(25);
	curs_set(0);
	set_colours();
	return 0;
}

void top_screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

void top_screen_size(size_t *rows, size_t *cols)
{
	*rows = getmaxy(stdscr);
	*cols = getmaxx(stdscr);
}

static attr_t attribute(enum top_attr attr)
{
	switch (attr) {
	case ATTR_TITLE:
		return A_BOLD;
	case ATTR_HEADER:
	case ATTR_SELECTED:
		return A_REVERSE;
	case ATTR_HINT:
		return A_DIM;
	default:
		return A_NORMAL;
	}
}

static void paint_bar(int y, const struct top_line *line)
{
	for (size_t x = line->bar; x < line->bar + line->n_bar; x++) {
		char c = mvinch(y, x) & A_CHARTEXT;
		const char *letter = c ? strchr(letters, c) : NULL;

		if (letter)
			mvchgat(y, x, 1, A_NORMAL, letter - letters + 1, NULL);
	}
}

void top_screen_put(const struct top_lines *lines)
{
	int width = getmaxx(stdscr);

	erase();
	for (size_t i = 0; i < lines->n; i++) {
		const struct top_line *line = &lines->v[i];

		attrset(attribute(line->attr));
		if (line->attr == ATTR_HEADER || line->attr == ATTR_SELECTED)
			mvhline(i, 0, ' ' | attribute(line->attr), width);
		mvaddstr(i, 0, line->text);
		if (line->attr == ATTR_NORMAL && has_colors())
			paint_bar(i, line);
	}
	attrset(A_NORMAL);
	refresh();
}

static int translate(int key)
{
	static const struct {
		int from, to;
	} keys[] = {
		{ KEY_UP, TOP_UP },	     { KEY_DOWN, TOP_DOWN },
		{ KEY_PPAGE, TOP_PAGE_UP },  { KEY_NPAGE, TOP_PAGE_DOWN },
		{ KEY_HOME, TOP_HOME },	     { KEY_END, TOP_END },
		{ KEY_ENTER, TOP_ENTER },    { '\r', TOP_ENTER },
		{ KEY_BACKSPACE, TOP_BACK }, { 127, TOP_BACK },
		{ '\b', TOP_BACK },	     { 3, 'q' },
		{ KEY_F(1), 'h' },	     { KEY_LEFT, '<' },
		{ KEY_RIGHT, '>' },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].from == key)
			return keys[i].to;
	}
	return key > 0 && key < 128 ? key : TOP_NO_KEY;
}

int top_screen_key(int ms, bool *resized)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	int key = getch();

	*resized = false;
	if (key == ERR) {
		int n = poll(&in, 1, ms);

		key = getch();
		if (key == ERR && n > 0 && in.revents & (POLLHUP | POLLERR | POLLNVAL))
			return -EIO;
	}
	if (key == CTRL_L)
		clearok(curscr, TRUE); /* others have written across it */
	if (key == KEY_RESIZE || key == CTRL_L)
		*resized = true;
	return key == ERR ? TOP_NO_KEY : translate(key);
}
