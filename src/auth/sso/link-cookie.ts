import { cookiesOf } from '../../http/cookies.ts';
import type { Request } from '../../http/types.ts';
import { type HostCookie, hostCookie } from '../console/host-cookie.ts';

/** How long a user may take at a provider, seconds. */
const maxAge = 600;

/** The secret of an invitation or a reset link while its user is at a provider. Only the browser keeps it. */
export class LinkCookie {
  readonly #cookie: HostCookie;

  /** @param issuer the public URL of the auth host */
  constructor(issuer: string) {
    this.#cookie = hostCookie(issuer, 'flagmeter-link', 'Lax');
  }

  /** The value of `Set-Cookie`. */
  write(token: string): string {
    return this.#cookie.write(token, maxAge);
  }

  /** The value of `Set-Cookie` that removes it. */
  get removal(): string {
    return this.#cookie.removal;
  }

  /** Empty without the cookie. */
  read(request: Pick<Request, 'header'>): string {
    for (const [name, value] of cookiesOf(request)) if (name === this.#cookie.name) return value;
    return '';
  }
}
