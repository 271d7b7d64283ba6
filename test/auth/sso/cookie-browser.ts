/** A browser without JavaScript: it keeps cookies, and follows redirects. */
export class CookieBrowser {
  readonly #cookies = new Map<string, string>();

  /** Copies the cookies whose names contain `part` from another browser. */
  steal(part: string, from: CookieBrowser): void {
    for (const [key, value] of from.#cookies) if (key.includes(part)) this.#cookies.set(key, value);
  }

  /** Changes the cookies whose names contain `part`. */
  forge(part: string, change: (value: string) => string): void {
    for (const [key, value] of this.#cookies) if (key.includes(part)) this.#cookies.set(key, change(value));
  }

  /** Sends a request with the cookies of the host. Redirects are not followed. */
  async send(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const address = new URL(url);
    const own = [...this.#cookies].filter(([name]) => name.startsWith(`${address.host} `));
    const cookie = own.map(([name, value]) => `${name.split(' ')[1]}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie !== '' && { cookie }) };
    const response = await fetch(address, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', value = ''] = pair.split('=', 2);
      if (attributes.includes('Max-Age=0')) this.#cookies.delete(`${address.host} ${name}`);
      else this.#cookies.set(`${address.host} ${name}`, value);
    }
    return response;
  }

  /** Follows redirects to a page, or to an address for which `until` returns true. */
  async follow(
    url: string | URL,
    until: (url: URL) => boolean,
  ): Promise<{ readonly last: URL; readonly response: Response | undefined }> {
    let next = new URL(url);
    for (let hops = 0; hops < 12; hops += 1) {
      if (until(next)) return { last: next, response: undefined };
      const response = await this.send(next);
      const location = response.headers.get('location');
      if (location === null) return { last: next, response };
      next = new URL(location, next);
    }
    throw new Error(`Too many redirects, the last to ${next.pathname}`);
  }
}
