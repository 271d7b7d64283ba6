import type { Directory } from '../accounts/directory.ts';
import {
  rotateSigningKey,
  type StoredKey,
  signingKeyOf,
  signs,
  storedKeys,
} from '../accounts/stored-signing-keys.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { SigningAlgorithm } from '../store/auth-records.ts';
import { commit, type Health } from '../store/transact.ts';
import { accessTokenLifetime } from './access-token.ts';
import {
  openSigningKeys,
  type Signer,
  type SigningKeys,
  type TokenType,
  type Verifier,
} from './signing-keys.ts';

/** What a key ring works on. */
export interface KeyRingParts {
  readonly accounts: Pick<AccountStore, 'environment' | 'signingKeys'>;
  readonly directory: Pick<Directory, 'change'>;
  readonly health: Health;
  readonly clock: Clock;
  readonly log: Log;
}

/** A rotation in another process is noticed later than it was made; until then the old key goes on signing, ms. */
const leewayMs = 60_000;

/** How long a retired key verifies: its last token has expired then. */
const retiredLifeMs = accessTokenLifetime * 1000 + leewayMs;

/**
 * Opens the signing keys of a store; when the current one is for another algorithm than `alg`, a new one takes its place.
 * @throws {Error} when the store has no signing key, or does not take the change
 */
export async function openKeyRing(parts: KeyRingParts, alg: SigningAlgorithm): Promise<KeyRing> {
  const { accounts, clock, log } = parts;
  const before = signingKeyOf(storedKeys(accounts));
  if (before.alg !== alg) {
    const { current } = await rotateSigningKey(accounts, clock.now(), alg);
    log.info('a signing key was made for --signing-alg', { keyId: current.kid, alg, before: before.alg });
  }
  const ring = new KeyRing(parts);
  await ring.refresh();
  return ring;
}

/** The signing keys as they are now: `flagmeter keys rotate` changes them while the service runs. */
export class KeyRing implements SigningKeys {
  readonly #parts: KeyRingParts;
  #keys: SigningKeys;

  constructor(parts: KeyRingParts) {
    this.#parts = parts;
    this.#keys = openSigningKeys(storedKeys(parts.accounts));
  }

  get current(): Signer {
    return this.#keys.current;
  }

  get published(): SigningKeys['published'] {
    return this.#keys.published;
  }

  find(typ: TokenType, header: string): Verifier | undefined {
    return this.#keys.find(typ, header);
  }

  /**
   * Takes up what has changed in the store, and removes the keys whose last token has expired. To be called every few
   * seconds.
   * @throws {Refusal} `store_unavailable`
   */
  async refresh(): Promise<void> {
    const { accounts, log } = this.#parts;
    const found = storedKeys(accounts);
    const stored = this.#removeExpired(found);
    if (kidsOf(stored) !== kidsOf(this.published)) {
      const before = this.current.kid;
      this.#keys = openSigningKeys(stored);
      const { kid, alg } = this.current;
      if (kid !== before) log.info('another signing key signs now', { keyId: kid, alg, before });
    }
    for (const key of found.toReversed()) if (key.unaudited) await this.#audit(key);
  }

  #removeExpired(stored: readonly StoredKey[]): readonly StoredKey[] {
    const { accounts, health, clock, log } = this.#parts;
    const now = clock.now();
    const expired = stored.filter((key) => !signs(key) && now >= key.retiredAt + retiredLifeMs);
    if (expired.length === 0) return stored;
    commit(accounts.environment, health, () => {
      for (const { kid } of expired) accounts.signingKeys.removeSync(kid);
    });
    for (const { kid } of expired) log.info('a retired signing key was removed', { keyId: kid });
    return stored.filter((key) => !expired.includes(key));
  }

  /** Another process may have made the key, but it is this one that numbers the entries of the audit log. */
  async #audit({ kid, alg }: StoredKey): Promise<void> {
    const { accounts, directory, health } = this.#parts;
    await directory.change((draft) =>
      draft.note('signing-key.rotated', null, { type: 'signing-key', id: kid, name: alg }),
    );
    commit(accounts.environment, health, () => {
      const { unaudited, ...audited } = accounts.signingKeys.get(kid) ?? {};
      if ('kid' in audited) accounts.signingKeys.putSync(kid, audited);
    });
  }
}

function kidsOf(keys: readonly { readonly kid: string }[]): string {
  return keys.map(({ kid }) => kid).join();
}
