/**
 * The modes. Each returns what its servers do differently from honest ones:
 *
 * - `metadata`: fields of the authorization server's metadata that are replaced.
 * - `metadataPadding`: bytes that are added to this metadata.
 * - `metadataHangs`: whether a request for this metadata gets no response.
 * - `authorizationResponse`: parameters of the redirect to the client that are replaced.
 * - `tokenRedirect`: where the token endpoint redirects every request.
 * - `confidential`: whether every client gets a secret and has to authenticate with it.
 * - `resource`: the identifier in the metadata of the MCP server.
 * - `challengedMetadata`: the URL of this metadata in a challenge.
 * - `mcpRedirect`: where the MCP server redirects every request with a valid token.
 */
export const attacks = {
  honest: () => ({}),
  "issuer-mixup": ({ other }) => ({ metadata: { issuer: other } }),
  "iss-parameter": ({ other }) => ({ authorizationResponse: { iss: other } }),
  "foreign-resource": ({ other }) => ({ resource: `${other}/mcp` }),
  "foreign-token-endpoint": ({ other }) => ({ metadata: { token_endpoint: `${other}/token` } }),
  "no-pkce": () => ({ metadata: { code_challenge_methods_supported: ["plain"] } }),
  "redirect-token": ({ other }) => ({ tokenRedirect: `${other}/token` }),
  "redirect-mcp": ({ other }) => ({ mcpRedirect: `${other}/mcp` }),
  "private-metadata": () => ({ challengedMetadata: "http://169.254.169.254/" }),
  "huge-metadata": () => ({ metadataPadding: 64 * 1024 * 1024 }),
  "slow-metadata": () => ({ metadataHangs: true }),
  state: () => ({ authorizationResponse: { state: "another-state" } }),
  confidential: () => ({ confidential: true }),
};
