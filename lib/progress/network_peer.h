/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is at the other end of a connection, as users write it. */
#ifndef SCOZ_NETWORK_PEER_H
#define SCOZ_NETWORK_PEER_H

#include <stdbool.h>
#include <stdint.h>

struct network_peer {
	uint8_t address[16]; /* IPv6, in the order of the network; IPv4 as ::ffff:a.b.c.d */
	uint16_t port;	     /* 0: any */
};
/* ADDRESS[:PORT], an IPv6 address with a port as [ADDRESS]:PORT. False: it is none. */
bool network_peer_parse(const char *text, struct network_peer *ret);

#endif
