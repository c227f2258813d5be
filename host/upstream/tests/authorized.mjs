/**
 * An MCP server that needs an OAuth access token, its authorization server, and a hostile server, all on loopback.
 *
 * Usage: node authorized.mjs [MODE] [--ttl SECONDS]
 *
 * Without a mode, every server is honest. `authorized/attacks.mjs` lists the other modes. The script prints the
 * addresses as one line of JSON when the servers listen.
 */

import { createServer } from "node:http";
import { parseArgs } from "node:util";

import { attacks } from "./authorized/attacks.mjs";
import { authorizationServer } from "./authorized/authorization.mjs";
import { hostileServer } from "./authorized/hostile.mjs";
import { protectedServer } from "./authorized/protected.mjs";

// Only the addresses belong on standard output, but the packages print notices with these functions.
console.log = console.info = console.debug = console.error;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { ttl: { type: "string", default: "3600" } },
});
const [mode = "honest"] = positionals;
const ttl = Number(values.ttl);
if (!Object.hasOwn(attacks, mode) || !Number.isInteger(ttl) || ttl < 1) {
  console.error(`usage: node authorized.mjs [${Object.keys(attacks).join("|")}] [--ttl SECONDS]`);
  process.exit(2);
}

/** Listens on a free port, and returns the server with its origin. The addresses are needed before the handlers. */
async function listen() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
}

const [mcp, issuer, other] = await Promise.all([listen(), listen(), listen()]);
const addresses = { mcp: `${mcp.origin}/mcp`, issuer: issuer.origin, other: other.origin };
const attack = attacks[mode](addresses);

/** What the servers have received. `/control/seen` returns it. */
const seen = {
  registrations: 0,
  code_exchanges: 0,
  refreshes: 0,
  refused_refreshes: 0,
  resources: [],
  other: { authorizations: [], requests: [] },
};

const authorization = authorizationServer({ addresses, attack, seen, ttl });
issuer.server.on("request", authorization.handler);
mcp.server.on("request", protectedServer({ addresses, attack, seen, authorization }));
other.server.on("request", hostileServer(seen.other));

process.stdout.write(`${JSON.stringify(addresses)}\n`);
