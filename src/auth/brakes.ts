import { hashSecret } from '../accounts/secrets.ts';
import type { Clock } from '../clock.ts';
import type { AccountStore } from '../store/accounts.ts';
import type { Brake } from '../store/auth-records.ts';
import { commit, type Health } from '../store/transact.ts';
import type { Browser } from './browser.ts';
import { networkOf } from './network.ts';

/** What one kind of brake lets through. */
interface Rule {
  /** Failures without a wait. The next one has to wait `shortest`, and each one after that twice as long. */
  readonly free: number;
  readonly shortestMs: number;
  readonly longestMs: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * The brakes of an attempt. A stranger is stopped at one account from one address first, then at an address with any
 * account, and with very many addresses at an account; none waits longer than a quarter of an hour, and a browser
 * that an account was used with before has a brake of its own, so that nobody can lock its user out.
 */
const rules = {
  pair: { free: 5, shortestMs: 5_000, longestMs: 15 * minuteMs },
  address: { free: 50, shortestMs: 1_000, longestMs: minuteMs },
  account: { free: 50, shortestMs: 5_000, longestMs: 5 * minuteMs },
  browser: { free: 5, shortestMs: 5_000, longestMs: 15 * minuteMs },
} as const satisfies Record<string, Rule>;

type Kind = keyof typeof rules;

/** Failures that nothing was added to for so long are forgotten: few of them soon. */
const forgetFewMs = 60 * minuteMs;
const forgetManyMs = dayMs;
/** A browser is known for so long after its last sign-in. */
const forgetBrowserMs = 90 * dayMs;

/** What brakes are kept with. */
export interface BrakeDeps {
  readonly accounts: Pick<AccountStore, 'lmdb' | 'brakes'>;
  readonly health: Health;
  readonly clock: Clock;
}

/** Who tries to sign in. */
export interface Attempt {
  /** As it was typed. */
  readonly email: string;
  /** Of the peer. */
  readonly address: string;
  readonly browser: Browser;
}

/** What came of taking the brakes: seconds to wait, or 0 and the keys of what counts the attempt as failed. */
export interface Taken {
  readonly wait: number;
  readonly keys: readonly string[];
}

/**
 * Counts an attempt as failed, on disk, before it is made: of many at once none is overlooked. One that succeeds is taken
 * back with `releaseBrakes`; one that has to wait is not counted.
 * @throws {ApiError} `store_unavailable`
 */
export function takeBrakes({ accounts, health, clock }: BrakeDeps, attempt: Attempt): Taken {
  const { brakes } = accounts;
  const now = clock.now();
  return commit(accounts.lmdb, health, () => {
    const keys = keysOf(brakes, attempt, now);
    const wait = Math.max(...keys.map((key) => waitMs(key, brakeOf(brakes, key, now), now)));
    if (wait > 0) return { wait: Math.ceil(wait / 1000), keys: [] };
    for (const key of keys) {
      const failures = (brakeOf(brakes, key, now)?.failures ?? 0) + 1;
      brakes.putSync(key, { failures, lastAt: now });
    }
    return { wait: 0, keys };
  });
}

/**
 * Takes back what a successful attempt has added, and knows its browser from now on. To be called inside a transaction of
 * `accounts`.
 */
export function releaseBrakes(
  { accounts: { brakes }, clock }: BrakeDeps,
  attempt: Attempt,
  { keys }: Taken,
): void {
  for (const key of keys) {
    const { failures, lastAt } = brakes.get(key) ?? { failures: 0, lastAt: clock.now() };
    // Elsewhere only this attempt: else who has an account could guess at others without end.
    if (failures <= 1 || kindOf(key) === 'pair') brakes.removeSync(key);
    else brakes.putSync(key, { failures: failures - 1, lastAt });
  }
  brakes.putSync(keyOf('browser', attempt), { failures: 0, lastAt: clock.now() });
}

/**
 * Forgets all failures, for whoever has the data directory in hand: which brakes are those of one account can be told only
 * from the addresses and browsers that failed. A browser that an account was used with stays known. To be called inside a
 * transaction of `accounts`.
 */
export function forgetFailures({ brakes }: Pick<AccountStore, 'brakes'>): void {
  for (const { key, value } of Array.from(brakes.getRange())) {
    if (kindOf(key) === 'browser') brakes.putSync(key, { ...value, failures: 0 });
    else brakes.removeSync(key);
  }
}

/** Whether a brake has no effect any more at `now` (Unix ms), so that it need not be kept. */
export function isBrakeOver(key: string, { failures, lastAt }: Brake, now: number): boolean {
  const kind = kindOf(key);
  if (kind === 'browser') return now >= lastAt + forgetBrowserMs;
  return now >= lastAt + (failures < rules[kind].free ? forgetFewMs : forgetManyMs);
}

/** A known browser is braked by itself alone. */
function keysOf(brakes: AccountStore['brakes'], attempt: Attempt, now: number): string[] {
  const own = keyOf('browser', attempt);
  if (brakeOf(brakes, own, now) !== undefined) return [own];
  return [keyOf('pair', attempt), keyOf('address', attempt), keyOf('account', attempt)];
}

function brakeOf(brakes: AccountStore['brakes'], key: string, now: number): Brake | undefined {
  const brake = brakes.get(key);
  return brake === undefined || isBrakeOver(key, brake, now) ? undefined : brake;
}

/** How much longer an attempt has to wait, ms; never longer than the rule says, whatever the clock does. */
function waitMs(key: string, brake: Brake | undefined, now: number): number {
  const { free, shortestMs, longestMs } = rules[kindOf(key)];
  if (brake === undefined || brake.failures < free) return 0;
  const whole = Math.min(longestMs, shortestMs * 2 ** (brake.failures - free));
  return Math.min(whole, brake.lastAt + whole - now);
}

/** Keys hold no address and no e-mail address that could be read. */
function keyOf(kind: Kind, { email, address, browser }: Attempt): string {
  const account = email.toLowerCase();
  const network = networkOf(address);
  const text = {
    pair: `${network} ${account}`,
    address: network,
    account,
    browser: `${browser.mark} ${account}`,
  }[kind];
  return `${kind}.${hashSecret(text)}`;
}

function kindOf(key: string): Kind {
  return key.slice(0, key.indexOf('.')) as Kind;
}
