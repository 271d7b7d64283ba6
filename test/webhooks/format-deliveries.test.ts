import { describe, expect, test } from 'vitest';
import type { WebhookEvent } from '../../src/contract/webhook-events.ts';
import { issueMs } from '../../src/webhooks/announcements.ts';
import { enqueue } from '../../src/webhooks/queue.ts';
import { sweepRound } from '../../src/webhooks/sweep.ts';
import { createWebhook, patchWebhook, redeliver, testWebhook } from '../../src/webhooks/webhooks.ts';
import { openWebhooks, person, type WebhookFixture } from './fixture.ts';
import { openReceiver, verified } from './receiver.ts';

const rules = { allowPrivate: true };
const authorization = 'Bearer github_pat_secret';

type HookSettings = Partial<Parameters<typeof createWebhook>[2]>;

async function hookIn(fixture: WebhookFixture, port: number, more: HookSettings) {
  const settings = { name: 'Hook', url: `http://127.0.0.1:${port}/a`, events: ['member.changed'] as const };
  const { webhook, secret } = await createWebhook(fixture.directory, fixture.team.id, { ...settings, ...more }, rules);
  const path = { teamId: fixture.team.id, id: webhook.id };
  const now = () => fixture.directory.webhooks.get(webhook.id)!;
  return { webhook, secret, path, now };
}

describe('a delivery', () => {
  test('a delivery to a chat has neither a signature nor a credential', async () => {
    const fixture = await openWebhooks();
    const receiver = await openReceiver();
    const { webhook } = await hookIn(fixture, receiver.port, { format: 'slack' });
    await person(fixture);
    await fixture.deliver();
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[0]];
    expect(Object.keys(headers).filter((name) => /^webhook-|authorization/.test(name))).toEqual([]);
    expect(JSON.parse(body).text).toContain('created the user ada in the team Team');
    expect(fixture.deliveries(webhook.id)[0]).toMatchObject({ state: 'delivered', sent: body });
  });

  test('a delivery to an issue tracker has the credential in its header, but not in its record', async () => {
    const fixture = await openWebhooks();
    const receiver = await openReceiver((response) => {
      response.writeHead(422).end(`{"message":"Validation Failed","for":"${authorization}"}`);
    });
    const { webhook } = await hookIn(fixture, receiver.port, { format: 'github', authorization });
    await person(fixture);
    await fixture.deliver();
    expect(receiver.received[0]!.headers).toMatchObject({ authorization });
    expect(receiver.received[0]!.headers).not.toHaveProperty('webhook-signature');
    const [delivery] = fixture.deliveries(webhook.id);
    expect(delivery!.latest).toMatchObject([{ status: 422, answer: '{"message":"Validation Failed","for":"…"}' }]);
    expect(JSON.stringify(delivery)).not.toContain(authorization);
  });

  test.each([
    ['without its scheme', authorization, 'token github_pat_secret is revoked', 'token … is revoked'],
    ['with more than 4 000 characters', `Bearer ${'k'.repeat(4000)}`, `no ${'k'.repeat(4000)}`, 'no …'],
  ])('the record of a delivery hides a credential that the response repeats %s', async (_name, given, text, kept) => {
    const fixture = await openWebhooks();
    const receiver = await openReceiver((response) => response.writeHead(401).end(text));
    const { webhook } = await hookIn(fixture, receiver.port, { format: 'github', authorization: given });
    await person(fixture);
    await fixture.deliver();
    expect(fixture.deliveries(webhook.id)[0]!.latest[0]).toMatchObject({ status: 401, answer: kept });
  });

  test('the record of a delivery has the beginning of the response, without control characters', async () => {
    const fixture = await openWebhooks();
    const receiver = await openReceiver((response) => {
      response.writeHead(500).end(`\u001b[2Jinvalid_blocks\u202e${'x'.repeat(5000)}`);
    });
    const { webhook } = await hookIn(fixture, receiver.port, { format: 'slack' });
    await person(fixture);
    await fixture.deliver();
    const { answer } = fixture.deliveries(webhook.id)[0]!.latest[0]!;
    expect(answer).toMatch(/^\ufffd\[2Jinvalid_blocks\ufffdx{400,}…$/);
    expect(answer).toHaveLength(500);
  });

  test('a delivery uses the current format of its webhook, also when the delivery is repeated', async () => {
    const fixture = await openWebhooks();
    const receiver = await openReceiver();
    const { path, webhook, secret } = await hookIn(fixture, receiver.port, { format: 'teams' });
    await testWebhook(fixture.directory, path);
    await fixture.deliver();
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({ type: 'message' });
    await patchWebhook(fixture.directory, path, { format: 'standard' }, rules);
    await redeliver(fixture.directory, path, fixture.deliveries(webhook.id)[0]!.id);
    await fixture.deliver();
    expect(verified(receiver.received[1]!, secret)).toMatchObject({ type: 'webhook.test' });
    expect(fixture.deliveries(webhook.id)[0]).not.toHaveProperty('sent');
  });
});

describe('an issue tracker', () => {
  const eventAt = (fixture: WebhookFixture, verdict: 'safe_to_remove' | 'in_use'): WebhookEvent => ({
    type: 'flag.verdict_changed',
    teamId: fixture.team.id,
    at: fixture.clock.now(),
    data: {
      application: { id: 'app_1', name: 'Shop' },
      feature: 'checkout',
      previous: 'new',
      verdict,
      basis: 'senders',
      since: null,
      environments: ['Production'],
      reasons: [],
    },
  });

  async function opened(format: 'github' | 'slack') {
    const fixture = await openWebhooks();
    const { webhook, path } = await hookIn(fixture, 1, { format, events: ['flag.verdict_changed'] });
    const announce = (verdict: 'safe_to_remove' | 'in_use') =>
      fixture.directory.change((tx) => {
        const { randomBytes } = fixture.directory;
        const now = fixture.clock.now();
        return enqueue(tx, eventAt(fixture, verdict), { now, randomBytes });
      });
    return { fixture, announce, path, count: () => fixture.deliveries(webhook.id).length };
  }

  test('a repeated finding opens another issue only after a month', async () => {
    const { fixture, announce, count } = await opened('github');
    await announce('safe_to_remove');
    await announce('safe_to_remove');
    expect(count()).toBe(1);
    fixture.clock.advance(issueMs);
    await announce('safe_to_remove');
    expect(count()).toBe(2);
  });

  test('a verdict that needs no work opens no issue', async () => {
    const { announce, count } = await opened('github');
    await announce('in_use');
    expect(count()).toBe(0);
  });

  test('a chat gets every event, unlike an issue tracker', async () => {
    const { announce, count } = await opened('slack');
    for (const verdict of ['safe_to_remove', 'safe_to_remove', 'in_use'] as const) await announce(verdict);
    expect(count()).toBe(3);
  });

  test('the records of issues are kept for a month', async () => {
    const { fixture, announce } = await opened('github');
    await announce('safe_to_remove');
    const countAnnouncements = () => [...fixture.store.webhookMarks.getKeys()].length;
    const sweep = () =>
      sweepRound({
        accounts: fixture.store,
        accountStore: fixture.accountStore,
        clock: fixture.clock,
        pause: async () => true,
        failed: (error) => {
          throw error;
        },
      });
    await sweep();
    expect(countAnnouncements()).toBe(1);
    fixture.clock.advance(issueMs + 1);
    await sweep();
    expect(countAnnouncements()).toBe(0);
  });
});

describe('the settings of a format', () => {
  const github = { format: 'github', authorization } as const;
  const jira = { format: 'jira', project: 'SHOP', issueType: 'Task' } as const;

  test.each<[string, HookSettings]>([
    ['a credential for Slack', { format: 'slack', authorization }],
    ['a credential for the standard format', { authorization }],
    ['a credential with a line break', { ...github, authorization: 'Bearer a\r\nx: y' }],
    ['an empty credential', { ...github, authorization: '' }],
    ['a credential of 4097 characters', { ...github, authorization: 'a'.repeat(4097) }],
    ['jira without a project', { format: 'jira', issueType: 'Task' }],
    ['jira with an empty type', { ...jira, issueType: '' }],
    ['jira with a project of 256 characters', { ...jira, project: 'A'.repeat(256) }],
    ['a project for GitHub', { ...github, project: 'SHOP' }],
  ])('the settings of a webhook are rejected: %s', async (_, wanted) => {
    const fixture = await openWebhooks();
    await expect(hookIn(fixture, 1, wanted)).rejects.toMatchObject({ code: 'invalid_body' });
  });

  test('the credential of a webhook is kept when other settings change', async () => {
    const fixture = await openWebhooks();
    const { path, now } = await hookIn(fixture, 1, github);
    await patchWebhook(fixture.directory, path, { name: 'Issues', url: 'http://127.0.0.1:1/b' }, rules);
    expect(now()).toMatchObject({ authorization, format: 'github' });
    await patchWebhook(fixture.directory, path, { format: 'gitlab' }, rules);
    expect(now()).toMatchObject({ authorization, format: 'gitlab' });
    await patchWebhook(fixture.directory, path, { authorization: null }, rules);
    expect(now()).not.toHaveProperty('authorization');
  });

  test('the credential of a webhook is not sent to another host', async () => {
    const fixture = await openWebhooks();
    const { path, now } = await hookIn(fixture, 1, github);
    const url = 'http://127.0.0.1:2/a';
    const changed = patchWebhook(fixture.directory, path, { url }, rules);
    await expect(changed).rejects.toMatchObject({ code: 'invalid_body' });
    await patchWebhook(fixture.directory, path, { url, authorization: 'Bearer other' }, rules);
    expect(now()).toMatchObject({ url, authorization: 'Bearer other' });
  });

  test('the settings of a webhook format are removed when the format changes', async () => {
    const fixture = await openWebhooks();
    const { path, now } = await hookIn(fixture, 1, { ...jira, authorization });
    await patchWebhook(fixture.directory, path, { format: 'slack' }, rules);
    for (const field of ['project', 'issueType', 'authorization']) expect(now()).not.toHaveProperty(field);
    await patchWebhook(fixture.directory, path, { format: 'standard' }, rules);
    expect(now()).not.toHaveProperty('format');
  });
});
