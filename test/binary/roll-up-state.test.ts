import { expect, test } from 'vitest';
import { freshDirectory, prepare, startBinary, token, usage } from '../support/binary.ts';
import { seededRandom } from '../support/random.ts';
import { openShop, type Shop } from '../support/shop.ts';

const rounds = 8;
const minuteMs = 60_000;

/** Reports a check of some minutes ago. @returns true after status 200; `undefined` without a response */
async function report(http: string, key: string, minutesAgo: number): Promise<boolean | undefined> {
  const time = new Date(Date.now() - minutesAgo * minuteMs).toISOString();
  const stats = [{ feature: 'checkout', variantStats: { on: { checkCount: 1 } } }];
  const body = JSON.stringify({ appKey: key, environment: 'Production', time, stats });
  const headers = { 'content-type': 'application/json' };
  try {
    const response = await fetch(`http://${http}/api/usage/stats`, { method: 'POST', headers, body });
    return response.status === 200;
  } catch {
    return undefined;
  }
}

/** Reads the checks of the last days three times: summed from minutes, from hours and from days. */
async function readByWidth(http: string, { credentials, application }: Shop): Promise<number[]> {
  const access = await token(http, credentials);
  const day = 86_400_000;
  const today = Math.floor(Date.now() / day) * day;
  const from = new Date(today - day);
  const to = new Date(today + 2 * day);
  const sums: number[] = [];
  for (const step of ['minute', 'hour', 'day'] as const) {
    const { features } = await usage(http, access, application, { environment: 'Production', from, to, step });
    sums.push(features[0]?.checks ?? 0);
  }
  return sums;
}

test('a server that is killed during the roll-up of counts loses no count, and adds no count twice', async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  let service = await startBinary({ data });
  const shop = await openShop(service.http, credentials);
  let sent = 0;
  let accepted = 0;
  for (let round = 0; round < rounds; round += 1) {
    const seed = Math.floor(Math.random() * 2 ** 32);
    const random = seededRandom(seed);
    // At startup, the service rolls up the rest of the previous round, while more counts arrive for the same hours. The
    // kill depends on accepted counts, not on time, because a busy machine can need seconds for the first response.
    const untilKill = accepted + 1 + Math.floor(random() * 200);
    console.log(`round ${round + 1}: seed ${seed}, SIGKILL when ${untilKill} reports are accepted`);
    const send = async () => {
      for (;;) {
        sent += 1;
        const response = await report(service.http, shop.key, Math.floor(random() * 200));
        if (response === undefined) return;
        expect(response).toBe(true);
        accepted += 1;
      }
    };
    const senders = [send(), send(), send(), send()];
    await expect.poll(() => accepted, { interval: 1 }).toBeGreaterThanOrEqual(untilKill);
    service.kill('SIGKILL');
    await Promise.all([...senders, service.exit]);
    service = await startBinary({ data });
    const sums = await readByWidth(service.http, shop);
    expect(new Set(sums).size, `seed ${seed}: minutes, hours and days differ: ${sums}`).toBe(1);
    expect(sums[0], `seed ${seed}: an accepted report is missing`).toBeGreaterThanOrEqual(accepted);
    expect(sums[0], `seed ${seed}: more counted than sent`).toBeLessThanOrEqual(sent);
    sent = sums[0]!;
    accepted = sums[0]!;
  }
  service.kill('SIGTERM');
  expect((await service.exit).code).toBe(0);
});
