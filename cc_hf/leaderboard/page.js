// A click on a header sorts the rows of the ranking: figures downwards first, texts and ranks upwards.
document.addEventListener("click", event => {
  const button = event.target instanceof Element ? event.target.closest(".cc-board thead button") : null;
  if (!button) return;
  const header = button.closest("th");
  const body = header.closest("table").tBodies[0];
  const value = row => row.cells[header.cellIndex].dataset.value;
  const rows = [...body.rows];
  const known = rows.filter(row => value(row) !== "");
  const isNumeric = known.every(row => Number.isFinite(Number(value(row))));
  const before = header.getAttribute("aria-sort");
  const isUp = before ? before === "descending" : !isNumeric || header.cellIndex === 0;
  known.sort((a, b) => (isUp ? 1 : -1) * (isNumeric ? value(a) - value(b) : value(a).localeCompare(value(b))));
  for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", isUp ? "ascending" : "descending");
  body.append(...known, ...rows.filter(row => value(row) === ""));
});
