/** The authorization server: `oidc-provider`, with a user who always logs in and consents. */

import { Readable } from "node:stream";
import { json } from "node:stream/consumers";

import { Provider, errors } from "./packages.mjs";

const USER = "ann";
const METADATA_PATHS = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
const REGISTRATION_PATH = "/reg";
const TOKEN_PATH = "/token";
const PADDING_CHUNK = 64 * 1024;

/** Returns the handler of requests, and the functions that look up and revoke tokens. */
export function authorizationServer({ addresses, attack, seen, ttl }) {
  const provider = new Provider(addresses.issuer, configuration({ addresses, attack, ttl }));
  const issued = trackIssued(provider);
  provider.on("server_error", (_ctx, error) => console.error(error));
  provider.on("authorization.success", (_ctx, response) => Object.assign(response, attack.authorizationResponse));
  provider.use(changeMetadata(attack));
  provider.use(countRequests(seen));
  if (attack.tokenRedirect !== undefined) provider.use(redirectTokenRequests(attack.tokenRedirect));
  if (attack.confidential) provider.use(makeClientsConfidential);
  provider.use(finishInteractions(provider));
  return {
    handler: provider.callback(),
    /** Returns the valid access token with a value, or undefined. */
    findAccessToken: (value) => provider.AccessToken.find(value),
    /** Makes every access token invalid. Refresh tokens stay valid. */
    async expire() {
      await Promise.all(issued.accessTokens.splice(0).map((token) => token.destroy()));
    },
    /** Revokes every grant, with its codes and tokens. */
    async revoke() {
      const models = [provider.AccessToken, provider.RefreshToken, provider.AuthorizationCode];
      for (const grant of issued.grants.splice(0)) {
        await Promise.all(models.map((model) => model.revokeByGrantId(grant.jti)));
        await grant.destroy();
      }
    },
  };
}

function configuration({ addresses, attack, ttl }) {
  // A malicious server names another one as its resource. The authorization server knows both, so only the client can
  // notice this.
  const resources = [addresses.mcp, attack.resource];
  return {
    clientAuthMethods: attack.confidential ? ["client_secret_basic"] : ["none", "client_secret_basic"],
    // A token is invalid in the second in which it expires.
    clockTolerance: 0,
    cookies: { keys: ["loopback"] },
    expiresWithSession: () => false,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_ctx, resource) {
          if (!resources.includes(resource)) throw new errors.InvalidTarget();
          return { scope: "tools admin", audience: resource, accessTokenTTL: ttl, accessTokenFormat: "opaque" };
        },
      },
      revocation: { enabled: true },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    // The package drops the scope `offline_access` unless the request has `prompt=consent`, so the scope cannot decide.
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    pkce: { required: () => true },
    responseTypes: ["code"],
    rotateRefreshToken: true,
    routes: { registration: REGISTRATION_PATH, token: TOKEN_PATH },
    scopes: ["offline_access", "tools", "admin"],
    ttl: { AccessToken: ttl, Grant: 86_400, IdToken: 3600, Interaction: 600, RefreshToken: 86_400, Session: 86_400 },
  };
}

/** Collects the access tokens and grants that the provider stores. */
function trackIssued(provider) {
  const issued = { accessTokens: [], grants: [] };
  provider.on("access_token.saved", (token) => issued.accessTokens.push(token));
  provider.on("grant.saved", (grant) => issued.grants.push(grant));
  return issued;
}

/** Returns the middleware that changes the metadata as the attack wants. */
function changeMetadata(attack) {
  return async (ctx, next) => {
    if (ctx.method !== "GET" || !METADATA_PATHS.includes(ctx.path)) return next();
    // The promise never settles, so the client gets no response.
    if (attack.metadataHangs) await new Promise(() => {});
    await next();
    Object.assign(ctx.body, attack.metadata);
    if (attack.metadataPadding !== undefined) ctx.body = Readable.from(padded(ctx.body, attack.metadataPadding));
  };
}

/** Yields the JSON of some metadata with a field of the given size. A stream has no `Content-Length`. */
function* padded(metadata, size) {
  yield `${JSON.stringify(metadata).slice(0, -1)},"padding":"`;
  for (let left = size; left > 0; left -= PADDING_CHUNK) yield "x".repeat(Math.min(left, PADDING_CHUNK));
  yield '"}';
}

/** Returns the middleware that counts the requests of clients, whether they are refused or not. */
function countRequests(seen) {
  return async (ctx, next) => {
    await next();
    if (ctx.method !== "POST") return;
    if (ctx.path === REGISTRATION_PATH) seen.registrations += 1;
    if (ctx.path !== TOKEN_PATH || ctx.oidc?.params === undefined) return;
    const { grant_type: grantType, resource = null } = ctx.oidc.params;
    seen.resources.push(...[resource].flat());
    if (grantType === "authorization_code") seen.code_exchanges += 1;
    if (grantType === "refresh_token") {
      seen.refreshes += 1;
      if (ctx.status >= 400) seen.refused_refreshes += 1;
    }
  };
}

function redirectTokenRequests(location) {
  return (ctx, next) => {
    if (ctx.path !== TOKEN_PATH) return next();
    ctx.redirect(location);
    ctx.status = 307;
  };
}

/** Replaces the authentication method in a registration. RFC 7591 allows a server to replace requested metadata. */
async function makeClientsConfidential(ctx, next) {
  if (ctx.method === "POST" && ctx.path === REGISTRATION_PATH) {
    const requested = await json(ctx.req);
    ctx.request.body = { ...requested, token_endpoint_auth_method: "client_secret_basic" };
  }
  return next();
}

/** Returns the middleware that logs the user in and grants every requested scope, without a page. */
function finishInteractions(provider) {
  return async (ctx, next) => {
    if (!ctx.path.startsWith("/interaction/")) return next();
    const { params } = await provider.interactionDetails(ctx.req, ctx.res);
    const grant = new provider.Grant({ accountId: USER, clientId: params.client_id });
    grant.addOIDCScope(params.scope ?? "");
    for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, params.scope ?? "");
    const result = { login: { accountId: USER }, consent: { grantId: await grant.save() } };
    ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result));
  };
}
