// SPDX-License-Identifier: GPL-2.0-or-later
/* CRC-32 (IEEE 802.3), as the generator stamps it on every line. */
#ifndef WORKLOADS_PIPELINE_CRC_H
#define WORKLOADS_PIPELINE_CRC_H

#include <stddef.h>
#include <stdint.h>

static uint32_t crc_table[256];

static inline uint32_t crc_bitwise(const char *s, size_t len)
{
	uint32_t crc = ~0U;

	while (len--) {
		crc ^= (unsigned char)*s++;
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (0xedb88320U & -(crc & 1));
	}
	return ~crc;
}

static inline uint32_t crc_by_table(const char *s, size_t len)
{
	uint32_t crc = ~0U;

	while (len--)
		crc = (crc >> 8) ^ crc_table[(crc ^ (unsigned char)*s++) & 0xff];
	return ~crc;
}

static inline void crc_init(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;

		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (0xedb88320U & -(crc & 1));
		crc_table[i] = crc;
	}
}

#endif
