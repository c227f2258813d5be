// Every flow of the console in a real browser, and every attack of a page.

import { chmodSync, readFileSync, writeFileSync, existsSync } from "node:fs";
import {
  AXE, ask, assert, keep, leaveBehind, openPage, portcullis, press, questions, run, serveAttack, signedIn,
  startBrowser, startConsole, startService, told,
} from "./desk.mjs";

const file = (name) => `${told.site}/work/${name}`;
const write = (path, content) => ["files.write", { path, content }];
const visible = (page, text) => page.getByText(text).first().waitFor();

/** Answers with keys: one call runs in its own process, one is denied with a reason. */
async function keys() {
  const { page } = await signedIn();
  await visible(page, "Nothing waits for you.");
  const written = ask(...write("one.txt", "one\n"));
  await page.locator("#approve:enabled").waitFor();
  await press(page, "y");
  assert.equal((await written).code, "completed");
  assert.equal(readFileSync(file("one.txt"), "utf8"), "one\n");
  await visible(page, "Nothing waits for you.");
  const denied = ask(...write("two.txt", "two\n"));
  await page.locator("article", { hasText: "two.txt" }).waitFor();
  await press(page, "n");
  await page.keyboard.type("not that file");
  await press(page, "Enter");
  const reply = await denied;
  assert.equal(reply.code, "approval-denied");
  assert.match(reply.message, /not that file/);
  // Until the next page is there, the keys go to the field.
  await visible(page, "Denied.");
  await press(page, "?");
  await page.locator("#help[open]").waitFor();
  await press(page, "Escape");
  assert.deepEqual(page.problems, []);
}

/** A request appears at the end, and the selected one stays where it is. */
async function arriving() {
  const first = await leaveBehind(...write("a.txt", "a\n"));
  const { page } = await signedIn();
  await page.locator(`li[data-id="${first}"][aria-current]`).waitFor();
  const box = await page.locator("#approve").boundingBox();
  const began = Date.now();
  const second = await leaveBehind(...write("b.txt", "b\n"));
  await page.locator(`li[data-id="${second}"]`).waitFor();
  console.log(`a request of another process was on the page ${Date.now() - began} ms after its process began`);
  assert.deepEqual(await page.locator("#approve").boundingBox(), box, "nothing moves under the pointer");
  const ids = await page.locator("#requests li").evaluateAll((rows) => rows.map((row) => row.dataset.id));
  assert.deepEqual(ids, [first, second]);
  assert.match(await page.locator("#announce").textContent(), /New request: .*b\.txt/);
  await portcullis("approvals", "reject", second);
  await page.locator(`li.gone[data-id="${second}"]`).waitFor();
  await portcullis("approvals", "reject", first);
  await visible(page, "Denied.");
  assert.equal(await page.locator("#approve").count(), 0, "an answered request has no button");
  assert.deepEqual(page.problems, []);
}

/** Three keys answer a hundred requests, after all of them were on the screen. */
async function hundred() {
  for (let number = 0; number < 100; number += 1) {
    await portcullis("call", "good.run", JSON.stringify({ n: number }), "--ask", "pending");
  }
  const { page } = await signedIn();
  await page.locator("#requests li").nth(99).waitFor();
  await press(page, "X");
  await visible(page, "Review 100 requests together");
  assert.ok(await page.locator("#approve").isDisabled(), "no yes before the end was seen");
  await press(page, "End");
  await page.locator("#approve:enabled").waitFor();
  await press(page, "y");
  await visible(page, "100 requests approved");
  assert.deepEqual(await questions(), []);
  assert.deepEqual(page.problems, []);
}

/** Two tabs answer at once: one counts, the other is told. */
async function racing() {
  const { page, context, console: console_ } = await signedIn();
  const other = await openPage(context, console_.origin);
  const written = ask(...write("race.txt", "x\n"));
  await visible(page, "race.txt");
  await other.goto(page.url());
  await other.locator("#approve:enabled").waitFor();
  // The other tab must not hear of the first answer before its own.
  await other.route("**/events", (route) => route.abort());
  await other.reload();
  await other.locator("#approve:enabled").waitFor();
  await press(page, "y");
  assert.equal((await written).code, "completed");
  await other.locator("button.deny").click();
  await visible(other, "Your answer came second: it was already approved");
  assert.deepEqual(page.problems, []);
}

/** The file changes after it was shown. */
async function changed() {
  writeFileSync(file("poem.txt"), "roses are red\n");
  const id = await leaveBehind(...write("poem.txt", "violets are blue\n"));
  const { page } = await signedIn();
  await visible(page, "roses are red");
  writeFileSync(file("poem.txt"), "someone was here\n");
  await press(page, "y");
  await visible(page, "Changed since you looked");
  assert.deepEqual((await questions()).map((open) => open.id), [id]);
  assert.equal(readFileSync(file("poem.txt"), "utf8"), "someone was here\n");
  assert.deepEqual(page.problems, []);
}

/** The console is started again at the same port: the open page says so, and works again after the new link. */
async function restart() {
  const { page, context, console: console_ } = await signedIn();
  await page.locator('#connection[data-state="on"]').waitFor();
  await console_.stop();
  await page.locator('#connection[data-state="off"]').waitFor();
  const again = await startConsole(console_.port);
  const tab = await openPage(context, again.origin);
  await tab.goto(again.link);
  await tab.waitForURL(/\/inbox/);
  await page.locator('#connection[data-state="on"]').waitFor();
  const id = await leaveBehind(...write("later.txt", "later\n"));
  await page.locator(`li[data-id="${id}"]`).waitFor();
  await page.locator("#approve:enabled").waitFor();
  await press(page, "y");
  await visible(page, "completed");
  assert.ok(existsSync(file("later.txt")));
}

/** Remembers an approval, looks at it, and revokes it. Then explains a call of the log. */
async function looking() {
  const { page } = await signedIn();
  const written = ask(...write("src/a.txt", "a\n"));
  await visible(page, "src/a.txt");
  await page.getByLabel("Always").check();
  const offers = await page.getByLabel("What it covers").locator("option").allTextContents();
  await page.getByLabel("What it covers").selectOption({ label: offers.find((text) => text.includes("src/**")) });
  await page.locator("#approve:enabled").click();
  assert.equal((await written).code, "completed");
  assert.equal((await ask(...write("src/b.txt", "b\n"))).code, "completed");
  await press(page, "5");
  await visible(page, "src/**");
  await page.getByRole("button", { name: /^Revoke/ }).click();
  await visible(page, "Revoked.");
  await press(page, "3");
  await page.getByRole("heading", { name: /^Log/ }).waitFor();
  await press(page, "/");
  await page.keyboard.type("b.txt");
  await press(page, "Enter");
  await page.waitForURL(/q=b\.txt/);
  await page.locator(".calls tbody tr").first().waitFor();
  await page.locator(".calls tbody a").first().click();
  await page.waitForURL(/\/log\//);
  await page.getByText("What would happen to it now").click();
  // The log keeps digests of arguments only, unless the policy says otherwise.
  await page.getByLabel("Arguments, as JSON").fill('{"path": "src/b.txt", "content": "b"}');
  await page.getByRole("button", { name: "Explain" }).click();
  await visible(page, "It would ask you.");
  await press(page, "4");
  await page.getByRole("heading", { name: "files" }).waitFor();
  await press(page, "2");
  await page.getByRole("heading", { name: "Ended" }).waitFor();
  assert.deepEqual(page.problems, []);
}

/** One tab pauses and resumes every call. The other tab follows without being loaded again. */
async function pausing() {
  const { page, context, console: console_ } = await signedIn();
  const policy = `${told.site}/policy.toml`;
  const before = readFileSync(policy, "utf8");
  const other = await openPage(context, console_.origin);
  await other.goto(`${console_.origin}/inbox`);
  await page.getByRole("button", { name: "Pause all calls" }).click();
  await visible(page, "Paused. Running servers refuse every new call.");
  assert.match(readFileSync(policy, "utf8"), /^paused = "paused by the user"\n/);
  await other.getByRole("link", { name: "Resume" }).waitFor();
  assert.equal(await other.locator("#announce").textContent(), "Paused: every new call is refused.");
  assert.equal((await ask(...write("paused.txt", "x\n"))).code, "paused");
  await page.getByRole("link", { name: "Resume" }).click();
  await page.locator(".diff pre .del").waitFor();
  assert.notEqual(readFileSync(policy, "utf8"), before, "the page alone changes nothing");
  await page.getByRole("button", { name: "Resume all calls" }).click();
  await visible(page, "Resumed.");
  assert.equal(readFileSync(policy, "utf8"), before);
  await other.getByRole("button", { name: "Pause all calls" }).waitFor();
  const written = ask(...write("resumed.txt", "x\n"));
  await other.locator("#approve:enabled").click();
  assert.equal((await written).code, "completed");
  assert.deepEqual([...page.problems, ...other.problems], []);
}

/** A line of a live call opens, stays open while other calls come and go, and keeps the focus. */
async function unfolding() {
  const { page } = await signedIn();
  const first = ask(...write("first.txt", "x\n"), "session-of-the-first");
  await visible(page, "first.txt");
  await press(page, "2");
  const line = page.locator("#live-calls li", { hasText: "first.txt" });
  await line.locator("summary").focus();
  await press(page, "Enter");
  await line.getByText("session-of-the-first").waitFor();
  await line.locator("dt", { hasText: "waiting" }).waitFor();
  const second = ask(...write("second.txt", "x\n"));
  await page.locator("#live-calls li", { hasText: "second.txt" }).waitFor();
  assert.equal(await line.locator("details[open]").count(), 1, "a refresh keeps it open");
  assert.ok(await line.locator("summary").evaluate((summary) => summary === document.activeElement), "and keeps the focus");
  for (const open of await questions()) {
    if (open.question.arguments.includes("second.txt")) await portcullis("approvals", "reject", open.id);
  }
  await second;
  await page.locator("#live-calls li", { hasText: "second.txt" }).waitFor({ state: "detached" });
  assert.equal(await line.locator("details[open]").count(), 1, "the end of another call keeps it open");
  for (const open of await questions()) await portcullis("approvals", "reject", open.id);
  await first;
  await line.waitFor({ state: "detached" });
  assert.deepEqual(page.problems, []);
}

/** A call that begins while the page of live calls loads is on that page, although its document is older. */
async function overtaking() {
  const { page } = await signedIn();
  await visible(page, "Nothing waits for you.");
  await page.evaluate(() => {
    const { open } = XMLHttpRequest.prototype;
    XMLHttpRequest.prototype.open = function (method, url) {
      open.call(this, method, url);
      if (url !== "/live") return;
      XMLHttpRequest.prototype.open = open;
      // The page sets its handler in the same step. It runs when the scenario says so.
      queueMicrotask(() => {
        const { onload } = this;
        this.onload = () => { globalThis.showOlder = onload; };
      });
    };
  });
  await press(page, "2");
  await page.waitForFunction(() => globalThis.showOlder);
  const begun = ask(...write("late.txt", "x\n"));
  const isLive = () => page.evaluate(async () => (await (await fetch("/live")).text()).includes("late.txt"));
  while (!(await isLive())) await page.waitForTimeout(100);
  // Longer than the console waits between two events.
  await page.waitForTimeout(3000);
  await page.evaluate(() => globalThis.showOlder());
  await page.locator("#live-calls li", { hasText: "late.txt" }).waitFor();
  for (const open of await questions()) await portcullis("approvals", "reject", open.id);
  await begun;
  assert.deepEqual(page.problems, []);
}

/** Everything in the browser encodes what a plugin and a model say, and a megabyte is shown before it is approved. */
async function hostile() {
  const evil = "</code><script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)>\u202e\u200b\u001b[2J";
  await leaveBehind("evil.run", { path: evil, [evil]: evil }, "evil-session");
  const { page } = await signedIn();
  await visible(page, "invisible characters, shown as escapes");
  const text = await page.locator("body").textContent();
  assert.ok(text.includes("<script>alert(1)</script>") && text.includes("\\u{202e}"), text);
  await press(page, "n");
  await page.keyboard.type(evil.slice(0, 60));
  await press(page, "Enter");
  for (const target of ["/log", "/live", "/tools", "/policy", "/remembered"]) {
    await page.goto(new URL(target, page.url()).href);
    await page.locator("#main").waitFor();
    assert.equal(await page.locator("#main script, #main img").count(), 0, target);
  }
  const long = ask("good.run", { a: "x".repeat(90 * 1024), z: "the end of it" }, "long");
  await page.goto(new URL("/inbox", page.url()).href);
  await visible(page, "Part of the request is not shown");
  assert.equal(await page.locator("#approve").count(), 0);
  await press(page, "y");
  await visible(page, "the end of it");
  assert.ok(await page.locator("#approve").isDisabled(), "no yes before the end was seen");
  await press(page, "End");
  await page.locator("#approve:enabled").waitFor();
  await press(page, "y");
  assert.equal((await long).code, "completed");
  assert.deepEqual(page.problems, []);
}

/** A page of another origin, and one of another port of this machine, cannot read, press or frame anything. */
async function attacker() {
  const id = await leaveBehind(...write("loot.txt", "x\n"));
  const { page, context, console: console_ } = await signedIn();
  const fields = await page.locator("#answer input[type=hidden]").evaluateAll((all) => all.map((one) => [one.name, one.value]));
  const html = `<!doctype html><title>attack</title><iframe id=frame src="${console_.origin}/inbox"></iframe>
    <iframe name=sink></iframe><form method=post target=sink action="${console_.origin}/inbox/answer">
    <input name=answer value=approve>${fields.filter(([name]) => name !== "csrf").map(([name, value]) => `<input name=${name} value="${value}">`).join("")}
    </form>`;
  const port = await serveAttack(html);
  for (const origin of [`http://evil.example:${port}`, `http://127.0.0.1:${port}`]) {
    const attack = await context.newPage();
    await attack.goto(origin);
    const read = await attack.evaluate(async (target) => {
      const tries = {
        get: () => fetch(`${target}/inbox`, { credentials: "include" }).then((answer) => answer.text()),
        events: () => new Promise((resolve) => {
          const events = new EventSource(`${target}/events`, { withCredentials: true });
          events.addEventListener("seen", (event) => resolve(event.data));
          events.onerror = () => { events.close(); resolve(null); };
        }),
        post: () => fetch(`${target}/inbox/answer`, { method: "POST", credentials: "include", body: new URLSearchParams({ answer: "approve" }) }).then((answer) => answer.text()),
        script: () => new Promise((resolve) => {
          const script = document.createElement("script");
          script.onload = () => resolve("loaded");
          script.onerror = () => resolve(null);
          script.src = `${target}/console.js`;
          document.body.append(script);
        }),
        frame: async () => document.querySelector("#frame").contentDocument?.body?.textContent || null,
        opened: async () => {
          const opened = window.open(`${target}/inbox`);
          await new Promise((resolve) => setTimeout(resolve, 300));
          try { return opened?.document?.body?.textContent || null; } catch { return null; }
        },
      };
      const read = {};
      for (const [name, attempt] of Object.entries(tries)) read[name] = await attempt().catch(() => null);
      document.querySelector("form").submit();
      return read;
    }, console_.origin);
    assert.deepEqual(read, { get: null, events: null, post: null, script: null, frame: null, opened: null }, origin);
    await attack.waitForLoadState("networkidle");
    const frames = attack.frames().slice(1).map((frame) => frame.url());
    assert.ok(frames.every((url) => !url.startsWith(`${console_.origin}/inbox/`)), String(frames));
    await attack.close();
  }
  assert.deepEqual((await questions()).map((open) => open.id), [id]);
  assert.ok(!existsSync(file("loot.txt")));
}

/** A page whose name is rebound to the console's address reaches nothing. */
async function rebinding() {
  await leaveBehind(...write("loot.txt", "x\n"));
  const console_ = await startConsole();
  await serveAttack("<!doctype html><title>rebound</title>", { host: "127.0.0.2", port: console_.port, forward: console_.port });
  const browser = await startBrowser("127.0.0.2");
  const page = await (await browser.newContext()).newPage();
  await page.goto(`http://evil.example:${console_.port}/`);
  const answers = await page.evaluate(async (login) => {
    const one = async (target, options) => {
      const answer = await fetch(target, options);
      return [answer.status, (await answer.text()).includes("loot")];
    };
    return [await one("/inbox"), await one(login), await one("/inbox/answer", { method: "POST", body: new URLSearchParams() })];
  }, new URL(console_.link).pathname);
  assert.deepEqual(answers, [[421, false], [421, false], [421, false]]);
  // The link was not spent.
  const own = await (await startBrowser()).newPage();
  await own.goto(console_.link);
  await own.waitForURL(/\/inbox/);
}

/** axe finds nothing on any page, in both colour schemes and at both widths; screenshots are kept. */
async function looks() {
  writeFileSync(file("main.rs"), readFileSync(new URL("sample.rs", import.meta.url), "utf8"));
  const before = readFileSync(file("main.rs"), "utf8");
  for (const [tool, path] of [["read", "main.rs"], ["read", "missing.rs"], ["list", "."], ["write", "main.rs"]]) {
    await portcullis("call", `files.${tool}`, JSON.stringify({ path, ...(tool === "write" && { content: "" }) }), "--ask", "deny");
  }
  const remembered = await leaveBehind(...write("notes/today.md", "- look at the console\n"), "7f3a90c2");
  await portcullis("approvals", "approve", remembered, "--always", "--yes");
  await leaveBehind("files.edit", { path: "main.rs", edits: [{ old: '    println!("{n}");\n', new: '    tracing::info!(n, "parsed");\n    report(n)?;\n' }] }, "7f3a90c2");
  await leaveBehind(...write("docs/plan.md", "# Plan\n\n1. Parse.\n2. Report.\n"), "7f3a90c2");
  await leaveBehind("good.run", { path: "src", count: 3 }, "nightly");
  assert.equal(readFileSync(file("main.rs"), "utf8"), before);
  const { page, console: console_, browser } = await signedIn();
  const live = ask(...write("docs/live.md", "x\n"), "7f3a90c2");
  const pages = ["/inbox", "/inbox/review?id=all", "/live", "/log", "/tools", "/remembered", "/policy"];
  await everyLook(page, console_.origin, pages);
  await portcullis("pause", "--reason", "looking at a strange call");
  await everyLook(page, console_.origin, ["/live", "/resume"], "paused-");
  await portcullis("resume", "--yes");
  for (const open of await questions()) {
    if (open.question.arguments.includes("docs/live.md")) await portcullis("approvals", "reject", open.id);
  }
  await live;
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${console_.origin}/policy`);
  await page.getByLabel("Tool").fill("files.write");
  await page.getByLabel("Arguments, as JSON").fill('{"path": "src/main.rs", "content": "x"}');
  await page.getByRole("button", { name: "Explain" }).click();
  await page.locator(".result").waitFor();
  await keep(page, "explain-1440-dark");
  await axe(page, "explain");
  await press(page, "?");
  await page.locator("#help[open]").waitFor();
  await keep(page, "keys-1440-dark");
  await axe(page, "keys");
  assert.deepEqual(page.problems, []);
  const outside = await (await browser.newContext()).newPage();
  await outside.goto(`${console_.origin}/inbox`);
  await axe(outside, "signed out");
  assert.deepEqual(violations, []);
}

/** Without its script, a page answers with its form alone. */
async function scriptless() {
  const id = await leaveBehind(...write("plain.txt", "plain\n"));
  const { page } = await signedIn({ javaScriptEnabled: false });
  await page.goto(new URL(`/inbox/${id}`, page.url()).href);
  await page.locator("#approve").click();
  await visible(page, "Approved.");
  for (let waits = 0; !existsSync(file("plain.txt")) && waits < 600; waits += 1) await page.waitForTimeout(100);
  assert.equal(readFileSync(file("plain.txt"), "utf8"), "plain\n");
  assert.deepEqual(page.problems, []);
}

/** The console of a service: a person signs in with the token of an approver, and answers. */
async function service() {
  const token = "alice-0123456789abcdef0123456789abcdef";
  const agent = "agent-0123456789abcdef0123456789abcdef";
  writeFileSync(`${told.site}/tokens`, `ci: ${agent}\napprover alice: ${token}\n`);
  chmodSync(`${told.site}/tokens`, 0o600);
  const { console: origin, stop } = await startService("--token-file", "tokens");
  const browser = await startBrowser();
  const page = await openPage(await browser.newContext(), new URL(origin).origin);
  await page.goto(origin);
  await keep(page, "sign-in-1280-light");
  await axe(page, "sign in");
  await page.getByLabel("Your token").fill(agent);
  await press(page, "Enter");
  await visible(page, "The token is unknown");
  await page.getByLabel("Your token").fill(token);
  await press(page, "Enter");
  await visible(page, "Nothing waits for you.");
  const written = ask(...write("one.txt", "one\n"));
  await visible(page, "wants to write");
  await page.locator("#approve:enabled").waitFor();
  await press(page, "y");
  assert.equal((await written).code, "completed");
  assert.equal((await portcullis("log")).by, "mcp.alice");
  // The operator takes the token back: the open page stops, and asks for another one.
  writeFileSync(`${told.site}/tokens`, `ci: ${agent}\napprover bob: ${token.replace("alice", "bob")}\n`);
  await page.locator("#connection[data-state=off]").waitFor();
  await page.reload();
  await page.getByLabel("Your token").waitFor();
  assert.deepEqual(page.problems, []);
  assert.deepEqual(violations, []);
  await stop();
}

/** Keeps a screenshot of each page at both widths and in both colour schemes, and looks for faults. */
async function everyLook(page, origin, targets, prefix = "") {
  for (const [width, height] of [[1440, 900], [375, 812]]) {
    for (const scheme of ["light", "dark"]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      for (const target of targets) {
        await page.goto(origin + target);
        await page.locator("#main").waitFor();
        if (target === "/live") await page.locator("#live-calls summary").first().click();
        const name = target.replace(/\W+/g, "-").replace(/^-|-id-all$/g, "");
        await keep(page, `${prefix}${name}-${width}-${scheme}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${prefix}${target} is ${wide} pixels too wide at ${width}`);
        await axe(page, `${prefix}${target} ${width} ${scheme}`);
      }
    }
  }
}

/** What axe found on any page. */
const violations = [];

/** Runs axe in the page. The script is injected by the browser's debugger, so the page's policy does not apply. */
async function axe(page, what) {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: readFileSync(AXE, "utf8") });
  const { result } = await session.send("Runtime.evaluate", {
    expression: `axe.run(document, { resultTypes: ["violations"] }).then((found) => JSON.stringify(found.violations.map((one) => [one.id, one.impact, one.nodes.map((node) => node.html.slice(0, 200) + " :: " + node.failureSummary)])))`,
    awaitPromise: true,
  });
  await session.detach();
  for (const found of JSON.parse(result.value)) violations.push([what, ...found]);
}

await run({ keys, arriving, hundred, racing, changed, restart, looking, pausing, unfolding, overtaking, hostile, attacker, rebinding, looks, scriptless, service });
