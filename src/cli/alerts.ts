import { deliveryColumns } from '../contract/resources/columns.ts';
import { resources } from '../contract/resources/resources.ts';
import { teamOption } from '../contract/shapes/option.ts';
import { type Api, connect, type Item } from './api.ts';
import { clientCommand, tableNotes } from './client-command.ts';
import type { Arguments, Entry } from './command.ts';
import { jsonOption, urlOption } from './common-options.ts';
import type { Context } from './context.ts';
import { followDelivery } from './delivery.ts';
import { Failure } from './failure.ts';
import { teamPath } from './find.ts';
import { printJson, printTable } from './print.ts';
import { readFields } from './send.ts';

const test = clientCommand({
  name: 'alerts test',
  summary: 'Send a test event to every enabled webhook of a team, and show the responses',
  examples: ['alerts test', 'alerts test --team Payments'],
  options: [teamOption, urlOption, jsonOption],
  run: testAlerts,
});

export const alerts: Entry = {
  summary: 'Test the webhooks that tell a team about its flags',
  commands: [test],
  notes: `
Exit code 1: a test event was not delivered, or the team has no enabled webhook. Alerts about the
server itself are rules of Prometheus: see docs/alerts.md.
${tableNotes}`,
};

/**
 * @throws {UsageError} for wrong arguments
 * @throws {Failure} if a webhook did not accept its event, or the server refuses or cannot be reached
 */
async function testAlerts(given: Arguments, context: Context): Promise<number> {
  const api = connect(context, given);
  const path = [...(await teamPath(given, api)), resources.webhooks.collection];
  const enabled = (await api.list(path)).filter((webhook) => webhook['enabled'] === true);
  if (enabled.length === 0)
    throw new Failure('failed', 'The team has no enabled webhook: create a webhook with flagmeter webhooks create');
  const deliveries = await Promise.all(enabled.map((webhook) => testWebhook(context, api, path, webhook)));
  if (given.has('json')) printJson(context, { items: deliveries });
  else printTable(context, columns, deliveries);
  const failed = deliveries.filter(({ state }) => state !== 'delivered').length;
  if (failed > 0) throw new Failure('failed', `Test events that were not delivered: ${failed} of ${enabled.length}`);
  return 0;
}

/** Sends a test event to a webhook. @returns the delivery after its first attempt, with the name of the webhook */
async function testWebhook(context: Context, api: Api, path: readonly string[], webhook: Item): Promise<Item> {
  const target = [...path, String(webhook['id'])];
  const { id } = readFields(await api.call('POST', [...target, 'test']));
  const delivery = await followDelivery(context, api, [...target, 'deliveries', String(id)]);
  return { webhook: webhook['name'], ...delivery };
}

const columns = {
  webhook: { label: 'Webhook', cut: 'last' },
  state: deliveryColumns.state,
  latest: deliveryColumns.latest,
  id: deliveryColumns.id,
} as const;
