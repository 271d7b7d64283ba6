import type { AccessClaims } from './access-token.ts';

interface Verified {
  readonly claims: AccessClaims;
  /** Whether it was used since it was added, or since it was last spared. */
  used: boolean;
}

/** Maximum number of tokens, of a few kilobytes each. */
const maxTokens = 10_000;

/**
 * Access tokens whose signatures were verified, by their text. Tokens that are not used again make room for new ones. Forged
 * tokens never get in.
 */
export class VerifiedTokens {
  readonly #tokens = new Map<string, Verified>();
  /** An ECDSA signature can be written in two ways, so a token may have two texts: the last one is kept. */
  readonly #textOf = new Map<string, string>();
  readonly #most: number;
  /** Identifies the keys that the signatures were verified with. */
  #keys: unknown;

  constructor(most = maxTokens) {
    this.#most = most;
  }

  get size(): number {
    return this.#tokens.size;
  }

  /** Forgets all tokens when the keys have changed: some may be signed with a key that is gone. */
  useKeys(keys: unknown): void {
    if (keys === this.#keys) return;
    this.#keys = keys;
    this.#tokens.clear();
    this.#textOf.clear();
  }

  /** The claims of a token that has not expired at `now` (Unix ms); `undefined` when it has to be verified. */
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

  /** Removes the oldest token that was not used; a used one is spared once. */
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
