import { hashSecret, type RandomBytes } from '../accounts/secrets.ts';
import type { Clock } from '../clock.ts';
import { networkOf } from './network.ts';

/** How long the codes of a device are good (RFC 8628 §3.2), seconds. */
export const deviceCodeLifetime = 600;
/** How long a device waits between two polls, seconds; one that comes sooner waits this much longer from then on (§3.5). */
export const pollInterval = 5;

/** How long an expired code is told from one that never existed, ms. */
const rememberMs = 300_000;
/** Devices that are held at once: anyone can ask for codes, so their number has a bound. */
const maxDevices = 10_000;

/** No vowels, so that no word comes up, and no letters that are taken for each other (RFC 8628 §6.1): four bits each. */
const alphabet = 'BCDFGHJKMPQRTVWX';
const userCodeLength = 8;

export interface DeviceRequest {
  readonly clientId: string;
  readonly scope: string;
  /** Of the device, or of a program on it. */
  readonly address: string;
}

/** A device whose user code was not entered yet. */
export interface WaitingDevice extends DeviceRequest {
  /** As it is shown: `BCDF-GHJK`. */
  readonly userCode: string;
}

/** What a user allowed a device: to act for them, within a scope. */
export interface Allowance {
  readonly userId: string;
  /** The key of the sign-in. */
  readonly signIn: string;
  readonly authTime: number;
  readonly scope: string;
}

/** The answer to a device's poll. `allowed` is repeated until `take` is called, and again after `putBack`. */
export type Poll =
  | { readonly outcome: 'pending' | 'too-soon' | 'denied' | 'expired' | 'unknown' }
  | { readonly outcome: 'allowed'; readonly allowance: Allowance; take(): void; putBack(): void };

interface Device extends WaitingDevice {
  /** The hash of the device code. */
  readonly key: string;
  readonly network: string;
  readonly expiresAt: number;
  intervalMs: number;
  /** Before this a poll comes too soon. */
  pollFrom: number;
  decision: Allowance | 'denied' | undefined;
  /** A request is deciding it. */
  isClaimed: boolean;
}

/**
 * The devices that wait for their user (RFC 8628). They are kept in memory only: anyone can ask for codes, and must not
 * fill the disk. A device that waits during a restart starts again.
 */
export class DeviceCodes {
  readonly #clock: Clock;
  readonly #randomBytes: RandomBytes;
  /** By the hash of the device code; all live equally long, so the first is the oldest. */
  readonly #devices = new Map<string, Device>();
  /** By the letters of the user code. */
  readonly #byUserCode = new Map<string, Device>();
  /** By the network that they are in, the oldest first. */
  readonly #byNetwork = new Map<string, Set<Device>>();

  constructor({ clock, randomBytes }: { readonly clock: Clock; readonly randomBytes: RandomBytes }) {
    this.#clock = clock;
    this.#randomBytes = randomBytes;
  }

  get size(): number {
    return this.#devices.size;
  }

  /** Makes the codes of a device. Of too many the oldest of the network that has the most makes room. */
  begin(request: DeviceRequest): { readonly deviceCode: string; readonly userCode: string } {
    const now = this.#clock.now();
    this.#forgetOld(now);
    if (this.size >= maxDevices) this.#makeRoom();
    const deviceCode = `fm_device_${Buffer.from(this.#randomBytes(32)).toString('base64url')}`;
    const letters = this.#newLetters();
    const userCode = `${letters.slice(0, 4)}-${letters.slice(4)}`;
    this.#add({
      ...request,
      userCode,
      key: hashSecret(deviceCode),
      network: networkOf(request.address),
      expiresAt: now + deviceCodeLifetime * 1000,
      intervalMs: pollInterval * 1000,
      pollFrom: now,
      decision: undefined,
      isClaimed: false,
    });
    return { deviceCode, userCode };
  }

  /** The device that waits with this user code, in whatever way it was typed (RFC 8628 §6.1). */
  find(typed: string): WaitingDevice | undefined {
    const device = this.#byUserCode.get(lettersOf(typed));
    if (device === undefined || device.isClaimed) return undefined;
    return this.#clock.now() < device.expiresAt ? device : undefined;
  }

  /** Uses up the user code of a device that was found; `false` when another request has done so since. */
  claim({ userCode }: WaitingDevice): boolean {
    const device = this.#byUserCode.get(lettersOf(userCode));
    if (device === undefined || device.isClaimed) return false;
    device.isClaimed = true;
    return true;
  }

  /** Makes a claimed user code usable again: nothing was decided. */
  release({ userCode }: WaitingDevice): void {
    const device = this.#byUserCode.get(lettersOf(userCode));
    if (device !== undefined) device.isClaimed = false;
  }

  /** Lets a claimed device act for a user, or refuses it. */
  decide({ userCode }: WaitingDevice, decision: Allowance | 'denied'): void {
    const letters = lettersOf(userCode);
    const device = this.#byUserCode.get(letters);
    if (device === undefined) return;
    device.decision = decision;
    this.#byUserCode.delete(letters);
  }

  /** Answers a device that asks whether its user has decided (RFC 8628 §3.4, §3.5). */
  poll(deviceCode: string, clientId: string): Poll {
    const now = this.#clock.now();
    const key = hashSecret(deviceCode);
    const device = this.#devices.get(key);
    if (device === undefined || device.clientId !== clientId) return { outcome: 'unknown' };
    if (now >= device.expiresAt) return { outcome: 'expired' };
    const { decision } = device;
    if (decision === 'denied') return { outcome: 'denied' };
    if (decision !== undefined) {
      const take = () => this.#remove(device);
      return { outcome: 'allowed', allowance: decision, take, putBack: () => this.#putBack(device) };
    }
    const tooSoon = now < device.pollFrom;
    if (tooSoon) device.intervalMs += pollInterval * 1000;
    device.pollFrom = now + device.intervalMs;
    return { outcome: tooSoon ? 'too-soon' : 'pending' };
  }

  /** Its user code stays used up. */
  #putBack(device: Device): void {
    this.#devices.set(device.key, device);
    const neighbours = this.#byNetwork.get(device.network) ?? new Set();
    this.#byNetwork.set(device.network, neighbours.add(device));
  }

  #newLetters(): string {
    for (;;) {
      const bytes = this.#randomBytes(userCodeLength);
      const letters = Array.from(bytes, (byte) => alphabet[byte & 15]).join('');
      if (!this.#byUserCode.has(letters)) return letters;
    }
  }

  #forgetOld(now: number): void {
    for (const device of this.#devices.values()) {
      if (now < device.expiresAt + rememberMs) return;
      this.#remove(device);
    }
  }

  #makeRoom(): void {
    let most = new Set<Device>();
    for (const devices of this.#byNetwork.values()) if (devices.size > most.size) most = devices;
    for (const oldest of most) {
      this.#remove(oldest);
      return;
    }
  }

  #add(device: Device): void {
    this.#byUserCode.set(lettersOf(device.userCode), device);
    this.#putBack(device);
  }

  #remove(device: Device): void {
    this.#devices.delete(device.key);
    const letters = lettersOf(device.userCode);
    if (this.#byUserCode.get(letters) === device) this.#byUserCode.delete(letters);
    const neighbours = this.#byNetwork.get(device.network);
    neighbours?.delete(device);
    if (neighbours?.size === 0) this.#byNetwork.delete(device.network);
  }
}

function lettersOf(typed: string): string {
  return typed.toUpperCase().replace(/[^A-Z]/g, '');
}
