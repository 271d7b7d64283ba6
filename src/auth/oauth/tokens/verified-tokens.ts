import type { AccessClaims } from './access-token.ts';

interface Verified {
  readonly claims: AccessClaims;
  /** Whether it was used since it was added or last spared. */
  used: boolean;
}

/** Maximum number of tokens, a few kilobytes each. */
const maxTokens = 10_000;

/**
 * Access tokens with verified signatures, by their text. Tokens that are not reused make room for new ones. Forged tokens never
 * enter.
 */
export class VerifiedTokens {
  readonly #tokens = new Map<string, Verified>();
  /** Texts by token. An ECDSA signature has two encodings, so a token may have two texts. The last one is kept. */
  readonly #textOf = new Map<string, string>();
  readonly #most: number;
  /** Identifies the keys that verified the signatures. */
  #keys: unknown;

  constructor(most = maxTokens) {
    this.#most = most;
  }

  get size(): number {
    return this.#tokens.size;
  }

  /** Forgets all tokens if the keys have changed, because the key of some may be gone. */
  useKeys(keys: unknown): void {
    if (keys === this.#keys) return;
    this.#keys = keys;
    this.#tokens.clear();
    this.#textOf.clear();
  }

  /** The claims of a token that has not expired at `now` (Unix ms); `undefined` if it must be verified. */
  find(text: string, now: number): AccessClaims | undefined {
    const found = this.#tokens.get(text);
    if (found === undefined || now >= found.claims.exp * 1000) return undefined;
    found.used = true;
    return found.claims;
  }

  keep(text: string, claims: AccessClaims): void {
    this.drop(claims.jti);
    if (this.#tokens.size >= this.#most) this.#makeRoom();
    this.#tokens.set(text, { claims, used: false });
    this.#textOf.set(claims.jti, text);
  }

  /** Forgets the token with this id, at once. */
  drop(jti: string): void {
    const text = this.#textOf.get(jti);
    if (text === undefined) return;
    this.#textOf.delete(jti);
    this.#tokens.delete(text);
  }

  /** Removes the oldest unused token. A used one is spared once. */
  #makeRoom(): void {
    for (const [text, token] of this.#tokens) {
      if (!token.used) {
        this.drop(token.claims.jti);
        return;
      }
      token.used = false;
      this.#tokens.delete(text);
      this.#tokens.set(text, token);
    }
  }
}
