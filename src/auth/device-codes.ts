import { hashSecret, type RandomBytes } from '../accounts/secrets.ts';
import type { Clock } from '../clock.ts';
import { Refusal } from '../errors.ts';

/** How long the codes of a device are good (RFC 8628 §3.2), seconds. */
export const deviceCodeLifetime = 600;
/** How long a device waits between two polls, seconds; one that comes sooner waits this much longer from then on (§3.5). */
export const pollInterval = 5;

/** An expired code is told from one that there never was for so long. */
const rememberMs = 300_000;
/** Devices that wait, with a leeway: a stranger can have codes made. */
const mostDevices = 10_000;

/** No vowels, so that no word comes up, and no letters that are taken for each other (RFC 8628 §6.1): four bits each. */
const alphabet = 'BCDFGHJKMPQRTVWX';
const userCodeLength = 8;

/** What a device asks for, and from where. */
export interface DeviceRequest {
  readonly clientId: string;
  readonly scope: string;
  /** Of the device, or of a program on it. */
  readonly address: string;
}

/** A device that waits for somebody to enter its code. */
export interface WaitingDevice extends DeviceRequest {
  /** As it is shown: `BCDF-GHJK`. */
  readonly userCode: string;
}

/** Whom a device was allowed to act for. */
export interface Allowance {
  readonly userId: string;
  /** The key of the sign-in. */
  readonly signIn: string;
  readonly authTime: number;
  readonly scope: string;
}

/** What a device is told that polls. Whoever is allowed is told so until `take` is called. */
export type Poll =
  | { readonly outcome: 'pending' | 'too-soon' | 'denied' | 'expired' | 'unknown' }
  | { readonly outcome: 'allowed'; readonly allowance: Allowance; take(): void };

interface Device extends WaitingDevice {
  readonly expiresAt: number;
  /** Milliseconds between two polls. */
  intervalMs: number;
  /** Before this a poll comes too soon. */
  pollFrom: number;
  decision: Allowance | 'denied' | undefined;
}

/**
 * The devices that wait for their user (RFC 8628). They are in memory alone: anybody can have codes made, and what a
 * stranger can fill is not the disk. A device that waits during a restart begins again.
 */
export class DeviceCodes {
  readonly #clock: Clock;
  readonly #randomBytes: RandomBytes;
  /** By the hash of the device code; all live equally long, so the first is the oldest. */
  readonly #devices = new Map<string, Device>();
  /** By the letters of the user code. */
  readonly #byUserCode = new Map<string, Device>();

  constructor({ clock, randomBytes }: { readonly clock: Clock; readonly randomBytes: RandomBytes }) {
    this.#clock = clock;
    this.#randomBytes = randomBytes;
  }

  /** Devices that are held. */
  get size(): number {
    return this.#devices.size;
  }

  /** Makes the codes of a device. @throws {Refusal} `backpressure` when too many devices wait */
  begin(request: DeviceRequest): { readonly deviceCode: string; readonly userCode: string } {
    const now = this.#clock.now();
    this.#forget(now);
    if (this.size >= mostDevices) throw new Refusal('backpressure', 'Too many devices are waiting', 60);
    const deviceCode = `fm_device_${Buffer.from(this.#randomBytes(32)).toString('base64url')}`;
    const letters = this.#newLetters();
    const userCode = `${letters.slice(0, 4)}-${letters.slice(4)}`;
    const intervalMs = pollInterval * 1000;
    const expiresAt = now + deviceCodeLifetime * 1000;
    const device = { ...request, userCode, expiresAt, intervalMs, pollFrom: now, decision: undefined };
    this.#devices.set(hashSecret(deviceCode), device);
    this.#byUserCode.set(letters, device);
    return { deviceCode, userCode };
  }

  /** The device that waits with this user code, in whatever way it was typed (RFC 8628 §6.1). */
  find(typed: string): WaitingDevice | undefined {
    const device = this.#byUserCode.get(lettersOf(typed));
    return device !== undefined && this.#clock.now() < device.expiresAt ? device : undefined;
  }

  /** Lets a device that waits act for a user, or not. Its user code is good for nothing more. */
  decide({ userCode }: WaitingDevice, decision: Allowance | 'denied'): void {
    const letters = lettersOf(userCode);
    const device = this.#byUserCode.get(letters);
    if (device === undefined) return;
    device.decision = decision;
    this.#byUserCode.delete(letters);
  }

  /** A device asks what has become of its code (RFC 8628 §3.4, §3.5). */
  poll(deviceCode: string, clientId: string): Poll {
    const now = this.#clock.now();
    const key = hashSecret(deviceCode);
    const device = this.#devices.get(key);
    if (device === undefined || device.clientId !== clientId) return { outcome: 'unknown' };
    if (now >= device.expiresAt) return { outcome: 'expired' };
    const { decision } = device;
    if (decision === 'denied') return { outcome: 'denied' };
    if (decision !== undefined) {
      return { outcome: 'allowed', allowance: decision, take: () => void this.#devices.delete(key) };
    }
    const tooSoon = now < device.pollFrom;
    if (tooSoon) device.intervalMs += pollInterval * 1000;
    device.pollFrom = now + device.intervalMs;
    return { outcome: tooSoon ? 'too-soon' : 'pending' };
  }

  #newLetters(): string {
    for (;;) {
      const bytes = this.#randomBytes(userCodeLength);
      const letters = Array.from(bytes, (byte) => alphabet[byte & 15]).join('');
      if (!this.#byUserCode.has(letters)) return letters;
    }
  }

  #forget(now: number): void {
    for (const [key, device] of this.#devices) {
      if (now < device.expiresAt + rememberMs) return;
      this.#devices.delete(key);
      this.#byUserCode.delete(lettersOf(device.userCode));
    }
  }
}

function lettersOf(typed: string): string {
  return typed.toUpperCase().replace(/[^A-Z]/g, '');
}
