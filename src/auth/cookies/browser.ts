import { hashSecret, matchesHash, type RandomBytes } from '../../accounts/secrets.ts';
import { readCookies } from '../../http/pairs.ts';
import type { Request } from '../../http/types.ts';

/**
 * A browser, identified by its cookie. `id` identifies the sign-in, and is new for each sign-in. `permanentId` never
 * changes, and shows that someone has signed in with the browser before. Both are 256 random bits.
 */
export interface Browser {
  readonly id: string;
  readonly permanentId: string;
}

/** Lifetime of `permanentId` after the last sign-in of the browser. The sign-in ends much sooner. */
const lifetimeSeconds = 90 * 24 * 3600;

const idPattern = '[\\w-]{43}';
const valueForm = new RegExp(`^(${idPattern})\\.(${idPattern})$`);

/** The cookie of a browser known to the auth host. Over HTTPS, no other host or plain connection can set it. */
export class BrowserCookie {
  readonly #name: string;
  readonly #attributes: string;

  /** @param issuer the public URL of the auth host */
  constructor(issuer: string) {
    const secure = issuer.startsWith('https:');
    // Over plain HTTP, the cookie is not `Secure`, because Safari would drop it, even from localhost.
    this.#name = secure ? '__Host-flagmeter' : 'flagmeter';
    const always = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${lifetimeSeconds}`;
    this.#attributes = secure ? `${always}; Secure` : always;
  }

  read(request: Pick<Request, 'header'>): Browser | undefined {
    for (const [name, value] of readCookies(request)) {
      if (name !== this.#name) continue;
      const [, id, permanentId] = valueForm.exec(value) ?? [];
      if (id !== undefined && permanentId !== undefined) return { id, permanentId };
    }
    return undefined;
  }

  write({ id, permanentId }: Browser): string {
    return `${this.#name}=${id}.${permanentId}; ${this.#attributes}`;
  }
}

/** Gives a browser a new `id`, and an unknown browser also a `permanentId`. */
export function renewBrowser(known: Browser | undefined, randomBytes: RandomBytes): Browser {
  return { id: newRandomId(randomBytes), permanentId: known?.permanentId ?? newRandomId(randomBytes) };
}

function newRandomId(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(32)).toString('base64url');
}

/** The CSRF token of forms for this browser. No other site can read it, or set the cookie from which it derives. */
export function formToken({ id }: Browser): string {
  return hashSecret(`form.${id}`);
}

/** True if a form was made for this browser. The comparison takes constant time. */
export function isFormToken({ id }: Browser, token: string): boolean {
  return matchesHash(`form.${id}`, token);
}

/**
 * True if `Sec-Fetch-Site` or `Origin` shows that the form was sent from a page of another site. False for `Origin:
 * null`, which the `Referrer-Policy` of our own pages causes.
 * @param issuer the public URL of the auth host
 */
export function isFromElsewhere(request: Pick<Request, 'header'>, issuer: string): boolean {
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = request.header('origin');
  if (origin === undefined || origin === 'null') return false;
  return origin !== new URL(issuer).origin && parseHost(origin) !== request.header('host');
}

function parseHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
