/** The MCP server. It needs an access token of the authorization server for each request. */

import { randomUUID } from "node:crypto";

import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  Server,
  StreamableHTTPServerTransport,
  createMcpExpressApp,
} from "./packages.mjs";

const METADATA_PATH = "/.well-known/oauth-protected-resource/mcp";
/** The scope that a client without a token has to request. */
const SCOPE = "tools";

/** Returns the handler of requests to the MCP server, its metadata and the control endpoints. */
export function protectedServer({ addresses, attack, seen, authorization }) {
  const metadataUrl = attack.challengedMetadata ?? new URL(METADATA_PATH, addresses.mcp).href;
  const requiredScopes = new Set([SCOPE]);
  const app = createMcpExpressApp();

  app.get(METADATA_PATH, (_request, response) => {
    response.json({
      resource: attack.resource ?? addresses.mcp,
      authorization_servers: [addresses.issuer],
      scopes_supported: [SCOPE],
      bearer_methods_supported: ["header"],
    });
  });

  app.all(
    "/mcp",
    authenticate({ resource: addresses.mcp, metadataUrl, requiredScopes, authorization }),
    (_request, response, next) => {
      if (attack.mcpRedirect === undefined) return next();
      response.redirect(307, attack.mcpRedirect);
    },
    serveSessions(),
  );

  app.get("/control/seen", (_request, response) => response.json(seen));
  app.post("/control/expire", async (_request, response) => {
    await authorization.expire();
    response.sendStatus(204);
  });
  app.post("/control/revoke", async (_request, response) => {
    await authorization.revoke();
    response.sendStatus(204);
  });
  app.post("/control/scope", (_request, response) => {
    requiredScopes.add("admin");
    response.sendStatus(204);
  });
  return app;
}

/** Returns the middleware that refuses requests without a valid token for this resource. */
function authenticate({ resource, metadataUrl, requiredScopes, authorization }) {
  const refuse = (response, status, scope, error) => {
    const parameters = { resource_metadata: metadataUrl, scope, ...error };
    const challenge = Object.entries(parameters).map(([name, value]) => `${name}="${value}"`);
    response.set("WWW-Authenticate", `Bearer ${challenge.join(", ")}`).status(status).json(error ?? {});
  };
  return async (request, response, next) => {
    const [, value] = /^Bearer +(\S+)$/i.exec(request.get("authorization") ?? "") ?? [];
    if (value === undefined) return refuse(response, 401, SCOPE);
    const token = await authorization.findAccessToken(value);
    if (token === undefined || token.isExpired || token.aud !== resource) {
      return refuse(response, 401, SCOPE, { error: "invalid_token" });
    }
    const scopes = token.scope?.split(" ") ?? [];
    if (![...requiredScopes].every((scope) => scopes.includes(scope))) {
      return refuse(response, 403, [...requiredScopes].join(" "), { error: "insufficient_scope" });
    }
    // The transport passes this on to the tools.
    request.auth = { token: value, clientId: token.clientId, scopes, extra: { subject: token.accountId } };
    next();
  };
}

/** Returns the handler that opens a session for each client without one. */
function serveSessions() {
  const sessions = new Map();
  return async (request, response) => {
    const id = request.get("mcp-session-id");
    let transport = sessions.get(id);
    if (id !== undefined && transport === undefined) {
      return response.status(404).json(jsonRpcError(-32001, "Session not found"));
    }
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (created) => sessions.set(created, transport),
        onsessionclosed: (closed) => sessions.delete(closed),
      });
      await toolServer().connect(transport);
    }
    await transport.handleRequest(request, response, request.body);
  };
}

function jsonRpcError(code, message) {
  return { jsonrpc: "2.0", error: { code, message }, id: null };
}

/** Returns an MCP server with the tools `whoami` and `echo`. */
function toolServer() {
  const server = new Server({ name: "authorized", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      {
        name: "whoami",
        description: "Returns the subject and the client of the access token.",
        inputSchema: { type: "object" },
      },
      {
        name: "echo",
        description: "Returns a text.",
        inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      },
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { authInfo }) => {
    if (params.name === "whoami") {
      return text(JSON.stringify({ subject: authInfo.extra.subject, client_id: authInfo.clientId }));
    }
    if (params.name === "echo") return text(String(params.arguments?.text));
    return { ...text(`unknown tool: ${params.name}`), isError: true };
  });
  return server;
}

function text(words) {
  return { content: [{ type: "text", text: words }] };
}
