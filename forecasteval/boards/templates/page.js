"use strict";
const views = [], element = (name, fields = {}) => Object.assign(document.createElement(name), fields);
const numberOf = (text) => { const value = parseFloat(text.replace("−", "-")); return Number.isNaN(value) ? null : value; };
for (const box of document.querySelectorAll(".records")) {
  const list = box.querySelector(".rows"), heads = [...box.querySelectorAll(".head > span")];
  const titles = heads.map((head) => head.firstChild.textContent), prefix = views.length ? `${box.id}.` : "";
  const rows = [...list.children].map((row) => {
    const spans = [...row.firstElementChild.children];
    spans.forEach((span, place) => { span.dataset.l = titles[place]; });  // what a phone shows before the value
    return { row, texts: spans.map((span) => span.dataset.v ?? span.textContent) };
  });
  const tools = element("div", { className: "tools" }), count = element("output"), controls = new Map();
  const add = (key, name, control) => {
    const label = element("label", { textContent: control.type === "checkbox" ? "" : name });
    control.setAttribute("aria-label", name);
    label.append(control);
    if (control.type === "checkbox") label.append(` ${name}`);
    tools.append(label);
    controls.set(prefix + key, control);
    return control;
  };
  const search = add("search", "Search", element("input", { type: "search" })), tests = [];
  heads.forEach((head, place) => {
    if (!["choice", "filter"].includes(head.dataset.kind)) return;
    const values = [...new Set(rows.map((row) => row.texts[place]))].sort((a, b) => numberOf(a) - numberOf(b) || (a < b ? -1 : 1));
    if (values.length < 2) return;
    const select = add(titles[place].toLowerCase(), titles[place], element("select"));
    select.add(new Option("all", ""));
    for (const value of values) select.add(new Option(value || "(none)", value || "(none)"));
    tests.push((row) => !select.value || (row.texts[place] || "(none)") === select.value);
  });
  if (rows.some(({ row }) => row.classList.contains("failed"))) {
    const failed = add("failed", "Failures only", element("input", { type: "checkbox" }));
    tests.push(({ row }) => !failed.checked || row.classList.contains("failed"));
  }
  let sorted = "";
  const sort = (place, up) => {
    const number = heads[place].dataset.best !== "", sign = up ? 1 : -1;
    const keys = new Map(rows.map((row) => [row, number ? numberOf(row.texts[place]) : row.texts[place] || null]));
    const order = (a, b) => {
      const x = keys.get(a), y = keys.get(b);
      return x === y ? 0 : x === null ? 1 : y === null ? -1 : (x < y ? -sign : sign);
    };
    list.append(...[...rows].sort(order).map(({ row }) => row));
    heads.forEach((head) => delete head.dataset.order);
    heads[place].dataset.order = up ? "up" : "down";
    sorted = `${up ? "" : "-"}${titles[place].toLowerCase()}`;
  };
  heads.forEach((head, place) => {
    const button = element("button", { type: "button", title: "Sort" });
    button.append(head.firstChild);
    head.prepend(button);
    button.onclick = () => {
      const first = head.dataset.best !== "high";
      sort(place, head.dataset.order ? head.dataset.order !== "up" : first);
      changed();
    };
  });
  const apply = () => {
    const wanted = search.value.toLowerCase();
    let shown = 0;
    for (const each of rows) {
      if (wanted) each.text ??= each.row.textContent.toLowerCase();
      each.row.hidden = !((!wanted || each.text.includes(wanted)) && tests.every((test) => test(each)));
      shown += !each.row.hidden;
    }
    count.textContent = `${shown} of ${rows.length} rows${sorted ? `, sorted by ${sorted.replace("-", "")}` : ""}`;
  };
  const changed = () => {
    apply();
    const state = new URLSearchParams();
    for (const view of views) view.save(state);
    const hash = `#${state}`.replaceAll(/=(?=&|$)/g, "");
    history.replaceState(null, "", hash === "#" ? location.pathname + location.search : hash);
  };
  const reset = element("button", { type: "button", textContent: "Show all" });
  const load = (state) => {
    for (const [key, control] of controls) {
      if (control.type === "checkbox") control.checked = state.has(key);
      else control.value = state.get(key) ?? "";
      if (control.selectedIndex === -1) control.value = "";
    }
    const wanted = state.get(`${prefix}sort`) ?? "", place = titles.findIndex((title) => title.toLowerCase() === wanted.replace(/^-/, ""));
    if (place >= 0) sort(place, !wanted.startsWith("-"));
    apply();
  };
  reset.onclick = () => {
    load(new URLSearchParams());
    sorted = "";
    heads.forEach((head) => delete head.dataset.order);
    list.append(...rows.map(({ row }) => row));
    changed();
  };
  const download = element("button", { type: "button", textContent: "Download CSV" });
  download.onclick = () => {
    const quote = (text, place) => `"${(heads[place].dataset.kind === "number" ? text : text.replace(/^[=+\-@\t\r]/, "'$&")).replaceAll('"', '""')}"`;
    const lines = [...list.children].filter((row) => !row.hidden).map((row) => rows.find((each) => each.row === row).texts);
    const text = [titles, ...lines].map((line) => line.map(quote).join(",")).join("\r\n");
    const url = URL.createObjectURL(new Blob(["\ufeff", text, "\r\n"], { type: "text/csv" }));
    element("a", { href: url, download: `${box.dataset.name}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  };
  const save = (state) => {
    for (const [key, control] of controls) {
      if (control.type === "checkbox" ? control.checked : control.value) state.set(key, control.type === "checkbox" ? "" : control.value);
    }
    if (sorted) state.set(`${prefix}sort`, sorted);
  };
  tools.append(reset, download, count);
  tools.oninput = changed;
  views.push({ load, save });
  box.querySelector(".head").before(tools);
  list.addEventListener("toggle", (event) => {
    const marked = event.target.open ? event.target.querySelectorAll(".said mark") : [];
    for (const each of marked) {
      const said = each.closest(".said");
      said.scrollTop = each.offsetTop - said.offsetTop - said.clientHeight / 2;
    }
  }, true);
}
for (const table of document.querySelectorAll("table:not(.matrix)")) {  // cards on a phone
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.firstChild?.textContent ?? "");
  if (titles.length < 5) continue;
  table.classList.add("cards");
  for (const row of table.tBodies[0].rows) titles.forEach((title, place) => { row.cells[place].dataset.l = title; });
}
for (const plot of document.querySelectorAll(".plot:has(.faint)")) {
  const lines = [...plot.querySelectorAll(".faint")], select = element("select"), label = element("label", { textContent: "Show also" });
  select.add(new Option("none", ""));
  lines.forEach((line, place) => select.add(new Option(line.firstElementChild.textContent, place)));
  select.oninput = () => {
    lines.forEach((line) => line.classList.remove("chosen"));
    const line = lines[select.value];
    if (line) line.parentNode.append(line);
    line?.classList.add("chosen");
  };
  label.append(select);
  plot.before(element("div", { className: "tools" }));
  plot.previousElementSibling.append(label);
}
document.addEventListener("toggle", (event) => {  // a button that copies the address, when its row is opened
  const link = event.target.querySelector("a.self:only-child");
  if (!link) return;
  const button = element("button", { type: "button", textContent: "Copy" });
  button.onclick = () => {
    location.hash = link.hash;
    navigator.clipboard?.writeText(location.href).then(() => { button.textContent = "Copied"; }, () => {});
  };
  link.after(" ", button);
}, true);
const visit = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (const view of views) view.load(new URLSearchParams(target ? "" : location.hash.slice(1)));
  const fold = target?.querySelector(":scope > .fold");
  if (fold) fold.open = true;
  for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
  target?.scrollIntoView();
};
addEventListener("hashchange", visit);
visit();
