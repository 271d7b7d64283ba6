import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testClock } from '../accounts/fixture.ts';
import { freshDirectory, manage, prepare, startBinary, token } from '../support/binary.ts';
import { frontThreads } from '../support/front-threads.ts';
import { openSender, type PacketSender } from '../support/packet-sender.ts';
import { attachPeople, type People } from '../support/people.ts';
import type { LocalService } from '../support/service.ts';

/**
 * Tests the state that front-end threads share with the main thread. Each front-end thread accepts some of the open
 * connections.
 */

let people: People;
let senders: readonly PacketSender[];

beforeAll(async () => {
  const data = `${freshDirectory()}/data`;
  const credentials = await prepare(data);
  const { http, metrics } = await startBinary({ data, args: frontThreads(2) });
  people = await attachPeople({ http, metrics, credentials } as unknown as LocalService, testClock());
  senders = Array.from({ length: 24 }, () => openSender(metrics));
});

afterAll(() => {
  for (const sender of senders) sender.close();
});

const packet = (feature: string, i: string) => ({
  k: people.keys.Frontend,
  e: 'Production',
  f: { [feature]: { on: [1] } },
  i,
});

/** Sends a packet on each connection, and expects the service to count each of them. */
async function sendAll(feature: string, i: string): Promise<void> {
  const statuses = await Promise.all(senders.map((sender) => sender.send(packet(feature, i))));
  expect(new Set(statuses)).toEqual(new Set([202]));
}

const readChecks = async (identity: string) =>
  (await people.exposures(identity)).map(({ feature, checks }) => [feature, checks]);

describe('packets to front-end threads', () => {
  test('each front-end thread attributes a packet to the person of its instance id', async () => {
    const i = await people.mint('ann');
    for (let round = 0; round < 3; round += 1) await sendAll('checkout', i);
    expect(await readChecks('ann')).toEqual([['checkout', 3 * senders.length]]);
  });

  test('a front-end thread attributes no packet to an id that an earlier request has revoked', async () => {
    const i = await people.mint('bob');
    await sendAll('checkout', i);
    await people.mint('bob');
    await people.mint('bob');
    await sendAll('banner', i);
    expect(await readChecks('bob')).toEqual([['checkout', senders.length]]);
  });

  test('a packet does not restore a person whose data is being deleted', async () => {
    for (let round = 0; round < 5; round += 1) {
      const i = await people.mint('carl');
      await sendAll('checkout', i);
      let isForgotten = false;
      const sending = senders.map(async (sender) => {
        while (!isForgotten) expect(await sender.send(packet('checkout', i))).toBe(202);
      });
      await people.call('DELETE', '/identities/carl', 204);
      isForgotten = true;
      await Promise.all(sending);
      await sendAll('checkout', i);
      await people.mint('carl');
      expect(await readChecks('carl')).toEqual([]);
    }
  });
});

interface ShownKey {
  readonly id: string;
  readonly lastUsedAt: string | null;
  readonly warnings: readonly { readonly code: string }[];
  readonly refused?: { readonly count: number };
}

describe('the list of keys with front-end threads', () => {
  const newKey = async (type: string) =>
    (await people.call('POST', '/keys', 201, { type })) as ShownKey & { readonly key: string };
  const shown = async (id: string) => {
    const { items } = (await people.call('GET', '/keys', 200)) as { readonly items: readonly ShownKey[] };
    return items.find((each) => each.id === id)!;
  };

  test('the list of keys shows the first use of a key right after the 202 response, on any connection', async () => {
    for (const sender of senders.slice(0, 12)) {
      const { id, key: k } = await newKey('Mobile');
      expect(await sender.send({ k, e: 'Production', f: {} })).toBe(202);
      expect((await shown(id)).lastUsedAt).not.toBeNull();
    }
  });

  test('the list of keys shows each refused packet right after its response', async () => {
    const { id, key: k } = await newKey('Mobile');
    for (const [at, sender] of senders.entries()) {
      expect(await sender.send({ k, e: 'Nowhere' })).toBe(404);
      expect((await shown(id)).refused?.count).toBe(at + 1);
    }
  });

  test('the list of keys shows a leak right after the response, on any connection', async () => {
    for (const sender of senders.slice(0, 12)) {
      const { id, key: k } = await newKey('Backend');
      expect(await sender.send({ k, e: 'Production' })).toBe(404);
      expect((await shown(id)).warnings.map(({ code }) => code)).toEqual(['leaked']);
    }
  });
});

test('the number of refusals without an application, summed over all threads, is shown right after each response', async () => {
  const access = await token(people.service.http, people.service.credentials);
  for (const [at, sender] of senders.entries()) {
    expect(await sender.send({ k: 'fm_fe_misspelt', e: 'Production' })).toBe(404);
    const { items } = (await manage(people.service.http, access, 'GET', '/api/v2/unattributed', 200)) as {
      readonly items: readonly { readonly keyPrefix: string | null; readonly count: number }[];
    };
    expect(items.filter(({ keyPrefix }) => keyPrefix === 'fm_fe_misspe')).toMatchObject([{ count: at + 1 }]);
  }
});
