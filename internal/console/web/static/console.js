// The pages work without this. It keeps times fresh, shows live events, and
// takes the keyboard: "/" searches, j and k or the arrows turn pages, and a drag
// over the timeline looks closer. Text from outside goes in by textContent alone.

const span = (ms) => {
  const s = Math.abs(ms) / 1000;
  if (s < 1) return "now";
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} m`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} m`;
  return `${Math.floor(s / 86400)} d`;
};

const ago = (at) => {
  const text = span(Date.now() - at);
  if (text === "now") return text;
  return at > Date.now() ? `in ${text}` : `${text} ago`;
};

const refresh = () => {
  for (const t of document.querySelectorAll("time[datetime]")) t.textContent = ago(Date.parse(t.dateTime));
};
refresh();
setInterval(refresh, 10_000);

const make = (tag, text, name) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (name) e.className = name;
  return e;
};

// What could turn the reading around is shown as an escape, as the pages do.
const plain = (text) => String(text ?? "").replace(
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
  (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

const line = (event, whole) => {
  const li = make("li", undefined, "fresh");
  const when = make("time", ago(Date.parse(event.timestamp)));
  when.dateTime = event.timestamp;
  when.title = event.timestamp;
  const facts = event.metadata ?? {};
  const head = whole ? make("summary") : li;
  head.append(when, make("span", event.type, "tag"), " ");
  if (facts.mind) head.append(make("b", plain(facts.mind)), " ");
  if (facts.cycle) {
    const run = make("a", "run");
    run.href = "/runs/" + encodeURIComponent(facts.cycle);
    head.append(run, " ");
  }
  head.append(plain(event.content).slice(0, 300));
  if (whole) {
    const details = make("details");
    details.append(head, make("pre", plain(JSON.stringify(event, null, 1))));
    li.append(details);
  }
  return li;
};

const live = (list) => {
  const keep = Number(list.dataset.keep), whole = "whole" in list.dataset;
  const controls = document.querySelector("[data-controls]"), passed = document.querySelector("[data-passed]");
  let paused = false, waiting = [];
  const url = new URL(list.dataset.live, location.href);
  if (list.dataset.types) url.searchParams.set("type", list.dataset.types);
  const show = (event) => {
    list.querySelector(":scope > .empty")?.remove();
    list.prepend(line(event, whole));
    while (list.children.length > keep) list.lastElementChild.remove();
  };
  const source = new EventSource(url);
  source.onmessage = (message) => {
    const event = JSON.parse(message.data);
    if (!paused) return show(event);
    waiting.push(event);
    if (waiting.length > keep) waiting.shift();
    passed.dataset.n = Number(passed.dataset.n ?? 0) + 1;
    passed.textContent = `${passed.dataset.n} passed meanwhile`;
  };
  if (!whole || !controls) return;
  controls.hidden = false;
  const button = controls.querySelector("[data-pause]");
  button.onclick = () => {
    paused = !paused;
    button.textContent = paused ? "Go on" : "Pause";
    if (paused) return;
    for (const event of waiting) show(event);
    waiting = [];
    passed.dataset.n = 0;
    passed.textContent = "";
  };
};
for (const list of document.querySelectorAll("[data-live]")) live(list);

// A part of a page that shows what certain events change is asked for anew when
// one comes, once a second at most, and not under somebody's hands.
for (const part of document.querySelectorAll("[data-fresh]")) {
  let due = null;
  const look = async () => {
    due = null;
    if (part.contains(document.activeElement)) return ask();
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    part.replaceChildren(...page.querySelector("[data-fresh]")?.childNodes ?? []);
    refresh();
  };
  const ask = () => { due ??= setTimeout(look, 1000); };
  new EventSource("/events?type=" + part.dataset.fresh).onmessage = ask;
}

document.addEventListener("keydown", (e) => {
  if (e.target.matches("input, select, textarea") || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "/") {
    e.preventDefault();
    document.querySelector(".search input")?.focus();
  }
  const turn = { k: "prev", ArrowLeft: "prev", j: "next", ArrowRight: "next" }[e.key];
  if (turn) document.querySelector(`a[rel="${turn}"]`)?.click();
});

// A drag over the timeline chooses the time to look at.
for (const figure of document.querySelectorAll(".timeline")) {
  const svg = figure.querySelector("svg"), from = Number(figure.dataset.from), to = Number(figure.dataset.to);
  const left = 190, right = 1000;
  let start = null, mark = null;
  const place = (e) => {
    const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return Math.min(Math.max(p.x, left), right);
  };
  const time = (x) => Math.round(from + ((x - left) / (right - left)) * (to - from));
  svg.addEventListener("pointerdown", (e) => {
    if (e.target.closest("a")) return;
    start = place(e);
    mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    mark.setAttribute("class", "choice");
    mark.setAttribute("y", "14");
    mark.setAttribute("height", String(svg.viewBox.baseVal.height - 14));
    svg.append(mark);
  });
  svg.addEventListener("pointermove", (e) => {
    if (start === null) return;
    const at = place(e);
    mark.setAttribute("x", String(Math.min(start, at)));
    mark.setAttribute("width", String(Math.abs(at - start)));
  });
  svg.addEventListener("pointerup", (e) => {
    if (start === null) return;
    const at = place(e), [a, b] = [Math.min(start, at), Math.max(start, at)];
    start = null;
    mark.remove();
    if (b - a < 5) return;
    const url = new URL(location.href);
    url.searchParams.delete("window");
    url.searchParams.set("from", time(a));
    url.searchParams.set("to", time(b));
    location.href = url;
  });
}

if (document.querySelector("[data-plot]")) import("./charts.js");
