import { hashSecret } from '../../accounts/secrets.ts';
import type {
  AccountStore,
  ListedThrottle,
  Throttles,
  ThrottleTransaction,
} from '../../accounts/store/account-store.ts';
import { findNetwork } from '../../runtime/addresses.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { LoginFailures } from '../../storage/lmdb/auth-records.ts';
import type { Browser } from '../cookies/browser.ts';

interface Rule {
  /** Number of failures without a wait. The next failure causes a wait of `shortestMs`. Later failures double it. */
  readonly free: number;
  readonly shortestMs: number;
  readonly longestMs: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/**
 * The throttles of an attempt. `pair` limits failures from one address at one account, `address` from one address at
 * any account, and `account` from many addresses at one account. A browser that has signed in to the account before has
 * its own throttle, so that an attacker cannot lock the user out.
 */
const rules = {
  pair: { free: 5, shortestMs: 5_000, longestMs: 15 * minuteMs },
  address: { free: 50, shortestMs: 1_000, longestMs: minuteMs },
  account: { free: 50, shortestMs: 5_000, longestMs: 5 * minuteMs },
  browser: { free: 5, shortestMs: 5_000, longestMs: 15 * minuteMs },
} as const satisfies Record<string, Rule>;

type Kind = keyof typeof rules;
const kinds = Object.keys(rules) as Kind[];

/** Time from the last failure until all failures are forgotten. `forgetManyMs` applies after many failures. */
const forgetFewMs = 60 * minuteMs;
const forgetManyMs = dayMs;
/** Time from the last sign-in of a browser until the browser is forgotten. */
const forgetBrowserMs = 90 * dayMs;

export interface ThrottleDeps {
  readonly accountStore: Pick<AccountStore, 'throttles'>;
  readonly clock: Clock;
}

export interface Attempt {
  /** E-mail address as typed. */
  readonly email: string;
  readonly address: string;
  readonly browser: Browser;
}

/** The result of counting an attempt: seconds to wait, or 0 and the keys of the throttles that counted the attempt. */
export interface CountedAttempt {
  readonly wait: number;
  readonly keys: readonly string[];
}

/**
 * Counts an attempt as failed before it is made, so that concurrent attempts all count. Resolves when the count is on
 * disk. After a success, `forgiveAttempt` removes the count. An attempt that must wait is not counted.
 * @throws {Refusal} `store_unavailable`, `postgres_unavailable`
 */
export function countAttempt(deps: ThrottleDeps, attempt: Attempt): Promise<CountedAttempt> {
  const all = kinds.map((kind) => throttleKey(kind, attempt));
  return countKeys(deps, all, (tx, now) => chooseKeys(tx, attempt, now));
}

/** @param keysAt chooses the keys of the throttles that count the attempt */
function countKeys(
  { accountStore, clock }: ThrottleDeps,
  all: readonly string[],
  keysAt: (tx: ThrottleTransaction, now: number) => readonly string[],
): Promise<CountedAttempt> {
  return accountStore.throttles.change(all, (tx) => {
    const now = clock.now();
    const keys = keysAt(tx, now);
    const wait = Math.max(...keys.map((key) => waitMs(key, failuresAt(tx, key, now), now)));
    if (wait > 0) return { wait: Math.ceil(wait / 1000), keys: [] };
    for (const key of keys) {
      const failures = (failuresAt(tx, key, now)?.failures ?? 0) + 1;
      tx.put(key, { failures, lastAt: now });
    }
    return { wait: 0, keys };
  });
}

/** Counts an attempt without an account, only by the address of the peer. See `countAttempt`. */
export function countAddress(deps: ThrottleDeps, address: string): Promise<CountedAttempt> {
  return countKeys(deps, [addressKey(address)], () => [addressKey(address)]);
}

export function uncountAttempt(
  { accountStore }: Pick<ThrottleDeps, 'accountStore'>,
  { keys }: CountedAttempt,
): Promise<void> {
  return accountStore.throttles.change(keys, (tx) => uncount(tx, keys));
}

/** Records that an attempt succeeded: removes its count, and remembers its browser. */
export function forgiveAttempt(
  { accountStore, clock }: ThrottleDeps,
  attempt: Attempt,
  { keys }: CountedAttempt,
): Promise<void> {
  const own = throttleKey('browser', attempt);
  return accountStore.throttles.change([...new Set([...keys, own])], (tx) => {
    uncount(tx, keys);
    // Failures of other throttles remain: the owner of one account must not reset them while guessing other passwords.
    for (const key of keys) if (parseKind(key) === 'pair') tx.remove(key);
    tx.put(own, { failures: 0, lastAt: clock.now() });
  });
}

/** Checks the password of a counted attempt. If the check fails with an error, the attempt is not counted. */
export async function verifyCounted(
  { accountStore }: Pick<ThrottleDeps, 'accountStore'>,
  counted: CountedAttempt,
  verify: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await verify();
  } catch (error) {
    await uncountAttempt({ accountStore }, counted);
    throw error;
  }
}

function uncount(tx: ThrottleTransaction, keys: readonly string[]): void {
  for (const key of keys) {
    const { failures, lastAt } = tx.get(key) ?? { failures: 0, lastAt: 0 };
    if (failures <= 1) tx.remove(key);
    else tx.put(key, { failures: failures - 1, lastAt });
  }
}

/**
 * Forgets all failures, for an operator with access to the data directory. Failures of one account cannot be selected,
 * because the keys are hashes. Browsers that have signed in are still remembered.
 */
export async function forgetFailures(throttles: Throttles): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; )
    after = await throttleStep(throttles, after, (tx, key) => {
      const found = tx.get(key);
      if (found !== undefined && parseKind(key) === 'browser') tx.put(key, { ...found, failures: 0 });
      else tx.remove(key);
    });
}

/**
 * Removes some expired throttles.
 * @returns the key to continue after; `undefined` at the end
 */
export function sweepThrottles(throttles: Throttles, after: string, now: number): Promise<string | undefined> {
  return throttleStep(
    throttles,
    after,
    (tx, key) => {
      const found = tx.get(key); // The throttle might have changed in the meantime.
      if (found !== undefined && isThrottleOver(key, found, now)) tx.remove(key);
    },
    ({ key, failures }) => isThrottleOver(key, failures, now),
  );
}

const stepLimit = 256;

async function throttleStep(
  throttles: Throttles,
  after: string,
  change: (tx: ThrottleTransaction, key: string) => void,
  concerns: (listed: ListedThrottle) => boolean = () => true,
): Promise<string | undefined> {
  const found = await throttles.list(after, stepLimit);
  const keys = found.filter(concerns).map(({ key }) => key);
  if (keys.length > 0)
    await throttles.change(keys, (tx) => {
      for (const key of keys) change(tx, key);
    });
  return found.length < stepLimit ? undefined : found.at(-1)?.key;
}

/** True if a throttle has expired at `now` (Unix ms) and can be removed. */
export function isThrottleOver(key: string, { failures, lastAt }: LoginFailures, now: number): boolean {
  const kind = parseKind(key);
  if (kind === 'browser') return now >= lastAt + forgetBrowserMs;
  return now >= lastAt + (failures < rules[kind].free ? forgetFewMs : forgetManyMs);
}

/** Chooses the throttles of an attempt. A known browser has only its own throttle. */
function chooseKeys(reader: ThrottleTransaction, attempt: Attempt, now: number): string[] {
  const own = throttleKey('browser', attempt);
  if (failuresAt(reader, own, now) !== undefined) return [own];
  return [throttleKey('pair', attempt), throttleKey('address', attempt), throttleKey('account', attempt)];
}

function failuresAt(reader: ThrottleTransaction, key: string, now: number): LoginFailures | undefined {
  const found = reader.get(key);
  return found === undefined || isThrottleOver(key, found, now) ? undefined : found;
}

/** The remaining wait of an attempt, ms. It never exceeds the wait of the rule, even if the clock was set back. */
function waitMs(key: string, found: LoginFailures | undefined, now: number): number {
  const { free, shortestMs, longestMs } = rules[parseKind(key)];
  if (found === undefined || found.failures < free) return 0;
  const whole = Math.min(longestMs, shortestMs * 2 ** (found.failures - free));
  return Math.min(whole, found.lastAt + whole - now);
}

/** The key of a throttle: a hash, which reveals no IP address or e-mail address. */
function throttleKey(kind: Kind, { email, address, browser }: Attempt): string {
  const account = email.toLowerCase();
  if (kind === 'address') return addressKey(address);
  const text = { pair: `${findNetwork(address)} ${account}`, account, browser: `${browser.permanentId} ${account}` }[
    kind
  ];
  return `${kind}.${hashSecret(text)}`;
}

function addressKey(address: string): string {
  return `address.${hashSecret(findNetwork(address))}`;
}

function parseKind(key: string): Kind {
  return key.slice(0, key.indexOf('.')) as Kind;
}
