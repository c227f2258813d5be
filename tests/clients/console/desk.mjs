// A console and a browser for one scenario. Everything runs on this machine, and nothing else is reached.

import { spawn, execFile } from "node:child_process";
import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { strict as assert } from "node:assert";
import http from "node:http";

const told = JSON.parse(process.argv[2]);
const require = createRequire(`${told.modules}/`);
const { chromium } = require("playwright-core");
export const AXE = require.resolve("axe-core");
export { assert, told };

/** Timeout of every wait. It only makes a test fail. */
export const PATIENCE = 60000;

const places = ["--plugins", "plugins", "--policy", "policy.toml", "--state", "state"];
const running = [];

/** Runs `portcullis` to its end. Returns its document. */
export function portcullis(...words) {
  return new Promise((resolve, reject) => {
    execFile(told.program, ["--json", ...words, ...places], { cwd: told.site }, (error, out, err) => {
      if (out.trim() === "") return reject(error ?? new Error(err));
      resolve(JSON.parse(out.trim().split("\n").pop()));
    });
  });
}

/** Makes a call whose process ends before an answer. Returns the id of its request. */
export async function leaveBehind(tool, args, session = "default") {
  const before = new Set((await questions()).map((open) => open.id));
  await portcullis("call", tool, JSON.stringify(args), "--ask", "pending", "--session", session);
  return (await questions()).find((open) => !before.has(open.id)).id;
}

/** Makes a call that waits for its answer. Returns the promise of its reply. */
export function ask(tool, args, session = "default") {
  return portcullis("call", tool, JSON.stringify(args), "--ask", "wait", "--session", session);
}

/** Returns the requests that wait. */
export async function questions() {
  const listing = await portcullis("approvals", "list");
  // Before the first call there is no ledger, and the document is an error.
  return (listing.questions ?? []).filter((open) => open.status === "pending");
}

/** Starts a console. */
export async function startConsole(port = 0) {
  const child = spawn(told.program, ["--json", "console", "--port", String(port), ...places], {
    cwd: told.site,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const link = async () => JSON.parse((await lines.next()).value).url;
  const first = await link();
  const stop = () => new Promise((resolve) => { child.once("exit", resolve); child.kill("SIGTERM"); });
  const another = () => { child.kill("SIGUSR1"); return link(); };
  return { link: first, another, stop, origin: new URL(first).origin, port: Number(new URL(first).port) };
}

/** Starts a service with a console. */
export async function startService(...words) {
  const child = spawn(told.program, ["--json", "serve", "--http", "127.0.0.1:0", "--console", ...words, ...places], {
    cwd: told.site,
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.push(child);
  const line = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const stop = () => new Promise((resolve) => { child.once("exit", resolve); child.kill("SIGTERM"); });
  return { ...JSON.parse(line.value), stop };
}

/** Starts a browser that knows no other machine. Names resolve to `resolved`. */
export async function startBrowser(resolved = "127.0.0.1") {
  const browser = await chromium.launch({
    executablePath: told.browser,
    args: [
      "--no-sandbox", "--disable-gpu",
      // Browsers are starting to ask before a page may reach the local network. The console must not rely on it.
      "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
      `--host-resolver-rules=MAP * ${resolved}, EXCLUDE 127.0.0.1, EXCLUDE localhost`,
    ],
  });
  running.push({ kill: () => browser.close() });
  return browser;
}

/** Opens a page that fails the scenario at any error of its script, dialog or foreign request. */
export async function openPage(context, origin) {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(`error: ${error}`));
  page.on("dialog", (dialog) => { page.problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("console", (message) => {
    if (/Content Security Policy|Trusted Type/i.test(message.text())) page.problems.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) page.problems.push(`request: ${request.url()}`);
  });
  return page;
}

/** Starts a console and a browser that is signed in to it. */
export async function signedIn(options = {}) {
  const console_ = await startConsole();
  const browser = await startBrowser();
  const context = await browser.newContext(options);
  const page = await openPage(context, console_.origin);
  await page.goto(console_.link);
  await page.waitForURL(/\/inbox/);
  return { console: console_, browser, context, page };
}

/** Presses a key on the page, not in a field. */
export async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

/** Serves a page of an attacker. Every path has the same page. */
export function serveAttack(html, { host = "127.0.0.1", port = 0, forward } = {}) {
  const server = http.createServer((request, response) => {
    if (forward && request.url !== "/") {
      // After DNS rebinding, the browser reaches the console under the attacker's name.
      const passed = http.request(
        { host: "127.0.0.1", port: forward, path: request.url, method: request.method, headers: request.headers },
        (answer) => { response.writeHead(answer.statusCode, answer.headers); answer.pipe(response); },
      );
      return request.pipe(passed);
    }
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(html);
  });
  running.push({ kill: () => server.close() });
  return new Promise((resolve) => server.listen(port, host, () => resolve(server.address().port)));
}

/** Keeps a screenshot for people to look at. */
export async function keep(page, name) {
  mkdirSync(told.artefacts, { recursive: true });
  await page.screenshot({ path: `${told.artefacts}/${name}.png` });
}

/** Runs the scenario that the test names. */
export async function run(scenarios) {
  const scenario = scenarios[told.scenario];
  assert.ok(scenario, `there is no scenario ${told.scenario}`);
  let failed;
  try {
    await scenario();
  } catch (error) {
    failed = error;
  }
  for (const part of running.reverse()) await part.kill();
  if (failed) {
    console.error(failed);
    process.exit(1);
  }
  process.exit(0);
}
