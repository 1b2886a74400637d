// A room is talked in without this script, too: the page is loaded anew then. With it the
// lines come as they are said, an answer is shown while it is written, and Enter sends.

const talk = document.querySelector("[data-chat]");
const lines = talk.querySelector("[data-lines]"), busy = talk.querySelector("[data-busy]");
const composer = talk.querySelector("[data-composer]"), text = composer.elements.text, wrong = composer.querySelector("[data-wrong]");

const atEnd = () => window.innerHeight + window.scrollY >= document.body.scrollHeight - 160;
const toEnd = () => window.scrollTo(0, document.body.scrollHeight);

let drafts = new Map(), loading = false, again = false, quiet = null;

// The lines are read from the page, which is made of the log: nothing is shown that is not there.
const load = async () => {
  if (loading) { again = true; return; }
  loading = true;
  try {
    do {
      again = false;
      const answer = await fetch(location.pathname);
      if (!answer.ok) throw new Error((await answer.text()).trim());
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const stay = atEnd(), known = new Set([...lines.children].map((l) => l.id)), next = page.querySelector("[data-lines]");
      const news = [...next.children].filter((l) => !known.has(l.id));
      if (news.some((l) => l.classList.contains("agent-said"))) clear();
      const open = lines.contains(document.activeElement) && document.activeElement.closest("li")?.id;
      for (const l of next.children) {
        const old = l.id && document.getElementById(l.id);
        if (old && old.innerHTML === l.innerHTML || open && open === l.id) l.replaceWith(old.cloneNode(true));
      }
      lines.replaceChildren(...next.childNodes);
      const line = page.querySelector("[data-composer]")?.elements.line.value;
      if (line && !sending) composer.elements.line.value = line;
      if (stay) toEnd();
    } while (again);
  } catch (e) {
    wrong.textContent = e.message;
  } finally {
    loading = false;
  }
};

const show = (what) => {
  const stay = atEnd();
  busy.hidden = !what;
  if (what) busy.replaceChildren(...[what].flat());
  if (stay) toEnd();
};
const clear = () => { drafts.clear(); clearTimeout(quiet); show(null); };

const make = (tag, content, name) => {
  const e = document.createElement(tag);
  e.textContent = content;
  if (name) e.className = name;
  return e;
};

const press = (b) => {
  const button = make("button", b.label);
  button.type = "button";
  button.onclick = async () => {
    button.disabled = true;
    await fetch(location.pathname + "/press", { method: "POST", body: new URLSearchParams({ message: "", value: b.value }) });
    load();
  };
  return button;
};

const sign = (s) => {
  if (s.kind === "changed") return load();
  clearTimeout(quiet);
  quiet = setTimeout(clear, s.kind === "draft" ? 60_000 : 8_000);
  if (s.kind === "typing") {
    if (drafts.size === 0) show(`${s.who} is writing …`);
    return;
  }
  drafts.set(s.key, s);
  show([...drafts.values()].flatMap((d) => [make("b", d.who), make("span", d.text, "so-far"), ...(d.buttons ?? []).map(press)]));
};

const source = new EventSource(talk.dataset.chat);
source.onopen = load; // what was said while it was away
source.onmessage = (m) => sign(JSON.parse(m.data));

let sending = false;
composer.addEventListener("submit", async (e) => {
  e.preventDefault();
  if (sending || !text.value.trim() && composer.elements.file.files.length === 0) return;
  sending = true;
  wrong.textContent = "";
  try {
    const answer = await fetch(composer.action, { method: "POST", body: new FormData(composer) });
    if (!answer.ok) throw new Error((await answer.text()).trim());
    composer.reset();
    composer.elements.line.value = "";
    toEnd();
  } catch (problem) {
    wrong.textContent = `not said: ${problem.message}`;
  } finally {
    sending = false;
    text.focus();
    load();
  }
});

text.addEventListener("keydown", (e) => {
  if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
  e.preventDefault();
  composer.requestSubmit();
});

toEnd();
