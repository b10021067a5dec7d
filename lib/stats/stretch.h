/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does the program go by the delays, or by a clock? Virtual speedup takes for saved what was
 * inserted and did not make the program slower. A program that is held back by a clock (a rate
 * limit, a deadline, a peer elsewhere, timeout or alarm()) is not made slower, as there is slack,
 * and would seem to have saved all of it. Treated windows do not tell: of one thread that runs the
 * target, nobody is stopped. So now and then everybody is stopped for what was inserted, and nobody
 * saves anything (discarded as "control"). Programs that only work take longer by just that.
 *
 *   part = (time per unit - time per unit at 0 %) / inserted per unit        (wall time)
 *
 * is 1 then, 0 where a clock decides, and between these where it does so at times: the slack is
 * used up. It is more than 1 where what a program computes decides how long it sleeps, and where
 * waits for disks get longer by more than a stop.
 *
 * What it means for a prediction p, as long as effects add up. Of a delay d let all lose part d,
 * and let part c d of that be the target's. A treated window delays all but the target, so a unit
 * takes part d (1 - c) longer, and p = d - part d (1 - c); really saved is
 *
 *   part c d = p + (part - 1) d
 *
 * Where it is less than 1 there will be more slack without the target, so all that was credited may
 * be wrong. Where it is more, effects add up in some programs (who sleeps for as long as he has
 * computed) and not in others (crowds in which stops come one after the other, sim errors -c "wait
 * calibrate"): so much more may be gained. Beside strangers, who are not stopped and have the cores
 * meanwhile, it is always more, and says nothing: treated windows insert delay for them
 * (account/share.h).
 *
 * Slack tells by itself, too, and of a clock that the program reaches at times only, and beside
 * strangers, it is what tells. Who waits for a disk or naps for some time waits as long for each
 * unit of work when everything is stopped: such a wait owes the delay, which comes on top. Who
 * waits for a clock waits less by what was inserted, until no slack is left. So
 *
 *   shorter = 1 - waiting per unit / waiting per unit at 0 %        (for devices and timers)
 *
 * is about 0, or below it (disks, that take longer, and sleepers that have no part in the work);
 * with a clock it is 1 as soon as more is inserted than there was slack. It is asked of what gets
 * done, not of latencies: where requests keep coming, each takes longer by the stop, and there is
 * less slack.
 */
#ifndef SCOZ_STRETCH_H
#define SCOZ_STRETCH_H

#include "stats/window.h"

struct stretch {
	bool moves;	/* the point was reached in some 0 % window */
	bool tried;	/* all was stopped in some window, whether that tells anything or not */
	size_t windows; /* in which all was stopped, with others beside them; 0: not known */
	double part;	/* of the delay, by which units took longer: about 1, or 0 with a clock */
	double lo, hi;	/* 95 % interval; infinite with too few others */
	/*
	 * The lower end by the CPU time of a unit, which is less where work ends by a clock. At 0
	 * %, the share of the time in which it may have waited for one.
	 */
	double cpu_lo, slack;
	/*
	 * By what part of itself waiting gets shorter, 95 % interval; NAN: not known, or there is
	 * hardly any. And so many tasks no longer wait, on average.
	 */
	double shorter, shorter_lo, shorter_hi;
	double gone;
};

/* Of one progress point, from all windows of a profile, in any order. */
struct stretch stretch_estimate(const struct profile_window *w, size_t n, uint32_t progress);
/*
 * Another such window would tell more: it is neither clear that a clock has a say, nor that @part
 * of the delay or more counts.
 */
#define STRETCH_MOSTLY 0.5 /* where another look is dear: it is a whole run */
#define STRETCH_NEARLY 0.8
bool stretch_is_open(const struct stretch *s, double part);
/* A clock has: what is predicted is worth nothing. */
bool stretch_by_clock(const struct stretch *s);
/* That is told by the time it takes, or by its waiting, which gets shorter. */
bool stretch_takes_less(const struct stretch *s);
bool stretch_uses_slack(const struct stretch *s);
/* Its waiting seems to be shorter, but that may be chance. */
bool stretch_slack_is_open(const struct stretch *s);
/*
 * Neither that it has, nor that it has not, can be told yet: what seems to be won may be nothing.
 * (Where nothing was ever stopped, by an engine that cannot, it will never be told.)
 */
bool stretch_is_unjudged(const struct stretch *s);
/* How many more such windows it takes to tell, in those that there are; NAN: not known. */
double stretch_missing(const struct stretch *s);
/* Units surely take longer by less than the delay, whether a clock is the reason or not. */
bool stretch_falls_short(const struct stretch *s);
/* "waits for devices and timers were shorter by 96 % [61, 100]", to be freed; NULL: not by much. */
char *stretch_shorter_text(const struct stretch *s);
/* Stops surely cost more than they last. */
bool stretch_costs_more(const struct stretch *s);

#endif
