// A click on a header sorts the rows of the ranking: the best figures first, texts and ranks upwards. Where 0 is best,
// figures are sorted by their distance to it. Systems that judged themselves stay below all others.
document.addEventListener("click", event => {
  const button = event.target instanceof Element ? event.target.closest(".cc-board thead button") : null;
  if (!button) return;
  const header = button.closest("th");
  const { best } = header.dataset;
  const body = header.closest("table").tBodies[0];
  const text = row => row.cells[header.cellIndex].dataset.value;
  const value = row => best === "zero" ? Math.abs(text(row)) : text(row);
  const isBelow = row => row.classList.contains("cc-unranked");
  const rows = [...body.rows];
  const known = rows.filter(row => text(row) !== "");
  const isNumeric = known.every(row => Number.isFinite(Number(text(row))));
  const before = header.getAttribute("aria-sort");
  const isUp = before ? before === "descending" : !isNumeric || header.cellIndex === 0 || best === "low" || best === "zero";
  known.sort((a, b) => isBelow(a) - isBelow(b) || (isUp ? 1 : -1) * (isNumeric ? value(a) - value(b) : value(a).localeCompare(value(b))));
  for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", isUp ? "ascending" : "descending");
  body.append(...known, ...rows.filter(row => text(row) === ""));
});

// What is shown is in the address after "#": that of the table by gradio's events, and the tab.
const ccAddress = () => new URLSearchParams(location.hash.slice(1));
const ccWriteAddress = (names, values) => {
  const address = ccAddress();
  names.forEach((name, i) => { if (values[i]) address.set(name, values[i]); else address.delete(name); });
  history.replaceState(null, "", `#${address}`);
};
const CC_TABS = "button[role=tab], .overflow-dropdown button";  // on a phone, further tabs are in a menu
const ccTabs = () => [...document.querySelectorAll(CC_TABS)];
document.addEventListener("click", event => {
  const tab = event.target instanceof Element ? event.target.closest(CC_TABS) : null;
  const first = ccTabs()[0];
  if (tab) ccWriteAddress(["tab"], [tab.textContent.trim() === first.textContent.trim() ? "" : tab.textContent.trim()]);
});
const ccOpenTab = new MutationObserver(() => {
  const name = ccAddress().get("tab");
  const tab = name && ccTabs().find(button => button.textContent.trim() === name);
  if (name && !tab) return;
  ccOpenTab.disconnect();
  if (tab) tab.click();
});
ccOpenTab.observe(document, { childList: true, subtree: true });
