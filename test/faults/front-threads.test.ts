import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Binary,
  createKey,
  freshDirectory,
  manage,
  prepare,
  startBinary,
  stop,
  token,
} from '../support/binary.ts';
import { acceptIdentities, ExactLoad } from '../support/exact-load.ts';
import { frontThreads } from '../support/front-threads.ts';
import { openSender, type PacketSender } from '../support/packet-sender.ts';
import { openShop, readChecks, type Shop } from '../support/shop.ts';

/** Arguments of a server with three front-end threads. Enough connections are open for each thread to accept some. */

const args = frontThreads(3);
const connections = 48;

let data: string;
let service: Binary;
let shop: Shop;
let access: string;
let senders: readonly PacketSender[];

beforeAll(async () => {
  data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  service = await startBinary({ data, args });
  shop = await openShop(service.http, credentials);
  access = await token(service.http, credentials);
  await acceptIdentities(service.http, shop);
});

beforeEach(() => {
  senders = Array.from({ length: connections }, () => openSender(service.metrics));
});

afterEach(() => {
  for (const sender of senders) sender.close();
});

const onAll = <T>(action: (sender: PacketSender, index: number) => Promise<T>) => Promise.all(senders.map(action));

const check = (feature: string, key = shop.key) => ({ k: key, e: 'Production', f: { [feature]: { on: [1] } } });

const change = ({ application }: Pick<Shop, 'application'>, fields: object) =>
  manage(service.http, access, 'PATCH', `/api/v2/applications/${application}`, 200, fields);

describe('front-end threads', () => {
  test('a new name is counted completely if it reaches all front-end threads at the same time', async () => {
    const features = Array.from({ length: 20 }, (_, n) => `new-${n}`);
    for (const feature of features) await onAll(async (sender) => expect(await sender.send(check(feature))).toBe(202));
    const counted = await readChecks(service.http, shop);
    for (const feature of features) expect(counted.get(feature)).toBe(connections);
  });

  test('the next report after a 202 contains the packet, for any front-end thread that received the packet', async () => {
    for (const [index, sender] of senders.entries()) {
      expect(await sender.send(check('shown'))).toBe(202);
      expect((await readChecks(service.http, shop)).get('shown')).toBe(index + 1);
    }
  });

  test('front-end threads count a packet with an Idempotency-Key once, even if several of them receive it', async () => {
    for (let round = 0; round < 5; round += 1) {
      const headers = { 'idempotency-key': randomUUID() };
      const statuses = await onAll((sender) => sender.send(check(`repeated-${round}`), headers));
      expect(new Set(statuses)).toEqual(new Set([202]));
      expect((await readChecks(service.http, shop)).get(`repeated-${round}`)).toBe(1);
    }
  });

  test('all front-end threads refuse a revoked key as soon as the revocation request has its response', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id, key } = await createKey(service.http, access, shop.application, 'Frontend');
      expect(new Set(await onAll((sender) => sender.send(check('keyed', key))))).toEqual(new Set([202]));
      const path = `/api/v2/applications/${shop.application}/keys/${id}`;
      await manage(service.http, access, 'DELETE', path, 204);
      expect(new Set(await onAll((sender) => sender.send(check('keyed', key))))).toEqual(new Set([404]));
    }
  });

  test('front-end threads share one rate limit', async () => {
    await expect.poll(async () => await senders[0]!.send(check('limited'))).toBe(202);
    const limit = { rate: 200, burst: 100 };
    await change(shop, limit);
    const began = performance.now();
    let accepted = 0;
    let lastSent = began;
    await onAll(async (sender) => {
      while (performance.now() - began < 2_000) {
        lastSent = performance.now();
        const status = await sender.send(check('limited'));
        if (status === 202) accepted += 1;
        else expect(status).toBe(429);
      }
    });
    const grantedBy = (time: number) => limit.burst + (limit.rate * (time - began)) / 1_000;
    const most = grantedBy(performance.now());
    await change(shop, { rate: null, burst: null });
    expect(accepted).toBeLessThanOrEqual(Math.ceil(1.02 * most));
    expect(accepted).toBeGreaterThanOrEqual(Math.floor(0.98 * grantedBy(lastSent)));
  });

  test('all front-end threads apply changed origins as soon as the change has its response, and share one ledger', async () => {
    const other = await openShop(service.http, shop.credentials);
    const send = (sender: PacketSender) => sender.send(check('origin', other.key));
    expect(new Set(await onAll(send))).toEqual(new Set([202]));
    await change(other, { allowedOrigins: ['https://other.example.com'] });
    expect(new Set(await onAll(send))).toEqual(new Set([403]));
    const path = `/api/v2/applications/${other.application}/ingest?environment=Production`;
    const ledger = () => manage(service.http, access, 'GET', path, 200);
    await expect.poll(ledger).toMatchObject({ accepted: connections, refused: connections });
  });

  test('a killed server with front-end threads loses no accepted packet, and counts no packet twice', async () => {
    const load = new ExactLoad();
    const sent = onAll((_, index) => load.send(service, shop, `killed-${index}`, `user-${index}`));
    await expect.poll(() => load.accepted, { interval: 5 }).toBeGreaterThan(2_000);
    service.kill('SIGKILL');
    await Promise.all([sent, service.exit]);
    service = await startBinary({ data, args });
    expect(load.faults(await load.read(service.http, shop))).toEqual([]);
  });

  test('front-end threads respond to all requests that they received before the server stops', async () => {
    const load = new ExactLoad();
    const sent = onAll((_, index) => load.send(service, shop, `stopped-${index}`, `user-${index}`));
    await expect.poll(() => load.accepted, { interval: 5 }).toBeGreaterThan(2_000);
    expect(await stop(service)).toEqual({ code: 0, signal: null });
    await sent;
    service = await startBinary({ data, args });
    expect(load.faults(await load.read(service.http, shop))).toEqual([]);
    expect(await stop(service)).toEqual({ code: 0, signal: null });
  });
});
