import { hashSecret, matchesHash, type RandomBytes } from '../accounts/secrets.ts';
import type { Request } from '../http/types.ts';

/**
 * A browser as its cookie shows it. `id` belongs to a sign-in once there is one, and is new at each sign-in; `mark` stays,
 * and identifies a browser that was used to sign in before. Both are 256 random bits.
 */
export interface Browser {
  readonly id: string;
  readonly mark: string;
}

/** How long a browser is known after its last sign-in; the sign-in itself is over much sooner. */
const lifetimeSeconds = 90 * 24 * 3600;

const part = '[\\w-]{43}';
const valueForm = new RegExp(`^(${part})\\.(${part})$`);

/** The cookie of a browser that the auth host knows. Over HTTPS no other host and no plain connection can set it. */
export class BrowserCookie {
  readonly #name: string;
  readonly #attributes: string;

  /** @param issuer the public URL of the auth host */
  constructor(issuer: string) {
    const secure = issuer.startsWith('https:');
    // Safari keeps no `Secure` cookie of plain HTTP, not even of the user's own machine.
    this.#name = secure ? '__Host-flagmeter' : 'flagmeter';
    const always = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${lifetimeSeconds}`;
    this.#attributes = secure ? `${always}; Secure` : always;
  }

  /** The browser that sent a request; `undefined` when it brought no cookie of ours. */
  read(request: Pick<Request, 'header'>): Browser | undefined {
    for (const pair of (request.header('cookie') ?? '').split(';')) {
      const equals = pair.indexOf('=');
      if (pair.slice(0, equals).trim() !== this.#name) continue;
      const [, id, mark] = valueForm.exec(pair.slice(equals + 1).trim()) ?? [];
      if (id !== undefined && mark !== undefined) return { id, mark };
    }
    return undefined;
  }

  /** The value of `Set-Cookie`. */
  write({ id, mark }: Browser): string {
    return `${this.#name}=${id}.${mark}; ${this.#attributes}`;
  }
}

/** A browser with a new id; with a new mark too when it was not known. */
export function renewBrowser(known: Browser | undefined, randomBytes: RandomBytes): Browser {
  return { id: newPart(randomBytes), mark: known?.mark ?? newPart(randomBytes) };
}

function newPart(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(32)).toString('base64url');
}

/** What a form carries to show that it was made for this browser: no other site can know it, or make the cookie for it. */
export function formToken({ id }: Browser): string {
  return hashSecret(`form.${id}`);
}

/** Whether a form was made for this browser, in a time that does not depend on where they differ. */
export function isFormToken({ id }: Browser, token: string): boolean {
  return matchesHash(`form.${id}`, token);
}

/**
 * Whether a browser says that another site made it send this form. `Origin` is `null` where the page sends no
 * `Referer`, which ours asks for: that says nothing, nor do browsers that send neither header.
 * @param issuer the public URL of the auth host
 */
export function isFromElsewhere(request: Pick<Request, 'header'>, issuer: string): boolean {
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = request.header('origin');
  if (origin === undefined || origin === 'null') return false;
  return origin !== new URL(issuer).origin && hostOf(origin) !== request.header('host');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
