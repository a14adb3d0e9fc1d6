// The explorer of the samples.
(() => {
  const data = JSON.parse($("data").textContent);
  const PAGE = 40;
  const SIGNS = ["✓", "✗", "?", "", "–"];

  if (!data.samples) return;

  const { strings, systems, metrics, categories, verdicts, samples, translations, judgements, labels, attributes } = data;
  const n = samples.id.length;
  const text = (number) => (number < 0 || number === undefined ? "" : strings[number]);
  const cell = (column, index) => (column === 0 || column === undefined ? null : column[index]);
  const judged = (metric, system, index) => {
    const columns = judgements[metric][system];
    return columns === 0 || columns.verdict[index] < 0 ? null : columns;
  };
  const all = [...Array(systems.length).keys()];
  const lower = (value) => value.normalize("NFC").toLowerCase();
  // where nothing is right or wrong, the verdict says nothing, and the reading takes its place
  const isOpen = (columns, index) => verdicts[columns.verdict[index]] === "open";
  const outcome = (columns, index) => (isOpen(columns, index) ? text(columns.predicted[index]) : columns.verdict[index]);
  // what the metrics say that decide: no form of both genders, or of none
  const decided = (system, index) => metrics.map((_, m) => judged(m, system, index)).map((columns) => (columns === null ? "" : isOpen(columns, index) ? text(columns.predicted[index]) : verdicts[columns.verdict[index]])).filter((said) => !["", "inconclusive", "neither", "both", "none"].includes(said));
  const hasVerdicts = judgements.some((systemColumns) => systemColumns.some((columns) => columns !== 0 && columns.verdict.some((number) => number >= 0 && verdicts[number] !== "open")));
  const counted = (metric) => (data.counted[metric] ? data.counted[metric].replace(/_[a-z]+$/, "").replaceAll("_", " ") : "");
  const percent = (p) => (100 * p).toFixed(1);

  $("no-sources").hidden = samples.source.some((number) => number >= 0) || samples.form.some((form) => form === 1);

  let haystack = null;
  const words = (index) => {
    if (haystack === null) haystack = samples.id.map((id, i) => lower([text(id), text(samples.source[i]), ...translations.map((systemTexts) => text(systemTexts[i]))].join("\n")));
    return haystack[index];
  };

  // `key` stands for the value in the page's address: names keep their meaning in other reports
  const option = (select, value, label, key = value && label) => { const made = make("option", "", label); made.value = value; if (value) made.dataset.key = key; select.append(made); };
  option($("category"), "", "all");
  categories.forEach((name, i) => option($("category"), String(i), data.category_names[i], name));
  option($("verdict"), "", "any");
  verdicts.forEach((name, i) => {
    if (name !== "open" && judgements.some((metricJudgements) => metricJudgements.some((columns) => columns !== 0 && columns.verdict.includes(i)))) option($("verdict"), String(i), name);
  });
  if (judgements.some((metricJudgements) => metricJudgements.some((columns) => columns !== 0 && columns.p !== 0))) option($("verdict"), "unsure", "unsure, perhaps neutral", "unsure");
  if (systems.length > 1) option($("verdict"), "systems", "systems disagree", "systems");
  if (metrics.length > 1 && hasVerdicts) option($("verdict"), "metrics", "metrics disagree", "metrics");
  if (metrics.length === 2) {
    option($("verdict"), "agree", "both metrics decide and agree", "agree");
    option($("verdict"), "differ", "both metrics decide and differ", "differ");
  }
  if (labels.some((systemLabels) => Object.keys(systemLabels).length)) {
    if (hasVerdicts) option($("verdict"), "people", "metric and people disagree", "people");
    option($("verdict"), "labelled", "labelled by people", "labelled");
  }
  const areLong = systems.some((name) => name.length > 24); // the number stays visible where a name is cut
  option($("system"), "", systems.length > 1 ? "any system" : systems[0]);
  const labelOf = (i) => (areLong ? `${i + 1}. ${systems[i]}` : systems[i]);
  if (systems.length > 1) systems.forEach((name, i) => option($("system"), String(i), labelOf(i), name));
  metrics.forEach((name, i) => { option($("metric"), String(i), name); $("metric").lastChild.dataset.key = data.metric_keys[i]; });
  for (const id of ["right", "wrong", "compared"]) {
    option($(id), "", id === "compared" ? "nothing" : "any");
    systems.forEach((name, i) => { option($(id), String(i), labelOf(i), name); $(id).lastChild.defaultSelected = id === "compared" && i === data.baseline; });
    $(id).parentElement.hidden = systems.length < 2 || (id !== "compared" && !hasVerdicts);
  }
  if (!hasVerdicts) $("verdict").parentElement.firstChild.textContent = "Agreement ";
  $("verdict").parentElement.hidden = $("verdict").options.length < 2;

  // Readings of texts: the columns are numbers of texts, and -1 stands for nothing.
  for (const [id, column] of [["gold", "gold"], ["found", "predicted"]]) {
    const used = new Set(judgements.flat().filter((columns) => columns !== 0 && columns[column] !== 0).flatMap((columns) => columns[column].filter((_, i) => columns.verdict[i] >= 0)));
    option($(id), "", "any");
    for (const number of [...used].sort((a, b) => text(a).localeCompare(text(b), "en"))) option($(id), String(number), text(number) || "nothing", text(number));
    $(id).parentElement.hidden = used.size < 2 || used.size > n / 2;
  }
  // A reading that repeats the category would be the same filter twice.
  const repeats = judgements.flat().every((columns) => columns === 0 || columns.gold === 0 || columns.gold.every((number, i) => number < 0 || text(number) === categories[samples.category[i]]));
  const isHidden = $("gold").parentElement.hidden || repeats;

  const selects = attributes.map(([name, values]) => {
    const select = make("select");
    const counts = new Map();
    for (const number of values) if (number >= 0) counts.set(number, (counts.get(number) || 0) + 1);
    option(select, "", "all");
    for (const number of [...counts.keys()].sort((a, b) => text(a).localeCompare(text(b), "en", { numeric: true }))) option(select, String(number), `${text(number)} (${counts.get(number)})`, text(number));
    select.dataset.attribute = name;
    const label = make("label", "", `${name[0].toUpperCase()}${name.slice(1).replaceAll("_", " ")} `, select);
    $("verdict").parentElement.before(label);
    return select;
  });
  $("system").parentElement.hidden = systems.length < 2;
  $("metric").parentElement.hidden = metrics.length < 2;
  const ORDERS = { "": "as in the data", unsure: "least sure first", sure: "surest first", ...(hasVerdicts ? { wrong: "most wrong first" } : {}) };
  if (systems.length > 1) ORDERS.apart = "systems farthest apart";
  for (const [value, label] of Object.entries(ORDERS)) option($("order"), value, label, value);

  const matches = (index, filters) => {
    if (filters.category !== "" && samples.category[index] !== Number(filters.category)) return false;
    if (filters.only !== null && text(samples.id[index]) !== filters.only) return false;
    if (filters.chosen.some(([values, number]) => values[index] !== number)) return false;
    if (filters.terms.some((term) => !words(index).includes(term))) return false;
    for (const [system, isRight] of [[filters.right, true], [filters.wrong, false]]) {
      if (system === "") continue;
      const columns = judged(filters.metric, Number(system), index);
      if (!columns || isOpen(columns, index) || (verdicts[columns.verdict[index]] === "correct") !== isRight) return false;
    }
    const reads = (system, id, column) => filters[id] === "" || cell(judgements[filters.metric][system][column], index) === Number(filters[id]);
    const judgedSystems = filters.systems.filter((system) => judged(filters.metric, system, index) && reads(system, "gold", "gold") && reads(system, "found", "predicted"));
    const verdict = (system, metric = filters.metric) => judgements[metric][system].verdict[index];
    const sure = (system) => {
      if (!filters.isLimited) return true;
      const p = cell(judgements[filters.metric][system].p, index);
      return p !== null && 100 * Math.abs(2 * p - 1) >= filters.low && 100 * Math.abs(2 * p - 1) <= filters.high;
    };
    const matching = judgedSystems.filter(sure);
    switch (filters.verdict) {
      case "": return !(filters.isLimited || filters.isOfOne || filters.gold !== "" || filters.found !== "") || matching.length > 0;
      case "systems": {
        const every = all.filter((system) => judged(filters.metric, system, index));
        return matching.length > 0 && new Set(every.map((system) => outcome(judgements[filters.metric][system], index))).size > 1;
      }
      case "metrics": return matching.some((system) => new Set(metrics.map((_, m) => m).filter((m) => judged(m, system, index) && !isOpen(judgements[m][system], index)).map((m) => verdict(system, m))).size > 1);
      case "agree":
      case "differ": return matching.some((system) => { const said = decided(system, index); return said.length === 2 && (said[0] === said[1]) === (filters.verdict === "agree"); });
      case "people": return matching.some((system) => labels[system][index] && labels[system][index][0] >= 0 && verdicts[verdict(system)] !== "open" && labels[system][index][0] !== verdict(system));
      case "unsure": return matching.some((system) => { const p = cell(judgements[filters.metric][system].p, index); return p !== null && Math.abs(p - 0.5) <= data.within + 1e-9; });
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
  const marked = (value, terms) => {
    const fragment = document.createDocumentFragment();
    const low = value.toLowerCase();
    let position = 0;
    for (let last = -1; terms.length && low.length === value.length && position > last;) {
      last = position;
      const [next, length] = terms.map((term) => [low.indexOf(term, position), term.length]).filter(([start]) => start >= 0).sort((a, b) => a[0] - b[0] || b[1] - a[1])[0] || [-1];
      if (next < 0) break;
      fragment.append(value.slice(position, next), make("mark", "hit", value.slice(next, next + length)));
      position = next + length;
    }
    fragment.append(value.slice(position));
    return fragment;
  };

  // the parts of a text that led to a verdict; only those of one system are marked in the source
  const spansOf = (index, system, filters, side) => {
    const columns = judged(filters.metric, system, index);
    return columns && columns.spans ? columns.spans[index].filter(([where]) => where === side) : [];
  };
  const withSpans = (value, spans, terms) => {
    const fragment = document.createDocumentFragment();
    let position = 0;
    for (const [side, start, end, shade] of spans) {
      fragment.append(marked(value.slice(position, start), terms), make(side ? "ins" : "del", `part shade-${shade}`, value.slice(start, end)));
      position = end;
    }
    fragment.append(marked(value.slice(position), terms));
    return fragment;
  };

  const source = (index, filters) => {
    const terms = filters.terms;
    const value = text(samples.source[index]);
    const focus = samples.focus[index];
    const line = make("p", "source");
    line.lang = data.src_lang;
    line.dir = "auto";
    const spans = systems.length === 1 ? spansOf(index, 0, filters, 0) : [];
    if (spans.length) line.append(withSpans(value, spans, terms));
    else if (!focus) line.append(marked(value, terms));
    else line.append(marked(value.slice(0, focus[0]), terms), make("mark", "focus", value.slice(focus[0], focus[0] + focus[1])), marked(value.slice(focus[0] + focus[1]), terms));
    return line;
  };

  const readingOf = (columns, index) => make("span", `verdict ${text(columns.predicted[index]) === "inconclusive" ? "inconclusive" : "read"}`, text(columns.predicted[index]));
  const verdictOf = (number, more) => make("span", `verdict ${verdicts[number]}`, `${SIGNS[number]} ${verdicts[number]}${more || ""}`);

  // Translations that the reader marks, by sample and system; filters and pages leave them marked.
  const picked = new Map();
  const showPicked = () => {
    $("n-picked").textContent = picked.size ? `${picked.size.toLocaleString("en")} translation${picked.size > 1 ? "s" : ""} marked` : "Mark translations to take them along.";
    $("picked").classList.toggle("some", picked.size > 0);
    for (const id of ["copy-picked", "save-picked", "clear-picked"]) $(id).disabled = !picked.size;
  };
  const pick = (index, system) => {
    const box = make("input");
    box.type = "checkbox";
    box.checked = picked.has(`${index} ${system}`);
    box.setAttribute("aria-label", `Mark ${systems[system]}, sample ${text(samples.id[index])}`);
    box.addEventListener("change", () => {
      if (box.checked) picked.set(`${index} ${system}`, [index, system]); else picked.delete(`${index} ${system}`);
      showPicked();
    });
    return box;
  };

  const translation = (index, system, filters) => {
    const row = make("div", "translation");
    const value = translations[system][index];
    const other = value < 0 ? -1 : counterpart(index, system, filters);
    const line = make("span", "text", value < 0 ? "—" : other < 0 ? withSpans(text(value), spansOf(index, system, filters, 1), filters.terms) : changes(text(other), text(value), (part) => make("ins", "different", marked(part, filters.terms)), (part) => marked(part, filters.terms)));
    line.lang = data.tgt_lang;
    line.dir = "auto";
    row.append(make("label", "name", pick(index, system), make("span", `swatch ${data.marks[system]}`), systems[system]), line);
    const columns = judged(filters.metric, system, index);
    if (columns) {
      const p = cell(columns.p, index);
      const open = isOpen(columns, index);
      const cells = make("span", "judged", open ? readingOf(columns, index) : verdictOf(columns.verdict[index]));
      if (p !== null) {
        const bar = make("i");
        bar.style.width = `${100 * p}%`;
        cells.append(make("span", `meter ${verdicts[columns.verdict[index]]}`, bar, make("b")), make("span", "", `${percent(p)} %${open && counted(filters.metric) ? ` ${counted(filters.metric)}` : ""}`));
      }
      row.append(cells);
    }
    const others = make("span", "others");
    for (const [side, start, end, , phenomenon, replacement] of columns && columns.spans ? columns.spans[index] : []) {
      const part = (side ? text(value) : text(samples.source[index])).slice(start, end).trim() || "∅";
      const label = text(phenomenon) || (side ? "added" : "left out");
      others.append(make("span", "", `${label.replaceAll("_", " ")}: ${part}${replacement < 0 ? "" : ` → ${text(replacement).trim() || "∅"}`}`));
    }
    metrics.forEach((name, metric) => {
      const otherColumns = metric === filters.metric ? null : judged(metric, system, index);
      if (otherColumns && isOpen(otherColumns, index)) others.append(make("span", "", `${name}: `, readingOf(otherColumns, index)));
      else if (otherColumns) others.append(make("span", "", `${name}: `, verdictOf(otherColumns.verdict[index], text(cell(otherColumns.predicted, index) ?? -1) && `, ${text(cell(otherColumns.predicted, index))}`)));
    });
    const label = labels[system][index];
    if (label) others.append(make("span", "", "people: ", label[0] < 0 ? "" : verdictOf(label[0], ", "), label.slice(1).map(text).join(" / ")));
    if (others.childNodes.length) row.append(others);
    return row;
  };

  // words of a text that are not in another, by their longest common subsequence
  const changes = (from, to, added, kept) => {
    const split = (value) => value.split(/(\s+|[\[\](){}.,;:!?"“”„«»])/u).filter(Boolean);
    const a = split(from), b = split(to);
    if (a.length * b.length > 1e6) return kept(to);  // too long to be compared in an instant
    const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--)
      longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    const fragment = document.createDocumentFragment();
    let pending = "";
    const flush = () => {
      const [, before, inner, after] = pending.match(/^(\s*)([\s\S]*?)(\s*)$/u);
      if (inner) fragment.append(before, added(inner), after); else fragment.append(pending);
      pending = "";
    };
    let same = "";
    const flushSame = () => { fragment.append(kept(same)); same = ""; };
    for (let i = 0, j = 0; j < b.length;) {
      if (i < a.length && a[i] === b[j]) { if (pending) flush(); same += b[j]; i++; j++; }
      else if (i >= a.length || longest[i][j + 1] >= longest[i + 1][j]) { if (same) flushSame(); pending += b[j++]; }
      else i++;
    }
    if (pending) flush();
    if (same) flushSame();
    return fragment;
  };
  const cues = (from, to) => changes(from, to, (part) => make("ins", "", part), (part) => part);

  // the translation to which differences are marked: that of the other of two systems, or of the chosen one
  const counterpart = (index, system, filters) => {
    const pair = filters.right !== "" && filters.wrong !== "" ? [Number(filters.right), Number(filters.wrong)] : systems.length === 2 ? [0, 1] : [];
    const chosen = pair.includes(system) ? pair.find((other) => other !== system) : filters.compared;
    if (filters.compared < 0 || chosen === undefined || chosen === system || translations[chosen][index] === translations[system][index]) return -1;
    return translations[chosen][index];
  };

  // the share that a sample counts for where nothing is right or wrong, "" for others
  const shareOf = (index) => text((samples.extra[index].find(([name]) => text(name) === "open_share") || [0, -1])[1]).replaceAll("_", " ");
  const isNone = (index) => !hasVerdicts && ["none", "open"].includes(text(samples.gold[index]));
  const variants = (index, side, title, marks) => {
    const base = samples.form[index] === 1 ? "" : text(samples.source[index]);
    const list = make("ul");
    for (const [start, end, number] of samples[side][index]) {
      const variant = base.slice(0, start) + text(number) + base.slice(end);
      const item = make("li", "", samples.form[index] === 1 ? variant : cues(base, variant));
      item.dir = "auto";
      item.lang = samples.form[index] === 1 ? data.tgt_lang : data.src_lang;
      list.append(item);
    }
    return [make("h4", marks, title), list];
  };

  const scores = (index) => {
    const head = ["system", "metric", "verdict", "found", "gold", "probability", "score, correct", "score, incorrect", "weight"];
    const rows = [];
    for (const system of all) metrics.forEach((name, metric) => {
      const columns = judged(metric, system, index);
      if (!columns) return;
      const number = (column) => { const value = cell(columns[column], index); return value === null ? "" : String(value); };
      const p = cell(columns.p, index);
      rows.push([systems[system], name, isOpen(columns, index) ? "" : verdictOf(columns.verdict[index]), text(cell(columns.predicted, index) ?? -1), text(cell(columns.gold, index) ?? -1), p === null ? "" : `${percent(p)} %`,
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
    const region = make("div", "scroll", table);
    region.tabIndex = 0;
    region.setAttribute("role", "region");
    region.setAttribute("aria-label", `Judgements of sample ${text(samples.id[index])}`);
    return region;
  };

  const details = (index) => {
    const panel = make("div", "details");
    const isSources = samples.form[index] !== 1;
    const share = shareOf(index);
    const sides = share ? [isSources ? `Sources that count for the ${share}` : `Translation that counts for the ${share}`, `Other ${isSources ? "sources" : "translations"}`]
      : isSources ? ["Sources with a correct cue", "Sources with an incorrect cue"] : ["Correct translation", "Contrastive translations"];
    ["correct", "incorrect"].forEach((side, i) => { if (samples[side][index].length) panel.append(...variants(index, side, sides[i], share ? "" : side)); });
    panel.append(make("h4", "", hasVerdicts ? "Judgements" : "Readings"), scores(index));
    const facts = [["correct reading", share || isNone(index) ? "" : text(samples.gold[index])], ...samples.extra[index].map(([name, value]) => [text(name).replaceAll("_", " "), text(value)])].filter(([, value]) => value);
    if (facts.length) {
      const list = make("dl");
      for (const [name, value] of facts) list.append(make("dt", "", name), make("dd", "", value));
      panel.append(make("h4", "", "About the sample"), list);
    }
    return panel;
  };

  const permalink = (id) => {
    const link = make("a", "permalink", `sample ${id}`);
    link.href = `#samples?${new URLSearchParams({ id })}`;
    return link;
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
    item.append(make("div", "meta", permalink(text(samples.id[index])), make("span", "chip", data.category_names[samples.category[index]]), open));
    if (samples.source[index] >= 0 && text(samples.source[index])) item.append(source(index, filters));
    for (const system of all) item.append(translation(index, system, filters));
    return item;
  };

  let indices = [];
  let page = 0;
  let filters = null;
  let only = null;  // the sample of a permalink

  const show = () => {
    const last = Math.max(0, Math.ceil(indices.length / PAGE) - 1);
    page = Math.min(Math.max(page, 0), last);
    $("list").replaceChildren(...indices.slice(page * PAGE, (page + 1) * PAGE).map((index) => sample(index, filters)));
    $("page-number").textContent = indices.length ? `page ${page + 1} of ${last + 1}` : "";
    for (const id of ["previous", "previous-below"]) $(id).disabled = page === 0;
    for (const id of ["next", "next-below"]) $(id).disabled = page === last;
    $("previous-below").closest(".pager").hidden = last === 0;
  };

  // the words of a search; several words in quotation marks are looked for as they are
  const terms = (query) => [...lower(query).matchAll(/["“„]([^"“”]+)["”“]|(\S+)/gu)].map(([, quoted, word]) => quoted || word);

  const filter = () => {
    const metric = Number($("metric").value);
    const hasP = judgements[metric].some((columns) => columns !== 0 && columns.p !== 0);
    $("range").disabled = !hasP;
    const bound = (id, other) => { const value = $(id).valueAsNumber; return Number.isNaN(value) ? other : value; };
    const low = bound("low", 0), high = bound("high", 100);
    filters = {
      metric, low, high, only,
      terms: terms($("query").value),
      chosen: selects.map((select, i) => [select.value, attributes[i][1]]).filter(([value]) => value !== "").map(([value, values]) => [values, Number(value)]),
      category: $("category").value,
      verdict: $("verdict").value,
      gold: $("gold").value,
      found: $("found").value,
      right: $("right").value,
      wrong: $("wrong").value,
      compared: $("compared").value === "" ? -1 : Number($("compared").value),
      order: hasP ? $("order").value : "",
      isLimited: hasP && (low > 0 || high < 100),
      isOfOne: $("system").value !== "",
      systems: $("system").value === "" ? all : [Number($("system").value)],
    };
    indices = sorted([...Array(n).keys()].filter((index) => matches(index, filters)), filters);
    page = 0;
    $("gold").parentElement.hidden = isHidden && filters.gold === "";
    $("only").hidden = only === null;
    $("only").textContent = `Only sample ${only} ✕`;
    $("samples").classList.toggle("filtered", indices.length < n);
    const isMissing = only !== null && !samples.id.some((id) => text(id) === only);
    $("none").hidden = indices.length > 0;
    $("none").firstChild.textContent = isMissing ? `This page has no sample ${only}. ` : "No sample matches all filters. ";
    $("count").textContent = indices.length === n ? `${n.toLocaleString("en")} samples` : `${indices.length.toLocaleString("en")} of ${n.toLocaleString("en")} samples`;
    show();
    $("list").setAttribute("aria-busy", "false");
  };

  // The state of the filters is in the address after "#", with names for values.
  const controls = [...$("filters").querySelectorAll("select, input")];
  const nameOf = (control) => (control.dataset.attribute === undefined ? control.id : `data.${control.dataset.attribute}`);
  const initial = (control) => (control.tagName === "SELECT" ? ([...control.options].find((made) => made.defaultSelected) || control.options[0] || { value: "" }).value : control.defaultValue);
  const write = () => {
    const state = new URLSearchParams();
    for (const control of controls) {
      if (control.value !== initial(control)) state.set(nameOf(control), control.tagName === "SELECT" ? control.selectedOptions[0].dataset.key ?? "" : control.value);
    }
    if (only !== null) state.set("id", only);
    const query = String(state);
    history.replaceState(null, "", query ? `#samples?${query}` : location.href.split("#")[0]);
  };
  const read = () => {
    if (!location.hash.startsWith("#samples?")) return;
    const state = new URLSearchParams(location.hash.slice("#samples?".length));
    for (const control of controls) {
      const key = state.get(nameOf(control));
      const made = key !== null && control.tagName === "SELECT" ? [...control.options].find((candidate) => candidate.dataset.key === key) || (key === "" ? control.options[0] : undefined) : undefined;
      control.value = key === null || (control.tagName === "SELECT" && made === undefined) ? initial(control) : made === undefined ? key : made.value;
    }
    only = state.get("id");
    filter();
    if (only !== null) document.querySelector("#list .open")?.click();
    $("samples").scrollIntoView();
    say($("count").textContent);
  };
  addEventListener("hashchange", read);
  document.addEventListener("click", (event) => {
    const href = event.target.closest("a")?.getAttribute("href") ?? "";
    if (href === location.hash) read(); // no other address, so no event
    // The list is not up to date until the event; a click with a key opens another tab instead.
    else if (href.startsWith("#samples?") && !(event.ctrlKey || event.metaKey || event.shiftKey)) $("list").setAttribute("aria-busy", "true");
  });

  const turn = (by) => { page += by; show(); $("samples").scrollIntoView(); };
  for (const id of ["previous", "previous-below"]) $(id).addEventListener("click", () => turn(-1));
  for (const id of ["next", "next-below"]) $(id).addEventListener("click", () => turn(1));
  let waiting = 0;
  const soon = (milliseconds) => {
    $("list").setAttribute("aria-busy", "true");
    clearTimeout(waiting);
    waiting = setTimeout(() => { only = null; filter(); write(); }, milliseconds);
  };
  $("filters").addEventListener("input", () => soon(80));
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => soon(0));
  $("only").addEventListener("click", () => soon(0));

  // A spreadsheet must not take a text for a formula.
  const safe = (value) => {
    const content = String(value ?? "");
    return /^[=+\-@\t\r]/.test(content) && Number.isNaN(Number(content)) ? `'${content}` : content;
  };
  const field = (value) => (/[",\r\n]/.test(safe(value)) ? `"${safe(value).replaceAll('"', '""')}"` : safe(value));

  const about = [["id", (i) => text(samples.id[i])], ["category", (i) => categories[samples.category[i]]], ["source", (i) => text(samples.source[i])], ["correct reading", (i) => (shareOf(i) || isNone(i) ? "" : text(samples.gold[i]))]];
  // what a metric says of the translations of some systems
  const said = (metric, among) => {
    const made = among.map((system) => judgements[metric][system]).filter((columns) => columns !== 0);
    const areOpen = made.some((columns) => columns.verdict.some((number) => verdicts[number] === "open"));
    const value = (name, shown) => (i, system) => { const number = cell((judged(metric, system, i) || {})[name], i); return number === null ? "" : shown(number); };
    const columns = [];
    const key = data.metric_keys[metric];
    if (made.length && !areOpen) columns.push([`${key}: verdict`, value("verdict", (number) => verdicts[number])]);
    if (made.some((of) => of.predicted !== 0)) columns.push([`${key}: found`, value("predicted", text)]);
    if (made.some((of) => of.p !== 0)) columns.push([`${key}: probability_${areOpen ? counted(metric) || "counted" : "correct"}`, value("p", String)]);
    return columns;
  };

  const tsv = () => {
    const columns = [...about, ["system", (i, system) => systems[system]], ["translation", (i, system) => text(translations[system][i])], ...metrics.flatMap((_, metric) => said(metric, all))];
    const rows = [...picked.values()].sort(([a, first], [b, second]) => a - b || first - second);
    const lines = [columns.map(([name]) => name), ...rows.map(([i, system]) => columns.map(([, value]) => value(i, system)))];
    return `${lines.map((line) => line.map((value) => safe(value).replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n")}\n`;
  };
  copyBy($("copy-picked"), "Copy as TSV", tsv);
  $("save-picked").addEventListener("click", () => save(`${document.title} marked.tsv`, "text/tab-separated-values", tsv()));
  $("clear-picked").addEventListener("click", () => {
    picked.clear();
    for (const box of document.querySelectorAll("#list .name input")) box.checked = false;
    showPicked();
    $("n-picked").focus();
  });
  $("picked").hidden = false;
  showPicked();

  $("csv").addEventListener("click", () => {
    const facts = [...new Set(indices.flatMap((index) => samples.extra[index].map(([name]) => name)))];
    const columns = [...about];
    for (const fact of facts) columns.push([text(fact), (i) => text((samples.extra[i].find(([name]) => name === fact) || [0, -1])[1])]);
    for (const system of all) {
      columns.push([`${systems[system]}: translation`, (i) => text(translations[system][i])]);
      metrics.forEach((_, metric) => {
        for (const [name, value] of said(metric, [system])) columns.push([`${systems[system]}: ${name}`, (i) => value(i, system)]);
      });
    }
    const lines = [columns.map(([name]) => name), ...indices.map((index) => columns.map(([, value]) => value(index)))];
    // Spreadsheets recognise UTF-8 by the mark at the beginning.
    save(`${document.title} samples.csv`, "text/csv", `\ufeff${lines.map((line) => line.map(field).join(",")).join("\r\n")}\r\n`);
  });

  filter();
  read();
})();
