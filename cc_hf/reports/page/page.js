"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const PAGE = 40;
  const SIGNS = ["✓", "✗", "?"];

  // External text reaches the page only through this function, as text.
  const make = (tag, classes, ...children) => {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    for (const child of children) if (child !== null && child !== undefined) element.append(child);
    return element;
  };

  const say = (text) => { $("said").textContent = text; };

  const theme = $("theme");
  const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours"); };
  theme.hidden = false;
  nameTheme();
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });

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
  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", async () => {
      const done = await copy(button.previousElementSibling.textContent);
      button.textContent = done ? "Copied" : "Not copied";
      say(button.textContent);
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  if (!data.samples) return;

  const { strings, systems, metrics, categories, verdicts, samples, translations, judgements, labels } = data;
  const n = samples.id.length;
  const text = (number) => (number < 0 || number === undefined ? "" : strings[number]);
  const cell = (column, index) => (column === 0 || column === undefined ? null : column[index]);
  const judged = (metric, system, index) => {
    const columns = judgements[metric][system];
    return columns === 0 || columns.verdict[index] < 0 ? null : columns;
  };
  const all = [...Array(systems.length).keys()];
  const lower = (value) => value.normalize("NFC").toLowerCase();
  const percent = (p) => (100 * p).toFixed(1);

  $("no-sources").hidden = samples.source.some((number) => number >= 0) || samples.form.some((form) => form === 1);

  let haystack = null;
  const words = (index) => {
    if (haystack === null) haystack = samples.id.map((id, i) => lower([text(id), text(samples.source[i]), ...translations.map((systemTexts) => text(systemTexts[i]))].join("\n")));
    return haystack[index];
  };

  const option = (select, value, label) => { const made = make("option", "", label); made.value = value; select.append(made); };
  option($("category"), "", "all");
  categories.forEach((name, i) => option($("category"), String(i), name));
  option($("verdict"), "", "any");
  verdicts.forEach((name, i) => {
    if (judgements.some((metricJudgements) => metricJudgements.some((columns) => columns !== 0 && columns.verdict.includes(i)))) option($("verdict"), String(i), name);
  });
  if (systems.length > 1) option($("verdict"), "systems", "systems disagree");
  if (metrics.length > 1) option($("verdict"), "metrics", "metrics disagree");
  if (labels.some((systemLabels) => Object.keys(systemLabels).length)) {
    option($("verdict"), "people", "metric and people disagree");
    option($("verdict"), "labelled", "labelled by people");
  }
  const areLong = systems.some((name) => name.length > 24); // the number stays visible where a name is cut
  option($("system"), "", systems.length > 1 ? "any system" : systems[0]);
  if (systems.length > 1) systems.forEach((name, i) => option($("system"), String(i), areLong ? `${i + 1}. ${name}` : name));
  metrics.forEach((name, i) => option($("metric"), String(i), name));
  $("system").parentElement.hidden = systems.length < 2;
  $("metric").parentElement.hidden = metrics.length < 2;
  const ORDERS = { "": "as in the data", unsure: "least sure first", sure: "surest first", wrong: "most wrong first" };
  if (systems.length > 1) ORDERS.apart = "systems farthest apart";
  for (const [value, label] of Object.entries(ORDERS)) option($("order"), value, label);

  const matches = (index, filters) => {
    if (filters.category !== "" && samples.category[index] !== Number(filters.category)) return false;
    if (filters.query && !words(index).includes(filters.query)) return false;
    const judgedSystems = filters.systems.filter((system) => judged(filters.metric, system, index));
    const verdict = (system, metric = filters.metric) => judgements[metric][system].verdict[index];
    const sure = (system) => {
      if (!filters.isLimited) return true;
      const p = cell(judgements[filters.metric][system].p, index);
      return p !== null && 100 * Math.abs(2 * p - 1) >= filters.low && 100 * Math.abs(2 * p - 1) <= filters.high;
    };
    const matching = judgedSystems.filter(sure);
    switch (filters.verdict) {
      case "": return !(filters.isLimited || filters.isOfOne) || matching.length > 0;
      case "systems": {
        const every = all.filter((system) => judged(filters.metric, system, index));
        return matching.length > 0 && new Set(every.map((system) => verdict(system))).size > 1;
      }
      case "metrics": return matching.some((system) => new Set(metrics.map((_, m) => m).filter((m) => judged(m, system, index)).map((m) => verdict(system, m))).size > 1);
      case "people": return matching.some((system) => labels[system][index] && labels[system][index][0] >= 0 && labels[system][index][0] !== verdict(system));
      case "labelled": return matching.some((system) => labels[system][index]);
      default: return matching.some((system) => verdict(system) === Number(filters.verdict));
    }
  };

  const sorted = (indices, filters) => {
    if (filters.order === "") return indices;
    const key = (index) => {
      const judgedSystems = (filters.order === "apart" ? all : filters.systems).filter((system) => judged(filters.metric, system, index));
      const p = judgedSystems.map((system) => cell(judgements[filters.metric][system].p, index)).filter((value) => value !== null);
      if (!p.length) return Infinity;
      const sure = p.map((value) => Math.abs(2 * value - 1));
      if (filters.order === "unsure") return Math.min(...sure);
      if (filters.order === "sure") return -Math.max(...sure);
      if (filters.order === "wrong") return Math.min(...p);
      return Math.min(...p) - Math.max(...p);
    };
    const keys = new Map(indices.map((index) => [index, key(index)]));
    return indices.sort((a, b) => (keys.get(a) === keys.get(b) ? a - b : keys.get(a) < keys.get(b) ? -1 : 1));
  };

  // lower-casing can change a text's length, so hits are marked only where it does not
  const marked = (value, query) => {
    const fragment = document.createDocumentFragment();
    const low = value.toLowerCase();
    let position = 0;
    if (query && low.length === value.length) {
      for (let next = low.indexOf(query); next >= 0; next = low.indexOf(query, position)) {
        fragment.append(value.slice(position, next), make("mark", "hit", value.slice(next, next + query.length)));
        position = next + query.length;
      }
    }
    fragment.append(value.slice(position));
    return fragment;
  };

  const source = (index, query) => {
    const value = text(samples.source[index]);
    const focus = samples.focus[index];
    const line = make("p", "source");
    line.lang = data.src_lang;
    line.dir = "auto";
    if (!focus) line.append(marked(value, query));
    else line.append(marked(value.slice(0, focus[0]), query), make("mark", "focus", value.slice(focus[0], focus[0] + focus[1])), marked(value.slice(focus[0] + focus[1]), query));
    return line;
  };

  const verdictOf = (number, more) => make("span", `verdict ${verdicts[number]}`, `${SIGNS[number]} ${verdicts[number]}${more || ""}`);

  const translation = (index, system, filters) => {
    const row = make("div", "translation");
    const value = translations[system][index];
    const line = make("span", "text", value < 0 ? "—" : marked(text(value), filters.query));
    line.lang = data.tgt_lang;
    line.dir = "auto";
    row.append(make("span", "name", make("span", `swatch ${data.marks[system]}`), systems[system]), line);
    const columns = judged(filters.metric, system, index);
    if (columns) {
      const p = cell(columns.p, index);
      const cells = make("span", "judged", verdictOf(columns.verdict[index]));
      if (p !== null) {
        const bar = make("i");
        bar.style.width = `${100 * p}%`;
        cells.append(make("span", `meter ${verdicts[columns.verdict[index]]}`, bar, make("b")), make("span", "", `${percent(p)} %`));
      }
      row.append(cells);
    }
    const others = make("span", "others");
    metrics.forEach((name, metric) => {
      const otherColumns = metric === filters.metric ? null : judged(metric, system, index);
      if (otherColumns) others.append(make("span", "", `${name}: `, verdictOf(otherColumns.verdict[index], text(cell(otherColumns.predicted, index) ?? -1) && `, ${text(cell(otherColumns.predicted, index))}`)));
    });
    const label = labels[system][index];
    if (label) others.append(make("span", "", "people: ", label[0] < 0 ? "" : verdictOf(label[0], ", "), label.slice(1).map(text).join(" / ")));
    if (others.childNodes.length) row.append(others);
    return row;
  };

  // words of a variant that are not in the source, by their longest common subsequence
  const cues = (from, to) => {
    const split = (value) => value.split(/(\s+|[\[\](){}.,;:!?"“”„«»])/u).filter(Boolean);
    const a = split(from), b = split(to);
    const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--)
      longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    const fragment = document.createDocumentFragment();
    let pending = "";
    const flush = () => {
      const [, before, inner, after] = pending.match(/^(\s*)([\s\S]*?)(\s*)$/u);
      if (inner) fragment.append(before, make("ins", "", inner), after); else fragment.append(pending);
      pending = "";
    };
    for (let i = 0, j = 0; j < b.length;) {
      if (i < a.length && a[i] === b[j]) { flush(); fragment.append(b[j]); i++; j++; }
      else if (i >= a.length || longest[i][j + 1] >= longest[i + 1][j]) pending += b[j++];
      else i++;
    }
    flush();
    return fragment;
  };

  const variants = (index, side, title) => {
    const base = samples.form[index] === 1 ? "" : text(samples.source[index]);
    const list = make("ul");
    for (const [start, end, number] of samples[side][index]) {
      const variant = base.slice(0, start) + text(number) + base.slice(end);
      const item = make("li", "", samples.form[index] === 1 ? variant : cues(base, variant));
      item.dir = "auto";
      item.lang = samples.form[index] === 1 ? data.tgt_lang : data.src_lang;
      list.append(item);
    }
    return [make("h4", side, title), list];
  };

  const scores = (index) => {
    const head = ["system", "metric", "verdict", "found", "gold", "probability", "score, correct", "score, incorrect", "weight"];
    const rows = [];
    for (const system of all) metrics.forEach((name, metric) => {
      const columns = judged(metric, system, index);
      if (!columns) return;
      const number = (column) => { const value = cell(columns[column], index); return value === null ? "" : String(value); };
      const p = cell(columns.p, index);
      rows.push([systems[system], name, verdictOf(columns.verdict[index]), text(cell(columns.predicted, index) ?? -1), text(cell(columns.gold, index) ?? -1), p === null ? "" : `${percent(p)} %`,
        number("score_correct"), number("score_incorrect"), number("weight")]);
    });
    const used = head.map((_, i) => rows.some((row) => row[i] !== ""));
    const table = make("table");
    const line = make("tr");
    head.forEach((name, i) => { if (used[i]) { const th = make("th", i > 4 ? "number" : "", name); th.scope = "col"; line.append(th); } });
    table.append(make("thead", "", line));
    const body = make("tbody");
    for (const row of rows) {
      const tr = make("tr");
      row.forEach((value, i) => {
        if (!used[i]) return;
        const td = make(i === 0 ? "th" : "td", i > 0 && i < 5 ? "words" : "", value);
        if (i === 0) td.scope = "row";
        tr.append(td);
      });
      body.append(tr);
    }
    table.append(body);
    return make("div", "scroll", table);
  };

  const details = (index) => {
    const panel = make("div", "details");
    const isSources = samples.form[index] !== 1;
    if (samples.correct[index].length) panel.append(...variants(index, "correct", isSources ? "Sources with a correct cue" : "Correct translation"));
    if (samples.incorrect[index].length) panel.append(...variants(index, "incorrect", isSources ? "Sources with an incorrect cue" : "Contrastive translations"));
    panel.append(make("h4", "", "Judgements"), scores(index));
    const facts = [["correct reading", text(samples.gold[index])], ...samples.extra[index].map(([name, value]) => [text(name).replaceAll("_", " "), text(value)])].filter(([, value]) => value);
    if (facts.length) {
      const list = make("dl");
      for (const [name, value] of facts) list.append(make("dt", "", name), make("dd", "", value));
      panel.append(make("h4", "", "About the sample"), list);
    }
    return panel;
  };

  const sample = (index, filters) => {
    const item = make("li", "sample");
    item.dataset.id = text(samples.id[index]);
    const open = make("button", "open", "Details");
    open.type = "button";
    open.setAttribute("aria-expanded", "false");
    open.setAttribute("aria-label", `Details of sample ${text(samples.id[index])}`);
    open.addEventListener("click", () => {
      const shown = item.querySelector(".details");
      if (shown) shown.remove(); else item.append(details(index));
      open.setAttribute("aria-expanded", String(!shown));
      open.textContent = shown ? "Details" : "Close";
    });
    item.append(make("div", "meta", make("span", "", `sample ${text(samples.id[index])}`), make("span", "chip", categories[samples.category[index]]), open));
    if (samples.source[index] >= 0 && text(samples.source[index])) item.append(source(index, filters.query));
    for (const system of all) item.append(translation(index, system, filters));
    return item;
  };

  let indices = [];
  let page = 0;
  let filters = null;

  const show = () => {
    const last = Math.max(0, Math.ceil(indices.length / PAGE) - 1);
    page = Math.min(Math.max(page, 0), last);
    $("list").replaceChildren(...indices.slice(page * PAGE, (page + 1) * PAGE).map((index) => sample(index, filters)));
    $("page-number").textContent = indices.length ? `page ${page + 1} of ${last + 1}` : "";
    for (const id of ["previous", "previous-below"]) $(id).disabled = page === 0;
    for (const id of ["next", "next-below"]) $(id).disabled = page === last;
    $("previous-below").closest(".pager").hidden = last === 0;
  };

  const filter = () => {
    const metric = Number($("metric").value);
    const hasP = judgements[metric].some((columns) => columns !== 0 && columns.p !== 0);
    $("range").disabled = !hasP;
    const bound = (id, other) => { const value = $(id).valueAsNumber; return Number.isNaN(value) ? other : value; };
    const low = bound("low", 0), high = bound("high", 100);
    filters = {
      metric, low, high,
      query: lower($("query").value.trim()),
      category: $("category").value,
      verdict: $("verdict").value,
      order: hasP ? $("order").value : "",
      isLimited: hasP && (low > 0 || high < 100),
      isOfOne: $("system").value !== "",
      systems: $("system").value === "" ? all : [Number($("system").value)],
    };
    indices = sorted([...Array(n).keys()].filter((index) => matches(index, filters)), filters);
    page = 0;
    $("count").textContent = indices.length === n ? `${n.toLocaleString("en")} samples` : `${indices.length.toLocaleString("en")} of ${n.toLocaleString("en")} samples`;
    show();
    $("list").setAttribute("aria-busy", "false");
  };

  const turn = (by) => { page += by; show(); $("samples").scrollIntoView(); };
  for (const id of ["previous", "previous-below"]) $(id).addEventListener("click", () => turn(-1));
  for (const id of ["next", "next-below"]) $(id).addEventListener("click", () => turn(1));
  let waiting = 0;
  const soon = (milliseconds) => {
    $("list").setAttribute("aria-busy", "true");
    clearTimeout(waiting);
    waiting = setTimeout(filter, milliseconds);
  };
  $("filters").addEventListener("input", () => soon(80));
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => soon(0));
  filter();
})();
