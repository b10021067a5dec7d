// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress/network_peer.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void check(const char *text, const char *bytes, uint16_t port)
{
	char hex[2 * 16 + 1];
	struct network_peer peer;

	assert_true(network_peer_parse(text, &peer));
	for (int i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", peer.address[i]);
	assert_string_equal(hex, bytes);
	assert_int_equal(peer.port, port);
}

static void test_addresses(void **state)
{
	(void)state;
	check("10.0.0.1", "00000000000000000000ffff0a000001", 0);
	check("10.0.0.1:5432", "00000000000000000000ffff0a000001", 5432);
	check("::ffff:10.0.0.1", "00000000000000000000ffff0a000001", 0);
	check("fe80::1", "fe800000000000000000000000000001", 0);
	check("[fe80::1]", "fe800000000000000000000000000001", 0);
	check("[fe80::1]:65535", "fe800000000000000000000000000001", 65535);
	check("::", "00000000000000000000000000000000", 0);
}

static void test_others(void **state)
{
	static const char *const texts[] = {
		"",
		":",
		"vda",
		"10.0.0",
		"10.0.0.1:",
		"10.0.0.1:0",
		"10.0.0.1:65536",
		"10.0.0.1:http",
		"10.0.0.1:-1",
		"[10.0.0.1",
		"[fe80::1",
		"[fe80::1]:",
		"[fe80::1]5",
		"[]",
		"fe80::1]",
		"10.0.0.1 ",
		"localhost",
		"localhost:80",
	};
	struct network_peer peer;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (network_peer_parse(texts[i], &peer))
			fail_msg("'%s' is taken for an address", texts[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
