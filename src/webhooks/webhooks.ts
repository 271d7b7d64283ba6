/*
 * src/webhooks notifies teams of events at URLs of their choice. webhooks.ts changes the webhooks of a team. queue.ts
 * queues an event in the commit that causes it. watch.ts finds events in the usage. deliverer.ts and claims.ts deliver
 * queued events. send.ts makes one attempt under the rules of src/http/outbound.
 */

import type { AccountTransaction } from '../accounts/account-transaction.ts';
import { type Accounts, mustBelong, ofTeam } from '../accounts/accounts.ts';
import { checkName, mustExist } from '../accounts/checks.ts';
import type { Directory } from '../accounts/directory.ts';
import { newId } from '../accounts/secrets.ts';
import { checkTierLimit } from '../accounts/tiers.ts';
import { Refusal } from '../contract/errors.ts';
import type { WebhookEventType } from '../contract/webhook-events.ts';
import type { WebhookFormat } from '../contract/webhook-formats.ts';
import { checkUrl } from '../http/outbound/addresses.ts';
import type { AuditEntry, Webhook, WebhookDelivery } from '../storage/lmdb/records.ts';
import { formatFrom } from './formats/settings.ts';
import { add, giveUp, listWaitingKeys, queueAgain } from './queue.ts';
import { newWebhookSecret, rotated } from './secrets.ts';

interface WebhookSettings {
  readonly name: string;
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  readonly enabled: boolean;
  readonly format: WebhookFormat;
  readonly project: string;
  readonly issueType: string;
  /** `null` removes the credential. */
  readonly authorization: string | null;
}

export interface WebhookRules {
  /** True if webhooks can reach private networks. */
  readonly allowPrivate: boolean;
}

/** A webhook with its secret, which is never shown again. */
export interface NewSecret {
  readonly webhook: Webhook;
  readonly secret: string;
}

type NewWebhook = Pick<WebhookSettings, 'name' | 'url' | 'events'> & Partial<WebhookSettings>;

/** @throws {Refusal} `not_found` (team), `invalid_name`, `invalid_body` (URL, events), `plan_limit` */
export function createWebhook(
  directory: Directory,
  teamId: string,
  { enabled = true, ...wanted }: NewWebhook,
  rules: WebhookRules,
): Promise<NewSecret> {
  return directory.change((tx) => {
    const { plan } = mustExist('team', tx.teams.get(teamId));
    checkSettings(wanted, rules);
    checkTierLimit(plan, 'webhooks', ofTeam(tx.webhooks, teamId).length + 1);
    const now = directory.clock.now();
    const secret = newWebhookSecret(directory.randomBytes);
    const webhook: Webhook = {
      id: newId('webhook', directory.randomBytes),
      number: tx.takeNumber('webhook'),
      teamId,
      name: wanted.name,
      url: wanted.url,
      ...formatFrom(wanted, undefined),
      events: eventsFrom(wanted.events, {}, now),
      secrets: [secret],
      enabled,
      disabledFor: null,
      failingSince: null,
      createdAt: now,
      updatedAt: now,
    };
    tx.put('webhooks', webhook.id, webhook);
    tx.note('webhook.created', teamId, describeTarget(webhook));
    return { webhook, secret: secret.text };
  });
}

/**
 * Changes a webhook. Disabling it cancels pending deliveries. Events of a disabled webhook are not delivered later.
 * @throws {Refusal} `not_found`, `invalid_name`, `invalid_body`
 */
export function patchWebhook(
  directory: Directory,
  { teamId, id }: WebhookPath,
  patch: Partial<WebhookSettings>,
  rules: WebhookRules,
): Promise<Webhook> {
  return directory.change((tx) => {
    const webhook = findWebhook(tx, teamId, id);
    if (Object.keys(patch).length === 0) return webhook;
    const { name = webhook.name, url = webhook.url, enabled = webhook.enabled } = patch;
    const { format: _, project: _p, issueType: _i, authorization: _a, ...kept } = webhook;
    const wanted = { ...kept, name, url, enabled, ...formatFrom(patch, webhook) };
    const events = patch.events ?? eventTypes(webhook);
    checkSettings({ ...wanted, events }, rules);
    const now = directory.clock.now();
    const isBack = wanted.enabled && !webhook.enabled;
    const known = isBack ? {} : webhook.events;
    const patched: Webhook = {
      ...wanted,
      events: eventsFrom(events, known, now),
      disabledFor: wanted.enabled ? null : webhook.disabledFor,
      failingSince: isBack ? null : webhook.failingSince,
      updatedAt: now,
    };
    tx.put('webhooks', id, patched);
    if (!wanted.enabled) giveUp(tx, id, now);
    tx.note('webhook.changed', teamId, describeTarget(patched));
    return patched;
  });
}

export interface WebhookPath {
  readonly teamId: string;
  readonly id: string;
}

/** Deletes a webhook. Its queued events are not delivered. @throws {Refusal} `not_found` */
export function deleteWebhook(directory: Directory, { teamId, id }: WebhookPath): Promise<void> {
  return directory.change((tx) => {
    const webhook = findWebhook(tx, teamId, id);
    tx.remove('webhooks', id);
    for (const key of listWaitingKeys(tx, id)) tx.remove('webhookTurns', key);
    tx.note('webhook.deleted', teamId, describeTarget(webhook));
  });
}

/** Adds a secret. For a day, deliveries are also signed with the previous secret. @throws {Refusal} `not_found` */
export function rotateWebhookSecret(directory: Directory, { teamId, id }: WebhookPath): Promise<NewSecret> {
  return directory.change((tx) => {
    const webhook = findWebhook(tx, teamId, id);
    const now = directory.clock.now();
    const secret = newWebhookSecret(directory.randomBytes);
    const changed = { ...webhook, secrets: rotated(webhook.secrets, secret, now), updatedAt: now };
    tx.put('webhooks', id, changed);
    tx.note('webhook.secret-rotated', teamId, describeTarget(webhook));
    return { webhook: changed, secret: secret.text };
  });
}

/** @throws {Refusal} `not_found`, `conflict` if the webhook is disabled */
export function testWebhook(directory: Directory, { teamId, id }: WebhookPath): Promise<WebhookDelivery> {
  return directory.change((tx) => {
    const webhook = enabledWebhook(tx, teamId, id);
    const now = directory.clock.now();
    tx.note('webhook.tested', teamId, describeTarget(webhook));
    const data = { webhook: { id, name: webhook.name } };
    const { randomBytes } = directory;
    return add(tx, webhook, { type: 'webhook.test', at: now, data }, { now, randomBytes });
  });
}

/** @throws {Refusal} `not_found`, `conflict` if the webhook is disabled */
export function redeliver(
  directory: Directory,
  { teamId, id }: WebhookPath,
  deliveryId: string,
): Promise<WebhookDelivery> {
  return directory.change((tx) => {
    const webhook = enabledWebhook(tx, teamId, id);
    const delivery = queueAgain(tx, id, deliveryId, directory.clock.now());
    tx.note('webhook.redelivered', teamId, describeTarget(webhook));
    return delivery;
  });
}

/** Finds a webhook of a team. @throws {Refusal} `not_found`, also for a webhook of another team */
export function findWebhook({ webhooks }: Pick<Accounts, 'webhooks'>, teamId: string, id: string): Webhook {
  return mustBelong('webhook', webhooks.get(id), teamId);
}

export const disabledWebhook = 'The webhook is disabled; enable it first';

function enabledWebhook(tx: AccountTransaction, teamId: string, id: string): Webhook {
  const webhook = findWebhook(tx, teamId, id);
  if (!webhook.enabled) throw new Refusal('conflict', disabledWebhook);
  return webhook;
}

export function eventTypes({ events }: Pick<Webhook, 'events'>): readonly WebhookEventType[] {
  return Object.keys(events) as WebhookEventType[];
}

/** Describes a webhook as the target of an audit log entry. */
export function describeTarget({ id, name }: Pick<Webhook, 'id' | 'name'>): AuditEntry['target'] {
  return { type: 'webhook', id, name };
}

/** The subscriptions after a change. New subscriptions start now. */
function eventsFrom(types: readonly WebhookEventType[], known: Webhook['events'], now: number): Webhook['events'] {
  return Object.fromEntries(types.map((type) => [type, known[type] ?? now]));
}

/** @throws {Refusal} `invalid_name`, `invalid_body` */
function checkSettings(
  { name, url, events }: Pick<WebhookSettings, 'name' | 'url' | 'events'>,
  { allowPrivate }: WebhookRules,
): void {
  checkName('a webhook', name);
  checkUrl(url, allowPrivate);
  if (events.length === 0 || new Set(events).size < events.length)
    throw new Refusal('invalid_body', '`events` must list at least one event, without duplicates');
}
