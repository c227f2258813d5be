/**
 * An MCP server on the official SDK, with the tools of the conformance suite's reference server. The suite's package
 * does not have that server.
 *
 * Usage: node reference.mjs handshake|modern
 *
 * The server speaks one era of the protocol: with sessions up to 2025-11-25, or 2026-07-28. It prints its address as one
 * line of JSON when it listens.
 */

import { randomUUID } from "node:crypto";

import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  serve,
} from "./reference/packages.mjs";
import { questions } from "./reference/questions.mjs";
import { tool, tools } from "./reference/tools.mjs";

/** A tool that the list contains from time to time. */
const late = tool("late", "Was added while the server runs.", () => ({ content: [{ type: "text", text: "Late." }] }));
let hasLate = false;
/** Tells the clients that the list has changed. */
let announce = () => {};

const change = tool("test_trigger_tool_change", "Adds or removes a tool.", () => {
  hasLate = !hasLate;
  announce();
  return { content: [{ type: "text", text: "The list of tools has changed." }] };
});

/** Returns a server with all tools. */
function server() {
  const capabilities = { tools: { listChanged: true }, logging: {} };
  const server = new Server({ name: "reference", version: "1.0.0" }, { capabilities });
  const listed = () => [...tools, ...questions, change, ...(hasLate ? [late] : [])];
  server.setRequestHandler("tools/list", () => ({ tools: listed().map(({ definition }) => definition) }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const called = listed().find(({ definition }) => definition.name === params.name);
    if (called === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `no tool ${params.name}`);
    return called.run(params.arguments ?? {}, context);
  });
  return server;
}

/** Returns a handler of requests of the era with a handshake, which keeps sessions. */
function withSessions() {
  const sessions = new Map();
  announce = () => sessions.forEach(({ server }) => server.sendToolListChanged());
  return async (request) => {
    const known = sessions.get(request.headers.get("mcp-session-id"));
    if (known !== undefined) return known.transport.handleRequest(request);
    const session = server();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, { transport, server: session }),
      onsessionclosed: (id) => sessions.delete(id),
    });
    await session.connect(transport);
    return transport.handleRequest(request);
  };
}

/** Returns a handler of requests of the era without a handshake. */
function withoutSessions() {
  const handler = createMcpHandler(server, { legacy: "reject" });
  announce = () => handler.notify.toolsChanged();
  return handler.fetch;
}

const eras = { handshake: withSessions, modern: withoutSessions };
const era = eras[process.argv[2]];
if (era === undefined) {
  console.error(`usage: node reference.mjs ${Object.keys(eras).join("|")}`);
  process.exit(2);
}

serve({ fetch: era(), hostname: "127.0.0.1", port: 0 }, ({ port }) => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` })}\n`);
});
