import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Typed as `string`, so that the compiler does not look for types, which the package lacks. */
const packageName: string = 'oidc-provider';

interface OidcModule {
  readonly Provider: new (issuer: string, configuration: object) => { callback(): RequestListener };
}

/** A certified OpenID provider, with its own pages for signing in and out. */
export interface OidcProvider {
  readonly issuer: string;
  /** The groups of each user, by login name. Tests may change them. */
  readonly groups: Map<string, readonly string[]>;
  register(urls: ClientUrls): void;
  close(): Promise<void>;
}

export interface ClientUrls {
  readonly redirectUri: string;
  readonly postLogoutRedirectUri: string;
  readonly backchannelLogoutUri: string;
}

export const oidcClient = { clientId: 'flagmeter', clientSecret: 's'.repeat(43) };

/** Starts a provider on this machine. It accepts every login name. */
export async function startOidcProvider(): Promise<OidcProvider> {
  const { Provider } = (await import(packageName)) as OidcModule;
  let listener: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const groups = new Map<string, readonly string[]>();
  return {
    issuer,
    groups,
    register(urls) {
      listener = new Provider(issuer, configuration(urls, groups)).callback();
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function configuration(urls: ClientUrls, groups: ReadonlyMap<string, readonly string[]>) {
  return {
    clients: [
      {
        client_id: oidcClient.clientId,
        client_secret: oidcClient.clientSecret,
        redirect_uris: [urls.redirectUri],
        post_logout_redirect_uris: [urls.postLogoutRedirectUri],
        backchannel_logout_uri: urls.backchannelLogoutUri,
        backchannel_logout_session_required: true,
      },
    ],
    cookies: { keys: ['a key for the cookies of the test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        email: `${id}@corp.example`,
        email_verified: true,
        name: id,
        groups: [...(groups.get(id) ?? [])],
      }),
    }),
  };
}
