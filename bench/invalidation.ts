import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from '../src/accounts/store/account-store.ts';
import { EmbeddedAccountStore } from '../src/accounts/store/embedded.ts';
import { addToList, isOnList, newTokenIdentity, type TokenReference } from '../src/auth/oauth/tokens.ts';
import { sweepRound } from '../src/auth/sweep.ts';
import { type Clock, systemClock } from '../src/runtime/clock.ts';
import { type AccountTables, openAccountTables } from '../src/storage/lmdb/accounts.ts';
import { cleanUp, freshDirectory, manage, prepare, startBinary, stop, token } from '../test/support/binary.ts';
import { type Benchmark, note, readOptions, show } from './benchmark.ts';
import { median, round } from './numbers.ts';
import { rssMb } from './process-stats.ts';

const health = { ready: true, failed: () => {} };

/** Number of tokens per transaction while the list is filled. */
const perTransaction = 10_000;
const lookups = 200_000;

/** Measures lookups in a long list of invalidated tokens, its memory, and the removal of expired tokens. */
export const invalidation: Benchmark = {
  summary: 'lookup, memory and sweep of an invalidation list with a million tokens',
  usage: '[--json] [--tokens 1000000] [--requests 2000] [--small] [--binary dist/flagmeter]',
  async run(args) {
    const defaults = { tokens: 1_000_000, requests: 2_000 };
    const options = readOptions(args, defaults, { tokens: 2_000, requests: 20 });
    try {
      const data = join(freshDirectory(), 'data');
      const credentials = await prepare(data, options.binary);
      const serve = () => residentAfter(options, data, credentials);
      note('measuring the service without a list');
      const emptyRssMb = await serve();
      const list = await fill(data, options.tokens);
      note('measuring the service with the list');
      const rss = await serve();
      const swept = await sweep(data);
      const result = { tokens: options.tokens, ...list, emptyRssMb, rssMb: rss, ...swept };
      show(options.json, result, [
        ['tokens on the list', `${result.tokens}`],
        ['on disk', `${result.diskMb} MiB`],
        ['lookup of a token that is not on the list', `${result.lookupNs} ns`],
        ['lookup of a token that is on the list', `${result.listedNs} ns`],
        ['resident memory without the list', `${result.emptyRssMb} MiB`],
        ['resident memory with the list, after the same number of lookups', `${result.rssMb} MiB`],
        ['steps of the sweep of the list', `${result.sweepSteps}`],
        ['duration of a step, median', `${result.stepMs} ms`],
        ['duration of a step, p99', `${result.stepP99Ms} ms`],
        ['duration of a step, maximum', `${result.longestStepMs} ms`],
      ]);
    } finally {
      cleanUp();
    }
  },
};

/** Runs the service, sends many new tokens with one token per request, and returns the resident memory. */
async function residentAfter(
  { binary, requests }: { readonly binary: string; readonly requests: number },
  data: string,
  credentials: Awaited<ReturnType<typeof prepare>>,
): Promise<number> {
  const service = await startBinary({ data, binary, args: ['--api-rate', '0', '--token-rate', '0'] });
  for (let sent = 0; sent < requests; sent += 1) {
    const access = await token(service.http, credentials);
    await manage(service.http, access, 'GET', '/api/v2/applications', 200);
  }
  const resident = round(rssMb(service.pid), 1);
  await stop(service);
  return resident;
}

/** Fills the list with tokens that expire within an hour, and measures lookups of listed and of unlisted tokens. */
async function fill(data: string, tokens: number) {
  const accounts = openAccountTables(data);
  const accountStore = new EmbeddedAccountStore(accounts, health);
  const listed: TokenReference[] = [];
  for (let put = 0; put < tokens; put += perTransaction) {
    const some = Array.from({ length: Math.min(perTransaction, tokens - put) }, newToken);
    await accountStore.change((tx) => {
      for (const one of some) addToList(tx, one);
    });
    listed.push(...some.slice(0, 1 + (perTransaction * 10_000) / tokens));
  }
  const others = listed.map(newToken);
  const figures = {
    diskMb: round(statSync(join(data, 'accounts/data.mdb')).size / 2 ** 20, 1),
    lookupNs: timeLookups(accountStore, others, false),
    listedNs: timeLookups(accountStore, listed, true),
  };
  await accounts.lmdb.close();
  return figures;
}

/** Returns a token that was issued within the last hour. */
function newToken(): TokenReference {
  const ago = randomBytes(2).readUInt16BE() % 3600;
  const clock = { now: () => systemClock.now() - ago * 1000 };
  return newTokenIdentity({ clock: clock as Clock, randomBytes });
}

/** Measures the duration of a lookup in nanoseconds. @throws {Error} if a lookup returns a wrong result */
function timeLookups(list: Reader, tokens: readonly TokenReference[], expected: boolean): number {
  let right = 0;
  const start = performance.now();
  for (let n = 0; n < lookups; n += 1) if (isOnList(list, tokens[n % tokens.length]!) === expected) right += 1;
  const nanos = ((performance.now() - start) * 1e6) / lookups;
  if (right !== lookups) throw new Error(`${lookups - right} lookups were wrong`);
  return round(nanos);
}

/** Measures each step of the removal of expired tokens. The clock is two hours ahead, so all tokens have expired. */
async function sweep(data: string) {
  const accounts: AccountTables = openAccountTables(data);
  const steps: number[] = [];
  let since = performance.now();
  await sweepRound({
    accounts,
    accountStore: new EmbeddedAccountStore(accounts, health),
    auditMs: 400 * 86_400_000,
    clock: { ...systemClock, now: () => systemClock.now() + 2 * 3_600_000 },
    pause: async () => {
      steps.push(performance.now() - since);
      await new Promise(setImmediate);
      since = performance.now();
      return true;
    },
    failed: () => {},
  });
  const left = accounts.invalidated.getCount();
  await accounts.lmdb.close();
  if (left > 0) throw new Error(`the sweep left ${left} tokens`);
  const sorted = steps.toSorted((a, b) => a - b);
  return {
    sweepSteps: steps.length,
    stepMs: round(median(steps), 2),
    stepP99Ms: round(sorted[Math.floor(steps.length * 0.99)]!, 2),
    longestStepMs: round(sorted.at(-1)!, 1),
  };
}
