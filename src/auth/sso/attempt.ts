import Type, { type Static } from 'typebox';
import Value from 'typebox/value';
import type { RandomBytes } from '../../accounts/secrets.ts';
import { hashSecret, matchesHash } from '../../accounts/secrets.ts';
import { cookiesOf } from '../../http/cookies.ts';
import type { Request } from '../../http/types.ts';

/** The pages that a sign-in can continue. */
export const pages = [
  ...(['authorize', 'device', 'invitation', 'passkey', 'authenticator', 'identities'] as const),
] as const;

const secret = Type.String({ pattern: '^[\\w-]{43}$' });

/** An attempt to sign in with a provider. It is kept in the browser only: without its cookie, an answer is refused. */
const Attempt = Type.Object({
  provider: Type.String(),
  state: secret,
  nonce: secret,
  /** The PKCE verifier. */
  verifier: secret,
  /** Maximum time since the user signed in at the provider, seconds; `null` for no limit. */
  maxAge: Type.Union([Type.Null(), Type.Integer()]),
  /** The page that continues. */
  page: Type.Enum(pages),
  /** Its query. */
  query: Type.String(),
  /** The id of the signed-in user to whom the account is linked; absent for a sign-in. */
  linkTo: Type.Optional(Type.String()),
  /** Unix milliseconds. */
  startedAt: Type.Integer(),
});
export type Attempt = Static<typeof Attempt>;
export type AttemptPage = Attempt['page'];

/** How long a user may take at the provider. */
const lifetimeSeconds = 600;
/** A browser discards a longer cookie. */
const longestCookie = 3800;
/** A browser has at most this many attempts at a time, so that its cookies fit into a request. */
const slots = 3;

/** Random values for a new attempt. */
export function newBinding(randomBytes: RandomBytes): Pick<Attempt, 'state' | 'nonce' | 'verifier'> {
  const value = () => Buffer.from(randomBytes(32)).toString('base64url');
  return { state: value(), nonce: value(), verifier: value() };
}

/** The cookies of attempts. Over HTTPS no other host and no plain connection can set them. */
export class AttemptCookie {
  readonly #prefix: string;
  readonly #attributes: string;

  /** @param issuer the public URL of the auth host */
  constructor(issuer: string) {
    const secure = issuer.startsWith('https:');
    this.#prefix = `${secure ? '__Host-' : ''}flagmeter-sso-`;
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  /** The value of `Set-Cookie`; `undefined` if the attempt is too long. */
  write(attempt: Attempt): string | undefined {
    const value = Buffer.from(JSON.stringify(attempt)).toString('base64url');
    if (value.length > longestCookie) return undefined;
    return `${this.#nameOf(attempt.state)}=${value}; ${this.#attributes}; Max-Age=${lifetimeSeconds}`;
  }

  /** Removes the cookie of an attempt: it is used once. */
  remove(state: string): string {
    return `${this.#nameOf(state)}=; ${this.#attributes}; Max-Age=0`;
  }

  /** The attempt with this state, if this browser made it and it has not expired. */
  read(request: Pick<Request, 'header'>, state: string, now: number): Attempt | undefined {
    for (const [name, value] of cookiesOf(request)) {
      if (name !== this.#nameOf(state)) continue;
      const attempt = parse(value);
      if (attempt === undefined || !matchesHash(state, hashSecret(attempt.state))) continue;
      if (Math.abs(now - attempt.startedAt) <= lifetimeSeconds * 1000) return attempt;
    }
    return undefined;
  }

  #nameOf(state: string): string {
    return `${this.#prefix}${(state.codePointAt(0) ?? 0) % slots}`;
  }
}

function parse(text: string): Attempt | undefined {
  try {
    const attempt: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Value.Check(Attempt, attempt) ? attempt : undefined;
  } catch {
    return undefined;
  }
}
