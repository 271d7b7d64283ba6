import { expect, test } from 'vitest';
import { freshDirectory, prepare, startBinary } from '../support/binary.ts';
import { frontThreads } from '../support/front-threads.ts';
import { openSender } from '../support/packet-sender.ts';
import { seededRandom } from '../support/random.ts';
import { openShop, readChecks } from '../support/shop.ts';

const connections = 8;
const rounds = 10;

/** Number of packets that a connection sent, and number of packets with a 202 response. */
interface Totals {
  sent: number;
  accepted: number;
}

/** Sends packets until the connection breaks. Equal counts of two features in each packet reveal partial packets. */
async function sendUntilKilled(metrics: string, key: string, connection: number, totals: Totals): Promise<void> {
  const sender = openSender(metrics);
  const counts = { on: [1, 0, 1] };
  const packet = { k: key, e: 'Production', f: { [`first-${connection}`]: counts, [`second-${connection}`]: counts } };
  for (;;) {
    totals.sent += 1;
    const status = await sender.send(packet);
    if (status === undefined) return sender.close();
    expect(status).toBe(202);
    totals.accepted += 1;
  }
}

const title = 'a server with %d front-end threads, killed, counts packets answered 202, and none partially';

test.each([0, 3])(title, async (threads) => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  const totals = Array.from({ length: connections }, (): Totals => ({ sent: 0, accepted: 0 }));
  const start = () => startBinary({ data, args: frontThreads(threads) });
  let service = await start();
  const shop = await openShop(service.http, credentials);

  for (let round = 0; round < rounds; round += 1) {
    const seed = Math.floor(Math.random() * 2 ** 32);
    const random = seededRandom(seed);
    // The kill depends on accepted packets, not on time. A busy machine can need seconds for its first response.
    const untilKill = totals.map(({ accepted }) => accepted + 1 + Math.floor(random() * 100));
    console.log(`round ${round + 1}: seed ${seed}, SIGKILL when ${untilKill} packets are accepted`);
    const senders = totals.map((totals, index) => sendUntilKilled(service.metrics, shop.key, index, totals));
    const isReached = () => totals.every(({ accepted }, index) => accepted >= untilKill[index]!);
    await expect.poll(isReached, { interval: 1 }).toBe(true);
    service.kill('SIGKILL');
    await Promise.all([...senders, service.exit]);

    service = await start();
    const counted = await readChecks(service.http, shop);
    totals.forEach(({ sent, accepted }, index) => {
      const first = counted.get(`first-${index}`) ?? 0;
      expect(counted.get(`second-${index}`) ?? 0, `seed ${seed}: a packet was counted half`).toBe(first);
      expect(first, `seed ${seed}: an accepted packet is missing`).toBeGreaterThanOrEqual(accepted);
      expect(first, `seed ${seed}: more counted than sent`).toBeLessThanOrEqual(sent);
    });
    // A packet in flight at the kill may or may not be counted. From here on, the result must not change.
    totals.forEach((totals, index) => {
      totals.sent = counted.get(`first-${index}`) ?? 0;
      totals.accepted = totals.sent;
    });
  }
  service.kill('SIGTERM');
  expect((await service.exit).code).toBe(0);
});
