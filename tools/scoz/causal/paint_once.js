// SPDX-License-Identifier: GPL-2.0-or-later
// The page is painted when all of it is there: columns are as wide as what they hold, and half a row has another
// place than the whole. So nothing moves while it loads, however slowly that is.
document.documentElement.classList.add("wait");
document.addEventListener("DOMContentLoaded", () => document.documentElement.classList.remove("wait"));
