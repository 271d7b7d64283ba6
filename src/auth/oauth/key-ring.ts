import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Directory } from '../../accounts/directory.ts';
import {
  clearUnaudited,
  getSigningKey,
  newSigningKey,
  publicMembers,
  putSigningKey,
  readSigningKeys,
  type StoredKey,
  signs,
  storedKeys,
} from '../../accounts/signing-keys.ts';
import type { AccountStore, Write } from '../../accounts/store/account-store.ts';
import { Refusal } from '../../contract/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { AccountTables } from '../../storage/lmdb/accounts.ts';
import type { Jwk, SigningAlgorithm } from '../../storage/lmdb/auth-records.ts';

/** Time from the publication of a new key to its first signature; also the `max-age` of the JWKS. */
export const publishedAheadSeconds = 60;

/** Lifetime of an access token, seconds. */
export const accessTokenLifetime = 3600;

/** Type of a token: an access token (RFC 9068 §2.1) or an ID token. Neither is accepted as the other. */
export type TokenType = 'at+jwt' | 'JWT';

interface Signer {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly privateKey: KeyObject;
  /** Protected headers of the key's tokens (RFC 7515 §4.1), base64url. */
  readonly headers: Readonly<Record<TokenType, string>>;
}

/** A key that verifies tokens. It verifies only signatures of its own algorithm. */
interface Verifier {
  readonly alg: SigningAlgorithm;
  readonly publicKey: KeyObject;
}

/** The public part of a signing key, as published in the JWKS (RFC 7517 §4). */
export interface PublicJwk extends Jwk {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly use: 'sig';
}

export interface SigningKeys {
  readonly current: Signer;
  /** Finds the key for tokens of this type with this protected header. A key in the token itself is never used. */
  find(typ: TokenType, header: string): Verifier | undefined;
  /** Published keys, newest first. The newest key might not sign yet. A change of the keys creates a new array. */
  readonly published: readonly PublicJwk[];
}

/**
 * Imports signing keys once, for all signatures.
 * @param stored keys as `storedKeys` returns them
 * @throws {Error} if no key signs
 */
export function openSigningKeys(stored: readonly StoredKey[]): SigningKeys {
  const signer = getSigningKey(stored);
  const { kid, alg } = signer;
  const verifiers = { 'at+jwt': new Map<string, Verifier>(), JWT: new Map<string, Verifier>() };
  for (const key of stored) {
    const verifier = { alg: key.alg, publicKey: createPublicKey({ key: { ...publicJwk(key) }, format: 'jwk' }) };
    for (const typ of ['at+jwt', 'JWT'] as const) verifiers[typ].set(protectedHeader(key, typ), verifier);
  }
  return {
    current: {
      kid,
      alg,
      privateKey: createPrivateKey({ key: { ...signer.privateJwk }, format: 'jwk' }),
      headers: { 'at+jwt': protectedHeader(signer, 'at+jwt'), JWT: protectedHeader(signer, 'JWT') },
    },
    find: (typ, header) => verifiers[typ].get(header),
    published: stored.map((key) => ({ ...publicJwk(key), kid: key.kid, alg: key.alg, use: 'sig' })),
  };
}

function publicJwk(key: StoredKey): Jwk {
  return publicMembers(signs(key) ? key.privateJwk : key.publicJwk);
}

function protectedHeader({ kid, alg }: StoredKey, typ: TokenType): string {
  return Buffer.from(JSON.stringify({ alg, typ, kid })).toString('base64url');
}

interface KeyRingDeps {
  readonly accounts: Pick<AccountTables, 'lmdb' | 'signingKeys'>;
  readonly accountStore: Pick<AccountStore, 'change' | 'onCommit'>;
  readonly directory: Pick<Directory, 'change'>;
  readonly clock: Clock;
  readonly log: Log;
}

const aheadMs = publishedAheadSeconds * 1000;

/** Time for which the old key still signs, while processes and caches learn the new key. */
const leewayMs = 60_000 + aheadMs;

/** Time for which a retired key verifies tokens. After this time, its last token has expired. */
const retiredLifeMs = accessTokenLifetime * 1000 + leewayMs;

/**
 * Opens the signing keys of a store. If the current key is not for `alg`, a new key replaces it.
 * @throws {Error} if the store has no signing key, or rejects the change
 */
export async function openKeyRing(deps: KeyRingDeps, alg: SigningAlgorithm): Promise<KeyRing> {
  if (getSigningKey(storedKeys(deps.accounts)).alg !== alg) await changeAlgorithm(deps, alg);
  const ring = new KeyRing(deps);
  await whileAway(ring.refresh(), () => deps.log.warn('cannot remove retired signing keys yet; retrying later'));
  return ring;
}

/** Waits for a change. If PostgreSQL is unreachable, calls `without` instead, and the present keys stay in use. */
async function whileAway(change: Promise<void>, without: () => void): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'postgres_unavailable')) throw error;
    without();
  }
}

/** Creates a key for another algorithm. If several nodes start at the same time, only one creates the key. */
async function changeAlgorithm({ clock, directory, log }: KeyRingDeps, alg: SigningAlgorithm): Promise<void> {
  const made = await newSigningKey(clock.now(), alg);
  const change = directory.change((tx) => {
    const { alg: before } = getSigningKey(readSigningKeys(tx));
    if (before === alg) return undefined;
    putSigningKey(tx, made, clock.now());
    tx.note('signing-key.rotated', null, describeTarget(made));
    return before;
  });
  const told = change.then((before) => {
    if (before !== undefined) log.info('created a signing key for --signing-alg', { keyId: made.kid, alg, before });
  });
  const later = 'cannot create a signing key for --signing-alg; retrying at the next start';
  await whileAway(told, () => log.warn(later, { alg }));
}

function describeTarget({ kid, alg }: StoredKey) {
  return { type: 'signing-key', id: kid, name: alg };
}

/** The current signing keys. `flagmeter signing-keys rotate` changes them while the service runs. */
export class KeyRing implements SigningKeys {
  readonly #deps: KeyRingDeps;
  #keys: SigningKeys;
  /** The key that signs. After a rotation, the previous key signs for a while; its private part is only in memory. */
  #signer: Signer;
  /** The time from which the current key of the store signs. */
  #signsFrom = 0;
  /** The refresh in progress. Two concurrent refreshes would write the same audit log entry. */
  #refreshing: Promise<void> | undefined;

  constructor(deps: KeyRingDeps) {
    this.#deps = deps;
    this.#keys = openSigningKeys(storedKeys(deps.accounts));
    this.#signer = this.#keys.current;
    deps.accountStore.onCommit((writes) => this.#hear(writes));
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
   * Reads key changes from the store. Switches to a new signing key once caches have it, and removes keys whose last
   * token has expired. Call it every few seconds.
   * @throws {Refusal} `store_unavailable`
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Loads key changes of other nodes before this node sends a response that depends on them. */
  #hear(writes: readonly Write[]): void {
    if (writes.some(({ table }) => table === 'signingKeys')) this.#follow(storedKeys(this.#deps.accounts));
  }

  async #refresh(): Promise<void> {
    const stored = storedKeys(this.#deps.accounts);
    this.#follow(stored);
    if (this.#deps.clock.now() >= this.#signsFrom) this.#signWithNewest();
    await this.#removeExpired(stored);
    for (const key of stored.toReversed()) if (key.unaudited) await this.#audit(key);
  }

  #follow(stored: readonly StoredKey[]): void {
    if (joinKids(stored) === joinKids(this.published)) return;
    const { clock } = this.#deps;
    const newest = this.#keys.current.kid;
    this.#keys = openSigningKeys(stored);
    if (this.#keys.current.kid !== newest) this.#signsFrom = clock.now() + aheadMs;
    // If the store lacks the current key, other nodes cannot verify signatures of this key, so the newest key signs.
    if (stored.every(({ kid }) => kid !== this.#signer.kid)) this.#signWithNewest();
  }

  #signWithNewest(): void {
    const before = this.#signer.kid;
    this.#signer = this.#keys.current;
    const { kid, alg } = this.#signer;
    if (kid !== before) this.#deps.log.info('switched to another signing key', { keyId: kid, alg, before });
  }

  async #removeExpired(stored: readonly StoredKey[]): Promise<void> {
    const { accountStore, clock, log } = this.#deps;
    const now = clock.now();
    const expired = stored.filter((key) => !signs(key) && now >= key.retiredAt + retiredLifeMs);
    if (expired.length === 0) return;
    await accountStore.change((tx) => {
      for (const { kid } of expired) tx.remove('signingKeys', kid);
    });
    for (const { kid } of expired) log.info('removed a retired signing key', { keyId: kid });
  }

  /** Writes the audit log entry of a key that another process has created. Only this process can write it. */
  async #audit(key: StoredKey): Promise<void> {
    const { accounts, directory } = this.#deps;
    await directory.change((tx) => tx.note('signing-key.rotated', null, describeTarget(key)));
    clearUnaudited(accounts, key.kid);
  }
}

function joinKids(keys: readonly { readonly kid: string }[]): string {
  return keys.map(({ kid }) => kid).join();
}
