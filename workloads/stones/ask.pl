#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Three children count words of what they are sent; the parent sends to each in turn and waits for
# the first one's answer before the next round.
use strict;
use warnings;
use IO::Handle;

my (@to, @from);
for my $child (0 .. 2) {
	pipe(my $in, my $to) or die;
	pipe(my $from, my $out) or die;
	if (!fork) {
		close $to;
		while (my $line = <$in>) {
			my %seen;
			$seen{$_}++ for split / /, $line;
			syswrite $out, scalar(keys %seen) . "\n";
		}
		exit;
	}
	$to->autoflush(1);
	push @to, $to;
	push @from, $from;
}
my $text = join(" ", map { "w" . $_ * $_ % 41 } 1 .. 400) . "\n";
while (1) {
	syswrite $_, $text for @to;
	for (@from) { my $answer = readline $_; }
}
