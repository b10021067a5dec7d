/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A causal recording's answer: what each of its functions would bring, were it faster. */
#ifndef SCOZ_WHATIF_PREDICT_H
#define SCOZ_WHATIF_PREDICT_H

#include "whatif/bounds.h"

/* At most: of these PREDICT_DEVICES may be devices. */
#define PREDICT_TARGETS	 64
#define PREDICT_DEVICES	 4
#define PREDICT_SPEEDUPS 8

/* All devices together are called as scozd calls waiting for them. */
#define PREDICT_ALL_DEVICES "class:io"

/* OWN: functions that run themselves, not those that only call (whatif/candidates.h). */
enum predict_grain { PREDICT_FUNCTIONS, PREDICT_OWN, PREDICT_LINES, PREDICT_BOTH };

struct predict_target;
struct predict_options {
	enum predict_grain grain;
	uint32_t
		point; /* a number of the recording's, TRACE_NONE: its first one, or the run time */
	size_t most_targets; /* besides devices */
	bool devices;	     /* these are asked for, too: all of them, and the busiest ones */
	/*
	 * Together with these, as fast as the target itself: a bit for each by its place among the
	 * targets, which is the same as long as only this and the speedups change.
	 */
	uint64_t with;
	/* Asked for in any case, as far as there is room; NULL: none is. */
	bool (*wanted)(const struct predict_target *t, void *arg);
	void *wanted_arg;
	double speedups[PREDICT_SPEEDUPS]; /* 0 to 1 */
	size_t n_speedups;
};
/* 25, 50 and 100 % */
extern const struct predict_options predict_usual;

struct predict_target {
	const char *symbol, *object; /* of the recording */
	const char *file;	     /* of a line; of a function NULL: lines are not known */
	uint32_t line;		     /* 0: a function */
	/* replay_device_bit() of each: @symbol is what they are called, @object "". 0: code */
	uint64_t devices;
	/*
	 * Of the time that threads ran: in it, or called by it; of a device, of all time: it had
	 * something to do. 0 to 1
	 */
	double share;
	double own;	  /* part of it that is credited to it: a caller has the others */
	uint64_t samples; /* of a device: requests */
	struct bounds_answer at[PREDICT_SPEEDUPS];
	bool by_turns; /* turns_taken(): what bounds are wider for */
	double worth;  /* the better, the more is likely and certain at the middle one of these */
};

struct predict {
	struct predict_target *targets; /* devices, then the code with the most samples */
	size_t n_targets, n_candidates; /* of these n_targets are answered for */
	uint64_t visits;		/* of the progress point, by who is followed */
	double strangers;		/* strangers_share(): too many, and nothing is concluded */
	bool by_run_time;		/* there is none: the time until the first thread ended */
	bool concluded;			/* else neither is known */
	double crowded;			/* bounds_crowded() */
	double outside; /* share of the waits for work that one ended who is not recorded; 0 to 1 */
	double spun;	/* share of the time that threads ran: waiting in a loop; 0 to 1 */
	const char *looks; /* the thread that most often looks (whatif/looks.h); NULL: none */
	uint64_t samples, events;
};

int predict(const struct trace *t, const struct predict_options *o, struct predict *ret,
	    struct error *err);
/*
 * The best next steps, one after the other: of all that the ones before leave, the one with which
 * most is likely and certain. Each answer is for all steps up to it, each faster by @o's middle
 * speedup. What brings less than half a point is none.
 */
struct predict_step {
	struct predict_target target;
	struct bounds_answer all;
};
int predict_steps(const struct trace *t, const struct predict_options *o, size_t most,
		  struct predict_step *ret, size_t *n, struct error *err);
void predict_free(struct predict *p);

#endif
