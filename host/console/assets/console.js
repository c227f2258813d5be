// The script of the console. Every page works without it. With it, pages change in place, new requests appear as they
// are made, and keys answer them. It inserts only nodes of documents that the console sent, never markup from text.

const REFRESH_PAUSE = 2000;
const TICK = 1000;

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// --- Loading pages -------------------------------------------------------------------------------------------------

let loading = 0;
let visiting = 0;

/** Loads a document of the console. The browser parses it, so no text becomes markup here. */
function load(url, form, refreshing = false) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(form ? "POST" : "GET", url);
    request.responseType = "document";
    request.onload = () => resolve({ page: request.response, url: request.responseURL, status: request.status });
    request.onerror = () => reject(new Error("the console does not answer"));
    if (refreshing) request.setRequestHeader("X-Portcullis-Refresh", "1");
    if (form) request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    request.send(form ?? null);
  });
}

/** Goes to a page in place. What changes meanwhile is looked at afterwards, because the page may be older. */
async function visit(url, options) {
  visiting += 1;
  try {
    await show(url, options);
  } finally {
    visiting -= 1;
    compare();
  }
}

/** Shows a page in place, and puts the focus on its heading. */
async function show(url, { form, push = true } = {}) {
  const turn = ++loading;
  let loaded;
  try {
    loaded = await load(url, form);
  } catch {
    return connection(false);
  }
  if (turn !== loading) return;
  const main = loaded.page && one("#main", loaded.page);
  if (!main) return location.assign(form ? location.href : url);
  const kept = one(".list ol")?.scrollTop ?? 0;
  const checked = new Set(all("#requests input:checked").map((box) => box.value));
  const reached = new URL(loaded.url);
  // A form that answers with a page of its own has no address that can be loaded again.
  const isAddress = !form || reached.pathname !== url;
  if (push && isAddress) history.pushState(null, "", reached.pathname + reached.search + new URL(url, location.href).hash);
  one("#main").replaceWith(document.importNode(main, true));
  refreshFrame(loaded.page);
  document.body.dataset.process = loaded.page.body.dataset.process;
  document.body.dataset.section = loaded.page.body.dataset.section;
  if (!form) all("#requests input").forEach((box) => { box.checked = checked.has(box.value); });
  const list = one(".list ol");
  if (list) list.scrollTop = kept;
  scrollTo(0, 0);
  one('.list li[aria-current]')?.scrollIntoView({ block: "nearest" });
  (one("article h2") ?? one("#main")).focus({ preventScroll: true });
  arrange();
}

/** Brings the page up to date without moving what a person may be about to press. */
async function refresh() {
  const section = document.body.dataset.section;
  if (section === "Tools" || section === "Policy") return refreshFrame((await load(location.href, undefined, true)).page);
  const turn = loading;
  const { page } = await load(location.href, undefined, true);
  if (turn !== loading || !page || !one("#main", page)) return;
  refreshFrame(page);
  if (section === "Inbox") return refreshInbox(page);
  // A reader may be in a table: only its rows change.
  if (document.activeElement?.closest("#main form")) return;
  const [before, after] = [one("#main .page"), one("#main .page", page)];
  if (before && after && section === "Live") refreshLive(before, after);
  if (section === "Log" && location.pathname === "/log" && !location.search) {
    all("#main .calls tbody, #main .charts, #main h1").forEach((part, place) => {
      const fresh = all("#main .calls tbody, #main .charts, #main h1", page)[place];
      if (fresh) part.replaceWith(document.importNode(fresh, true));
    });
  }
  tick();
}

function refreshFrame(page) {
  if (!page) return;
  const fresh = one("#sections", page);
  if (fresh) one("#sections").replaceWith(document.importNode(fresh, true));
  const [pause, now] = [one("#pause"), one("#pause", page)];
  if (pause && now && pause.dataset.paused !== now.dataset.paused) {
    pause.replaceWith(document.importNode(now, true));
    announce(now.dataset.paused === "true" ? "Paused: every new call is refused." : "No longer paused.");
  }
  document.title = page.title;
}

/** Changes the lines of calls in place. A line that a person opened stays open, and keeps the focus. */
function refreshLive(before, after) {
  const [list, fresh] = [one("#live-calls", before), one("#live-calls", after)];
  if (!list || !fresh || !one(".warning", before) !== !one(".warning", after)) {
    return before.replaceWith(document.importNode(after, true));
  }
  const known = new Map(all("li", list).map((row) => [row.dataset.call, row]));
  const rows = all("li", fresh).map((row) => {
    const old = known.get(row.dataset.call);
    if (!old) return document.importNode(row, true);
    for (const part of ["summary", "dl"]) {
      one(part, old).replaceChildren(...[...one(part, row).childNodes].map((node) => document.importNode(node, true)));
    }
    return old;
  });
  // Moving a line would take its focus, so only lines that are new or have ended are moved.
  for (const row of known.values()) if (!rows.includes(row)) row.remove();
  rows.forEach((row, place) => { if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null); });
  for (const part of ["#under-way", "#ended"]) one(part, before).replaceWith(document.importNode(one(part, after), true));
}

/** New requests come last. One that was answered elsewhere stays where it is until the person moves on. */
function refreshInbox(page) {
  const [list, fresh] = [one("#requests"), one("#requests", page)];
  if (!list || !fresh) return;
  const known = new Map(all("li", list).map((row) => [row.dataset.id, row]));
  const waiting = new Set();
  for (const row of all("li", fresh)) {
    waiting.add(row.dataset.id);
    if (known.has(row.dataset.id)) continue;
    list.append(document.importNode(row, true));
    announce(`New request: ${one("input", row).getAttribute("aria-label").replace(/^Select: /, "")}`);
  }
  for (const [id, row] of known) {
    if (waiting.has(id) || row.classList.contains("gone")) continue;
    row.classList.add("gone");
    one("input", row).disabled = true;
    one("input", row).checked = false;
    const meta = one(".meta", row);
    if (meta) meta.textContent = "no longer waits";
  }
  one("#waiting-count").textContent = String(waiting.size);
  const [article, now] = [one("#request"), one("#request", page)];
  if (!article && waiting.size > 0) return visit("/inbox", { push: true });
  if (article && now && article.dataset.id === now.dataset.id && article.dataset.standing !== now.dataset.standing) {
    const note = one("#note")?.value;
    article.replaceWith(document.importNode(now, true));
    if (note && one("#note")) one("#note").value = note;
    announce(one(".settled", now)?.textContent ?? "The request has changed.");
    arrange();
  }
  tick();
}

// --- Events --------------------------------------------------------------------------------------------------------

let events;
let seen = {};
let latest = seen;
let waitingForRefresh = false;

function connect() {
  events?.close();
  events = new EventSource("/events");
  events.addEventListener("seen", (event) => {
    connection(true);
    latest = JSON.parse(event.data);
    compare();
  });
  events.onerror = () => {
    connection(false);
    // The browser reconnects by itself, unless the answer was an error.
    if (events.readyState === EventSource.CLOSED) setTimeout(connect, REFRESH_PAUSE);
  };
}

/** Compares the last event with the one before, and brings the page up to date if they differ in something it shows. */
function compare() {
  if (visiting > 0 || latest === seen) return;
  const now = latest;
  const restarted = now.process !== document.body.dataset.process;
  const section = document.body.dataset.section;
  const ledger = now.ledger !== seen.ledger || now.pending !== seen.pending;
  const changed = ledger || (section === "Log" && now.log !== seen.log)
    || (section === "Live" && (now.log !== seen.log || now.live !== seen.live)) || now.paused !== seen.paused;
  seen = now;
  if (restarted) return void visit(location.pathname + location.search, { push: false });
  if (changed) soon();
}

/** Refreshes once for several events. A page that a person goes to comes first. */
async function soon() {
  if (visiting > 0) {
    // The comparison after the visit then finds a difference.
    seen = {};
    return;
  }
  if (waitingForRefresh) {
    waitingForRefresh = "again";
    return;
  }
  waitingForRefresh = true;
  try {
    await refresh();
  } catch {
    connection(false);
  }
  const again = waitingForRefresh === "again";
  waitingForRefresh = false;
  if (again) soon();
}

function connection(on) {
  const shown = one("#connection");
  if (!shown || shown.dataset.state === (on ? "on" : "off")) return;
  shown.dataset.state = on ? "on" : "off";
  one("span:last-child", shown).textContent = on ? "connected" : "not connected: if you started the console again, open its new link";
  announce(on ? "Connected again." : "The console does not answer.");
}

function announce(text) {
  const region = one("#announce");
  if (region) region.textContent = text;
}

// --- Reading before approving --------------------------------------------------------------------------------------

let watcher;

/** Lets a person approve only after the end of the request was on the screen. */
function arrange() {
  watcher?.disconnect();
  const [end, approve] = [one("#seen-to-here"), one("#approve")];
  if (end && approve) {
    approve.disabled = true;
    approve.title = "Scroll to the end of the request first";
    // What is behind the form at the bottom of a wide window is not seen.
    const form = one("#answer");
    const covered = getComputedStyle(form).position === "sticky" ? Math.max(0, form.offsetHeight - 2) : 0;
    watcher = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting || entry.boundingClientRect.top < 0)) return;
      approve.disabled = false;
      approve.title = "";
      watcher.disconnect();
    }, { rootMargin: `0px 0px -${covered}px 0px` });
    watcher.observe(end);
  }
  tick();
}

function approve() {
  const button = one("#approve");
  if (!button) return one("#show-all")?.click();
  if (all("#requests input:checked").length > 0 && one("#request")?.dataset.id !== "review") return review();
  if (button.disabled) {
    scrollBy({ top: innerHeight * 0.8 });
    announce("There is more of the request below.");
    return;
  }
  button.click();
}

// --- Times ---------------------------------------------------------------------------------------------------------

function span(seconds) {
  if (seconds >= 172800) return `${Math.floor(seconds / 86400)} days`;
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h`;
  if (seconds >= 600) return `${Math.floor(seconds / 60)} min`;
  if (seconds >= 60) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return `${seconds} s`;
}

function tick() {
  const now = Date.now();
  for (const time of all("time[data-at]")) {
    const at = Number(time.dataset.at);
    const seconds = Math.max(0, Math.floor(Math.abs(now - at) / 1000));
    const text = time.dataset.kind === "left"
      ? (at <= now ? "expired" : `${span(seconds)} left`)
      : (seconds < 10 ? "just now" : `${span(seconds).replace(/:.*/, " min")} ago`);
    if (time.textContent !== text) time.textContent = text;
    time.classList.toggle("soon", time.dataset.kind === "left" && at - now < 300000);
    if (!time.dataset.local) {
      time.dataset.local = "yes";
      time.title = `${new Date(at).toLocaleString()} (${time.getAttribute("datetime")})`;
    }
  }
}

// --- Keys and clicks -----------------------------------------------------------------------------------------------

function move(by) {
  const rows = all("#requests li:not(.gone)");
  const every = all("#requests li");
  if (rows.length === 0) return;
  const current = one("#requests li[aria-current]");
  let place = current ? every.indexOf(current) + by : 0;
  while (every[place]?.classList.contains("gone")) place += by;
  const link = every[place] && one("a", every[place]);
  if (link) visit(link.getAttribute("href"));
}

function review() {
  const ids = all("#requests input:checked").map((box) => box.value);
  const every = all("#requests input:not(:disabled)").length;
  if (ids.length === 0) return;
  const query = ids.length === every ? "id=all" : ids.map((id) => `id=${encodeURIComponent(id)}`).join("&");
  visit(`/inbox/review?${query}`);
}

function selectAll() {
  all("#requests input:not(:disabled)").forEach((box) => { box.checked = true; });
  review();
}

function help() {
  const dialog = one("#help");
  if (dialog.open) dialog.close(); else dialog.showModal();
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  y: approve,
  n: () => one("#note")?.focus(),
  x: () => {
    const box = one("#requests li[aria-current] input");
    if (box && !box.disabled) box.checked = !box.checked;
  },
  X: selectAll,
  r: review,
  "?": help,
  "/": () => (one("#search") ? one("#search").focus() : visit("/log").then(() => one("#search")?.focus())),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const field = event.target.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select");
  if (event.key === "Escape" && field) return field.blur();
  if (event.key === "Enter" && field?.id === "note") {
    event.preventDefault();
    one("button.deny", field.form)?.click();
    return;
  }
  if (field || (one("#help").open && event.key !== "?")) return;
  const section = /^[1-6]$/.test(event.key) && all("#sections a")[Number(event.key) - 1];
  if (!section && !Object.hasOwn(KEYS, event.key)) return;
  // A key that is held down must not answer the next request too.
  if (event.repeat && !"jk".includes(event.key)) return;
  event.preventDefault();
  if (section) visit(section.getAttribute("href")); else KEYS[event.key]();
});

addEventListener("click", (event) => {
  if (event.target.closest("#help-button")) return help();
  if (event.target.closest("#review-all")) return selectAll();
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const target = new URL(link.href);
  if (target.origin !== location.origin || (target.pathname === location.pathname && target.hash)) return;
  event.preventDefault();
  visit(target.pathname + target.search + target.hash);
});

addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  event.preventDefault();
  const data = new URLSearchParams(new FormData(form, event.submitter ?? undefined));
  const action = form.getAttribute("action");
  if (form.method === "post") {
    all("button", form).forEach((button) => { button.disabled = true; });
    visit(action, { form: data.toString() });
  } else if (form.id === "review-form") {
    review();
  } else {
    for (const [name, value] of [...data]) if (value === "") data.delete(name);
    visit(data.size > 0 ? `${action}?${data}` : action);
  }
});

addEventListener("popstate", () => visit(location.pathname + location.search, { push: false }));

setInterval(tick, TICK);
arrange();
connect();
