// SPDX-License-Identifier: GPL-2.0-or-later
// page.mjs CHROMIUM AXE DIRECTORY PAGE...: looks at pages of scoz plot in a browser without a
// window, by its debugging pipe. AXE: axe.js, or ""; DIRECTORY: for pictures, or "". Prints what
// does not hold; the status is 1 then.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join, resolve } from "node:path";
import { tmpdir } from "node:os";

const [chromium, axe, pictures, ...pages] = process.argv.slice(2);
let wrong = 0;
const check = (ok, what) => {
  if (!ok) {
    wrong = 1;
    console.log(what);
  }
};

class Browser {
  constructor() {
    this.home = mkdtempSync(join(tmpdir(), "page-"));
    this.process = spawn(chromium, ["--headless", "--no-sandbox", "--disable-gpu",
      "--enable-unsafe-swiftshader", "--hide-scrollbars", "--remote-debugging-pipe",
      `--user-data-dir=${this.home}`],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.waiting = new Map();
    this.listeners = [];
    this.id = 0;
    let rest = "";
    this.process.stdio[4].on("data", data => {
      const parts = (rest + data).split("\0");
      rest = parts.pop();
      for (const p of parts)
        this.receive(JSON.parse(p));
    });
  }
  receive(m) {
    if (!m.id)
      return this.listeners.forEach(f => f(m));
    const [resolve, reject] = this.waiting.get(m.id);
    this.waiting.delete(m.id);
    if (m.error)
      reject(new Error(JSON.stringify(m.error)));
    else
      resolve(m.result);
  }
  send(method, params = {}, sessionId = undefined) {
    const id = ++this.id;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.waiting.set(id, [resolve, reject]));
  }
  async end() {
    await this.send("Browser.close").catch(() => {});
    await new Promise(done => this.process.exitCode === null ?
      this.process.on("exit", done) : done());
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Tab {
  static async open(browser, url, { width, height, dark = false, script = true }) {
    const t = new Tab();
    t.browser = browser;
    t.errors = [];
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    t.target = targetId;
    t.session = (await browser.send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    const loaded = new Promise(done => browser.listeners.push(m => {
      if (m.sessionId !== t.session)
        return;
      if (m.method === "Runtime.exceptionThrown")
        t.errors.push(m.params.exceptionDetails.exception?.description ?? "an exception");
      if (m.method === "Page.loadEventFired")
        done();
    }));
    await t.send("Page.enable");
    await t.send("Runtime.enable");
    await t.send("Emulation.setDeviceMetricsOverride",
      { width, height, deviceScaleFactor: 1, mobile: width < 500 });
    await t.send("Emulation.setEmulatedMedia",
      { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    if (!script)
      await t.send("Emulation.setScriptExecutionDisabled", { value: true });
    await t.send("Page.navigate", { url });
    await loaded;
    if (script)
      await t.run("new Promise(r => requestAnimationFrame(() => setTimeout(r, 200)))");
    return t;
  }
  send(method, params) {
    return this.browser.send(method, params, this.session);
  }
  async run(expression) {
    const r = await this.send("Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true });
    if (r.exceptionDetails)
      throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
    return r.result.value;
  }
  async picture(name, full = false) {
    if (!pictures)
      return;
    const r = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: full,
      ...(full ? { clip: { x: 0, y: 0, scale: 1, ...(await this.run(
        "({width: innerWidth, height: document.documentElement.scrollHeight})")) } } : {}) });
    writeFileSync(join(pictures, name + ".png"), Buffer.from(r.data, "base64"));
  }
  async close() {
    await this.browser.send("Target.closeTarget", { targetId: this.target });
  }
}

const SHIFT = `new Promise(done => {
  const all = [];
  new PerformanceObserver(l => all.push(...l.getEntries())).observe(
    { type: "layout-shift", buffered: true });
  const rect = r => [r.x, r.y, r.width, r.height].map(Math.round).join(" ");
  const told = s => (s.node?.outerHTML ?? s.node?.textContent ?? "").slice(0, 120) +
    " from " + rect(s.previousRect) + " to " + rect(s.currentRect);
  setTimeout(() => done(all.length ? all.reduce((sum, e) => sum + e.value, 0) + ": " +
    all.flatMap(e => e.sources.map(told)).join("; ") : 0), 100);
})`;
const PAINT = `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1`;

async function axeOf(t, name) {
  if (!axe)
    return;
  await t.run(readFileSync(axe, "utf8") + "; 0");
  await t.run(`document.querySelectorAll(".kind, .row, .list").forEach((d, i) => d.open = i < 12); 0`);
  const found = await t.run(`axe.run().then(r => r.violations.map(v =>
    v.id + ": " + v.nodes.length + "x " + v.nodes[0].html.slice(0, 160) + " " +
    v.nodes[0].failureSummary))`);
  check(!found.length, `${name}: axe finds ${found.join("\n  ")}`);
}

// What must be whole at each width; returns what is not.
const CUT = `(() => {
  const bad = [], wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide)
    bad.push("the page is " + document.documentElement.scrollWidth + " wide");
  for (const e of document.querySelectorAll(".name b, .headline, [role=tab], .value b, .key, .tag")) {
    const r = e.getBoundingClientRect();
    if (!r.width)
      continue;
    if (r.right > wide + 0.5 || r.left < -0.5 || e.scrollWidth > e.clientWidth + 1 &&
        getComputedStyle(e).display !== "inline")
      bad.push(e.className + " " + e.textContent.slice(0, 60));
    if (e.matches("[role=tab]") && r.height < 24)
      bad.push("a tab of " + r.height + " pixels");
  }
  for (const e of document.querySelectorAll("td")) {
    const r = e.getBoundingClientRect();
    if (r.width && r.width < 40 && e.textContent.length > 7)
      bad.push("a cell " + r.width + " wide: " + e.textContent);
  }
  return bad;
})()`;

// Nothing is explained that is not drawn; what is folded is named where it is little, and only as
// long as it is folded.
async function explained(t, at) {
  check(await t.run(`[...document.querySelectorAll(".progress.shown")].every(s =>
    !!s.querySelector(".dotted").offsetParent === [...s.querySelectorAll(".limit")].some(l =>
    l.getAttribute("d") && l.closest(".kind").open))`), `${at}: the key has a dotted line, the rows none`);
  check(await t.run(`[...document.querySelectorAll(".shown .kind:not([hidden])")].every(k =>
    (k.querySelectorAll(".row").length > 4 || k.open) ===
    !k.querySelector(".names").getBoundingClientRect().width)`), `${at}: names of what is folded`);
}

// A page that comes piece by piece is shown before all of it is there, and before its script has seen it.
async function comes_slowly(browser, page, name) {
  const whole = readFileSync(page), PIECES = 8;
  const server = createServer((request, response) => {
    if (request.url !== "/")
      return response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    const send = i => {
      response.write(whole.subarray(whole.length * i / PIECES, whole.length * (i + 1) / PIECES));
      i + 1 < PIECES ? setTimeout(send, 100, i + 1) : response.end();
    };
    send(0);
  });
  await new Promise(done => server.listen(0, "127.0.0.1", done));
  const at = `http://127.0.0.1:${server.address().port}/`;
  for (const width of [1280, 390]) {
    const t = await Tab.open(browser, at, { width, height: 900 });
    const shift = await t.run(SHIFT);
    check(shift === 0, `${name} (${width}), which comes in pieces: layout shift ${shift}`);
    await t.close();
  }
  server.close();
}

async function look(browser, page) {
  const url = "file://" + resolve(page), name = basename(page, ".html");
  const views = { "1280": { width: 1280, height: 900 }, "390": { width: 390, height: 844 },
    dark: { width: 1280, height: 900, dark: true } };
  let row = "";

  for (const [view, options] of Object.entries(views)) {
    const t = await Tab.open(browser, url, options), at = `${name} (${view})`;
    const shift = await t.run(SHIFT), paint = await t.run(PAINT);
    check(shift === 0, `${at}: the page moves while it loads: layout shift ${shift}`);
    const bad = await t.run(CUT);
    check(!bad.length, `${at}: cut off: ${bad.slice(0, 3).join("; ")}`);
    check(!t.errors.length, `${at}: ${t.errors[0]}`);
    await explained(t, at);
    console.log(`${at}: layout shift ${shift}, first paint after ${Math.round(paint)} ms`);
    await t.picture(`${name}-${view}`);
    row = await t.run(`document.querySelector("details.row")?.id ?? ""`);
    if (row) {
      await t.run(`document.querySelector("details.row summary").click(); 0`);
      await t.run("new Promise(r => setTimeout(r, 100))");
      await t.picture(`${name}-${view}-open`, true);
    }
    await axeOf(t, at);
    await t.close();
  }
  await comes_slowly(browser, page, name);
  if (row)
    await use(browser, url, name, row);
}

async function use(browser, url, name, row) {
  // A link to a row at another speedup: painted once, as it is asked for.
  let t = await Tab.open(browser, `${url}#${row},50`, { width: 1280, height: 900 });
  check(await t.run(SHIFT) === 0, `${name}: a link makes the page move`);
  check(await t.run(`document.getElementById("${row}").open`), `${name}: a link opens no row`);
  check(await t.run(`document.getElementById("at-text").textContent`) === "50 % less",
    `${name}: a link does not set the speedup`);
  await t.close();

  t = await Tab.open(browser, url, { width: 1280, height: 900 });
  const before = await t.run(`document.querySelector(".headline").textContent`);
  await t.run(`{ const s = document.getElementById("at"); s.value = 30;
    s.dispatchEvent(new Event("input")); 0 }`);
  check(await t.run(`document.querySelectorAll(".hollow").length`) > 0,
    `${name}: what was not measured is not hollow`);
  await explained(t, name + " (30 %)");
  check(await t.run(`document.querySelector(".headline").textContent`) !== before,
    `${name}: the headline does not follow the slider`);
  // At the speedup that the page begins with it says what it said then, and is no surer.
  const counts = before.match(/at least .*/)?.[0];
  if (counts && /no time at all/.test(before)) {
    await t.run(`{ const s = document.getElementById("at"); s.value = 100;
      s.dispatchEvent(new Event("input")); 0 }`);
    const least = (await t.run(`document.querySelector(".headline").textContent`)).match(
      /at least [0-9.]+/)?.[0];
    check(counts.startsWith(least), `${name}: at 100 % "${least}", in the headline "${counts}"`);
  }
  await t.run(`document.getElementById("best").click(); 0`);
  check(await t.run(`document.querySelector(".headline").textContent`) === before &&
    await t.run(`document.getElementById("at").value`) === "0", `${name}: there is no way back`);
  await explained(t, name);
  await t.run(`{ const f = document.getElementById("filter"); f.value = "no such name";
    f.dispatchEvent(new Event("input")); 0 }`);
  check(await t.run(`[...document.querySelectorAll(".row")].every(r => r.hidden)`),
    `${name}: the filter filters nothing`);
  const tabs = await t.run(`document.querySelectorAll("[role=tab]").length`);
  if (tabs) {
    await t.run(`document.querySelectorAll("[role=tab]")[1].click(); 0`);
    check(await t.run(`[...document.querySelectorAll(".progress")].map(s =>
      +!!s.offsetParent || +(getComputedStyle(s).display !== "none")).join("")`) === "01",
      `${name}: the second tab does not show the second progress point`);
    check(await t.run(`!!document.querySelectorAll(".progress")[1].querySelector("#controls")`),
      `${name}: the controls do not go with the tab`);
  }
  check(!t.errors.length, `${name}: ${t.errors[0]}`);
  await t.close();

  // The numbers of the axis stay in sight.
  t = await Tab.open(browser, url, { width: 1280, height: 500 });
  check(await t.run(`{ scrollTo(0, 300); 0 } new Promise(r => setTimeout(() => r(scrollY < 300 ||
    (r => r.top >= 0 && r.bottom < 150)(document.querySelector(".shown .ticks")
    .getBoundingClientRect())), 100))`), `${name}: the axis is scrolled away`);
  await t.close();

  // Without the script everything is there, and nothing that needs it.
  t = await Tab.open(browser, url, { width: 1280, height: 900, script: false });
  check(await t.run(`getComputedStyle(document.getElementById("controls")).display`) === "none",
    `${name}: controls without a script`);
  check(await t.run(`[...document.querySelectorAll(".progress")].every(s =>
    getComputedStyle(s).display !== "none")`), `${name}: progress points are missing without a script`);
  await t.close();

  if (pictures) {
    t = await Tab.open(browser, url, { width: 1280, height: 900 });
    const r = await t.send("Page.printToPDF", { paperWidth: 8.27, paperHeight: 11.69 });
    writeFileSync(join(pictures, name + "-print.pdf"), Buffer.from(r.data, "base64"));
    await t.close();
  }
}

const browser = new Browser();
try {
  for (const page of pages)
    await look(browser, page);
} finally {
  await browser.end();
}
process.exit(wrong);
