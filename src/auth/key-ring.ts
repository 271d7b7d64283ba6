import type { Directory } from '../accounts/directory.ts';
import {
  markAudited,
  rotateSigningKey,
  type StoredKey,
  signingKeyOf,
  signs,
  storedKeys,
} from '../accounts/stored-signing-keys.ts';
import type { Clock } from '../clock.ts';
import type { Engine } from '../engine/engine.ts';
import type { Log } from '../log.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { SigningAlgorithm } from '../store/auth-records.ts';
import { accessTokenLifetime } from './access-token.ts';
import {
  openSigningKeys,
  publishedAheadSeconds,
  type Signer,
  type SigningKeys,
  type TokenType,
  type Verifier,
} from './signing-keys.ts';

export interface KeyRingDeps {
  readonly accounts: Pick<AccountStore, 'lmdb' | 'signingKeys'>;
  readonly engine: Pick<Engine, 'change'>;
  readonly directory: Pick<Directory, 'change'>;
  readonly clock: Clock;
  readonly log: Log;
}

const aheadMs = publishedAheadSeconds * 1000;

/** How long the old key keeps signing: until a rotation in another process is noticed, and caches have the new key. */
const leewayMs = 60_000 + aheadMs;

/** How long a retired key verifies: its last token has expired then. */
const retiredLifeMs = accessTokenLifetime * 1000 + leewayMs;

/**
 * Opens the signing keys of a store; when the current one is for another algorithm than `alg`, a new one takes its place.
 * @throws {Error} when the store has no signing key, or does not take the change
 */
export async function openKeyRing(deps: KeyRingDeps, alg: SigningAlgorithm): Promise<KeyRing> {
  const { accounts, clock, log } = deps;
  const before = signingKeyOf(storedKeys(accounts));
  if (before.alg !== alg) {
    const { current } = await rotateSigningKey(accounts, clock.now(), alg);
    log.info('a signing key was made for --signing-alg', { keyId: current.kid, alg, before: before.alg });
  }
  const ring = new KeyRing(deps);
  await ring.refresh();
  return ring;
}

/** The signing keys as they are now: `flagmeter keys rotate` changes them while the service runs. */
export class KeyRing implements SigningKeys {
  readonly #deps: KeyRingDeps;
  #keys: SigningKeys;
  /** The previous key keeps signing for a while, from memory: on disk its private part is gone. */
  #signer: Signer;
  /** When the current key of the store begins to sign. */
  #signsFrom = 0;
  /** One at a time, however slow the disk is: two would write the same entry into the audit log. */
  #refreshing: Promise<void> | undefined;

  constructor(deps: KeyRingDeps) {
    this.#deps = deps;
    this.#keys = openSigningKeys(storedKeys(deps.accounts));
    this.#signer = this.#keys.current;
  }

  get current(): Signer {
    return this.#signer;
  }

  get published(): SigningKeys['published'] {
    return this.#keys.published;
  }

  find(typ: TokenType, header: string): Verifier | undefined {
    return this.#keys.find(typ, header);
  }

  /**
   * Reads what has changed in the store, signs with a new key once caches have it, and removes keys whose last token has
   * expired. Call it every few seconds.
   * @throws {ApiError} `store_unavailable`
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    const { accounts, clock } = this.#deps;
    const found = storedKeys(accounts);
    const stored = await this.#removeExpired(found);
    if (kidsOf(stored) !== kidsOf(this.published)) {
      const newest = this.#keys.current.kid;
      this.#keys = openSigningKeys(stored);
      if (this.#keys.current.kid !== newest) this.#signsFrom = clock.now() + aheadMs;
    }
    if (clock.now() >= this.#signsFrom) this.#signWithNewest();
    for (const key of found.toReversed()) if (key.unaudited) await this.#audit(key);
  }

  #signWithNewest(): void {
    const before = this.#signer.kid;
    this.#signer = this.#keys.current;
    const { kid, alg } = this.#signer;
    if (kid !== before) this.#deps.log.info('another signing key signs now', { keyId: kid, alg, before });
  }

  async #removeExpired(stored: readonly StoredKey[]): Promise<readonly StoredKey[]> {
    const { engine, clock, log } = this.#deps;
    const now = clock.now();
    const expired = stored.filter((key) => !signs(key) && now >= key.retiredAt + retiredLifeMs);
    if (expired.length === 0) return stored;
    await engine.change((draft) => {
      for (const { kid } of expired) draft.remove('signingKeys', kid);
    });
    for (const { kid } of expired) log.info('a retired signing key was removed', { keyId: kid });
    return stored.filter((key) => !expired.includes(key));
  }

  /** Another process may have created the key, but this one numbers the entries of the audit log. */
  async #audit({ kid, alg }: StoredKey): Promise<void> {
    const { accounts, directory } = this.#deps;
    await directory.change((draft) =>
      draft.note('signing-key.rotated', null, { type: 'signing-key', id: kid, name: alg }),
    );
    markAudited(accounts, kid);
  }
}

function kidsOf(keys: readonly { readonly kid: string }[]): string {
  return keys.map(({ kid }) => kid).join();
}
