/**
 * An OpenID provider that uses `oidc-provider`, and signs access tokens with ES256: `node provider.mjs CLIENT_ID
 * CLIENT_SECRET` prints `provider ready http=HOST:PORT`. Tokens are JWTs, so its adapter does not store tokens.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const [clientId, clientSecret] = process.argv.slice(2);
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const resource = 'https://api.example.com';
const resourceServer = {
  scope: 'flagmeter',
  audience: resource,
  accessTokenFormat: 'jwt',
  accessTokenTTL: 3600,
  jwt: { sign: { alg: 'ES256' } },
};

const server = createServer((request, response) => handle(request, response));
server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const http = `127.0.0.1:${server.address().port}`;
const provider = new Provider(`http://${http}`, {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: 'ES256',
    },
  ],
  cookies: { keys: ['unused: no one signs in'] },
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    introspection: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: { enabled: true, defaultResource: () => resource, getResourceServerInfo: () => resourceServer },
  },
});
const handle = provider.callback();

process.stdout.write(`provider ready http=${http}\n`);
