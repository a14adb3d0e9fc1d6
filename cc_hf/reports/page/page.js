"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const PAGE = 40;
  const SIGNS = ["✓", "✗", "?"];

  // text reaches the page through here only, as text
  const make = (tag, classes, ...children) => {
    const found = document.createElement(tag);
    if (classes) found.className = classes;
    for (const child of children) if (child !== null && child !== undefined) found.append(child);
    return found;
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
  const cell = (column, at) => (column === 0 || column === undefined ? null : column[at]);
  const judged = (metric, system, at) => {
    const own = judgements[metric][system];
    return own === 0 || own.verdict[at] < 0 ? null : own;
  };
  const all = [...Array(systems.length).keys()];
  const lower = (value) => value.normalize("NFC").toLowerCase();
  const percent = (p) => (100 * p).toFixed(1);

  $("no-sources").hidden = samples.source.some((number) => number >= 0) || samples.form.some((form) => form === 1);

  let haystack = null;
  const words = (at) => {
    if (haystack === null) haystack = samples.id.map((id, i) => lower([text(id), text(samples.source[i]), ...translations.map((own) => text(own[i]))].join("\n")));
    return haystack[at];
  };

  const option = (select, value, label) => { const made = make("option", "", label); made.value = value; select.append(made); };
  option($("category"), "", "all");
  categories.forEach((name, i) => option($("category"), String(i), name));
  option($("verdict"), "", "any");
  verdicts.forEach((name, i) => {
    if (judgements.some((own) => own.some((one) => one !== 0 && one.verdict.includes(i)))) option($("verdict"), String(i), name);
  });
  if (systems.length > 1) option($("verdict"), "systems", "systems disagree");
  if (metrics.length > 1) option($("verdict"), "metrics", "metrics disagree");
  if (labels.some((own) => Object.keys(own).length)) {
    option($("verdict"), "people", "metric and people disagree");
    option($("verdict"), "labelled", "labelled by people");
  }
  option($("system"), "", systems.length > 1 ? "any system" : systems[0]);
  if (systems.length > 1) systems.forEach((name, i) => option($("system"), String(i), name));
  metrics.forEach((name, i) => option($("metric"), String(i), name));
  $("system").parentElement.hidden = systems.length < 2;
  $("metric").parentElement.hidden = metrics.length < 2;
  const ORDERS = { "": "as in the data", unsure: "least sure first", sure: "surest first", wrong: "most wrong first" };
  if (systems.length > 1) ORDERS.apart = "systems farthest apart";
  for (const [value, label] of Object.entries(ORDERS)) option($("order"), value, label);

  const matches = (at, wanted) => {
    if (wanted.category !== "" && samples.category[at] !== Number(wanted.category)) return false;
    if (wanted.query && !words(at).includes(wanted.query)) return false;
    const found = wanted.systems.filter((system) => judged(wanted.metric, system, at));
    const verdict = (system, metric = wanted.metric) => judgements[metric][system].verdict[at];
    const sure = (system) => {
      if (!wanted.isLimited) return true;
      const p = cell(judgements[wanted.metric][system].p, at);
      return p !== null && 100 * Math.abs(2 * p - 1) >= wanted.low && 100 * Math.abs(2 * p - 1) <= wanted.high;
    };
    const here = found.filter(sure);
    switch (wanted.verdict) {
      case "": return !(wanted.isLimited || wanted.isOfOne) || here.length > 0;
      case "systems": {
        const every = all.filter((system) => judged(wanted.metric, system, at));
        return here.length > 0 && new Set(every.map((system) => verdict(system))).size > 1;
      }
      case "metrics": return here.some((system) => new Set(metrics.map((_, m) => m).filter((m) => judged(m, system, at)).map((m) => verdict(system, m))).size > 1);
      case "people": return here.some((system) => labels[system][at] && labels[system][at][0] >= 0 && labels[system][at][0] !== verdict(system));
      case "labelled": return here.some((system) => labels[system][at]);
      default: return here.some((system) => verdict(system) === Number(wanted.verdict));
    }
  };

  const sorted = (places, wanted) => {
    if (wanted.order === "") return places;
    const key = (at) => {
      const found = (wanted.order === "apart" ? all : wanted.systems).filter((system) => judged(wanted.metric, system, at));
      const p = found.map((system) => cell(judgements[wanted.metric][system].p, at)).filter((value) => value !== null);
      if (!p.length) return Infinity;
      const sure = p.map((value) => Math.abs(2 * value - 1));
      if (wanted.order === "unsure") return Math.min(...sure);
      if (wanted.order === "sure") return -Math.max(...sure);
      if (wanted.order === "wrong") return Math.min(...p);
      return Math.min(...p) - Math.max(...p);
    };
    const keys = new Map(places.map((at) => [at, key(at)]));
    return places.sort((a, b) => (keys.get(a) === keys.get(b) ? a - b : keys.get(a) < keys.get(b) ? -1 : 1));
  };

  // lower-casing can change a text's length, so hits are marked only where it does not
  const marked = (value, query) => {
    const found = document.createDocumentFragment();
    const low = value.toLowerCase();
    let at = 0;
    if (query && low.length === value.length) {
      for (let next = low.indexOf(query); next >= 0; next = low.indexOf(query, at)) {
        found.append(value.slice(at, next), make("mark", "hit", value.slice(next, next + query.length)));
        at = next + query.length;
      }
    }
    found.append(value.slice(at));
    return found;
  };

  const source = (at, query) => {
    const value = text(samples.source[at]);
    const focus = samples.focus[at];
    const line = make("p", "source");
    line.lang = data.src_lang;
    line.dir = "auto";
    if (!focus) line.append(marked(value, query));
    else line.append(marked(value.slice(0, focus[0]), query), make("mark", "focus", value.slice(focus[0], focus[0] + focus[1])), marked(value.slice(focus[0] + focus[1]), query));
    return line;
  };

  const verdictOf = (number, more) => make("span", `verdict ${verdicts[number]}`, `${SIGNS[number]} ${verdicts[number]}${more || ""}`);

  const translation = (at, system, wanted) => {
    const row = make("div", "translation");
    const value = translations[system][at];
    const line = make("span", "text", value < 0 ? "—" : marked(text(value), wanted.query));
    line.lang = data.tgt_lang;
    line.dir = "auto";
    row.append(make("span", "name", make("span", `swatch s${system % 8}`), systems[system]), line);
    const own = judged(wanted.metric, system, at);
    if (own) {
      const p = cell(own.p, at);
      const cells = make("span", "judged", verdictOf(own.verdict[at]));
      if (p !== null) {
        const bar = make("i");
        bar.style.width = `${100 * p}%`;
        cells.append(make("span", `meter ${verdicts[own.verdict[at]]}`, bar, make("b")), make("span", "", `${percent(p)} %`));
      }
      row.append(cells);
    }
    const others = make("span", "others");
    metrics.forEach((name, metric) => {
      const other = metric === wanted.metric ? null : judged(metric, system, at);
      if (other) others.append(make("span", "", `${name}: `, verdictOf(other.verdict[at], text(cell(other.predicted, at) ?? -1) && `, ${text(cell(other.predicted, at))}`)));
    });
    const label = labels[system][at];
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
    const found = document.createDocumentFragment();
    let pending = "";
    const flush = () => {
      const [, before, inner, after] = pending.match(/^(\s*)([\s\S]*?)(\s*)$/u);
      if (inner) found.append(before, make("ins", "", inner), after); else found.append(pending);
      pending = "";
    };
    for (let i = 0, j = 0; j < b.length;) {
      if (i < a.length && a[i] === b[j]) { flush(); found.append(b[j]); i++; j++; }
      else if (i >= a.length || longest[i][j + 1] >= longest[i + 1][j]) pending += b[j++];
      else i++;
    }
    flush();
    return found;
  };

  const variants = (at, side, title) => {
    const base = samples.form[at] === 1 ? "" : text(samples.source[at]);
    const found = make("ul");
    for (const [start, end, number] of samples[side][at]) {
      const variant = base.slice(0, start) + text(number) + base.slice(end);
      const item = make("li", "", samples.form[at] === 1 ? variant : cues(base, variant));
      item.dir = "auto";
      item.lang = samples.form[at] === 1 ? data.tgt_lang : data.src_lang;
      found.append(item);
    }
    return [make("h4", side, title), found];
  };

  const scores = (at) => {
    const head = ["system", "metric", "verdict", "read", "expected", "probability", "score, correct", "score, incorrect", "weight"];
    const rows = [];
    for (const system of all) metrics.forEach((name, metric) => {
      const own = judged(metric, system, at);
      if (!own) return;
      const number = (column) => { const value = cell(own[column], at); return value === null ? "" : String(value); };
      const p = cell(own.p, at);
      rows.push([systems[system], name, verdictOf(own.verdict[at]), text(cell(own.predicted, at) ?? -1), text(cell(own.gold, at) ?? -1), p === null ? "" : `${percent(p)} %`,
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

  const details = (at) => {
    const panel = make("div", "details");
    const isSources = samples.form[at] !== 1;
    if (samples.correct[at].length) panel.append(...variants(at, "correct", isSources ? "Sources with a correct cue" : "Correct translation"));
    if (samples.incorrect[at].length) panel.append(...variants(at, "incorrect", isSources ? "Sources with an incorrect cue" : "Contrastive translations"));
    panel.append(make("h4", "", "Judgements"), scores(at));
    const facts = [["correct reading", text(samples.gold[at])], ...samples.extra[at].map(([name, value]) => [text(name).replaceAll("_", " "), text(value)])].filter(([, value]) => value);
    if (facts.length) {
      const list = make("dl");
      for (const [name, value] of facts) list.append(make("dt", "", name), make("dd", "", value));
      panel.append(make("h4", "", "About the sample"), list);
    }
    return panel;
  };

  const sample = (at, wanted) => {
    const item = make("li", "sample");
    item.dataset.id = text(samples.id[at]);
    const open = make("button", "open", "Details");
    open.type = "button";
    open.setAttribute("aria-expanded", "false");
    open.setAttribute("aria-label", `Details of sample ${text(samples.id[at])}`);
    open.addEventListener("click", () => {
      const shown = item.querySelector(".details");
      if (shown) shown.remove(); else item.append(details(at));
      open.setAttribute("aria-expanded", String(!shown));
      open.textContent = shown ? "Details" : "Close";
    });
    item.append(make("div", "meta", make("span", "", `sample ${text(samples.id[at])}`), make("span", "chip", categories[samples.category[at]]), open));
    if (samples.source[at] >= 0 && text(samples.source[at])) item.append(source(at, wanted.query));
    for (const system of all) item.append(translation(at, system, wanted));
    return item;
  };

  let places = [];
  let page = 0;
  let wanted = null;

  const show = () => {
    const last = Math.max(0, Math.ceil(places.length / PAGE) - 1);
    page = Math.min(Math.max(page, 0), last);
    $("list").replaceChildren(...places.slice(page * PAGE, (page + 1) * PAGE).map((at) => sample(at, wanted)));
    $("place").textContent = places.length ? `page ${page + 1} of ${last + 1}` : "";
    for (const id of ["previous", "previous-below"]) $(id).disabled = page === 0;
    for (const id of ["next", "next-below"]) $(id).disabled = page === last;
    $("previous-below").closest(".pager").hidden = last === 0;
  };

  const filter = () => {
    const metric = Number($("metric").value);
    const hasP = judgements[metric].some((own) => own !== 0 && own.p !== 0);
    $("range").disabled = !hasP;
    const bound = (id, other) => { const value = $(id).valueAsNumber; return Number.isNaN(value) ? other : value; };
    const low = bound("low", 0), high = bound("high", 100);
    wanted = {
      metric, low, high,
      query: lower($("query").value.trim()),
      category: $("category").value,
      verdict: $("verdict").value,
      order: hasP ? $("order").value : "",
      isLimited: hasP && (low > 0 || high < 100),
      isOfOne: $("system").value !== "",
      systems: $("system").value === "" ? all : [Number($("system").value)],
    };
    places = sorted([...Array(n).keys()].filter((at) => matches(at, wanted)), wanted);
    page = 0;
    $("count").textContent = places.length === n ? `${n.toLocaleString("en")} samples` : `${places.length.toLocaleString("en")} of ${n.toLocaleString("en")} samples`;
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
