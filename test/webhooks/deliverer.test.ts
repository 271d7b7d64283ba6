import { describe, expect, test } from 'vitest';
import { addMember, removeMember } from '../../src/accounts/members.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { createUser } from '../../src/accounts/users.ts';
import { EmbeddedEngine } from '../../src/engine/embedded.ts';
import type { Send } from '../../src/webhooks/deliverer.ts';
import { Deliverer } from '../../src/webhooks/deliverer.ts';
import { maxDeliveries } from '../../src/webhooks/queue.ts';
import { delays } from '../../src/webhooks/schedule.ts';
import type { Outcome } from '../../src/webhooks/send.ts';
import { deleteWebhook, patchWebhook, redeliver, testWebhook } from '../../src/webhooks/webhooks.ts';
import { testHealth } from '../accounts/fixture.ts';
import { testLog } from '../engine/postgres-fixture.ts';
import { openWebhooks, type WebhookFixture } from './fixture.ts';
import { openReceiver, verified } from './receiver.ts';

const dayMs = 86_400_000;

async function person(fixture: WebhookFixture, name = 'ada'): Promise<string> {
  const { directory, team } = fixture;
  const wanted = { name, role: 'User', teams: [team.id], passwordHash: 'none' } as const;
  return (await createUser(directory, { ...wanted, email: `${name}@example.com` })).id;
}

/** A webhook whose receiver answers with these statuses, one after the other; the last one stays. */
async function hookAnswering(fixture: WebhookFixture, ...statuses: number[]) {
  const receiver = await openReceiver((response) => {
    response.writeHead(statuses.length > 1 ? statuses.shift()! : statuses[0]!).end();
  });
  const { webhook, secret } = await fixture.hook(`http://127.0.0.1:${receiver.port}/`);
  const latest = () => fixture.deliveries(webhook.id)[0]!;
  const now = () => fixture.directory.webhooks.get(webhook.id)!;
  const path = { teamId: fixture.team.id, id: webhook.id };
  return { receiver, webhook, secret, latest, now, path };
}

function audited({ store }: WebhookFixture): string[] {
  store.audit.resetReadTxn();
  return Array.from(store.audit.getRange(), ({ value }) => value.action);
}

describe('a change of the members', () => {
  test('is told once to each webhook that wants to know', async () => {
    const fixture = await openWebhooks();
    const { receiver, secret, latest } = await hookAnswering(fixture, 204);
    await fixture.hook(`http://127.0.0.1:${receiver.port}/not-wanted`, ['key.leaked']);
    const other = await createTeam(fixture.directory, 'Other');
    const id = await person(fixture);
    await addMember(fixture.directory, other.id, id);
    await removeMember(fixture.directory, fixture.team.id, id);
    await fixture.deliver();
    await fixture.deliver();
    const told = receiver.received.map((one) => verified(one, secret));
    expect(told.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual(
      ['created', 'removed'].map((change) => ({
        type: 'member.changed',
        timestamp: '2026-01-02T03:04:05.000Z',
        data: {
          team: { id: fixture.team.id, name: 'Team' },
          change,
          user: { id, email: 'ada@example.com', name: 'ada', role: 'User' },
          by: { type: 'system', name: '' },
        },
      })),
    );
    expect(latest()).toMatchObject({
      state: 'delivered',
      attempts: 1,
      latest: [{ status: 204, error: null }],
    });
  });

  test('that is refused is told to no one', async () => {
    const fixture = await openWebhooks();
    const { receiver } = await hookAnswering(fixture, 204);
    await expect(addMember(fixture.directory, fixture.team.id, 'none')).rejects.toThrow();
    await fixture.deliver();
    expect(receiver.received).toEqual([]);
  });
});

describe('an event', () => {
  test('that was queued is delivered by the next process, also when the last one died in between', async () => {
    const fixture = await openWebhooks();
    const { receiver, secret } = await hookAnswering(fixture, 204);
    await person(fixture, 'queued');
    await new Deliverer({ ...fixture, log: testLog(), send: () => new Promise(() => {}) }).look();
    const engine = new EmbeddedEngine(fixture.store, testHealth());
    const next = await openWebhooks({ ...fixture, engine });
    expect([...engine.records('webhookTurns').values()]).toMatchObject([
      { lease: { until: expect.any(Number) } },
    ]);
    await next.deliver();
    expect(receiver.received.map((one) => verified(one, secret).type)).toEqual(['member.changed']);
  });

  test('is tried again after each delay, and given up after about a day', async () => {
    const fixture = await openWebhooks();
    const { receiver, latest } = await hookAnswering(fixture, 500);
    await person(fixture);
    await fixture.deliver();
    for (const delay of delays) {
      fixture.clock.advance(delay * 0.79);
      await fixture.deliver();
      const before = receiver.received.length;
      fixture.clock.advance(delay * 0.42);
      await fixture.deliver();
      expect(receiver.received.length).toBe(before + 1);
    }
    expect(latest()).toMatchObject({ state: 'failed', attempts: delays.length + 1 });
    fixture.clock.advance(dayMs);
    await fixture.deliver();
    expect(receiver.received).toHaveLength(delays.length + 1);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids)).toEqual(new Set([latest().id]));
    const day = delays.reduce((sum, delay) => sum + delay, 0) / dayMs;
    expect(day).toBeGreaterThan(0.9);
    expect(day).toBeLessThan(1.1);
  });

  test('waits as long as the receiver asks for', async () => {
    const fixture = await openWebhooks();
    const receiver = await openReceiver((response) =>
      response.writeHead(503, { 'retry-after': '600' }).end(),
    );
    await fixture.hook(`http://127.0.0.1:${receiver.port}/`);
    await person(fixture);
    for (const [advance, arrived] of [
      [0, 1],
      [599_000, 1],
      [2000, 2],
    ] as const) {
      fixture.clock.advance(advance);
      await fixture.deliver();
      expect(receiver.received).toHaveLength(arrived);
    }
  });

  test('of a deleted webhook is not delivered', async () => {
    const fixture = await openWebhooks();
    const { receiver, path } = await hookAnswering(fixture, 204);
    await person(fixture);
    await deleteWebhook(fixture.directory, path);
    await fixture.deliver();
    expect(receiver.received).toEqual([]);
    expect(fixture.deliverer.waiting).toBe(0);
  });
});

describe('a webhook', () => {
  test('is disabled after days of failure, and the audit log says so', async () => {
    const fixture = await openWebhooks();
    const { now, path, receiver } = await hookAnswering(fixture, 500);
    const day = async () => {
      await testWebhook(fixture.directory, path);
      for (const delay of [0, ...delays]) {
        fixture.clock.advance(delay * 1.21);
        await fixture.deliver();
      }
    };
    for (let days = 0; days < 4; days += 1) await day();
    expect(now()).toMatchObject({ enabled: true, failingSince: expect.any(Number) });
    await day();
    expect(now()).toMatchObject({ enabled: false, disabledFor: 'failing' });
    expect(audited(fixture).filter((action) => action === 'webhook.disabled')).toHaveLength(1);
    const before = receiver.received.length;
    await person(fixture);
    await expect(testWebhook(fixture.directory, path)).rejects.toMatchObject({ code: 'conflict' });
    await fixture.deliver();
    expect(receiver.received).toHaveLength(before);
    await patchWebhook(fixture.directory, path, { enabled: true }, { allowPrivate: true });
    expect(now()).toMatchObject({ enabled: true, disabledFor: null, failingSince: null });
  });

  test('is not disabled when something was delivered in between', async () => {
    const fixture = await openWebhooks();
    const { now, path } = await hookAnswering(fixture, 500, 204, 500);
    await testWebhook(fixture.directory, path);
    await fixture.deliver();
    expect(now().failingSince).not.toBeNull();
    fixture.clock.advance(4 * dayMs);
    await fixture.deliver();
    expect(now().failingSince).toBeNull();
  });

  test('is disabled at once when its receiver is gone for good', async () => {
    const fixture = await openWebhooks();
    const { now, path, latest } = await hookAnswering(fixture, 410);
    await testWebhook(fixture.directory, path);
    await fixture.deliver();
    expect(now()).toMatchObject({ enabled: false, disabledFor: 'gone' });
    expect(latest()).toMatchObject({ state: 'failed', attempts: 1 });
  });

  test.each(['by a person', 'for it is gone'])('gives up what waits when it is disabled %s', async (why) => {
    const fixture = await openWebhooks();
    const { receiver, now, path, webhook } = await hookAnswering(fixture, 500, 410, 204);
    const enable = (enabled: boolean) =>
      patchWebhook(fixture.directory, path, { enabled }, { allowPrivate: true });
    await testWebhook(fixture.directory, path);
    await fixture.deliver(); // It comes again later.
    await testWebhook(fixture.directory, path);
    if (why === 'by a person') await enable(false);
    else await fixture.deliver();
    expect(now().enabled).toBe(false);
    expect(fixture.deliverer.waiting).toBe(0);
    expect(fixture.deliveries(webhook.id)).toMatchObject([
      { state: 'failed', endedAt: expect.any(Number) },
      { state: 'failed', endedAt: expect.any(Number) },
    ]);
    const before = receiver.received.length;
    await enable(true);
    fixture.clock.advance(dayMs);
    await fixture.deliver();
    expect(receiver.received).toHaveLength(before);
  });

  test('that is deleted takes what waits with it', async () => {
    const fixture = await openWebhooks();
    const { path } = await hookAnswering(fixture, 204);
    const kept = await hookAnswering(fixture, 204);
    for (const each of [path, path, kept.path]) await testWebhook(fixture.directory, each);
    await deleteWebhook(fixture.directory, path);
    expect(fixture.deliverer.waiting).toBe(1);
  });

  test('is not told of what happened while it was disabled', async () => {
    const fixture = await openWebhooks();
    const { receiver, path } = await hookAnswering(fixture, 204);
    const enable = (enabled: boolean) =>
      patchWebhook(fixture.directory, path, { enabled }, { allowPrivate: true });
    await enable(false);
    await person(fixture, 'meanwhile');
    fixture.clock.advance(1);
    await enable(true);
    await person(fixture, 'later');
    await fixture.deliver();
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.user.name)).toEqual(['later']);
  });

  test('keeps so many deliveries, and forgets the oldest', async () => {
    const fixture = await openWebhooks();
    const { path, webhook } = await hookAnswering(fixture, 204);
    const all = Array.from({ length: maxDeliveries + 5 }, () => testWebhook(fixture.directory, path));
    await Promise.all(all);
    const kept = fixture.deliveries(webhook.id).map(({ number }) => number);
    expect(kept).toHaveLength(maxDeliveries);
    expect([kept[0], kept.at(-1)]).toEqual([maxDeliveries + 5, 6]);
    expect(fixture.deliverer.waiting).toBe(maxDeliveries);
  });
});

describe('a delivery that was made or given up', () => {
  test.each([204, 410])('after %i is made again when it is asked for', async (status) => {
    const fixture = await openWebhooks();
    const { receiver, path, latest } = await hookAnswering(fixture, status, 204);
    await testWebhook(fixture.directory, path);
    await fixture.deliver();
    await patchWebhook(fixture.directory, path, { enabled: true }, { allowPrivate: true });
    expect(await redeliver(fixture.directory, path, latest().id)).toMatchObject({ state: 'waiting' });
    await fixture.deliver();
    expect(latest()).toMatchObject({ state: 'delivered', attempts: 2 });
    const [first, second] = receiver.received;
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    await expect(redeliver(fixture.directory, path, 'msg_1_none')).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('receivers that hang', () => {
  test('hold up neither others nor, for long, their own', async () => {
    const fixture = await openWebhooks();
    const hanging: (() => void)[] = [];
    const begun: string[] = [];
    const sendTo: Send = ({ url }) => {
      begun.push(url);
      if (url.endsWith('/good')) return Promise.resolve({ status: 204, error: null, retryAfterMs: 0 });
      return new Promise((resolve) =>
        hanging.push(() => resolve({ status: null, error: 'no answer', retryAfterMs: 0 })),
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
});

describe('receivers that fail, with much that waits', () => {
  const refuse: Outcome = { status: 500, error: 'answered 500', retryAfterMs: 0 };

  async function openQueues(send: Send, names: readonly string[]) {
    const fixture = await openWebhooks();
    for (const name of names) {
      const { webhook } = await fixture.hook(`http://${name}.example/`);
      const path = { teamId: fixture.team.id, id: webhook.id };
      for (let count = 0; count < 20; count += 1) await testWebhook(fixture.directory, path);
    }
    return new Deliverer({ ...fixture, log: testLog(), send });
  }

  test('leave room for another of their team, and take turns', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const send: Send = ({ url }) => {
      begun.push(new URL(url).hostname);
      return new Promise((resolve) => ends.push(() => resolve(refuse)));
    };
    const failing = Array.from({ length: 9 }, (_, index) => `failing${index}`);
    const deliverer = await openQueues(send, [...failing, 'good']);
    const countOf = (name: string) => begun.filter((each) => each === `${name}.example`).length;
    for (let round = 0; round < 8; round += 1) {
      await deliverer.look();
      for (const end of ends.splice(0)) end();
      await deliverer.settled();
    }
    expect(countOf('good')).toBeGreaterThan(0);
    // 8 in the first round, then 4 of those that fail in each.
    for (const name of failing) expect(countOf(name)).toBeGreaterThanOrEqual(3);
  });

  test('are not called without a pause', async () => {
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

test('what could not be written down is delivered again', async () => {
  const fixture = await openWebhooks();
  const { receiver, latest } = await hookAnswering(fixture, 204);
  await person(fixture);
  const health = testHealth();
  const engine = new EmbeddedEngine(fixture.store, health);
  const { directory } = await openWebhooks({ ...fixture, engine });
  const failing = new Deliverer({
    engine,
    directory,
    log: testLog(),
    send: async () => {
      health.ready = false; // The disk is full from now on.
      return { status: 204, error: null, retryAfterMs: 0 };
    },
  });
  await failing.look();
  await failing.settled();
  expect(latest().state).toBe('waiting');
  await fixture.deliver();
  expect(latest().state).toBe('delivered');
  expect(receiver.received).toHaveLength(1);
});
