// SPDX-License-Identifier: GPL-2.0-or-later
// The page is complete without this: it ranks anew, sorts, filters, and opens what a link names.
// What it needs, and what a link changes, is there before anything is painted (paint_once.js).
document.documentElement.classList.add("js");
document.addEventListener("DOMContentLoaded", () => {
  const $ = (s, e = document) => e.querySelector(s);
  const $$ = (s, e = document) => [...e.querySelectorAll(s)];
  const WIDTH = 200, EDGE = 4;
  const text = v => (Math.abs(v) < 0.05 ? 0 : v).toFixed(1);
  const known = p => Number.isFinite(p[2]) && Number.isFinite(p[3]) && p[3] - p[2] <= 100;
  const WORTH = 0, HARMFUL = 1, WORTHLESS = 2, UNCLEAR = 3;
  const classes = ["good", "bad", "none", "open"];

  const controls = $("#controls");
  if (!controls)
    return;
  const slider = $("#at"), shown = $("#at-text"), best = $("#best"), sort = $("#sort");
  const filter = $("#filter");
  let percent = null; // null: each at its best, as the page begins
  const less = at => at >= 100 ? "no time at all" : `${+at.toFixed(1)} % less time`;
  const MOST_NAMES = 4;

  const sections = $$("section.progress").map(el => ({
    el, headline: $$(".headline span", el), first: $$(".headline span", el).map(e => e.textContent),
    unit: el.dataset.unit, tried: el.dataset.tried, untried: el.dataset.untried === "1", dotted: $(".dotted", el), latency: el.dataset.latency === "1", lo: +el.dataset.lo, hi: +el.dataset.hi,
    kinds: $$(".kind", el),
    rows: $$(".row", el).map(row => ({
      el: row, verdict: +row.dataset.verdict, samples: +row.dataset.samples,
      label: $(".name b", row).textContent,
      words: ($(".name", row).title + " " + $(".name", row).textContent).toLowerCase(),
      points: row.dataset.p.split(";").map(t => t.split(",").map(parseFloat)),
      best: row.dataset.best === "" ? null : +row.dataset.best,
      high: row.dataset.high === "" ? null : +row.dataset.high,
      texts: ["b", "i", ".at"].map(t => $(".value " + t, row).textContent),
    })),
  }));

  // [estimate, low, high, at, measured there, least, surely on that side of 0]; null: nothing is known
  function estimate(row) {
    const at = percent === null ? row.best : percent, p = row.points;
    if (at === null)
      return null;
    const exact = p.find(q => Math.abs(q[0] - at) < 0.01);
    if (exact)
      return known(exact) ? [exact[1], exact[2], exact[3], at, true, exact[4], exact[5]] : null;
    for (let i = 1; i < p.length; i++) {
      const a = p[i - 1], b = p[i];
      if (a[0] > at || b[0] < at || !known(b) || (i > 1 && !known(a)))
        continue;
      const k = (at - a[0]) / (b[0] - a[0]);
      const mix = j => (i > 1 || j === 1 ? a[j] : 0) * (1 - k) + b[j] * k;
      return [mix(1), mix(2), mix(3), at, false, mix(4), i > 1 && a[5] !== b[5] ? 0 : b[5]];
    }
    return null;
  }

  // Never surer than the verdict, for which all speedups of all targets were judged together.
  function kindOf(row, e) {
    if (percent === null)
      return row.verdict;
    if (row.verdict === WORTH)
      return e && e[6] > 0 && e[5] > 0 ? WORTH : UNCLEAR;
    if (row.verdict === HARMFUL)
      return e && e[6] < 0 ? HARMFUL : UNCLEAR;
    return e ? row.verdict : UNCLEAR;
  }

  function key(q) {
    const e = q.e, way = sort.value;
    if (way === "samples")
      return q.row.samples;
    if (way === "doubt")
      return e ? e[2] - e[1] : Infinity;
    if (way === "bound" && q.kind === WORTHLESS)
      return q.row.samples;
    if (percent === null && q.row.high !== null)
      return way === "bound" && q.kind === UNCLEAR ? q.row.high : -1e9;
    if (!e)
      return -Infinity;
    if (way === "estimate")
      return q.kind === HARMFUL ? -e[0] : e[0];
    return q.kind === HARMFUL ? -e[2] : q.kind === UNCLEAR ? e[2] : e[1];
  }

  function paint(s, q) {
    const x = v => Math.min(Math.max((v - s.lo) / (s.hi - s.lo) * WIDTH, 0), WIDTH).toFixed(1);
    const el = q.row.el, e = q.e, set = (name, d) => $(name, el).setAttribute("d", d);
    el.classList.remove(...classes);
    el.classList.add(classes[q.kind]);
    el.classList.toggle("hollow", !!e && !e[4]);
    if (!e) {
      for (const name of [".sure", ".ci", ".est", ".limit"])
        set(name, "");
      const texts = percent === null ? q.row.texts : ["—", "", ""]; // "at most 12.0"
      ["b", "i", ".at"].forEach((t, i) => $(".value " + t, el).textContent = texts[i]);
      return;
    }
    const to = q.kind === WORTH ? Math.max(e[1], 0) : q.kind === HARMFUL ? Math.min(e[2], 0) : 0;
    set(".sure", to ? `M${x(0)} 7H${x(to)}V17H${x(0)}z` : "");
    let ci = `M${x(e[1])} 12H${x(e[2])}`;
    if (e[1] < s.lo)
      ci += `M${EDGE} 8L0 12L${EDGE} 16`;
    if (e[2] > s.hi)
      ci += `M${WIDTH - EDGE} 8L${WIDTH} 12L${WIDTH - EDGE} 16`;
    set(".ci", ci);
    set(".est", `M${x(e[0])} 4V20`);
    set(".limit", e[3] < s.hi && !s.latency ? `M${x(e[3])} 0V24` : "");
    $(".value b", el).textContent = text(e[0]);
    $(".value i", el).textContent = `[${text(e[1])}, ${text(e[2])}]`;
    $(".value .at", el).textContent = `if it took ${less(e[3])}` + (e[4] ? "" : ", in between");
  }

  function answer(s, list) {
    if (percent === null)
      return s.first;
    const worth = list.filter(q => q.kind === WORTH).sort((a, b) => b.e[1] - a.e[1]);
    const harmful = list.filter(q => q.kind === HARMFUL);
    const unclear = list.filter(q => q.kind === UNCLEAR).length;
    const kinds = [[worth.length, "worth it"], [harmful.length, "harmful if faster"],
      [list.length - worth.length - harmful.length - unclear, "surely worthless"],
      [unclear, "unclear"]].filter(w => w[0]);
    const words = s.tried + ": " + kinds.map(w => w.join(" ")).join(", ") + ".";
    if (!worth.length)
      return [`Nothing is surely worth it, if it took ${less(percent)}.`, words];
    const q = worth[0];
    const most = "worth most" + (s.untried ? " of what was tried" : "");
    return [`${q.row.label} is ${most}: if it took ${less(percent)}, it would save ` +
      (q.e[4] ? "" : "(by what was measured around that) ") +
      `at least ${text(q.e[5])} % of ${s.unit}.`, words];
  }

  // Only what is to be seen is explained.
  function legend(s) {
    const drawn = $$(".kind[open] .row:not([hidden])", s.el).some(row =>
      $(".limit", row).getAttribute("d") || row.open && !s.latency);
    s.dotted.classList.toggle("off", !drawn);
  }

  function update() {
    const wanted = filter.value.trim().toLowerCase();
    shown.textContent = percent === null ? "drag to rank anew" : percent + " % less";
    shown.classList.toggle("unset", percent === null);
    slider.value = percent === null ? 0 : percent;
    slider.setAttribute("aria-valuetext", percent === null ? "each at its best" : percent + " %");
    best.disabled = percent === null;
    for (const s of sections) {
      const list = s.rows.map(row => {
        const e = estimate(row);
        return { row, e, kind: kindOf(row, e) };
      });
      list.forEach(q => q.key = key(q));
      list.sort((a, b) => a.kind - b.kind ||
        (sort.value === "name" ? 0 : b.key > a.key ? 1 : b.key < a.key ? -1 : 0) ||
        a.row.label.localeCompare(b.row.label));
      const focused = document.activeElement;
      s.kinds.forEach((kind, i) => {
        const mine = list.filter(q => q.kind === i);
        const seen = mine.filter(q => q.row.words.includes(wanted));
        mine.forEach(q => {
          q.row.el.hidden = !seen.includes(q);
          paint(s, q);
        });
        $(".rows", kind).append(...mine.map(q => q.row.el));
        $(".count", kind).textContent = seen.length === mine.length ? mine.length :
          `${seen.length} of ${mine.length}`;
        $(".names", kind).textContent = seen.length && seen.length <= MOST_NAMES ?
          ": " + seen.map(q => q.row.label).join(", ") : "";
        kind.hidden = !mine.length;
        if (wanted && seen.length)
          kind.open = true;
      });
      if (focused && focused !== document.activeElement)
        focused.focus({ preventScroll: true });
      legend(s);
      answer(s, list).forEach((t, i) => s.headline[i].textContent = t.replace(/ %/g, "\xa0%"));
    }
  }

  function choose(value) {
    percent = value;
    update();
  }

  // #ROW, #ROW,50 or #,50
  function link() {
    const open = $$(".row[open]").pop();
    const hash = (open ? open.id : "") + (percent === null ? "" : "," + percent);
    try {
      history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
    } catch { /* not from a file, in some browsers */ }
  }
  function follow() {
    const [id, at] = location.hash.slice(1).split(","), row = id && document.getElementById(id);
    const value = parseInt(at, 10), asked = value >= 5 && value <= 100 ? value : null;
    if (asked !== percent) // as it is written it stands for "each at its best"
      choose(asked);
    if (!row || !row.matches(".row"))
      return;
    const s = sections.find(s => s.el.contains(row));
    if (s)
      show(sections.indexOf(s));
    row.closest(".kind").open = true;
    row.open = true;
    row.scrollIntoView();
  }

  const tabs = $$("[role=tab]");
  function show(index) {
    sections.forEach((s, i) => s.el.classList.toggle("shown", i === index));
    if (!sections[index].el.contains(controls))
      $(".head", sections[index].el).before(controls);
    tabs.forEach((t, i) => {
      t.setAttribute("aria-selected", i === index);
      t.tabIndex = i === index ? 0 : -1;
    });
  }
  tabs.forEach((tab, i) => {
    tab.onclick = () => show(i);
    tab.onkeydown = ev => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[ev.key];
      if (step) {
        show((i + step + tabs.length) % tabs.length);
        tabs[(i + step + tabs.length) % tabs.length].focus();
      }
    };
  });

  slider.oninput = () => choose(+slider.value || null);
  slider.onchange = link;
  best.onclick = () => { choose(null); link(); };
  sort.onchange = update;
  filter.oninput = update;
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => $$(".kind,.list").forEach(k => k.open = true));
  $$(".row").forEach(row => row.addEventListener("toggle", link));
  sections.forEach(s => $$(".kind,.row", s.el).forEach(e => e.addEventListener("toggle", () => legend(s))));
  // Of what is not painted yet: the buttons that copy names and commands.
  if (navigator.clipboard) {
    $$(".more code").forEach(code => {
      const b = document.createElement("button");
      b.type = "button";
      b.className = "copy";
      b.textContent = "copy";
      b.onclick = () => navigator.clipboard.writeText(code.textContent).then(() =>
        b.textContent = "copied");
      code.after(" ", b);
    });
  }
  addEventListener("keydown", ev => {
    const typing = ev.target.matches("input[type=search],select");
    if (ev.key === "Escape" && ev.target === filter) {
      filter.value = "";
      filter.blur();
      update();
    }
    if (typing || ev.ctrlKey || ev.metaKey || ev.altKey)
      return;
    if (ev.key === "/") {
      ev.preventDefault();
      filter.focus();
    }
    const step = { j: 1, k: -1 }[ev.key];
    if (step) {
      const all = $$("summary").filter(e => e.offsetParent);
      const next = all[Math.max(all.indexOf(document.activeElement) + step, 0)];
      if (next)
        next.focus();
    }
  });
  follow();
});
