// Sentences are in files of their own, each of which calls ccPart with its name and content.
const island = JSON.parse($("data").textContent);
const arrived = new Map();
globalThis.ccPart = (name, content) => arrived.set(name, content);
const asked = new Map();
const load = (name) => {
  if (!asked.has(name)) {
    asked.set(name, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${island.folder}/${name.replace("/", "_")}.js`;
      script.addEventListener("load", () => resolve(arrived.get(name)));
      script.addEventListener("error", () => {
        asked.delete(name);
        reject(new Error(`The sentences are in the folder ${island.folder} beside this page, which is not there.`));
      });
      document.head.append(script);
    }));
  }
  return asked.get(name);
};

// The words of two texts, and for each whether the other text lacks it: the longest common sequence stays unmarked.
const compared = (left, right) => {
  const sides = [left, right].map((text) => text.match(/[\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+/gu) || []);
  const [a, b] = sides;
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  }
  const common = [new Set(), new Set()];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) { common[0].add(i); common[1].add(j); i += 1; j += 1; } else if (longest[i + 1][j] >= longest[i][j + 1]) i += 1; else j += 1;
  }
  return sides.map((words, side) => words.map((word, number) => [word, !common[side].has(number) && /[\p{L}\p{N}]/u.test(word)]));
};
const marked = (words, focus) => {
  let start = 0;
  return words.map(([word, isOther]) => {
    const isFocus = focus && start >= focus[0] && start < focus[0] + focus[1];
    start += word.length;
    return isOther ? make("ins", "different", word) : isFocus ? make("mark", "focus", word) : word;
  });
};
const withFocus = (text, focus) => {
  if (!focus) return [text];
  const [start, length] = focus;
  return [text.slice(0, start), make("mark", "focus", text.slice(start, start + length)), text.slice(start + length)];
};
const number = (n) => n.toLocaleString("en");
const STATES = { c: "correct", i: "incorrect", n: "neither", "-": "inconclusive", ".": "not judged" };
const stateName = (state, index) => STATES[state] || index.readings[state.codePointAt(0) - 65];
const bar = (p) => {
  const meter = make("span", "meter");
  meter.setAttribute("role", "img");
  meter.setAttribute("aria-label", `the judge's probability of the correct reading: ${(100 * p).toFixed(0)} %`);
  const fill = make("i");
  fill.style.setProperty("width", `${100 * p}%`);
  meter.append(fill, make("b"));
  return meter;
};
const verdict = (state, p, index) => {
  const name = stateName(state, index);
  const words = make("span", "judged", make("span", `verdict ${STATES[state] || ""}`, name));
  if (p !== null && p !== undefined) words.append(bar(p), `${(100 * p).toFixed(0)} %`);
  return words;
};

// One system of a table: its sentences by what the judge says; two: those on which they differ.
const AT_ONCE = 10;
const showBetween = (panel) => {
  const section = panel.closest(".ranking");
  const buttons = [...section.querySelectorAll(".pick")];
  const hint = panel.querySelector(".hint");
  let picked = [];
  let turn = 0;

  const groupsOf = (index) => {
    const systems = picked.map((name) => index.systems.indexOf(name));
    const groups = new Map();
    for (let sample = 0; sample < index.category.length; sample += 1) {
      const states = systems.map((system) => index.states[system][sample]);
      if (states.includes(".") || (states.length > 1 && states[0] === states[1])) continue;
      const key = states.join("");
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(sample);
    }
    const order = ["i", "ci", "ic"];
    const rank = (key) => (order.includes(key) ? order.indexOf(key) : key.includes("-") ? 9 : 5);
    return [...groups].sort(([a, first], [b, second]) => rank(a) - rank(b) || second.length - first.length);
  };

  const sampleItem = (index, part, offset, sample, isAll) => {
    const text = (n) => part.strings[n];
    const item = make("li", "sample");
    item.append(make("p", "meta", make("span", "", text(part.id[offset])), make("span", "chip", index.categories[index.category[sample]])));
    if (part.source[offset] >= 0) item.append(make("p", "source", ...withFocus(text(part.source[offset]), part.focus[offset])));
    const [first, second] = picked.map((name) => index.systems.indexOf(name));
    const shown = isAll ? [...new Set([first, second, ...index.systems.keys()])] : [first, second];
    const pair = second === undefined ? null : compared(text(part.translations[first][offset]), text(part.translations[second][offset]));
    for (const system of shown.filter((s) => s !== undefined && part.translations[s][offset] >= 0)) {
      const words = pair && (system === first || system === second) ? marked(pair[system === first ? 0 : 1]) : [text(part.translations[system][offset])];
      const translation = make("p", "text", ...words);
      translation.lang = section.dataset.language.split("-").at(-1);
      translation.dir = "auto";
      const predicted = part.predicted[system][offset];
      const judged = verdict(index.states[system][sample], part.p[system][offset], index);
      const row = make("div", "translation", make("span", "name", index.systems[system]), translation, judged);
      if (predicted >= 0) row.append(make("span", "others", `read as ${text(predicted)}`));
      item.append(row);
    }
    return item;
  };

  const show = async () => {
    const mine = turn += 1;
    panel.replaceChildren(hint);
    if (!picked.length) return;
    try {
      const index = await load(panel.dataset.ranking);
      if (mine !== turn) return;
      const groups = groupsOf(index);
      const title = make("h3", "", picked.length === 1 ? `The sentences of ${picked[0]}` : `What separates ${picked[0]} and ${picked[1]}`);
      panel.append(title);
      if (!groups.length) { panel.append(make("p", "", "Nothing: the judge says the same of every sentence.")); return; }
      const choice = make("select");
      for (const [key, samples] of groups) {
        const words = [...key].map((state, i) => (picked.length > 1 ? `${picked[i]} ${stateName(state, index)}` : stateName(state, index))).join(", ");
        choice.append(make("option", "", `${words}: ${number(samples.length)}`));
      }
      const category = make("select", "", make("option", "", "all"));
      for (const name of index.categories) category.append(make("option", "", name));
      const all = make("input");
      all.type = "checkbox";
      const list = make("ol", "list");
      const more = make("button", "more");
      more.type = "button";
      let next = 0;
      const wanted = () => groups[choice.selectedIndex][1].filter((sample) => !category.selectedIndex || index.category[sample] === category.selectedIndex - 1);
      const add = async () => {
        const samples = wanted();
        const now = samples.slice(next, next + AT_ONCE);
        next += now.length;
        const loaded = await Promise.all(now.map((sample) => load(`${panel.dataset.ranking}/${Math.floor(sample / index.size)}`)));
        if (mine !== turn) return;
        list.append(...now.map((sample, i) => sampleItem(index, loaded[i], sample % index.size, sample, all.checked)));
        more.hidden = next >= samples.length;
        more.textContent = `${number(samples.length - next)} more`;
      };
      const again = () => { next = 0; list.replaceChildren(); add(); };
      for (const control of [choice, category, all]) control.addEventListener("change", again);
      more.addEventListener("click", add);
      const controls = make("p", "controls", make("label", "", "what the judge says", choice));
      if (index.categories.length > 1) controls.append(make("label", "", "category", category));
      controls.append(make("label", "check", all, "all systems"));
      panel.append(controls, list, more);
      await add();
    } catch (error) {
      panel.append(make("p", "problem", error.message));
    }
  };

  for (const button of buttons) {
    button.disabled = false;
    const name = button.closest("tr").dataset.system;
    button.addEventListener("click", () => {
      picked = picked.includes(name) ? picked.filter((other) => other !== name) : [...picked, name].slice(-2);
      for (const other of buttons) other.setAttribute("aria-pressed", picked.includes(other.closest("tr").dataset.system));
      show();
    });
  }
};
document.querySelectorAll(".between").forEach(showBetween);

// Filters hide rankings; the choice is in the address, so that it can be sent.
(() => {
  const form = $("filters");
  const names = [...new Set([...form.querySelectorAll("select, input")].map((field) => field.name))];
  if (!names.length) return;
  form.hidden = false;
  const things = [...document.querySelectorAll(".ranking, .map")];
  const isShown = (thing) => names.every((name) => !form.elements[name].value || thing.dataset[name] === undefined || thing.dataset[name] === form.elements[name].value);
  const apply = () => {
    for (const thing of things) thing.hidden = !isShown(thing);
    const rankings = things.filter((thing) => thing.matches(".ranking"));
    const inScreens = (thing) => thing.closest(".screens");
    const isOnlyScreens = !rankings.some((ranking) => !ranking.hidden && !inScreens(ranking));
    for (const screens of document.querySelectorAll(".screens")) {
      screens.hidden = !things.some((thing) => !thing.hidden && screens.contains(thing));
      if (isOnlyScreens && !screens.hidden) screens.open = true;
    }
    for (const thing of document.querySelectorAll(".contents li, .overview [data-ranking]")) thing.hidden = $(thing.dataset.ranking).hidden;
    $("shown").textContent = `${rankings.filter((ranking) => !ranking.hidden).length} of ${rankings.length} tables`;
  };
  const read = () => {
    if (!location.hash.includes("=")) return;
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const name of names) {
      const values = [...form.querySelectorAll(`[name="${name}"] option, input[name="${name}"]`)].map((choice) => choice.value);
      form.elements[name].value = values.includes(wanted.get(name)) ? wanted.get(name) : "";
    }
  };
  form.addEventListener("change", () => {
    const wanted = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", `#${wanted.size ? wanted : "rankings"}`);
    apply();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => { read(); apply(); });
  read();
  apply();
})();

// A link to a table among the folded screens unfolds them.
(() => {
  const unfold = () => {
    const thing = $(decodeURIComponent(location.hash.slice(1)));
    const folded = thing && thing.closest("#screens");
    if (!folded || folded.open) return;
    folded.open = true;
    thing.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
})();

// For her, for him: one sentence in the readings that the data have, and what each system writes.
(() => {
  if (!$("doctors")) return;
  const [data, input, list] = [$("twins"), $("twin"), $("twin-list")];
  for (const { name, title } of island.twins) {
    const option = make("option", "", title);
    option.value = name;
    data.append(option);
  }
  let sets = null;
  const WORDS = { woman: "for a woman", man: "for a man", nobody: "for nobody" };

  const showSet = (set) => {
    const text = (n) => sets.strings[n];
    const readings = Object.keys(WORDS).filter((who) => set[who]);
    const table = make("table", "twins unsorted");
    const head = make("tr", "", make("th", "", "system"));
    for (const who of readings) {
      const cell = make("th", "", WORDS[who]);
      cell.scope = "col";
      head.append(cell);
    }
    head.firstChild.scope = "col";
    const row = (name, cells) => {
      const first = make("th", "", name);
      first.scope = "row";
      cells.forEach((cell, i) => { cell.dataset.column = WORDS[readings[i]]; });
      return make("tr", "", first, ...cells);
    };
    const woman = text(set[readings[0]].source);
    const body = make("tbody", "", row("source", readings.map((who, i) => {
      const words = compared(woman, text(set[who].source));
      const second = readings[1] ? compared(woman, text(set[readings[1]].source))[0] : words[0];
      return make("td", "", ...marked(i ? words[1] : second, set[who].focus));
    })));
    sets.systems.forEach((system, number) => {
      const texts = readings.map((who) => set[who].translations[number]).map((n) => (n < 0 ? "" : text(n)));
      const cells = readings.map((who, i) => {
        const words = i ? compared(texts[0], texts[i])[1] : texts.length > 1 ? compared(texts[0], texts[1])[0] : [[texts[0], false]];
        const translation = make("p", "", ...marked(words));
        translation.lang = sets.language;
        translation.dir = "auto";
        return make("td", "", translation, verdict(set[who].states[number], set[who].p[number], sets));
      });
      body.append(row(system, cells));
    });
    table.append(make("thead", "", head), body);
    $("twin-table").replaceChildren(table);
  };

  const labels = () => sets.sets.map((set, i) => `${i + 1}. ${sets.strings[set.label]}`);
  const choose = (n) => { input.value = labels()[n]; showSet(sets.sets[n]); };
  const open = async () => {
    try {
      sets = await load(`${data.value}/twins`);
    } catch (error) {
      $("twin-note").textContent = error.message;
      return;
    }
    list.replaceChildren(...labels().map((label) => { const option = make("option"); option.value = label; return option; }));
    const n = sets.sets.length;
    $("twin-note").textContent = n < sets.n ? `${number(n)} of the ${number(sets.n)} sentences of this test set, evenly spread.` : `All ${number(n)} sentences of this test set.`;
    choose(0);
  };
  data.addEventListener("change", open);
  input.addEventListener("change", () => {
    const wanted = input.value.trim().toLowerCase();
    const all = labels();
    const exact = all.indexOf(input.value);
    const found = exact >= 0 ? exact : all.findIndex((label) => label.toLowerCase().includes(wanted));
    if (found >= 0) choose(found); else $("twin-note").textContent = `No sentence has "${input.value}".`;
  });
  input.addEventListener("focus", () => input.select());
  $("another").addEventListener("click", () => choose(Math.floor(Math.random() * sets.sets.length)));
  $("pick-sentence").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("load", open);
})();
