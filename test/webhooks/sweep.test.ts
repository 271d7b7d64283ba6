import { expect, test } from 'vitest';
import { createApplication, deleteApplication } from '../../src/accounts/applications.ts';
import { putAnnouncement, refusalKey, service } from '../../src/webhooks/announcements.ts';
import { sequenceName } from '../../src/webhooks/queue.ts';
import { keptDays, sweepRound } from '../../src/webhooks/sweep.ts';
import { deleteWebhook, testWebhook } from '../../src/webhooks/webhooks.ts';
import { openWebhooks, person, type WebhookFixture } from './fixture.ts';
import { openReceiver } from './receiver.ts';

async function sweep({ store: accounts, accountStore, clock }: WebhookFixture): Promise<void> {
  const failed = (error: unknown) => {
    throw error;
  };
  await sweepRound({ accounts, accountStore, clock, pause: async () => true, failed });
}

function listAnnouncements({ store }: WebhookFixture): string[] {
  store.webhookMarks.resetReadTxn();
  return [...store.webhookMarks.getKeys()];
}

test('finished deliveries are removed after the retention time, and pending deliveries remain', async () => {
  const fixture = await openWebhooks();
  const { port } = await openReceiver();
  const done = await fixture.hook(`http://127.0.0.1:${port}/`);
  const waits = await fixture.hook('http://127.0.0.1:1/');
  await person(fixture);
  await fixture.deliver();
  const counts = () => [done, waits].map(({ webhook }) => fixture.deliveries(webhook.id).length);
  fixture.clock.advance(keptDays * 86_400_000);
  await sweep(fixture);
  expect(counts()).toEqual([1, 1]);
  fixture.clock.advance(1);
  await sweep(fixture);
  expect(counts()).toEqual([0, 1]);
});

test('all records of a deleted webhook are removed', async () => {
  const fixture = await openWebhooks();
  const { webhook } = await fixture.hook('http://127.0.0.1:1/');
  const path = { teamId: fixture.team.id, id: webhook.id };
  await testWebhook(fixture.directory, path);
  await deleteWebhook(fixture.directory, path);
  await sweep(fixture);
  expect(fixture.deliveries(webhook.id)).toEqual([]);
  expect(fixture.deliverer.waiting).toBe(0);
  expect(fixture.accountStore.has('numbers', sequenceName(webhook.id))).toBe(false);
});

test('a webhook is removed with the team, even if a release without webhooks deleted the team', async () => {
  const fixture = await openWebhooks();
  const { webhook } = await fixture.hook('http://127.0.0.1:1/');
  await testWebhook(fixture.directory, { teamId: fixture.team.id, id: webhook.id });
  await sweep(fixture);
  expect(fixture.accountStore.has('webhooks', webhook.id)).toBe(true);
  await fixture.directory.change((tx) => tx.remove('teams', fixture.team.id));
  await sweep(fixture);
  expect(fixture.accountStore.has('webhooks', webhook.id)).toBe(false);
  expect(fixture.deliverer.waiting).toBe(0);
});

test('announcements are removed with their application, and announced refusals are removed after two days', async () => {
  const fixture = await openWebhooks();
  const { directory, clock, team } = fixture;
  const { id } = await createApplication(directory, { name: 'Shop', teamId: team.id });
  const seen = `${id} seen 1 a b`;
  const refused = refusalKey(id, null, 'unknown_key');
  const ofService = refusalKey(service, null, 'backpressure');
  await directory.change((tx) => {
    for (const key of [seen, refused, ofService]) putAnnouncement(tx, key, { at: clock.now() });
  });
  await sweep(fixture);
  expect(listAnnouncements(fixture)).toHaveLength(3);
  clock.advance(3 * 86_400_000);
  await sweep(fixture);
  expect(listAnnouncements(fixture)).toEqual([seen]);
  await deleteApplication(directory, id);
  await sweep(fixture);
  expect(listAnnouncements(fixture)).toEqual([]);
});
