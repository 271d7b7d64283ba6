import { hashSecret, matchesHash, type RandomBytes } from '../../accounts/secrets.ts';
import type { AccountStore, Transaction } from '../../accounts/store/account-store.ts';
import { KeyedLimits } from '../../ingest/admission/rate-limits.ts';
import { findNetwork } from '../../runtime/addresses.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Allowance, DeviceCode } from '../../storage/lmdb/auth-records.ts';

/** Lifetime of the codes of a device (RFC 8628 §3.2), seconds. */
export const deviceCodeLifetime = 600;
/** Minimum interval between two polls of a device, seconds. Each early poll adds the same number of seconds (§3.5). */
export const pollInterval = 5;

/** Time for which an expired code is remembered, so that it is reported as expired, not as unknown, ms. */
const rememberMs = 300_000;
/** Maximum number of pending devices, limited because anyone can request codes. */
const defaultMaxDevices = 10_000;

/** Letters of user codes, four bits each: no vowels, which form words, and no similar letters (RFC 8628 §6.1). */
const alphabet = 'BCDFGHJKMPQRTVWX';
const userCodeLength = 8;

/** Form of a device code. It starts with the letters of the user code, by which the device is found. */
const codeForm = new RegExp(`^fm_device_([${alphabet}]{${userCodeLength}})_[\\w-]{43}$`);

interface DeviceRequest {
  readonly clientId: string;
  readonly scope: string;
  /** The address of the device, or of a program on it. */
  readonly address: string;
}

export interface WaitingDevice extends DeviceRequest {
  /** The user code as shown: `BCDF-GHJK`. */
  readonly userCode: string;
}

interface Pace {
  readonly intervalMs: number;
  /** The earliest time of the next poll, Unix ms. */
  readonly pollFrom: number;
}

interface DeviceCodeDeps {
  readonly accountStore: Pick<AccountStore, 'change' | 'records'>;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly maxDevices?: number;
}

/**
 * The devices that wait for a decision of their users (RFC 8628). The requests of a device and its user can reach
 * different nodes. Each node tracks the polling rate separately.
 */
export class DeviceCodes {
  readonly #deps: DeviceCodeDeps;
  /** Polling rates, keyed by the letters of the user code, oldest first. */
  readonly #paces = new Map<string, Pace>();

  /** Limits the wrong user codes of a network: one per 5 s, with bursts of 20. */
  readonly guesses = new KeyedLimits(1 / 5, 20);

  constructor(deps: DeviceCodeDeps) {
    this.#deps = deps;
  }

  get #maxDevices(): number {
    return this.#deps.maxDevices ?? defaultMaxDevices;
  }

  get size(): number {
    return this.#deps.accountStore.records('deviceCodes').size;
  }

  /**
   * Creates the codes of a device. At the maximum, removes the oldest devices of the network with the most devices.
   * @throws {Refusal} `store_unavailable`, `postgres_unavailable`
   */
  async begin(request: DeviceRequest): Promise<{ readonly deviceCode: string; readonly userCode: string }> {
    const { accountStore, clock, randomBytes } = this.#deps;
    const { clientId, scope, address } = request;
    const secret = Buffer.from(randomBytes(32)).toString('base64url');
    const letters = await accountStore.change((tx) => {
      const now = clock.now();
      if (tx.records('deviceCodes').size >= this.#maxDevices) makeRoom(tx, now - rememberMs);
      const free = this.#newLetters(tx);
      const codeHash = hashSecret(formatDeviceCode(free, secret));
      const expiresAt = now + deviceCodeLifetime * 1000;
      const network = findNetwork(address);
      tx.put('deviceCodes', free, { clientId, scope, address, network, codeHash, expiresAt, decision: null });
      return free;
    });
    return { deviceCode: formatDeviceCode(letters, secret), userCode: shown(letters) };
  }

  /** Finds the waiting device with this user code. Letter case and separators are ignored (RFC 8628 §6.1). */
  find(typed: string): WaitingDevice | undefined {
    const letters = readLetters(typed);
    const device = this.#deps.accountStore.records('deviceCodes').get(letters);
    return device !== undefined && this.#isWaiting(device) ? { ...device, userCode: shown(letters) } : undefined;
  }

  /** Records the user's decision on a device; returns `false` if the device no longer waits. */
  decide(tx: Transaction, { userCode }: WaitingDevice, decision: Allowance | 'denied'): boolean {
    const letters = readLetters(userCode);
    const device = tx.get('deviceCodes', letters);
    if (device === undefined || !this.#isWaiting(device)) return false;
    tx.put('deviceCodes', letters, { ...device, decision });
    return true;
  }

  /**
   * Returns the user's decision about a device that polls (RFC 8628 §3.4, §3.5). The decision stays `allowed` until a
   * transaction has called `take`.
   */
  poll(deviceCode: string, clientId: string) {
    const letters = codeForm.exec(deviceCode)?.[1] ?? '';
    const device = this.#deps.accountStore.records('deviceCodes').get(letters);
    if (device === undefined || !matchesDevice(device, deviceCode, clientId)) return { outcome: 'unknown' };
    const now = this.#deps.clock.now();
    if (now >= device.expiresAt) return { outcome: 'expired' };
    if (device.decision === null) return { outcome: this.#pace(letters, now) };
    return { outcome: device.decision === 'denied' ? 'denied' : 'allowed' };
  }

  /**
   * Takes the permission that a user gave to a device. It can be taken only once.
   * @returns `undefined` if the user has not allowed the device
   */
  take(tx: Transaction, deviceCode: string, clientId: string): Allowance | undefined {
    const letters = codeForm.exec(deviceCode)?.[1] ?? '';
    const device = tx.get('deviceCodes', letters);
    if (device === undefined || !matchesDevice(device, deviceCode, clientId)) return undefined;
    const { decision, expiresAt } = device;
    if (decision === null || decision === 'denied' || this.#deps.clock.now() >= expiresAt) return undefined;
    tx.remove('deviceCodes', letters);
    return decision;
  }

  #isWaiting({ decision, expiresAt }: DeviceCode): boolean {
    return decision === null && this.#deps.clock.now() < expiresAt;
  }

  #pace(letters: string, now: number): 'pending' | 'too-soon' {
    const { intervalMs, pollFrom } = this.#paces.get(letters) ?? { intervalMs: pollInterval * 1000, pollFrom: now };
    const tooSoon = now < pollFrom;
    const next = intervalMs + (tooSoon ? pollInterval * 1000 : 0);
    this.#paces.delete(letters);
    this.#paces.set(letters, { intervalMs: next, pollFrom: now + next });
    if (this.#paces.size > this.#maxDevices) this.#paces.delete(this.#paces.keys().next().value!);
    return tooSoon ? 'too-soon' : 'pending';
  }

  #newLetters(tx: Transaction): string {
    for (;;) {
      const bytes = this.#deps.randomBytes(userCodeLength);
      const letters = Array.from(bytes, (byte) => alphabet[byte & 15]).join('');
      if (!tx.has('deviceCodes', letters)) return letters;
    }
  }
}

export function isDeviceOver({ expiresAt }: DeviceCode, now: number): boolean {
  return now >= expiresAt + rememberMs;
}

function matchesDevice({ clientId, codeHash }: DeviceCode, deviceCode: string, by: string): boolean {
  return matchesHash(deviceCode, codeHash) && clientId === by;
}

function formatDeviceCode(letters: string, secret: string): string {
  return `fm_device_${letters}_${secret}`;
}

function shown(letters: string): string {
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

function readLetters(typed: string): string {
  return typed.toUpperCase().replace(/[^A-Z]/g, '');
}

/** Maximum number of devices that one scan removes. A scan that removes many makes further scans rare. */
const atOnce = 100;

type Entry = readonly [key: string, device: DeviceCode];

/**
 * Removes the devices that expired before a time. If no device has expired, removes the oldest devices of the network
 * with the most devices.
 */
function makeRoom(tx: Transaction, expiredBefore: number): void {
  const all = [...tx.records('deviceCodes')];
  const expired = all.filter(([, { expiresAt }]) => expiresAt <= expiredBefore);
  const goes = expired.length > 0 ? expired : oldestOfLargest(all);
  for (const [key] of goes) tx.remove('deviceCodes', key);
}

function oldestOfLargest(all: readonly Entry[]): readonly Entry[] {
  const byNetwork = new Map<string, Entry[]>();
  for (const entry of all) {
    const { network } = entry[1];
    const entries = byNetwork.get(network);
    if (entries === undefined) byNetwork.set(network, [entry]);
    else entries.push(entry);
  }
  let largest: Entry[] = [];
  for (const entries of byNetwork.values()) if (entries.length > largest.length) largest = entries;
  return largest.sort(([, a], [, b]) => a.expiresAt - b.expiresAt).slice(0, atOnce);
}
