"use strict";
for (const box of document.querySelectorAll(".records")) {
  const body = box.querySelector("tbody"), heads = [...box.querySelectorAll("th")];
  const rows = [...body.rows].map((row) => ({ row, cells: [...row.cells].map((cell) => cell.textContent) }));
  for (const one of rows) one.text = one.cells.join("\n").toLowerCase();
  const tools = document.createElement("div"), count = document.createElement("output"), chosen = new Map();
  tools.className = "tools";
  const add = (name, control) => {
    const label = document.createElement("label");
    control.setAttribute("aria-label", name);
    label.append(name, control);
    tools.append(label);
    return control;
  };
  const search = add("Search", document.createElement("input"));
  search.type = "search";
  const least = heads.findIndex((head) => head.textContent === "Score");
  heads.forEach((head, place) => {
    if (head.dataset.kind !== "choice") return;
    const select = add(head.textContent, document.createElement("select"));
    const values = [...new Set(rows.map((one) => one.cells[place]))].sort();
    for (const value of ["all", ...values]) select.add(new Option(value || "(none)", value));
    select.selectedIndex = 0;
    chosen.set(place, select);
  });
  const range = { all: () => true, "0": (x) => x === 0, "between 0 and 1": (x) => x > 0 && x < 1, "1": (x) => x === 1 };
  const part = least < 0 ? null : add("Score", document.createElement("select"));
  if (part) for (const name of Object.keys(range).sort((a, b) => (a === "all" ? -1 : b === "all" ? 1 : a < b ? -1 : 1))) part.add(new Option(name, name));
  const filter = () => {
    const wanted = search.value.toLowerCase();
    let shown = 0;
    for (const one of rows) {
      const fits = one.text.includes(wanted)
        && [...chosen].every(([place, select]) => !select.selectedIndex || one.cells[place] === select.value)
        && (!part || range[part.value](parseFloat(one.cells[least])));
      one.row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length} rows`;
  };
  const reset = document.createElement("button");
  reset.type = "button";
  reset.textContent = "Show all";
  reset.onclick = () => {
    search.value = "";
    for (const select of tools.querySelectorAll("select")) select.selectedIndex = 0;
    filter();
  };
  tools.append(reset, count);
  tools.oninput = filter;
  heads.forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.textContent = "";
    head.append(button);
    const number = (text) => { const value = parseFloat(text.replace("−", "-")); return Number.isNaN(value) ? Infinity : value; };
    button.onclick = () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const order = head.dataset.kind === "number"
        ? (a, b) => number(a.cells[place]) - number(b.cells[place]) || 0
        : (a, b) => (a.cells[place] < b.cells[place] ? -1 : a.cells[place] > b.cells[place] ? 1 : 0);
      const sorted = [...rows].sort(down ? (a, b) => order(b, a) : order);
      body.append(...sorted.map((one) => one.row));
    };
  });
  box.querySelector(".wide").before(tools);
  filter();
}
