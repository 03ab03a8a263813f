"use strict";
const element = (name, fields = {}) => Object.assign(document.createElement(name), fields);
const button = (textContent, onclick) => element("button", { type: "button", textContent, onclick });
const phone = matchMedia("(max-width:40rem)");
const numberOf = (text) => { const value = parseFloat(text.replace("−", "-").replace(/^[<≤≥] ?/, "")); return Number.isNaN(value) ? null : value; };
const labelled = (name, control) => {
  const label = element("label");
  label.append(...(control.type === "checkbox" ? [control, ` ${name}`] : [name, control]));
  control.setAttribute("aria-label", name);
  return label;
};
const views = [...document.querySelectorAll(".records")].map((box, number) => {
  const list = box.querySelector(".rows"), heads = [...box.querySelectorAll(".head > span")];
  const titles = heads.map((head) => head.firstChild?.textContent ?? ""), prefix = number ? `${box.id}.` : "";
  const rows = [...list.children].map((row) => {
    const spans = [...row.firstElementChild.children];
    return { row, texts: spans.map((span) => span.dataset.v ?? span.textContent) };
  });
  const more = box.querySelector(":scope > .more"), tools = element("div", { className: "tools" }), count = element("output"), paper = element("p", { className: "paper" }), controls = new Map(), tests = [];
  const add = (key, name, control, test) => {
    tools.append(labelled(name, control));
    if (controls.has(prefix + key) || key === "sort") key += "*";  // a key of systems.json
    controls.set(prefix + key, control);
    tests.push(test);
  };
  const search = element("input", { type: "search" });
  add("search", "Search", search, (each) => {
    if (search.value) each.text ??= each.row.textContent.toLowerCase();
    return !search.value || each.text.includes(search.value.toLowerCase());
  });
  heads.forEach((head, place) => {
    if (!["choice", "filter"].includes(head.dataset.kind)) return;
    const values = [...new Set(rows.map((row) => row.texts[place] || "(none)"))];
    if (values.length < 2) return;
    const select = element("select");
    select.add(new Option("all", ""));
    values.sort((a, b) => numberOf(a) - numberOf(b) || (a < b ? -1 : 1)).forEach((value) => select.add(new Option(value)));
    add(titles[place].toLowerCase(), titles[place], select, ({ texts }) => !select.value || (texts[place] || "(none)") === select.value);
  });
  if (rows.some(({ row }) => row.className === "failed")) {
    const failed = element("input", { type: "checkbox" });
    add("failed", "Failures only", failed, ({ row }) => !failed.checked || row.className === "failed");
  }
  let sorted = "";  // the title of a column in small letters, with "-" in front if the highest come first
  const sort = (place, up) => {
    if (place < 0 && !sorted) return;
    const number = heads[place]?.dataset.best, sign = up ? 1 : -1;
    const keyed = rows.map(({ row, texts }) => [number ? numberOf(texts[place]) : texts[place] || null, row]);
    if (place >= 0) keyed.sort(([x], [y]) => x === y ? 0 : x === null ? 1 : y === null ? -1 : x < y ? -sign : sign);
    list.append(...keyed.map(([, row]) => row));
    heads.forEach((head) => delete head.dataset.order);
    if (place >= 0) heads[place].dataset.order = up ? "up" : "down";
    sorted = place < 0 ? "" : `${up ? "" : "-"}${titles[place].toLowerCase()}`;
  };
  const chosen = () => [...controls].filter(([, { type, checked, value }]) => type === "checkbox" ? checked : value);
  const show = () => {
    for (const each of rows) each.row.hidden = !tests.every((test) => test(each));
    const shown = rows.filter(({ row }) => !row.hidden).length;
    if (more) more.hidden = shown <= (phone.matches ? 20 : 50);  // as many as the style shows
    count.textContent = `${shown} of ${rows.length} rows${sorted ? `, sorted by ${sorted.replace(/^-/, "")}` : ""}`;
    const names = chosen().map(([, { ariaLabel, value }]) => value ? `${ariaLabel}: ${value}` : ariaLabel);
    paper.textContent = names.length || sorted ? [count.textContent, ...names].join("; ") : "";
  };
  const load = (state) => {
    for (const [key, control] of controls) {
      control.checked = state.has(key);
      control.value = state.get(key) ?? "";
      if (control.selectedIndex === -1) control.value = "";
    }
    const wanted = state.get(`${prefix}sort`) ?? "";
    sort(titles.findIndex((title) => title.toLowerCase() === wanted.replace(/^-/, "")), !wanted.startsWith("-"));
    show();
  };
  const save = (state) => {
    for (const [key, { value }] of chosen()) state.set(key, value);
    if (sorted) state.set(`${prefix}sort`, sorted);
  };
  const changed = () => {
    show();
    const state = new URLSearchParams();
    for (const view of views) view.save(state);
    const hash = `#${state}`.replaceAll(/=(?=&|$)/g, "");
    history.replaceState(null, "", hash === "#" ? location.pathname + location.search : hash);
  };
  heads.forEach((head, place) => {
    const title = button("", () => {
      sort(place, head.dataset.order ? head.dataset.order !== "up" : head.dataset.best !== "high");
      changed();
    });
    title.title = "Sort";
    title.append(head.firstChild ?? "");
    head.prepend(title);
  });
  const reset = () => {
    load(new URLSearchParams());
    changed();
  };
  const download = () => {
    const quote = (text, place) => `"${(heads[place].dataset.kind === "number" ? text : text.replace(/^[=+\-@\t\r]/, "'$&")).replaceAll('"', '""')}"`;
    const texts = new Map(rows.map((each) => [each.row, each.texts]));
    const lines = [...list.children].filter((row) => !row.hidden).map((row) => texts.get(row));
    const csv = [titles, ...lines].map((line) => line.map(quote).join(",")).join("\r\n");
    const url = URL.createObjectURL(new Blob(["\ufeff", csv, "\r\n"], { type: "text/csv" }));
    element("a", { href: url, download: `${box.dataset.name}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };
  tools.append(button("Show all", reset), button("Download CSV", download), count);
  tools.oninput = changed;
  box.querySelector(".head").before(tools, paper);
  return { load, save };
});
for (const table of document.querySelectorAll("table:not(.matrix)")) {  // cards on a phone
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.firstChild?.textContent ?? "");
  if (titles.length < 5) continue;
  table.classList.add("cards");
  for (const row of table.tBodies[0].rows) titles.forEach((title, place) => { row.cells[place].dataset.l = title; });
}
for (const plot of document.querySelectorAll(".plot:has(.faint)")) {
  const lines = [...plot.querySelectorAll(".faint")], select = element("select"), tools = element("div", { className: "tools" });
  select.add(new Option("none", ""));
  lines.forEach((line, place) => select.add(new Option(line.firstElementChild.textContent, place)));
  select.oninput = () => lines.forEach((line, place) => {
    if (line.classList.toggle("chosen", select.value === `${place}`)) line.parentNode.append(line);
  });
  tools.append(labelled("Show also", select));
  plot.before(tools);
}
document.addEventListener("toggle", ({ target }) => {
  if (!target.open) return;
  for (const mark of target.querySelectorAll(".said mark")) {  // what counts of an answer comes into view
    const said = mark.closest(".said");
    said.scrollTop = mark.offsetTop - said.offsetTop - said.clientHeight / 2;
  }
  if (!target.matches(".rows > details:not(:has(.self))")) return;
  const link = element("a", { href: `#${target.id}`, textContent: `#${target.id}` }), place = element("dd");
  const copy = button("Copy", () => {
    location.hash = link.hash;
    navigator.clipboard?.writeText(location.href).then(() => { copy.textContent = "Copied"; }, () => {});
  });
  place.append(link, " ", copy);
  target.lastElementChild.append(element("dt", { className: "self", textContent: "Address" }), place);
}, true);
const visit = () => {
  const target = document.getElementById(location.hash.slice(1));
  for (const view of views) view.load(new URLSearchParams(target ? "" : location.hash.slice(1)));
  target?.querySelector(":scope > .fold")?.setAttribute("open", "");
  for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
  target?.scrollIntoView();
};
addEventListener("hashchange", visit);
phone.onchange = visit;
visit();
