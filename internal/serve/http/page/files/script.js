"use strict";
// All that this does beside the live list works without it, too, by forms.
(() => {
  const words = JSON.parse(document.body.dataset.words);
  const $ = (id) => document.getElementById(id);
  const say = (text) => { $("said").textContent = text; clearTimeout(say.timer); say.timer = setTimeout(() => { $("said").textContent = ""; }, 6000); };
  const fill = (text, ...args) => args.reduce((t, a) => t.replace(/%[sd]/, () => String(a)), text);
  const make = (name, kind, text) => { const e = document.createElement(name); if (kind) e.className = kind; if (text !== undefined) e.textContent = text; return e; };

  // What others wrote: what turns text around or cannot be seen is written out.
  const safe = (text) => String(text ?? "").replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]|(?![\u200c\u200d])\p{Cf}/gu, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");

  // The head.
  const renew = async () => {
    if (document.hidden || !$("status") || $("status").querySelector("details[open]")) return;
    try {
      const answer = await fetch("/head", { signal: AbortSignal.timeout(4000) });
      if (!answer.ok) throw new Error();
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("status");
      if (fresh) $("status").replaceWith(document.adoptNode(fresh));
    } catch {
      const bad = make("span", "bad", "▲ " + words.away);
      $("status").replaceChildren(bad);
    }
  };
  if ($("status")) setInterval(renew, 2000);

  // Labels.
  const form = $("labels");
  // What a row is about is in data-thing, as a request for a label names it.
  const rows = () => [...document.querySelectorAll(".row[data-thing]")];
  const press = (row) => [...row.querySelectorAll("button[data-label]")].filter((b) => b.closest(".row") === row);
  const canLabel = () => form && form.querySelector("button[name=do]");
  const undos = [];
  let at = -1;

  const go = (i) => {
    const all = rows();
    if (!all.length) return;
    all[at]?.classList.remove("here");
    at = Math.max(0, Math.min(all.length - 1, i));
    all[at].classList.add("here");
    (all[at].querySelector("a.title") || all[at]).focus({ preventScroll: true });
    all[at].scrollIntoView({ block: "nearest" });
  };
  const chosen = () => rows().filter((r) => r.querySelector("input[name=on]")?.checked).map((r) => r.dataset.thing);
  const of = (thing) => rows().filter((r) => r.dataset.thing === thing);
  const has = (thing, label) => of(thing).some((r) => [...r.querySelector(".chips").children].some((c) => c.dataset.label === label && !("trial" in c.dataset)));
  // A contact that has a mark keeps it: to take the label off would take back the clicks of all.
  const marked = (thing, label) => of(thing).some((r) => r.querySelector(`:scope > .what > .mark[data-label="${CSS.escape(label)}"]:not([data-trial])`));

  const show = (thing, label, on) => {
    for (const row of marked(thing, label) ? [] : of(thing)) {
      const chips = row.querySelector(".chips");
      [...chips.children].filter((c) => c.dataset.label === label && !("trial" in c.dataset)).forEach((c) => c.remove());
      if (on) {
        const chip = make("span", "chip" + (label === "spam" || label === "ham" ? " " + label : ""));
        chip.dataset.label = label;
        chip.append(make("bdi", "", safe(label)));
        chips.append(chip);
      }
      for (const b of press(row)) {
        if (b.dataset.label !== label) continue;
        b.setAttribute("aria-pressed", String(on));
        b.value = JSON.stringify({ ...JSON.parse(thing), label, action: on ? "remove" : "add" });
      }
    }
  };
  const send = async (deeds) => {
    const labels = deeds.map((d) => ({ ...JSON.parse(d.thing), label: d.label, action: d.action, ...(d.note && d.action === "add" ? { note: d.note } : {}) }));
    const answer = await fetch("/v1/labels", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ labels }) });
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.detail || told.title);
    const done = deeds.filter((d, i) => !told.results[i].error);
    done.forEach((d) => show(d.thing, d.label, d.action === "add"));
    const failed = told.results.find((r) => r.error);
    if (failed) say(fill(words.failed, failed.error));
    return { done, failed };
  };
  const label = async (deeds) => {
    // What is there already is left alone, so that undo takes back exactly what was done.
    deeds = deeds.filter((d) => has(d.thing, d.label) !== (d.action === "add"));
    if (!deeds.length) return;
    try {
      const { done, failed } = await send(deeds);
      const back = done.filter((d) => !marked(d.thing, d.label)).map((d) => ({ ...d, action: d.action === "add" ? "remove" : "add" }));
      if (back.length) undos.push(back);
      if (!failed) say(fill(words.said, safe(deeds[0].label), done.length));
    } catch (e) { say(fill(words.failed, e.message)); }
    if ($("undo")) $("undo").hidden = !undos.length;
  };
  const undo = async () => {
    const last = undos.pop();
    if (!last) return;
    try { const { failed } = await send(last); if (!failed) say(words.undone); } catch (e) { undos.push(last); say(fill(words.failed, e.message)); }
    if ($("undo")) $("undo").hidden = !undos.length;
  };
  const clear = () => { for (const r of rows()) { const box = r.querySelector("input[name=on]"); if (box) box.checked = false; } count(); };
  const count = () => { if ($("chosen")) $("chosen").textContent = chosen().length; };

  const whole = form?.classList.contains("whole");
  form?.addEventListener("submit", (e) => {
    const b = e.submitter;
    if (!b?.value || whole) return; // the cluster's page is to say who labelled: it is loaded again
    const name = b.dataset.label || form.elements.name?.value.trim();
    const row = b.closest(".row");
    const things = row ? [row.dataset.thing] : chosen();
    e.preventDefault();
    if (!name || !things.length) return;
    label(things.map((thing) => ({ thing, label: name, action: b.getAttribute("aria-pressed") === "true" ? "remove" : "add" })));
    if (!row) clear();
  });
  form?.addEventListener("change", count);
  $("undo")?.addEventListener("click", undo);
  if ($("keys")) { $("keys").hidden = false; $("keys").addEventListener("click", () => $("help").showModal()); }

  const mark = (name) => {
    if (!canLabel()) return;
    let things = chosen();
    if (things.length) clear();
    else {
      if (at < 0) go(0);
      const row = rows()[at];
      if (!row || !press(row).some((b) => b.dataset.label === name)) return;
      things = [row.dataset.thing];
      if (row !== form) go(at + 1);
    }
    label(things.map((thing) => ({ thing, label: name, action: "add" })));
  };
  const keys = {
    j: () => { const next = document.querySelector("a.next[rel=next]"); at === rows().length - 1 && next ? next.click() : go(at + 1); }, k: () => go(at - 1),
    x: () => { if (at < 0) go(0); const box = rows()[at]?.querySelector("input[name=on]"); if (box) { box.checked = !box.checked; count(); } },
    s: () => mark("spam"), h: () => mark("ham"), u: undo,
    "/": () => { const field = $("search") || $("text"); field ? field.focus() : location.assign("/"); },
    "?": () => $("help").showModal(),
  };
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || $("help").open) return;
    if (e.key === "Escape" && e.target.matches("input, textarea")) { e.target.blur(); return; }
    if (e.target.matches("input:not([type=checkbox]), textarea, select") || !Object.hasOwn(keys, e.key)) return;
    e.preventDefault();
    keys[e.key]();
  });

  // The live list: a sample of what comes, and never more rows than these. Rows stay where they are,
  // and what they say moves down: so nothing else on the page moves.
  const list = $("tail");
  if (!list) return;
  const most = 200, each = 5, pace = 250; // rows; rows at once; milliseconds
  let waiting = [], skipped = 0, paused = false, touched = false;
  const line = (r) => {
    const what = make("div", "what"), facts = make("div", "facts");
    const founder = r.representative || {}, id = r.cluster_id;
    const title = make(id ? "a" : "span", "title");
    if (id) title.href = "/clusters/" + id.split("/").map(encodeURIComponent).join("/");
    const bdi = make("bdi", "", safe(founder.title || founder.excerpt || id || r.article_id).slice(0, 400));
    bdi.dir = "auto";
    title.append(bdi);
    const mark = r.status === "new" ? "◆ " + words.founder : r.status === "joined" ? "● " + (r.matched === "contact" ? safe(r.contact) : r.distance) : "■";
    for (const l of r.labels || []) facts.append(make("span", "chip" + (l === "spam" || l === "ham" ? " " + l : ""), safe(l)));
    facts.append(make("time", "", new Date().toLocaleTimeString(document.documentElement.lang)), make("span", "", mark), make("span", "size", r.size), make("bdi", "", safe(r.publisher)));
    what.append(title, facts);
    return what;
  };
  const flush = () => {
    if (paused || touched || !waiting.length) return;
    const now = waiting.reverse();
    waiting = [];
    for (let n = now.length; n > 0 && list.children.length < most; n--) list.append(make("li", "row"));
    const all = list.children;
    for (let i = all.length - 1; i >= 0; i--) all[i].replaceChildren(i < now.length ? line(now[i]) : all[i - now.length].firstChild);
    tell();
  };
  const tell = () => { $("skipped").textContent = skipped ? fill(words.skipped, skipped) : ""; };
  // Nothing moves away from a pointer, or from the focus.
  for (const [event, on] of [["pointerenter", true], ["pointerleave", false], ["focusin", true], ["focusout", false]]) list.addEventListener(event, () => { touched = on; });
  const source = new EventSource("/v1/stream");
  source.addEventListener("result", (e) => {
    if (paused || touched || document.hidden || waiting.length >= each) { skipped++; return; }
    waiting.push(JSON.parse(e.data));
  });
  source.addEventListener("dropped", (e) => { skipped += JSON.parse(e.data).count; });
  source.addEventListener("error", () => { $("skipped").textContent = words.away; });
  source.addEventListener("open", () => { $("skipped").textContent = list.children.length ? "" : words.waiting; });
  setInterval(flush, pace);
  $("pause").hidden = false;
  $("pause").addEventListener("click", () => { paused = !paused; $("pause").textContent = paused ? words.resume : words.pause; tell(); });
})();
