import { describe, expect, test } from 'vitest';
import { Deliverer, type Send } from '../../src/webhooks/deliverer.ts';
import type { SendResult } from '../../src/webhooks/send.ts';
import { testWebhook } from '../../src/webhooks/webhooks.ts';
import { testLog } from '../accounts/store/postgres-fixture.ts';
import { openWebhooks } from './fixture.ts';

test('hanging receivers delay no other team, and delay their own team only briefly', async () => {
  const fixture = await openWebhooks();
  const hanging: (() => void)[] = [];
  const begun: string[] = [];
  const sendTo: Send = ({ url }) => {
    begun.push(url);
    if (url.endsWith('/good')) return Promise.resolve({ status: 204, error: null, retryAfterMs: 0 });
    return new Promise((resolve) =>
      hanging.push(() => resolve({ status: null, error: 'no response', retryAfterMs: 0 })),
    );
  };
  const { directory } = fixture;
  const deliverer = new Deliverer({ ...fixture, log: testLog(), send: sendTo });
  const hang = await fixture.hook('http://hang.example/hang');
  for (let count = 0; count < 50; count += 1)
    await testWebhook(directory, { teamId: fixture.team.id, id: hang.webhook.id });
  await deliverer.look();
  expect(begun).toHaveLength(4);
  const good = await fixture.hook('http://good.example/good');
  await testWebhook(directory, { teamId: fixture.team.id, id: good.webhook.id });
  await deliverer.look();
  expect(begun.filter((url) => url.endsWith('/good'))).toHaveLength(1);
  for (const end of hanging.splice(0)) end();
  await deliverer.settled();
  await deliverer.look();
  expect(hanging, 'one at a time while it fails').toHaveLength(1);
  for (const end of hanging.splice(0)) end();
  await deliverer.settled();
});

describe('failing receivers with long queues', () => {
  const refuse: SendResult = { status: 500, error: 'responded with 500', retryAfterMs: 0 };

  async function openQueues(send: Send, names: readonly string[]) {
    const fixture = await openWebhooks();
    for (const name of names) {
      const { webhook } = await fixture.hook(`http://${name}.example/`);
      const path = { teamId: fixture.team.id, id: webhook.id };
      for (let count = 0; count < 20; count += 1) await testWebhook(fixture.directory, path);
    }
    return new Deliverer({ ...fixture, log: testLog(), send });
  }

  test('failing receivers leave slots for another webhook of their team, and are served round robin', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const send: Send = ({ url }) => {
      begun.push(new URL(url).hostname);
      return new Promise((resolve) => ends.push(() => resolve(refuse)));
    };
    const failing = Array.from({ length: 9 }, (_, index) => `failing${index}`);
    const deliverer = await openQueues(send, [...failing, 'good']);
    const countBegun = (name: string) => begun.filter((each) => each === `${name}.example`).length;
    for (let round = 0; round < 8; round += 1) {
      await deliverer.look();
      for (const end of ends.splice(0)) end();
      await deliverer.settled();
    }
    expect(countBegun('good')).toBeGreaterThan(0);
    // The first round starts 8 attempts. Each further round starts 4 attempts of failing webhooks.
    for (const name of failing) expect(countBegun(name)).toBeGreaterThanOrEqual(3);
  });

  test('the deliverer pauses between calls to a failing receiver', async () => {
    let calls = 0;
    const send: Send = async () => {
      calls += 1;
      return refuse;
    };
    const deliverer = await openQueues(send, ['failing']);
    const rests: (() => void)[] = [];
    let isStopping = false;
    const running = deliverer.run(async (ms) => {
      if (ms >= 1000) await new Promise<void>((resolve) => rests.push(resolve));
      return !isStopping;
    });
    await expect.poll(() => calls).toBe(4);
    for (let look = 0; look < 3; look += 1) {
      await deliverer.settled();
      await deliverer.look();
    }
    expect(calls).toBe(4);
    for (const end of rests.splice(0)) end();
    await expect.poll(() => calls).toBe(5);
    isStopping = true;
    const stopping = setInterval(() => rests.splice(0).map((end) => end()), 1);
    await running;
    clearInterval(stopping);
  });
});
