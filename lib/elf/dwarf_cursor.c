// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf/dwarf_cursor.h"

#include <stdarg.h>

const char *dwarf_why(const char *format, ...)
{
	static __thread char text[160];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return text;
}
