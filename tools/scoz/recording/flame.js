// SPDX-License-Identifier: GPL-2.0-or-later
// The page is complete without this: it zooms into a frame and finds names.
document.documentElement.classList.add("js");
document.addEventListener("DOMContentLoaded", () => {
  const flame = document.querySelector("#flame"), found = document.querySelector("#found");
  const find = document.querySelector("#find"), whole = document.querySelector("#whole");
  if (!flame)
    return;
  const frames = [...flame.children].map(el => ({
    el, left: parseFloat(el.style.left), width: parseFloat(el.style.width),
    top: parseFloat(el.style.top), name: el.title.toLowerCase(), text: el.title.split("\n")[0],
  }));

  function zoom(to) {
    for (const f of frames) {
      const inside = f.left >= to.left - 1e-6 && f.left + f.width <= to.left + to.width + 1e-6;
      const around = f.left <= to.left + 1e-6 && f.left + f.width >= to.left + to.width - 1e-6;
      const left = Math.max((f.left - to.left) / to.width * 100, 0);
      const width = around ? 100 : f.width / to.width * 100;
      f.el.hidden = !(f.top < to.top ? around : inside);
      f.el.style.left = left + "%";
      f.el.style.width = width + "%";
      f.el.textContent = width > 1 ? f.text : "";
      f.el.classList.toggle("above", f.top < to.top);
    }
    whole.hidden = to.width > 99.99;
  }
  const all = { left: 0, width: 100, top: 0 };

  function search() {
    const wanted = find.value.trim().toLowerCase();
    let sum = 0, end = -1;
    const hits = frames.filter(f => wanted && f.name.includes(wanted));
    frames.forEach(f => f.el.classList.toggle("hit", hits.includes(f)));
    for (const f of hits.sort((a, b) => a.left - b.left || b.width - a.width)) {
      sum += Math.max(f.left + f.width - Math.max(end, f.left), 0);
      end = Math.max(end, f.left + f.width);
    }
    found.textContent = wanted ? `${sum.toFixed(1)} % of the time` : "";
  }

  flame.onclick = ev => {
    const f = frames.find(g => g.el === ev.target);
    if (f)
      zoom(f);
  };
  whole.onclick = () => zoom(all);
  find.oninput = search;
  addEventListener("beforeprint", () => zoom(all));
  addEventListener("keydown", ev => {
    if (ev.key === "Escape") {
      find.value = "";
      search();
      zoom(all);
    } else if (ev.key === "/" && ev.target !== find) {
      ev.preventDefault();
      find.focus();
    }
  });
});
