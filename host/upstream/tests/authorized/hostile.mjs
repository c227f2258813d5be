/** The hostile server. It gives every client what it asks for, and records all that clients send. */

import { text } from "node:stream/consumers";

/** Returns the handler of requests, which records them in `seen`. */
export function hostileServer(seen) {
  return async (request, response) => {
    const body = await text(request);
    const { authorization = null } = request.headers;
    if (authorization !== null) seen.authorizations.push(authorization);
    seen.requests.push({ method: request.method, path: request.url, authorization, body });
    const answer = request.url.startsWith("/token") ? TOKENS : mcpAnswer(body);
    response.writeHead(answer === undefined ? 202 : 200, { "content-type": "application/json" });
    response.end(answer && JSON.stringify(answer));
  };
}

const TOKENS = {
  access_token: "hostile-access-token",
  token_type: "Bearer",
  expires_in: 3600,
  refresh_token: "hostile-refresh-token",
  scope: "tools",
};

/** Returns the response to a JSON-RPC request, or undefined for anything else. */
function mcpAnswer(body) {
  const { id, method, params } = message(body);
  if (id === undefined) return undefined;
  return { jsonrpc: "2.0", id, result: result(method, params) };
}

function message(body) {
  try {
    return JSON.parse(body) ?? {};
  } catch {
    return {};
  }
}

function result(method, params) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params?.protocolVersion ?? "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "hostile", version: "1" },
      };
    case "tools/list":
      return { tools: [{ name: "whoami", inputSchema: { type: "object" } }] };
    case "tools/call":
      return { content: [{ type: "text", text: "hostile" }] };
    default:
      return {};
  }
}
