/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions does a name mean that somebody typed? Accepted are, of C++ and Rust functions,
 * everything that tools print: with and without namespaces, template arguments, parameters; and
 * the symbol itself. Spaces do not count.
 */
#ifndef SCOZ_TABLE_FUNCTION_NAME_H
#define SCOZ_TABLE_FUNCTION_NAME_H

#include "base/base.h"

enum function_match {
	FUNCTION_NO,
	FUNCTION_UNQUALIFIED, /* "method" for ns::Class::method */
	FUNCTION_EXACT,
};

struct function_pattern {
	const char *wanted; /* borrowed */
	char *plain;	    /* without spaces */
	char *key;	    /* an identifier in it that every symbol meant must contain, or "" */
	bool arguments;	    /* it has template arguments */
	bool parameters;    /* it has a list of parameters */
};
void function_pattern_init(struct function_pattern *p, const char *wanted);
void function_pattern_deinit(struct function_pattern *p);
/* @name as the table has it; @linkage: the symbol where that is another, or "". */
enum function_match function_pattern_match(const struct function_pattern *p, const char *name,
					   const char *linkage);

/* With parameters where the symbol tells them, else @name; malloc'ed. */
char *function_full_name(const char *name, const char *linkage);
/*
 * What encloses the function, by its symbol, without parameters: "main::{lambda(int)#2}" of what is
 * called in there; NULL when it tells nothing. malloc'ed.
 */
char *function_outer_name(const char *linkage);
/*
 * As debug information calls it, without parameters and without the type returned; NULL: it is not
 * mangled, or too large, or there has been enough of that: short symbols can stand for long texts,
 * so @work_left (bytes read and written, about) goes down. malloc'ed.
 */
char *function_shown_name(const char *symbol, uint64_t *work_left);
/* The symbol without what the compiler appends to copies (".constprop.0"); malloc'ed. */
char *function_symbol(const char *name, const char *linkage);

#endif
