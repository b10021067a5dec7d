// SPDX-License-Identifier: GPL-2.0-or-later
// For test-record-export: makes a recording whose totals are known, and compares with them what
// viewers found in its exports.
import fs from 'node:fs';
import zlib from 'node:zlib';

const PERIOD = 1000000;
const CLASSES = { '.': 'on', k: 'on', I: 'io', L: 'lock', S: 'sched', B: 'other' };

// ---- the recording ----

// Frames: symbol, object, file, line, address, kind.
const FRAMES = [
	['_start', '/usr/bin/gzip', '', 0, 0x1100, 'user'],
	['main', '/usr/bin/gzip', 'gzip.c', 20, 0x1234, 'user'],
	['std::map<int, char>::operator[](int const&)', '/usr/bin/gzip', 'map.h', 7, 0x1300, 'user'],
	['inner', '/usr/bin/gzip', 'deflate.c', 31, 0x1400, 'inlined'],
	['deflate', '/usr/bin/gzip', 'deflate.c', 30, 0x1400, 'user'],
	['pread64', '/usr/lib/libc.so.6', '', 0, 0xfe000, 'user'],
	['entry_SYSCALL_64', '[kernel]', '', 0, 0, 'kernel'],
	['io_schedule', '[kernel]', '', 0, 0, 'kernel'],
	['odd;name "\\\u0001', '/tmp/od d', 'o;dd.c', 3, 0x10, 'user'],
	['[unknown]', '/usr/lib/libz.so.1', '', 0, 0x77, 'user'],
	['', '', '', 0, 0, 'missing'],
	['deflate', '/usr/bin/gzip', 'deflate.c', 44, 0x1444, 'user'],
	['futex_wait', '[kernel]', '', 0, 0, 'kernel'],
];
// Call chains, outermost first.
const CHAINS = [
	[0, 1, 2], [0, 1, 4, 3], [0, 1, 4, 3], [0, 1, 11], [0, 1, 5, 6, 7], [0, 1, 5, 6],
	[10, 8, 9], [0, 1, 8], [0, 1, 5, 6, 12],
];
const THREADS = [[4711, 4711, 'gzip'], [4712, 4711, 'work er;1'], [99, 99, 'kworker/0:1']];
const WAITS = [['I', 4, 'disk', 'nvme0n1'], ['L', 8, 'futex', null], ['S', 3, null, null],
	['B', 5, 'sleep', 'timer'], ['I', 4, null, null]];

function make(path, target) {
	const out = fs.openSync(path, 'w');
	let lines = [], seed = 7;
	const put = (type, o) => {
		lines.push(JSON.stringify({ type, ...o }));
		if (lines.length > 10000 || type === 'footer') {
			fs.writeSync(out, lines.join('\n') + '\n');
			lines = [];
		}
	};
	const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648, (seed >> 8) % n);
	const stacks = new Map(), chain = [];

	put('header', { format: 'scoz-record', version: 1, engine: 'bpf', period_ns: PERIOD,
		command: 'gzip -9 "a file"', scope: 'command', host: 'testhost', kernel: '6.12.1',
		started: '2025-01-01T12:00:00Z', cpus: 2 });
	FRAMES.forEach(([symbol, object, file, line, address, kind], id) =>
		put('frame', { id, symbol, object, ...(file && { file, line }), address, kind }));
	CHAINS.forEach((frames, c) => {
		let parent = -1;
		for (const frame of frames) {
			const key = `${parent},${frame}`;
			if (!stacks.has(key)) {
				stacks.set(key, stacks.size);
				put('stack', { id: stacks.size - 1, parent, frame });
			}
			parent = stacks.get(key);
		}
		chain[c] = parent;
	});
	THREADS.forEach(([tid, pid, comm], id) => put('thread', { id, tid, pid, t: 0, comm }));
	let samples = 0, points = 0, now = [0, 0, 0];
	while (samples < target) {
		const thread = random(10) < 6 ? 0 : random(10) < 7 ? 1 : 2, cpu = random(2);

		if (random(3)) {
			const kernel = random(4) === 0;
			const c = kernel ? 5 : [0, 1, 2, 3, 6, 7][random(6)];
			now[thread] += PERIOD;
			put('sample', { t: now[thread], thread, cpu, class: kernel ? 'k' : '.', n: 1,
				...(random(50) && { stack: chain[c] }) });
			points++;
		} else {
			const [letter, c, kind, event] = WAITS[random(WAITS.length)], n = 1 + random(20);
			now[thread] += n * PERIOD;
			put('sample', { t: now[thread], thread, cpu, class: letter, n, d: n * PERIOD - 1234,
				...(random(50) && { stack: chain[c] }), ...(kind && { kind }),
				...(event ? { event } : letter === 'L' ? { waker: (thread + 1) % 3 } : {}) });
			points += n;
		}
		samples++;
	}
	THREADS.forEach((t, thread) => put('times', { thread, from: 0, to: now[thread], on: 1, sched: 1,
		io: 1, other: 1, exited: thread === 1 }));
	put('footer', { duration_ns: Math.max(...now) + PERIOD, samples, points, lost: 0,
		broken_chains: 0, without_chain: 0, command_status: 0, end: 'done' });
	fs.closeSync(out);
}

// ---- its totals, in points: all, by class, by thread ----

function add(o, key, n) {
	o[key] = (o[key] ?? 0) + n;
}

function totals(path) {
	const t = { all: 0, class: {}, thread: {}, threadClass: {} }, tid = [];

	for (const line of fs.readFileSync(path, 'utf8').split('\n')) {
		const o = line && JSON.parse(line);
		if (o.type === 'thread')
			tid[o.id] = o.tid;
		if (o.type !== 'sample')
			continue;
		t.all += o.n;
		add(t.class, CLASSES[o.class], o.n);
		add(t.thread, tid[o.thread], o.n);
		add(t.threadClass, `${tid[o.thread]} ${CLASSES[o.class]}`, o.n);
	}
	return t;
}

if (process.argv[2] === 'make')
	make(process.argv[3], +process.argv[4]);
