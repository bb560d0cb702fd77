"use strict";
// The charts and the texts of a report. All that comes from data is set as text, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const el = (id) => document.getElementById(id);
  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const shown = (text) =>
    String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g,
      (c) => "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0"));

  // ---- charts: drawn when they come near, the rest when there is nothing else to do ----
  const views = {};
  const listeners = {};
  const plots = [...document.querySelectorAll("[data-chart]")];
  const draw = (plot) => {
    const name = plot.dataset.chart;
    if (plot.dataset.drawn) return Promise.resolve();
    plot.dataset.drawn = "yes";
    const spec = data.charts[name];
    spec.config.legend.columns = Math.max(1, Math.min(4, Math.floor(plot.clientWidth / 160)));
    const options = { renderer: "svg", ast: true, actions: false, tooltip: { theme: "custom" }, logLevel: 1 };
    return vegaEmbed(plot, spec, options).then(({ view }) => {
      views[name] = view;
      if (listeners[name]) listeners[name](view);
    }, (error) => { plot.textContent = "This chart could not be drawn: " + error; console.error(error); });
  };
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { near.unobserve(entry.target); draw(entry.target); }
  }, { rootMargin: "500px" });
  const idle = window.requestIdleCallback || ((f) => setTimeout(f, 200));
  const rest = () => {
    const next = plots.find((plot) => !plot.dataset.drawn);
    if (next) draw(next).then(() => idle(rest));
    else document.documentElement.dataset.charts = "drawn";
  };
  window.addEventListener("load", () => {
    plots.forEach((plot) => near.observe(plot));
    setTimeout(() => idle(rest), 300);
  });
  for (const details of document.querySelectorAll("[data-table]"))
    details.addEventListener("toggle", () => {
      const place = details.querySelector("div");
      if (details.open && !place.firstChild) place.append(tabled(data.charts[details.dataset.table]));
    });
  window.addEventListener("beforeprint", () =>
    document.querySelectorAll("details:not(.table)").forEach((details) => { details.open = true; }));

  function tabled(spec) {
    const rows = Object.values(spec.datasets).reduce((a, b) => (b.length > 1 && "n" in b[0] && !("n" in a[0]) ? b : a));
    const columns = Object.keys(rows[0]).filter((name) => rows.some((row) => row[name] !== null));
    const table = make("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    for (const name of columns) {
      const cell = make("th", "", name.replaceAll("_", " "));
      cell.scope = "col";
      head.append(cell);
    }
    for (const row of rows.slice(0, 400)) {
      const line = body.insertRow();
      for (const name of columns) line.insertCell().textContent = row[name] === null ? "–" : shown(row[name]);
    }
    if (rows.length > 400) table.createCaption().textContent = `The first 400 of ${rows.length} rows; tables/ has all.`;
    return table;
  }

  // ---- texts ----
  const texts = data.texts;
  const ready = () => { performance.mark("ready"); document.documentElement.dataset.ready = "yes"; };
  if (!texts) { ready(); return; }
  const [ID, TEXT, PAIR, LABEL, GOLD, LIKELY, NUMBERS, SPANS, PAIR_SPANS, SCORES, EVIDENCE] = [...Array(11).keys()];
  const code = new Map([...texts.alphabet].map((character, i) => [character, i]));
  const size = texts.alphabet.length, half = size / 2, none = 2 * texts.steps + 1;
  const many = texts.rows.reduce((n, row) => n + (row[TEXT] || "").length, 0) / Math.max(texts.rows.length, 1);
  const narrow = window.matchMedia("(max-width: 46rem)").matches;
  const perPage = many > 3000 ? 3 : many > 800 || narrow ? 5 : 10;
  const state = { page: 0, brush: null, up: null, found: [] };

  function decoded(codes, top) {
    const found = [];
    for (let i = 0; i < codes.length; i += texts.width) {
      const value = texts.width === 1 ? code.get(codes[i]) : code.get(codes[i]) * size + code.get(codes[i + 1]);
      found.push(value === none ? null : ((value - texts.steps) / texts.steps) * (top || 0));
    }
    return found;
  }
  function places(codes) {
    const numbers = [];
    let number = 0, unit = 1;
    for (const character of codes) {
      const digit = code.get(character);
      number += (digit % half) * unit;
      if (digit >= half) unit *= half;
      else { numbers.push(number); number = 0; unit = 1; }
    }
    const found = [];
    let end = 0;
    for (let i = 0; i < numbers.length; i += 2) {
      const far = numbers[i] % 2 ? -(numbers[i] + 1) / 2 : numbers[i] / 2;
      const start = end + far;
      end = start + numbers[i + 1];
      found.push([start, end]);
    }
    return found;
  }
  const written = (value, top, signed) => {
    if (value === null) return "–";
    const digits = top ? Math.min(Math.max(2 - Math.floor(Math.log10(top)), 0), 7) : 0;
    const text = Math.abs(value).toFixed(digits);
    const sign = !/[1-9]/.test(text) ? "" : value < 0 ? "−" : signed ? "+" : "";
    return sign + text;
  };
  const brief = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));

  // ---- choosing ----
  const option = (value, text) => { const one = make("option", "", text); one.value = value; return one; };
  const titles = { disagreement: "disagreement", jsd: "attention moved (JSD)", confidence: "confidence" };
  texts.numbers.forEach((name, i) => {
    if (texts.rows.some((row) => row[NUMBERS][i] !== null)) el("sort").append(option(i, titles[name] || name));
  });
  el("sort").append(option("given", "order of the data"));
  for (const id of ["label", "gold"]) {
    const column = id === "label" ? LABEL : GOLD;
    el(id).append(option("", "any"));
    texts.classes.forEach((name, i) => { if (texts.rows.some((row) => row[column] === i)) el(id).append(option(i, shown(name))); });
    if (el(id).options.length < 2) el(id).parentElement.hidden = true;
  }
  texts.maps.forEach((map, i) => {
    const label = make("label"), box = make("input");
    box.type = "checkbox"; box.checked = !narrow || i < 4; box.value = i;
    label.append(box, " " + shown(map.name));
    el("maps").append(label);
  });
  const boxes = [...el("maps").querySelectorAll("input")];
  const set = (checked) => { boxes.forEach((box) => { box.checked = checked; }); render(); };
  el("all").addEventListener("click", () => set(true));
  el("none").addEventListener("click", () => set(false));
  el("maps").addEventListener("change", render);
  el("controls").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["sort", "order", "label", "gold", "wrong"]) el(id).addEventListener("change", choose);
  el("find").addEventListener("input", choose);
  const turn = (by) => { state.page += by; render(); el("status").scrollIntoView({ block: "start" }); };
  el("previous").addEventListener("click", () => turn(-1));
  el("next").addEventListener("click", () => turn(1));
  const isWrong = (row) => row[GOLD] >= 0 && row[GOLD] !== row[LABEL];
  if (!texts.rows.some(isWrong)) el("wrong").parentElement.hidden = true;

  listeners.texts = (view) => {
    view.addSignalListener("brush", (_, value) => {
      state.brush = value && Object.keys(value).length ? value : null;
      state.up = view.signal("choice_up");
      el("unbrush").hidden = !state.brush;
      choose();
    });
    el("unbrush").addEventListener("click", () => {
      view.signal("brush_tuple", null).data("brush_store", []).runAsync();
      state.brush = null;
      el("unbrush").hidden = true;
      choose();
    });
  };
  const inside = (row) => {
    if (!state.brush) return true;
    const at = (name) => row[NUMBERS][texts.numbers.indexOf(name === "up" ? state.up || "disagreement" : name)];
    return Object.entries(state.brush).every(([name, ends]) => at(name) !== null && at(name) >= Math.min(...ends) && at(name) <= Math.max(...ends));
  };

  function choose() {
    const label = el("label").value, gold = el("gold").value, wrong = el("wrong").checked;
    const word = el("find").value.trim().toLowerCase(), by = el("sort").value, up = el("order").value === "up";
    state.found = texts.rows.filter((row) =>
      (label === "" || row[LABEL] === +label) && (gold === "" || row[GOLD] === +gold) && (!wrong || isWrong(row)) &&
      (!word || [row[ID], row[TEXT], row[PAIR]].some((part) => part !== null && String(part).toLowerCase().includes(word))) && inside(row));
    if (by === "given") { if (!up) { /* as they are */ } else state.found.reverse(); }
    else {
      const of = (row) => row[NUMBERS][+by];
      state.found.sort((a, b) => (of(a) === null) - (of(b) === null) || (up ? of(a) - of(b) : of(b) - of(a)));
    }
    state.page = 0;
    render();
  }

  function render() {
    hide();
    const pages = Math.max(Math.ceil(state.found.length / perPage), 1);
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    const first = state.page * perPage, some = state.found.slice(first, first + perPage);
    const maps = boxes.filter((box) => box.checked).map((box) => +box.value);
    el("list").replaceChildren(...some.map((row) => article(row, maps)));
    const of = state.found.length === texts.rows.length ? "" : ` of ${texts.rows.length}`;
    el("status").textContent = state.found.length ? `${state.found.length}${of} texts` : "No text is like that; loosen a filter.";
    el("page").textContent = some.length ? `${first + 1}–${first + some.length} of ${state.found.length}` : "";
    el("previous").disabled = state.page === 0;
    el("next").disabled = state.page >= pages - 1;
  }

  // ---- one text ----
  const rowOf = new WeakMap();
  function article(row, maps) {
    const node = make("article", "text"), head = make("header");
    rowOf.set(node, row);
    head.append(make("h3", "", row[ID] === null ? "" : "#" + shown(row[ID])));
    const said = make("span", "said", "predicted ");
    said.append(make("b", "", shown(texts.classes[row[LABEL]] ?? "?")));
    const p = row[LIKELY][row[LABEL]];
    if (p !== null && p !== undefined) said.append(" ", make("small", "", p.toFixed(3)));
    if (row[GOLD] >= 0) {
      said.append(" · labelled ");
      said.append(make("b", "", shown(texts.classes[row[GOLD]])));
      if (isWrong(row)) said.append(" ", make("span", "miss", "✕ error"));
    }
    const nums = make("span", "nums");
    texts.numbers.forEach((name, i) => { if (row[NUMBERS][i] !== null) nums.append(make("span", "", `${titles[name]} ${brief(row[NUMBERS][i])}`)); });
    head.append(said, nums);
    const side = make("div", "side");
    for (const i of maps) side.append(mapped(row, i));
    node.append(head, side);
    return node;
  }
  function mapped(row, i) {
    const map = texts.maps[i], found = row[SCORES][i], node = make("section", "map"), head = make("h4", "", shown(map.name));
    if (map.other) head.append(" ", make("small", "", "· other attention"));
    node.append(head);
    if (!found) {
      node.append(make("p", "hole", "no scores: its job did not finish, or it cannot explain this text"));
      return node;
    }
    const [top, codes, pairCodes] = found;
    node.append(painted(row, i, decoded(codes, top), { top, text: row[TEXT], spans: row[SPANS], evidence: row[EVIDENCE], from: 0 }));
    if (pairCodes !== undefined || row[PAIR] !== null) {
      const from = codes.length / texts.width;
      node.append(painted(row, i, decoded(pairCodes || "", top), { top, text: row[PAIR], spans: row[PAIR_SPANS], evidence: null, from }));
    }
    return node;
  }
  function painted(row, i, scores, { top, text, spans, evidence, from }) {
    const node = make("p"), map = texts.maps[i];
    node.dir = "auto"; node.tabIndex = 0; node.dataset.map = i;
    node.setAttribute("role", "group");
    node.setAttribute("aria-label", `${shown(map.name)}: ${scores.length} tokens, arrow keys tell their numbers`);
    if (text !== null && text.length > 1200) node.classList.add("long");
    const where = spans === null || text === null ? null : places(spans);
    let done = 0;
    const span = (score, t, words) => {
      const share = score === null || !top ? 0 : score / top;
      const one = make("span", "t", words);
      if (Math.abs(share) >= 0.05) { one.classList.add(share < 0 ? "n" : "p"); one.style.setProperty("--a", Math.abs(share).toFixed(2)); }
      if (evidence && evidence[t] === "1") one.classList.add("e");
      one.dataset.t = from + t;
      return one;
    };
    scores.forEach((score, t) => {
      if (where === null) { const one = span(score, t); one.classList.add("block"); node.append(one); return; }
      const [start, end] = where[t] || [0, 0];
      if (start < done || end <= start) return;
      node.append(shown(text.slice(done, start)), span(score, t, shown(text.slice(start, end))));
      done = end;
    });
    if (where !== null) node.append(shown(text.slice(done)));
    return node;
  }

  // ---- the numbers of one token, of every explanation of its text ----
  const tip = el("tip");
  let active = null;
  function tell(token) {
    hide();
    active = token;
    const node = token.closest("article"), row = rowOf.get(node), t = +token.dataset.t, own = +token.closest("[data-map]").dataset.map;
    for (const same of node.querySelectorAll(`[data-t="${t}"]`)) same.classList.add("on");
    const lines = texts.maps.map((map, i) => [i, map, row[SCORES][i]]).filter(([i, , found]) => found && boxes[i].checked).map(([i, map, found]) => {
      const value = decoded(found[1] + (found[2] || ""), found[0])[t];
      return [i, map.name, written(value ?? null, found[0], map.signed)];
    });
    const words = row[TEXT] === null ? `token ${t + 1}` : token.textContent;
    tip.replaceChildren(make("b", "", words), make("table"));
    for (const [i, name, value] of lines) {
      const line = tip.lastChild.insertRow();
      if (i === own) line.className = "this";
      line.insertCell().textContent = shown(name);
      line.insertCell().textContent = value;
    }
    tip.firstChild.dir = "auto";
    tip.hidden = false;
    place(token);
    return `${words}: ${(lines.find(([i]) => i === own) || [0, 0, "–"])[2]}`;
  }
  function place(token) {
    const box = token.getBoundingClientRect(), mine = tip.getBoundingClientRect();
    const below = box.bottom + 8 + mine.height < innerHeight || box.top < mine.height + 8;
    tip.style.top = (below ? box.bottom + 8 : box.top - mine.height - 8) + "px";
    tip.style.left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - mine.width - 8)) + "px";
  }
  function hide() {
    tip.hidden = true;
    active = null;
    for (const one of document.querySelectorAll(".t.on")) one.classList.remove("on");
  }
  const list = el("list");
  list.addEventListener("pointerover", (event) => {
    const token = event.target.closest(".t");
    if (token) tell(token); else if (active) hide();
  });
  list.addEventListener("pointerleave", hide);
  list.addEventListener("click", (event) => { const token = event.target.closest(".t"); if (token) tell(token); });
  list.addEventListener("focusout", hide);
  window.addEventListener("scroll", () => {
    if (!active) return;
    if (active.parentElement === document.activeElement) place(active); else hide();
  }, { passive: true });
  list.addEventListener("keydown", (event) => {
    const text = event.target.closest("[data-map]");
    if (!text) return;
    const tokens = [...text.querySelectorAll(".t")], at = active && text.contains(active) ? tokens.indexOf(active) : -1;
    const to = { ArrowRight: at + 1, ArrowLeft: at < 0 ? tokens.length - 1 : at - 1, Home: 0, End: tokens.length - 1 }[event.key];
    if (event.key === "Escape") hide();
    if (to === undefined || !tokens[to]) return;
    event.preventDefault();
    tokens[to].scrollIntoView({ block: "nearest", behavior: "instant" });
    el("spoken").textContent = tell(tokens[to]);
  });

  choose();
  ready();
})();
