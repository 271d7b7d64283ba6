import type { Person } from '../../auth/sign-in-fixture.ts';
import { encode, type Parameters } from '../../auth/test-browser.ts';
import type { LocalService } from '../../support/service.ts';

export const ownPage = { 'flagmeter-console': '1', 'sec-fetch-site': 'same-origin' };

export interface RequestContent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A browser that signs in to the console. It keeps cookies, and does not follow redirects by itself. */
export class ConsoleBrowser {
  /** Cookies by name. */
  readonly cookies = new Map<string, string>();
  /** The values of `Set-Cookie` of the last response. */
  lastCookies: readonly string[] = [];
  readonly #http: string;

  constructor({ http }: Pick<LocalService, 'http'>) {
    this.#http = http;
  }

  /** Sends a request to the service. The host name of the address is ignored, because the service serves all hosts. */
  async go(target: string | URL, sent: RequestContent = {}, method = 'GET'): Promise<Response> {
    const { pathname, search } = new URL(target, 'http://any');
    const cookie = Array.from(this.cookies, (pair) => pair.join('=')).join('; ');
    const response = await fetch(`http://${this.#http}${pathname}${search}`, {
      method,
      redirect: 'manual',
      headers: { ...(cookie !== '' && { cookie }), ...sent.headers },
      ...(sent.body !== undefined && { body: sent.body as string }),
    });
    this.lastCookies = response.headers.getSetCookie();
    for (const line of this.lastCookies) this.#keep(line);
    return response;
  }

  /** Sends a request as the script of a console page does. */
  ask(method: string, path: string, { headers = {}, body }: RequestContent = {}): Promise<Response> {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    return this.go(path, { ...json, headers: { ...ownPage, ...type, ...headers } }, method);
  }

  /** Starts a sign-in. @returns the address of the sign-in page */
  async begin(query: Parameters = {}): Promise<URL> {
    const location = readLocation(await this.go(`/console/sign-in?${encode(query)}`));
    if (!location.pathname.endsWith('/console/sign-in')) return location;
    // The base URL can have another host name. A proxy would forward requests for it to the service.
    return readLocation(await this.go(`/console/sign-in${location.search}`));
  }

  /**
   * Fills in the sign-in page. Replaces a temporary password with another one.
   * @returns the address of the callback
   */
  async authorize(page: URL, { email, password }: Person): Promise<URL> {
    const shown = await this.go(page);
    if (shown.status === 303) return readLocation(shown); // The user is already signed in.
    const form = /name="form" value="([^"]*)"/.exec(await shown.text())?.[1];
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const post = (fields: Parameters) => this.go(page, { headers, body: encode({ form, ...fields }) }, 'POST');
    const response = await post({ email, password });
    if (response.status === 303) return readLocation(response);
    const next = /name="form" value="([^"]*)"/.exec(await response.text())?.[1];
    const own = `${password}, of their own`;
    return readLocation(await post({ form: next, action: 'new-password', password: own, again: own }));
  }

  /** Signs in. @returns the response of the callback */
  async signIn(person: Person, query: Parameters = {}): Promise<Response> {
    return this.go(await this.authorize(await this.begin(query), person));
  }

  /** Returns the status of a request to the management API. */
  async status(): Promise<number> {
    return (await this.ask('GET', '/api/v2/users/me')).status;
  }

  /** Returns the signed-in user; `null` if no user is signed in. */
  async who(): Promise<string | null> {
    const { user } = (await (await this.ask('GET', '/console/session')).json()) as { user: { email: string } | null };
    return user?.email ?? null;
  }

  /** Name and value of the session cookie; `undefined` without a session. */
  get session(): readonly [name: string, value: string] | undefined {
    return [...this.cookies].find(([name]) => name.includes('flagmeter-console'));
  }

  /** Names of the cookies that belong to sign-in attempts. */
  get attempts(): readonly string[] {
    return [...this.cookies.keys()].filter((name) => name.includes('flagmeter-sign-in'));
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/Max-Age=0(;|$)/.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** Returns the address that a response redirects to. @throws {Error} if it does not redirect */
export function readLocation(response: Response): URL {
  const location = response.headers.get('location');
  if (response.status !== 303 || location === null) throw new Error(`no redirect, but ${response.status}`);
  return new URL(location);
}
