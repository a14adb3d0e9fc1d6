"use strict";
const $ = (id) => document.getElementById(id);

// External text reaches the page only through this function, as text.
const make = (tag, classes, ...children) => {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
};

const say = (text) => { $("said").textContent = text; };

const save = (name, type, text) => {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name.replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^-+|-+(?=\.|$)/g, "");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

// navigator.clipboard is refused to some pages that are opened from disk
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", "unseen", text);
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
};

const copyBy = (button, label, text) => button.addEventListener("click", async () => {
  const done = await copy(text());
  button.textContent = done ? "Copied" : "Not copied";
  say(button.textContent);
  setTimeout(() => { button.textContent = label; }, 1500);
});

// Light or dark colours, and buttons that copy what stands before them.
(() => {
  const theme = $("theme");
  const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours"); };
  theme.hidden = false;
  nameTheme();
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });

  for (const button of document.querySelectorAll(".copy")) copyBy(button, "Copy", () => button.previousElementSibling.textContent);
})();

// The text of a mark is shown at the pointer, and beside the mark that has the focus.
(() => {
  const tip = make("div", "tip");
  tip.setAttribute("aria-hidden", "true");
  tip.hidden = true;
  document.body.append(tip);
  const show = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 12, document.documentElement.clientWidth - width - 4))}px`;
    tip.style.top = `${y - height - 10 < 0 ? y + 18 : y - height - 10}px`;
  };
  const hide = () => { tip.hidden = true; };
  let onScroll = hide; // a mark that gets the focus may scroll into view, and keeps its text
  for (const title of document.querySelectorAll(".chart title")) {
    const mark = title.parentElement;
    const text = title.textContent;
    title.remove();
    mark.dataset.tip = text;
    mark.addEventListener("pointermove", (event) => show(text, event.clientX, event.clientY));
    mark.addEventListener("pointerleave", hide);
    const link = mark.closest("a");
    if (!link) continue;
    const beside = () => { const box = mark.getBoundingClientRect(); show(text, box.right, box.top); };
    link.addEventListener("focus", () => { if (link.matches(":focus-visible")) { onScroll = beside; beside(); } });
    link.addEventListener("blur", () => { onScroll = hide; hide(); });
  }
  addEventListener("scroll", () => onScroll(), { passive: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") { onScroll = hide; hide(); } });
})();

// Numbers are sorted before texts; the first click on a column of numbers puts the best first, or the
// highest where no value is best. Where 0 is best, numbers are sorted by their distance to it. Rows that have no rank
// stay below all others.
(() => {
  const value = (row, column, best) => {
    const cell = row.cells[column];
    const text = (cell.querySelector(".value") || cell).textContent.trim();
    const number = column && /^[-−+]?[\d.,]+/u.test(text) ? parseFloat(text.replace("−", "-").replaceAll(",", "")) : NaN;
    return Number.isNaN(number) ? text : best === "zero" ? Math.abs(number) : number;
  };
  const compare = (a, b, sign) => {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
  };
  for (const table of document.querySelectorAll("main table:not(.confusion, .matrix, .unsorted)")) {
    const body = table.tBodies[0];
    if (body.rows.length < 2) continue;
    const heads = [table.tHead.rows[0].cells[0], ...[...table.tHead.rows].at(-1).cells].filter((head, i, list) => list.indexOf(head) === i);
    heads.forEach((head, column) => {
      const button = make("button", "sort", ...head.childNodes);
      button.type = "button";
      head.append(button);
      button.addEventListener("click", () => {
        const { best } = head.dataset;
        const rows = [...body.rows].map((row) => [value(row, column, best), row]);
        const before = head.getAttribute("aria-sort");
        const isDown = before ? before === "ascending" : !["low", "zero"].includes(best) && rows.some(([key]) => typeof key === "number");
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
        const isBelow = (row) => row.classList.contains("unranked");
        rows.sort(([a, first], [b, second]) => isBelow(first) - isBelow(second) || compare(a, b, isDown ? -1 : 1));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }
})();

// A chart is saved with the colours that it has on the page, since its classes mean nothing elsewhere.
(() => {
  const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "text-anchor"];
  const standalone = (chart) => {
    const copy = chart.cloneNode(true);
    const parts = [...copy.querySelectorAll("*")];
    [...chart.querySelectorAll("*")].forEach((part, i) => {
      const style = getComputedStyle(part);
      for (const name of STYLES) parts[i].setAttribute(name, style.getPropertyValue(name));
      for (const name of ["class", "data-tip", "tabindex"]) parts[i].removeAttribute(name);
    });
    for (const link of copy.querySelectorAll("a")) link.replaceWith(...link.childNodes);
    const { width, height } = chart.viewBox.baseVal;
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const attributes = { width, height, fill: getComputedStyle(chart.closest("section")).backgroundColor };
    for (const [name, setting] of Object.entries(attributes)) paper.setAttribute(name, setting);
    copy.prepend(paper);
    for (const [name, setting] of Object.entries({ width, height, "font-family": "sans-serif" })) copy.setAttribute(name, setting);
    copy.removeAttribute("class");
    return new XMLSerializer().serializeToString(copy);
  };
  for (const figure of document.querySelectorAll("figure")) {
    const chart = figure.querySelector(".chart");
    if (!chart) continue;
    const name = chart.getAttribute("aria-label").split(". ")[0];
    const button = make("button", "save", "SVG");
    button.type = "button";
    button.setAttribute("aria-label", `Save as SVG: ${name}`);
    button.addEventListener("click", () => save(`${name}.svg`, "image/svg+xml", standalone(chart)));
    figure.prepend(button);
  }
})();

// In print every detail is open, and a table that is wider than the paper is made smaller.
(() => {
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("main details:not([open])")];
    for (const details of closed) details.open = true;
    document.body.classList.add("as-wide-as-paper");
    const zooms = [...document.querySelectorAll("main table")].map((table) => [table, table.parentElement.clientWidth / table.scrollWidth]);
    document.body.classList.remove("as-wide-as-paper");
    for (const [table, zoom] of zooms) if (zoom < 1) table.style.zoom = zoom;
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
    for (const table of document.querySelectorAll("main table")) table.style.zoom = "";
  });
})();

