// Runs an OpenID provider for tests on a free local port. It prints its URL and stops when its standard input
// ends. Users sign in by typing a name, without a password. The first argument is the algorithm that signs
// tokens, ES256 or RS256. The other arguments are additional redirect URLs. `community` is a public client,
// `confidential` has a secret, and `page` redirects to the loopback address on any port (RFC 8252 section
// 7.3).

import { createServer } from "node:http";
import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import Provider from "oidc-provider";

const ALGORITHM = process.argv[2] ?? "RS256";
const REDIRECTS = ["https://client.invalid/signed-in", ...process.argv.slice(3)];
const KEYS = { RS256: ["rsa", { modulusLength: 2048 }], ES256: ["ec", { namedCurve: "P-256" }] };

async function signingKey() {
  const { privateKey } = await promisify(generateKeyPair)(...KEYS[ALGORITHM]);
  return { ...privateKey.export({ format: "jwk" }), kid: `key-${Date.now()}`, alg: ALGORITHM, use: "sig" };
}

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "community",
      token_endpoint_auth_method: "none",
      redirect_uris: REDIRECTS,
      id_token_signed_response_alg: ALGORITHM,
    },
    {
      client_id: "page",
      application_type: "native",
      token_endpoint_auth_method: "none",
      redirect_uris: ["http://127.0.0.1/"],
      id_token_signed_response_alg: ALGORITHM,
    },
    {
      client_id: "confidential",
      client_secret: "a secret: with/signs & spaces",
      redirect_uris: REDIRECTS,
      id_token_signed_response_alg: ALGORITHM,
    },
  ],
  clientAuthMethods: ["none", "client_secret_basic"],
  cookies: { keys: ["for tests"] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  jwks: { keys: [await signingKey()] },
});
server.on("request", provider.callback());
console.log(issuer);
process.stdin.resume();
process.stdin.on("end", () => process.exit());
