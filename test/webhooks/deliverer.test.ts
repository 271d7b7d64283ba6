import { describe, expect, test } from 'vitest';
import { putMember, removeMember } from '../../src/accounts/members.ts';
import { EmbeddedAccountStore } from '../../src/accounts/store/embedded.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { delays } from '../../src/webhooks/claims.ts';
import { Deliverer } from '../../src/webhooks/deliverer.ts';
import { deleteWebhook, patchWebhook, redeliver, testWebhook } from '../../src/webhooks/webhooks.ts';
import { testHealth } from '../accounts/fixture.ts';
import { testLog } from '../accounts/store/postgres-fixture.ts';
import { dayMs, openRespondingHook, openWebhooks, person } from './fixture.ts';
import { openReceiver, verified } from './receiver.ts';

describe('the event of a change of members', () => {
  test('each subscribed webhook gets the event of a changed member once', async () => {
    const fixture = await openWebhooks();
    const { receiver, secret, latest } = await openRespondingHook(fixture, 204);
    await fixture.hook(`http://127.0.0.1:${receiver.port}/not-wanted`, ['key.leaked']);
    const other = await createTeam(fixture.directory, 'Other');
    const id = await person(fixture);
    await putMember(fixture.directory, other.id, id);
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
    expect(latest()).toMatchObject({ state: 'delivered', attempts: 1, latest: [{ status: 204, error: null }] });
  });

  test('a rejected change sends no event', async () => {
    const fixture = await openWebhooks();
    const { receiver } = await openRespondingHook(fixture, 204);
    await expect(putMember(fixture.directory, fixture.team.id, 'none')).rejects.toThrow();
    await fixture.deliver();
    expect(receiver.received).toEqual([]);
  });
});

describe('an event', () => {
  test('the next process delivers a queued event, even if the previous process died during the delivery', async () => {
    const fixture = await openWebhooks();
    const { receiver, secret } = await openRespondingHook(fixture, 204);
    await person(fixture, 'queued');
    await new Deliverer({ ...fixture, log: testLog(), send: () => new Promise(() => {}) }).look();
    const accountStore = new EmbeddedAccountStore(fixture.store, testHealth());
    const next = await openWebhooks({ ...fixture, accountStore });
    expect([...accountStore.records('webhookTurns').values()]).toMatchObject([
      { lease: { until: expect.any(Number) } },
    ]);
    await next.deliver();
    expect(receiver.received.map((one) => verified(one, secret).type)).toEqual(['member.changed']);
  });

  test('a failed delivery is retried after each delay, and given up after about a day', async () => {
    const fixture = await openWebhooks();
    const { receiver, latest } = await openRespondingHook(fixture, 500);
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

  test('the retry of a delivery waits as long as the receiver requests', async () => {
    const fixture = await openWebhooks();
    const receiver = await openReceiver((response) => response.writeHead(503, { 'retry-after': '600' }).end());
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

  test('the event of a deleted webhook is not delivered', async () => {
    const fixture = await openWebhooks();
    const { receiver, path } = await openRespondingHook(fixture, 204);
    await person(fixture);
    await deleteWebhook(fixture.directory, path);
    await fixture.deliver();
    expect(receiver.received).toEqual([]);
    expect(fixture.deliverer.waiting).toBe(0);
  });
});

test('a failed test delivery is not retried, and does not disable the webhook', async () => {
  const fixture = await openWebhooks();
  const { receiver, latest, now, path } = await openRespondingHook(fixture, 500);
  for (const tests of [1, 2]) {
    await testWebhook(fixture.directory, path);
    await fixture.deliver();
    expect(latest()).toMatchObject({ state: 'failed', attempts: 1, endedAt: fixture.clock.now() });
    expect(fixture.deliverer.waiting).toBe(0);
    fixture.clock.advance(6 * dayMs);
    await fixture.deliver();
    expect(receiver.received).toHaveLength(tests);
  }
  expect(now().enabled).toBe(true);
});

describe('a completed delivery', () => {
  test.each([204, 410])('a delivery can be repeated after a response with status %i', async (status) => {
    const fixture = await openWebhooks();
    const { receiver, path, latest } = await openRespondingHook(fixture, status, 204);
    await testWebhook(fixture.directory, path);
    await fixture.deliver();
    await patchWebhook(fixture.directory, path, { enabled: true }, { allowPrivate: true });
    expect(await redeliver(fixture.directory, path, latest().id)).toMatchObject({ state: 'waiting' });
    await fixture.deliver();
    expect(latest()).toMatchObject({ state: 'delivered', attempts: 2 });
    const [first, second] = receiver.received;
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    await expect(redeliver(fixture.directory, path, 'msg_1_none')).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('a delivery is repeated if the result could not be recorded', async () => {
  const fixture = await openWebhooks();
  const { receiver, latest } = await openRespondingHook(fixture, 204);
  await person(fixture);
  const health = testHealth();
  const accountStore = new EmbeddedAccountStore(fixture.store, health);
  const { directory } = await openWebhooks({ ...fixture, accountStore });
  const failing = new Deliverer({
    accountStore,
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
