// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/network_peer.h"

#include "base/base.h"

#include <arpa/inet.h>
#include <ctype.h>

static bool parse_address(const char *text, size_t length, uint8_t *ret)
{
	_cleanup_free_ char *host = xstrndup(text, length);

	if (inet_pton(AF_INET6, host, ret) == 1)
		return true;
	memset(ret, 0, 10);
	ret[10] = ret[11] = 0xff;
	return inet_pton(AF_INET, host, ret + 12) == 1;
}

static bool parse_port(const char *text, uint16_t *ret)
{
	char *end;
	unsigned long port;

	if (!isdigit((unsigned char)*text))
		return false;
	port = strtoul(text, &end, 10);
	*ret = port;
	return !*end && port > 0 && port <= UINT16_MAX;
}

bool network_peer_parse(const char *text, struct network_peer *ret)
{
	const char *end, *colon = strchr(text, ':');

	*ret = (struct network_peer){};
	if (*text == '[') {
		end = strchr(++text, ']');
		if (!end || !parse_address(text, end - text, ret->address))
			return false;
		return !end[1] || (end[1] == ':' && parse_port(end + 2, &ret->port));
	}
	end = colon && colon == strrchr(text, ':') ? colon : text + strlen(text);
	return parse_address(text, end - text, ret->address) &&
	       (!*end || parse_port(end + 1, &ret->port));
}
