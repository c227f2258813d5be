// The first two minutes of a person: `init` in a project, an agent's client that starts what `init` wrote, a write that
// waits, an answer in the console, and a look at the log. No file is edited by hand.

import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { PATIENCE, assert, openPage, press, run, startBrowser, told } from "./desk.mjs";

const require = createRequire(`${told.modules}/`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

const environment = { HOME: told.home, PATH: "/usr/bin:/bin" };

/** Runs `portcullis` in the project, as a person would. Returns what it prints. */
function portcullis(...words) {
  return new Promise((resolve, reject) => {
    execFile(told.program, words, { cwd: told.project, env: environment }, (error, out, err) => {
      if (error) return reject(new Error(`${error}\n${out}\n${err}`));
      resolve(out);
    });
  });
}

/** Starts what `init` wrote for Claude Code, with a client of the official SDK. */
async function agent() {
  const entry = JSON.parse(readFileSync(`${told.project}/.mcp.json`, "utf8")).mcpServers.portcullis;
  const client = new Client({ name: "claude-code", version: "1" });
  await client.connect(new StdioClientTransport({ ...entry, env: environment, stderr: "inherit" }));
  return client;
}

async function minutes() {
  const began = Date.now();
  await portcullis("init", "--yes");

  const client = await agent();
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  for (const name of ["files__read", "files__write", "files__edit"]) assert.ok(names.includes(name), names.join(" "));
  const read = await client.callTool({ name: "files__read", arguments: { path: "src/main.rs" } });
  assert.ok(!read.isError, JSON.stringify(read));
  const writing = client.callTool(
    { name: "files__write", arguments: { path: "src/lib.rs", content: "pub fn two() {}\n" } },
    undefined,
    { timeout: PATIENCE },
  );

  const child = spawn(told.program, ["--json", "console"], {
    cwd: told.project, env: environment, stdio: ["ignore", "pipe", "inherit"],
  });
  const { url } = JSON.parse((await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()).value);
  const browser = await startBrowser();
  const page = await openPage(await browser.newContext(), new URL(url).origin);
  await page.goto(url);
  await page.getByText("wants to").first().waitFor();
  await page.getByText("src/lib.rs").first().waitFor();
  await page.locator("#approve:enabled").waitFor();
  await press(page, "y");

  const written = await writing;
  assert.ok(!written.isError, JSON.stringify(written));
  assert.equal(readFileSync(`${told.project}/src/lib.rs`, "utf8"), "pub fn two() {}\n");
  const log = await portcullis("log");
  assert.match(log, /files\.write +src\/lib\.rs +completed .*approved once by a person/);
  assert.deepEqual(page.problems, []);

  // A person who trusts the agent with this directory says so in the words of the README.
  await portcullis("allow", "files.write", "--when", "path=src/**", "--yes");
  const again = await client.callTool({ name: "files__write", arguments: { path: "src/lib.rs", content: "" } });
  assert.ok(!again.isError, JSON.stringify(again));
  const hidden = await client.callTool({ name: "files__read", arguments: { path: ".env" } });
  assert.ok(hidden.isError && !JSON.stringify(hidden).includes("canary"), JSON.stringify(hidden));
  console.log(`from init to the log: ${Date.now() - began} ms`);

  await client.close();
  await new Promise((resolve) => { child.once("exit", resolve); child.kill("SIGTERM"); });
}

await run({ minutes });
