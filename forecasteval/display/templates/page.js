"use strict";
document.documentElement.classList.add("on");
addEventListener("DOMContentLoaded", () => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const lists = all("[data-for]").map((bar) => {
    const id = bar.dataset.for, list = document.getElementById(id);
    const find = () => all(":scope > details, :scope > tr:has(details)", list), rows = find();
    const chips = all("[data-k][data-v]").filter((chip) => chip.dataset.of === id);
    const search = bar.querySelector("input"), order = bar.querySelector("select"), count = bar.querySelector("output");
    const keys = new Set(chips.map((chip) => chip.dataset.k)), chosen = new Map(), texts = new Map();
    const read = (row) => {
      if (!texts.has(row)) texts.set(row, [row.textContent, ...Object.values(row.dataset)].join(" ").toLowerCase());
      return texts.get(row);
    };
    const show = () => {
      const words = search.value.toLowerCase();
      for (const row of rows) row.hidden = [...chosen].some(([key, value]) => row.dataset[key] !== value) || !!words && !read(row).includes(words);
      const shown = rows.filter((row) => !row.hidden).length;
      count.textContent = `${shown === rows.length ? "" : `${shown} of `}${rows.length} ${count.dataset.what}${[...chosen].map(([, value]) => ` · ${value}`).join("")}${words ? ` · ${search.value}` : ""}`;
      for (const chip of chips) chip.setAttribute("aria-pressed", chosen.get(chip.dataset.k) === chip.dataset.v);
    };
    const sort = () => {
      const key = order.value.replace("-", ""), sign = order.value.startsWith("-") ? -1 : 1;
      list.append(...[...rows].sort((x, y) => sign * (x.dataset[key] - y.dataset[key])));
    };
    const state = () => [...chosen, ...[search, order].filter((control) => control?.value && !(control === order && !order.selectedIndex)).map((control) => [control.dataset.k, control.value])];
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
      const cell = (each) => `"${(each.title || each.firstElementChild?.title || each.textContent).trim().replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
      const inner = (row) => (row.tagName === "DETAILS" ? row.firstElementChild : row.rows?.[0] ?? row);
      const lines = [list.previousElementSibling, ...find().filter((row) => !row.hidden)].map(inner);
      const csv = lines.map((line) => [...line.children].map(cell).join(",")).join("\r\n");
      const url = URL.createObjectURL(new Blob(["\ufeff", csv, "\r\n"], { type: "text/csv" }));
      Object.assign(document.createElement("a"), { href: url, download: `${document.title}.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    });
    return { state, load };
  });
  const address = (row = "") => {
    const state = new URLSearchParams(lists.flatMap((list) => list.state()));
    return row || `${state}` ? `#${[row, `${state}`].filter(Boolean).join("&")}` : "";
  };
  const visit = () => {
    const [name] = location.hash.slice(1).split("&"), target = name && document.getElementById(name), rest = location.hash.slice(1 + (target ? name.length : 0));
    if (!target || rest) for (const list of lists) list.load(new URLSearchParams(rest));
    if (!target) return;
    target.hidden = false;
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
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
    const refused = () => { target.textContent = "The browser refuses; copy it from the address bar"; };
    if (!navigator.clipboard) return refused();
    navigator.clipboard.writeText(location.href).then(() => { target.textContent = "Copied"; }, refused);
  });
  addEventListener("hashchange", visit);
  for (const list of lists) list.load(new URLSearchParams());
  visit();
});
