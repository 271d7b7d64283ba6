import { describe, expect, test } from 'vitest';
import { delays } from '../../src/webhooks/claims.ts';
import { maxDeliveries } from '../../src/webhooks/queue.ts';
import { deleteWebhook, patchWebhook, testWebhook } from '../../src/webhooks/webhooks.ts';
import { dayMs, openRespondingHook, openWebhooks, person, type WebhookFixture } from './fixture.ts';

function audited({ store }: WebhookFixture): string[] {
  store.audit.resetReadTxn();
  return Array.from(store.audit.getRange(), ({ value }) => value.action);
}

describe('a webhook', () => {
  test('a webhook is disabled after days of failure, with an audit log entry', async () => {
    const fixture = await openWebhooks();
    const { now, path, receiver } = await openRespondingHook(fixture, 500);
    const day = async () => {
      await person(fixture, `ada-${fixture.clock.now()}`);
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

  test('a successful delivery between failures keeps the webhook enabled', async () => {
    const fixture = await openWebhooks();
    const { now } = await openRespondingHook(fixture, 500, 204, 500);
    await person(fixture);
    await fixture.deliver();
    expect(now().failingSince).not.toBeNull();
    fixture.clock.advance(4 * dayMs);
    await fixture.deliver();
    expect(now().failingSince).toBeNull();
  });

  test('a response with 410 disables the webhook immediately', async () => {
    const fixture = await openWebhooks();
    const { now, path, latest } = await openRespondingHook(fixture, 410);
    await testWebhook(fixture.directory, path);
    await fixture.deliver();
    expect(now()).toMatchObject({ enabled: false, disabledFor: 'gone' });
    expect(latest()).toMatchObject({ state: 'failed', attempts: 1 });
  });

  test.each(['by a person', 'by a response with 410'])(
    'pending deliveries are given up when the webhook is disabled %s',
    async (why) => {
      const fixture = await openWebhooks();
      const { receiver, now, path, webhook } = await openRespondingHook(fixture, 500, 410, 204);
      const enable = (enabled: boolean) => patchWebhook(fixture.directory, path, { enabled }, { allowPrivate: true });
      await person(fixture);
      await fixture.deliver(); // The delivery is retried later.
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
    },
  );

  test('a deleted webhook loses its pending deliveries', async () => {
    const fixture = await openWebhooks();
    const { path } = await openRespondingHook(fixture, 204);
    const kept = await openRespondingHook(fixture, 204);
    for (const each of [path, path, kept.path]) await testWebhook(fixture.directory, each);
    await deleteWebhook(fixture.directory, path);
    expect(fixture.deliverer.waiting).toBe(1);
  });

  test('a webhook never receives events that occur while the webhook is disabled', async () => {
    const fixture = await openWebhooks();
    const { receiver, path } = await openRespondingHook(fixture, 204);
    const enable = (enabled: boolean) => patchWebhook(fixture.directory, path, { enabled }, { allowPrivate: true });
    await enable(false);
    await person(fixture, 'meanwhile');
    fixture.clock.advance(1);
    await enable(true);
    await person(fixture, 'later');
    await fixture.deliver();
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.user.name)).toEqual(['later']);
  });

  test('a webhook keeps a limited number of deliveries, and the oldest deliveries are removed', async () => {
    const fixture = await openWebhooks();
    const { path, webhook } = await openRespondingHook(fixture, 204);
    const all = Array.from({ length: maxDeliveries + 5 }, () => testWebhook(fixture.directory, path));
    await Promise.all(all);
    const kept = fixture.deliveries(webhook.id).map(({ number }) => number);
    expect(kept).toHaveLength(maxDeliveries);
    expect([kept[0], kept.at(-1)]).toEqual([maxDeliveries + 5, 6]);
    expect(fixture.deliverer.waiting).toBe(maxDeliveries);
  });
});
