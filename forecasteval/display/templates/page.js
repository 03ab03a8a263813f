"use strict";
document.documentElement.classList.add("on");
addEventListener("DOMContentLoaded", () => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const textOf = (cell) => (cell.title || cell.firstElementChild?.title || cell.textContent).trim();
  // "−0.5 (3)" is −0.5
  const numberOf = (text) => parseFloat(text.replace("−", "-").replace(/^[$[]/, ""));
  const lists = all("[data-for]").map((bar) => {
    const id = bar.dataset.for, list = document.getElementById(id);
    const find = () => all(":scope > details, :scope > tr:has(details)", list), rows = find();
    const chips = all("[data-k][data-v]").filter((chip) => chip.dataset.of === id);
    const search = bar.querySelector("input"), order = bar.querySelector("select");
    const count = bar.querySelector("output"), keys = new Set(chips.map((chip) => chip.dataset.k));
    const chosen = new Map(), texts = new Map();
    const read = (row) => {
      if (!texts.has(row)) {
        const parts = [row.textContent, ...Object.values(row.dataset)];
        texts.set(row, parts.join(" ").toLowerCase());
      }
      return texts.get(row);
    };
    const show = () => {
      const words = search.value.toLowerCase();
      for (const row of rows) {
        const other = [...chosen].some(([key, value]) => row.dataset[key] !== value);
        row.hidden = other || (!!words && !read(row).includes(words));
      }
      const shown = rows.filter((row) => !row.hidden).length;
      const of = shown === rows.length ? "" : `${shown} of `;
      const filters = [...chosen.values(), ...(words ? [search.value] : [])];
      const noun = count.dataset.what.replace(/s$/, rows.length === 1 ? "" : "s");
      const what = `${of}${rows.length} ${noun}`;
      count.textContent = [what, ...filters].join(" · ");
      for (const chip of chips) {
        chip.setAttribute("aria-pressed", chosen.get(chip.dataset.k) === chip.dataset.v);
      }
    };
    const sort = () => {
      const key = order.value.replace("-", ""), sign = order.value.startsWith("-") ? -1 : 1;
      const compare = (x, y) => x - y || x.localeCompare(y);  // numbers, or times
      list.append(...[...rows].sort((x, y) => sign * compare(x.dataset[key], y.dataset[key])));
    };
    const state = () => {
      const used = [search, order?.selectedIndex ? order : null];
      const set = used.filter((control) => control?.value);
      return [...chosen, ...set.map((control) => [control.dataset.k, control.value])];
    };
    const load = (wanted) => {
      chosen.clear();
      for (const key of keys) if (wanted.get(key)) chosen.set(key, wanted.get(key));
      search.value = wanted.get(search.dataset.k) ?? "";
      if (order) {
        const before = order.value;
        order.value = wanted.get(order.dataset.k) ?? "";
        if (order.selectedIndex < 0) order.selectedIndex = 0;
        if (order.value !== before) sort();
      }
      show();
    };
    const changed = () => {
      show();
      history.replaceState(null, "", address() || location.pathname + location.search);
    };
    for (const chip of chips) chip.addEventListener("click", () => {
      const { k, v } = chip.dataset;
      if (chosen.get(k) === v) chosen.delete(k); else chosen.set(k, v);
      changed();
    });
    search.addEventListener("input", changed);
    order?.addEventListener("change", () => { sort(); changed(); });
    bar.querySelector("[data-csv]").addEventListener("click", () => {
      const cell = (each) => {
        const harmless = textOf(each).replace(/^[=+\-@\t\r]/, "'$&");
        return `"${harmless.replaceAll('"', '""')}"`;
      };
      const inner = (row) =>
        row.tagName === "DETAILS" ? row.firstElementChild : row.rows?.[0] ?? row;
      const shown = find().filter((row) => !row.hidden);
      const lines = [list.previousElementSibling, ...shown].map(inner);
      const csv = lines.map((line) => [...line.children].map(cell).join(",")).join("\r\n");
      const url = URL.createObjectURL(new Blob(["\ufeff", csv, "\r\n"], { type: "text/csv" }));
      const file = { href: url, download: `${document.title}.csv` };
      Object.assign(document.createElement("a"), file).click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    });
    return { state, load };
  });
  // The title of a column sorts by it: the first press brings the highest numbers or the first names
  // to the top, the second turns that round, the third restores what was there. Rows with equal
  // values stay as they were, those without one come last.
  for (const table of all(".rank, .mx")) {
    const body = table.tBodies[0], before = [...body.children];
    const heads = all("thead th:not(.x, .w)", table);
    const fixed = before.filter((row) => row.matches(".all, .fix"));
    const rows = before.filter((row) => row.cells.length > 1 && !fixed.includes(row));
    if (rows.length < 3) continue;
    const below = new Map(rows.map((row) => [row, row.nextElementSibling]));
    const press = (head) => {
      const texts = new Map(rows.map((row) => [row, textOf(row.cells[head.cellIndex])]));
      const known = [...texts.values()].filter((text) => !["", "–"].includes(text));
      const isText = rows[0].cells[head.cellIndex].tagName === "TH" ||
        known.some((text) => Number.isNaN(numberOf(text)));
      const orders = ["descending", "ascending"];
      if (isText || head.matches(".rk")) orders.reverse();
      const order = orders[orders.indexOf(head.getAttribute("aria-sort")) + 1];
      for (const each of heads) each.removeAttribute("aria-sort");
      if (!order) return body.append(...before);
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const compare = (x, y) => known.includes(y) - known.includes(x) ||
        sign * (isText ? x.localeCompare(y) : numberOf(x) - numberOf(y)) || 0;
      const sorted = [...rows].sort((x, y) => compare(texts.get(x), texts.get(y)));
      const shown = sorted.flatMap((row) =>
        below.get(row)?.matches(".in") ? [row, below.get(row)] : [row]);
      body.replaceChildren(...fixed, ...shown);  // without what stands between parts of the rows
    };
    for (const head of heads) {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "by" });
      button.append(...head.childNodes);
      button.addEventListener("click", () => press(head));
      head.append(button);
    }
  }
  const address = (row = "") => {
    const state = new URLSearchParams(lists.flatMap((list) => list.state()));
    return row || `${state}` ? `#${[row, `${state}`].filter(Boolean).join("&")}` : "";
  };
  const visit = () => {
    const [name] = location.hash.slice(1).split("&");
    const target = name && document.getElementById(name);
    const rest = location.hash.slice(1 + (target ? name.length : 0));
    if (!target || rest) for (const list of lists) list.load(new URLSearchParams(rest));
    if (/^q-/.test(name) && !target) for (const output of all("output").slice(0, 1)) {
      output.textContent = `#${name} is not on this page; --save writes every question as JSON`;
    }
    if (!target) return;
    target.hidden = false;
    for (let each = target; each; each = each.parentElement) {
      if (each.tagName === "DETAILS") each.open = true;
    }
    all(":scope > .fold", target)[0]?.setAttribute("open", "");
    target.scrollIntoView();
  };
  document.addEventListener("toggle", ({ target }) => {  // what counts of an answer comes into view
    for (const mark of target.open ? all(".box mark", target) : []) {
      const box = mark.closest(".box");
      box.scrollTop = mark.offsetTop - box.offsetTop - box.clientHeight / 2;
    }
  }, true);
  document.addEventListener("click", ({ target }) => {
    const row = target.dataset.copy;
    if (!row) return;
    history.replaceState(null, "", address(row));
    const tell = (text) => () => { target.textContent = text; };
    const refused = tell("The browser refuses; copy it from the address bar");
    if (!navigator.clipboard) return refused();
    navigator.clipboard.writeText(location.href).then(tell("Copied"), refused);
  });
  addEventListener("hashchange", visit);
  for (const list of lists) list.load(new URLSearchParams());
  visit();
});
