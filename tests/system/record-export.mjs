// SPDX-License-Identifier: GPL-2.0-or-later
// For test-record-export: makes a recording whose totals are known, and compares with them what
// viewers found in its exports.
import fs from 'node:fs';
import { execFileSync, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

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
	['[missing frames]', '', '', 0, 0, 'missing'],
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
	const random = (n) => {
		seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
		return (seed >> 8) % n;
	};
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
		const thread = random(10) < 6 ? 1 : random(10) < 7 ? 0 : 2, cpu = random(2);

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

const NONE = () => ({ all: 0, class: {}, thread: {}, threadClass: {} });

function count(t, tid, name, n) {
	t.all += n;
	add(t.class, name, n);
	add(t.thread, tid, n);
	add(t.threadClass, `${tid} ${name}`, n);
}

function totals(path) {
	const t = NONE(), tid = [];

	for (const line of fs.readFileSync(path, 'utf8').split('\n')) {
		const o = line && JSON.parse(line);
		if (o.type === 'thread')
			tid[o.id] = o.tid;
		if (o.type !== 'sample')
			continue;
		count(t, tid[o.thread], CLASSES[o.class], o.n);
	}
	return t;
}


function fail(text) {
	console.error(text);
	process.exit(1);
}

function same(what, got, want) {
	const text = (o) => JSON.stringify(typeof o === 'object' ?
		Object.entries(o).filter(([, n]) => n).sort() : o);

	if (text(got) !== text(want))
		fail(`${what}: ${text(got)} instead of ${text(want)}`);
}

// @parts: of totals, those that the viewer tells.
function compare(what, recording, got, parts = ['all', 'class', 'thread', 'threadClass']) {
	const want = totals(recording);

	for (const part of parts)
		same(`${what}, ${part}`, got[part], want[part]);
}

// The class that an innermost frame tells.
function classOf(leaf) {
	return CLASSES[/^\[([ILSB])\] ./.exec(leaf)?.[1] ?? '.'];
}

// ---- exports, as their formats are documented ----

// @only: the class that was asked for.
function checkFolded(recording, path, only) {
	const t = NONE(), lines = fs.readFileSync(path, 'utf8').trimEnd().split('\n');

	for (const line of lines) {
		const [, head, chain, n] = /^([^; ]+);(.+) (\d+)$/.exec(line) ?? fail(`line ${line}`);

		count(t, +(/-\d+\/(\d+)$/.exec(head)?.[1] ?? 0), classOf(chain.split(';').pop()), +n);
	}
	same('distinct lines', new Set(lines.map((l) => l.replace(/ \d+$/, ''))).size, lines.length);
	if (only)
		same(only, t.class, { [only]: totals(recording).class[only] });
	else
		compare('folded', recording, t, t.thread[0] ? ['all', 'class'] : undefined);
}

function checkSpeedscope(recording, path) {
	const file = JSON.parse(fs.readFileSync(path)), t = NONE();

	for (const p of file.profiles) {
		const sum = p.weights.reduce((a, b) => a + b, 0);

		same('samples and weights', p.samples.length, p.weights.length);
		same('endValue', p.endValue, p.startValue + sum);
		p.samples.forEach((chain, i) =>
			count(t, +/ (\d+)( \(process \d+\))?$/.exec(p.name)[1],
				classOf(file.shared.frames[chain.at(-1)].name), p.weights[i] / PERIOD));
	}
	compare('speedscope', recording, t);
}

const CATEGORIES = { User: 'on', Kernel: 'on', 'I/O wait': 'io', 'Lock wait': 'lock',
	Scheduling: 'sched', 'Other wait': 'other' };

function checkFirefox(recording, path) {
	const { meta, shared, threads } = JSON.parse(fs.readFileSync(path)), t = NONE();
	const table = shared.stackTable, category = shared.frameTable.category;
	const categoryOf = (stack) => category[table.frame[stack]] ?? categoryOf(table.prefix[stack]);

	for (const thread of threads) {
		const s = thread.samples;

		s.stack.forEach((stack, i) => {
			if (i && s.time[i] < s.time[i - 1])
				fail(`thread ${thread.tid}: sample ${i} is out of order`);
			if (stack !== null)
				count(t, thread.tid, CATEGORIES[meta.categories[categoryOf(stack)].name],
					Math.round(s.weight[i]));
		});
	}
	compare('firefox', recording, t);
}

function checkPprof(recording, path, decoder) {
	const { Profile } = createRequire(import.meta.url)(decoder);
	const profile = Profile.decode(execFileSync('gzip', ['-dc', path])), t = NONE();
	const strings = profile.stringTable.strings, ids = new Set(profile.location.map((l) => +`${l.id}`));

	for (const sample of profile.sample) {
		const label = Object.fromEntries(sample.label.map((l) => [strings[l.key], strings[l.str]]));

		for (const id of sample.locationId) {
			if (!ids.has(+`${id}`))
				fail(`no location ${id}`);
		}
		same('time', +`${sample.value[1]}`, sample.value[0] * PERIOD);
		count(t, +label.thread, label.class, +`${sample.value[0]}`);
	}
	compare('pprof', recording, t);
}

// ---- what viewers say ----

function viewFirefox(recording, path, cli) {
	let tries = 1;
	const session = (i) => `scoz-${i}`;
	const run = (...args) => execFileSync('node', [cli, ...args, '--session', session(tries)],
		{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
	const t = NONE();

	try {
		// Its daemon has half a second to begin, which on a busy machine is not enough; one that
		// was late has its session all the same.
		for (;; tries++) {
			try {
				run('load', path);
				break;
			} catch (error) {
				if (tries === 10)
					throw error;
			}
		}
		for (const { threadHandle, tid } of JSON.parse(run('thread', 'list', '--json')).threads) {
			const found = JSON.parse(run('thread', 'samples', '--include-idle', '--json',
				'--thread', threadHandle));

			for (const { name, samples } of found.categoryBreakdown.categories)
				count(t, tid, CATEGORIES[name], samples);
		}
	} finally {
		for (; tries; tries--)
			spawnSync('node', [cli, 'stop', session(tries)], { stdio: 'ignore' });
	}
	compare('Firefox Profiler', recording, t);
}

// The page as text: what a reader would see, in the order of the elements.
function texts(html) {
	const entities = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: ' ' };

	return html.replace(/<(style|script)[^]*?<\/\1>/g, '').split(/<[^>]*>/)
		.map((s) => s.replace(/&(\w+);/g, (all, e) => entities[e] ?? all).trim()).filter((s) => s);
}

// "12.00ms", "1,234", "12.00ms (3%)" in points.
function points(text) {
	const [, number, unit] = /^([\d.,]+)(ns|\u00b5s|ms)?/.exec(text) ?? fail(`"${text}" is no weight`);
	const ns = { ns: 1, '\u00b5s': 1000, ms: 1000000 }[unit] ?? PERIOD;

	return Math.round(+number.replace(/,/g, '') * ns / PERIOD);
}

function viewSpeedscope(recording, path, format) {
	const page = texts(fs.readFileSync(path, 'utf8')), t = NONE();
	const table = page.slice(page.indexOf('Symbol Name') + 1);
	const list = page.slice(page.indexOf('Total Weight') + 1, page.indexOf('Symbol Name'));
	const want = totals(recording);

	if (page.indexOf('Symbol Name') < 0)
		fail('speedscope shows no table');
	// Total, self, name.
	for (let i = 0; i + 2 < table.length; i += 3)
		count(t, 0, classOf(table[i + 2]), points(table[i + 1]));
	if (format === 'speedscope') {
		const active = Object.entries(want.thread).sort((a, b) => b[1] - a[1])[0][0];

		for (let i = 0; i < 3 * THREADS.length; i += 3)
			add(t.threadClass, /(\d+)( \(process \d+\))?$/.exec(list[i + 1])[1], points(list[i + 2]));
		for (const [tid] of THREADS)
			same(`thread ${tid}`, t.threadClass[tid], want.thread[tid]);
		for (const name of Object.values(CLASSES))
			same(name, t.class[name] ?? 0, want.threadClass[`${active} ${name}`] ?? 0);
	} else {
		compare('speedscope', recording, t, format === 'folded' ? ['all', 'class'] : ['all']);
	}
}

const [command, ...args] = process.argv.slice(2);
const commands = {
	make: (path, n) => make(path, +n),
	total: (recording) => console.log(totals(recording).all),
	'check-folded': checkFolded,
	'check-speedscope': checkSpeedscope,
	'check-firefox': checkFirefox,
	'check-pprof': checkPprof,
	'view-firefox': viewFirefox,
	'view-speedscope': viewSpeedscope,
};
commands[command](...args);
