// oidc-provider, an implementation of OpenID Connect that is not ours: node provider.mjs URL CLIENT REDIRECT
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [url, client, redirect] = process.argv.slice(2);
const found = createRequire(new URL("../../web/package.json", import.meta.url)).resolve("oidc-provider");
const { Provider } = await import(pathToFileURL(found));

const provider = new Provider(url, {
  clients: [
    {
      client_id: client,
      client_secret: process.env.CLIENT_SECRET,
      token_endpoint_auth_method: process.env.CLIENT_SECRET ? "client_secret_basic" : "none",
      redirect_uris: [redirect],
    },
  ],
  claims: { openid: ["sub", "tenant"], profile: ["name"] },
  conformIdTokenClaims: false, // the ID token has the claims of the scopes
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, tenant: "acme", name: `${id} of Acme` }) }),
  cookies: { keys: ["only a test"] },
});
provider.listen(new URL(url).port, "127.0.0.1", () => console.log("listening"));
