import { manage, token } from '../../support/binary.ts';
import { openSignIn, redirectUris, type SignInFixture, verifier } from '../sign-in-fixture.ts';
import { CookieBrowser } from './cookie-browser.ts';
import { clientId, clientSecret, type OwnProvider, startOwnProvider } from './own-provider.ts';

type Parameters = Readonly<Record<string, string>>;

export interface SsoFixture extends SignInFixture {
  readonly provider: OwnProvider;
  readonly providerId: string;
  /** The public URL of the service. */
  readonly url: string;
  readonly teamId: string;
  /** Calls the management API as an API key of the first team. */
  call<T = Record<string, unknown>>(method: string, path: string, status: number, body?: unknown): Promise<T>;
  /** Calls the management API as the Admin of the first team, who is also in the other teams. */
  callAsAdmin: SsoFixture['call'];
  /** Changes the settings of the provider in this service. */
  configure(patch: object): Promise<void>;
  /** Starts a sign-in in a browser, up to the return from the provider. @returns the address of the callback */
  begin(browser: CookieBrowser, parameters?: Parameters, id?: string): Promise<URL>;
  /** Returns from the provider, and follows the redirects to the client or to a page. */
  finish(browser: CookieBrowser, callback: URL): Promise<EntryResult>;
  /** Signs in. */
  enter(browser?: CookieBrowser, parameters?: Parameters): Promise<EntryResult>;
  closeSso(): Promise<void>;
}

export interface EntryResult {
  readonly browser: CookieBrowser;
  /** The code of the client; `null` if the sign-in ended on a page. */
  readonly code: string | null;
  readonly status: number | undefined;
  readonly html: string;
  /** The code of the reason, if the sign-in was refused. */
  readonly reason: string | undefined;
}

/** Starts a service and a provider that is registered in the service. */
export async function openSso(settings: object = {}, args: readonly string[] = []): Promise<SsoFixture> {
  const fixture = await openSignIn({ args: ['--issuer-allow-private', ...args] });
  const { service, clock, target } = fixture;
  const { http, credentials } = service;
  const url = `http://${http}`;
  const provider = await startOwnProvider(() => clock.now());
  const call: SsoFixture['call'] = async (method, path, status, body) =>
    (await manage(http, await token(http, credentials), method, `/api/v2${path}`, status, body)) as never;
  const callAsAdmin: SsoFixture['call'] = async (method, path, status, body) => {
    const browser = fixture.newBrowser();
    const cli = { client_id: 'flagmeter-cli', redirect_uri: redirectUris.loopback };
    const code = (await fixture.signIn(browser, cli)).location!.searchParams.get('code')!;
    const form = { grant_type: 'authorization_code', code, code_verifier: verifier, ...cli };
    const response = await fetch(`${url}/connect/token`, { method: 'POST', body: new URLSearchParams(form) });
    const { access_token: access } = (await response.json()) as { access_token: string };
    return (await manage(http, access, method, `/api/v2${path}`, status, body)) as never;
  };
  const { teamId } = credentials;
  const wanted = { name: 'Corp', issuer: provider.issuer, clientId, clientSecret };
  const { id: providerId } = await call<{ id: string }>('POST', '/identity-providers', 201, {
    ...wanted,
    createUsers: true,
    defaultTeam: teamId,
    ...settings,
  });
  const begin: SsoFixture['begin'] = async (browser, parameters = {}, id = providerId) => {
    const query = target(parameters).split('?')[1]!;
    const start = `${url}/connect/providers/${id}/start?${new URLSearchParams({ page: 'authorize', query })}`;
    const { last } = await browser.follow(start, ({ pathname }) => pathname.endsWith('/callback'));
    return last;
  };
  const finish: SsoFixture['finish'] = async (browser, callback) => {
    const isClient = ({ href }: URL) => href.startsWith(redirectUris.web);
    const { last, response } = await browser.follow(callback, isClient);
    const html = (await response?.text()) ?? '';
    const reason = /Reason: <code>(\w+)</.exec(html)?.[1];
    const code = isClient(last) ? last.searchParams.get('code') : null;
    return { browser, code, status: response?.status, html, reason };
  };
  return {
    ...fixture,
    provider,
    providerId,
    url,
    teamId,
    call,
    callAsAdmin,
    begin,
    finish,
    configure: async (patch) => void (await call('PATCH', `/identity-providers/${providerId}`, 200, patch)),
    enter: async (browser = new CookieBrowser(), parameters = {}) => finish(browser, await begin(browser, parameters)),
    async closeSso() {
      await Promise.all([service.stop(), provider.close()]);
    },
  };
}
