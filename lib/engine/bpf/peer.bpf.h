/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Network peers as targets (class:io:ADDRESS). A wait for another machine ends in the softirq that
 * delivers what it has sent, right after one of these tracepoints has told for which socket: for
 * each segment of TCP (acknowledgements that make room to send are waited for, too), for a
 * connection that is made or ends, and before a socket's waiters are woken for data, which is all
 * that tells of UDP. Until the next of them, or the softirq's end, wake-ups are that peer's.
 *
 * Peers on this machine send in a system call of theirs, so whom they wake has waited for a task.
 */
#ifndef SCOZ_PEER_BPF_H
#define SCOZ_PEER_BPF_H

#include "engine/bpf/context.bpf.h"

#include <bpf/bpf_endian.h>

#define AF_INET	   2
#define AF_INET6   10
#define TCP_LISTEN 10

static __always_inline bool is_target_peer(const struct bpf_target *t, const struct sock *sk)
{
	const struct sock_common *c = &sk->__sk_common;
	u32 a[4] = {};

	if (t->peer_port && t->peer_port != c->skc_dport)
		return false;
	if (c->skc_family == AF_INET) {
		a[2] = bpf_htonl(0xffff);
		a[3] = c->skc_daddr;
	} else if (c->skc_family == AF_INET6) {
		if (!bpf_core_field_exists(c->skc_v6_daddr))
			return false;
		a[0] = c->skc_v6_daddr.in6_u.u6_addr32[0];
		a[1] = c->skc_v6_daddr.in6_u.u6_addr32[1];
		a[2] = c->skc_v6_daddr.in6_u.u6_addr32[2];
		a[3] = c->skc_v6_daddr.in6_u.u6_addr32[3];
	} else {
		return false;
	}
	return a[0] == t->peer_address[0] && a[1] == t->peer_address[1] &&
	       a[2] == t->peer_address[2] && a[3] == t->peer_address[3];
}

static __always_inline int delivers(const struct sock *sk)
{
	struct irq_state *s = irq_state();
	struct bpf_target *t = current_target();

	if (s && t && s->serving)
		s->by_peer =
			t->classes & BPF_CLASS_PEER && is_target_peer(t, sk) ? BPF_CLASS_PEER : 0;
	return 0;
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(on_tcp_segment, struct sock *sk)
{
	return delivers(sk);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_tcp_state, struct sock *sk)
{
	return delivers(sk);
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(on_data_ready, struct sock *sk)
{
	/* Who accepts waits for the connection that was told of a moment ago. */
	return sk->__sk_common.skc_state == TCP_LISTEN ? 0 : delivers(sk);
}

#endif
