import { ofTeam } from '../accounts/accounts.ts';
import { mustExist, nameRule } from '../accounts/checks.ts';
import { describeTierLimit } from '../accounts/tiers.ts';
import {
  Delivery,
  DeliveryDetail,
  NewWebhook,
  Webhook,
  WebhookPatch,
  WebhookShownOnce,
} from '../contract/shapes/webhook.ts';
import { jsonResponse } from '../http/endpoint.ts';
import { createPage, paging, readCursor, writeCursor } from '../http/lists.ts';
import { urlRule } from '../http/outbound/addresses.ts';
import { ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Webhook as StoredWebhook, WebhookDelivery } from '../storage/lmdb/records.ts';
import { formatBody, getFormat } from '../webhooks/formats/formats.ts';
import {
  deliveryKey,
  findDelivery,
  listDeliveries,
  listWaitingKeys,
  maxDeliveries,
  waitingCounts,
} from '../webhooks/queue.ts';
import { overlapMs } from '../webhooks/secrets.ts';
import { keptDays } from '../webhooks/sweep.ts';
import {
  createWebhook,
  deleteWebhook,
  disabledWebhook,
  eventTypes,
  findWebhook,
  patchWebhook,
  redeliver,
  rotateWebhookSecret,
  testWebhook,
  type WebhookPath,
} from '../webhooks/webhooks.ts';
import { endpoint, type Group } from './endpoint.ts';
import { created, done, made, page } from './responses.ts';
import type { Services } from './services.ts';

const overlapHours = overlapMs / 3_600_000;

const access = { within: 'team', least: 'Admin' } as const;

const refusesSettings = { invalid_name: nameRule('a webhook'), invalid_body: `\`url\` ${urlRule(false)}` };

/** `/api/v2/teams/{id}/webhooks`, and the deliveries of each webhook. */
export const webhooks: Group = {
  tag: 'Webhooks',
  description:
    'URLs that receive the events of a team, according to [Standard Webhooks](https://www.standardwebhooks.com). Each event is delivered at least once. Receivers recognise a repetition by its `webhook-id`.',
  endpoints: [
    endpoint('GET /teams/:id/webhooks', {
      access,
      operationId: 'listWebhooks',
      summary: 'List the webhooks of a team',
      query: paging,
      responses: { 200: page(Webhook, 'The oldest webhook comes first.') },
      handle({ directory, team, query }, { accountStore }) {
        const waiting = waitingCounts(accountStore);
        const shown = (webhook: StoredWebhook) => showWebhook(webhook, waiting.get(webhook.id) ?? 0);
        return ok(createPage(ofTeam(directory.webhooks, team.id), query, shown));
      },
    }),
    endpoint('POST /teams/:id/webhooks', {
      access,
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description: 'The webhook receives events from now on.',
      body: NewWebhook,
      responses: { 201: made(WebhookShownOnce, 'The webhook with its secret.') },
      refuses: { ...refusesSettings, plan_limit: describeTierLimit('free', 'webhooks') },
      async handle({ directory, team, body }, services) {
        const { webhook, secret } = await createWebhook(directory, team.id, body, services.webhookRules);
        const shown = getFormat(webhook) === 'standard' ? secret : null;
        return created(['teams', team.id, 'webhooks', webhook.id], { ...show(services, webhook), secret: shown });
      },
    }),
    endpoint('GET /teams/:id/webhooks/:webhookId', {
      access,
      operationId: 'getWebhook',
      summary: 'Read a webhook',
      responses: { 200: jsonResponse(Webhook, 'The webhook.') },
      handle: ({ directory, team, params }, services) =>
        ok(show(services, findWebhook(directory, team.id, params.webhookId))),
    }),
    endpoint('PATCH /teams/:id/webhooks/:webhookId', {
      access,
      operationId: 'changeWebhook',
      summary: 'Change a webhook',
      description: 'Disabling a webhook cancels pending deliveries. Enabling a webhook also clears its failures.',
      body: WebhookPatch,
      responses: { 200: jsonResponse(Webhook, 'The webhook after the change.') },
      refuses: refusesSettings,
      async handle(call, services) {
        const { directory, body } = call;
        return ok(show(services, await patchWebhook(directory, createPath(call), body, services.webhookRules)));
      },
    }),
    endpoint('DELETE /teams/:id/webhooks/:webhookId', {
      access,
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook',
      description: 'Cancels pending deliveries.',
      responses: { 204: done('The webhook is deleted.') },
      handle: (call) => deleteWebhook(call.directory, createPath(call)),
    }),
    endpoint('POST /teams/:id/webhooks/:webhookId/secret', {
      access: { ...access, recent: true },
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook',
      description: `The service also signs deliveries with the previous secret for ${overlapHours} hours, or until the next rotation.`,
      responses: { 200: jsonResponse(WebhookShownOnce, 'The webhook with its new secret.') },
      async handle(call, services) {
        const { webhook, secret } = await rotateWebhookSecret(call.directory, createPath(call));
        return ok({ ...show(services, webhook), secret });
      },
    }),
    endpoint('POST /teams/:id/webhooks/:webhookId/test', {
      access,
      operationId: 'testWebhook',
      summary: 'Send a test event',
      description: 'Queues a delivery of the event `webhook.test`. The service does not retry a failed delivery.',
      responses: { 201: made(Delivery, 'The pending delivery. Read the delivery again for its result.') },
      refuses: { conflict: disabledWebhook },
      async handle(call, services) {
        const { teamId, id } = createPath(call);
        const delivery = await testWebhook(call.directory, { teamId, id });
        return created(['teams', teamId, 'webhooks', id, 'deliveries', delivery.id], showOne(services, delivery));
      },
    }),
    endpoint('GET /teams/:id/webhooks/:webhookId/deliveries', {
      access,
      operationId: 'listDeliveries',
      summary: 'List the deliveries of a webhook',
      description: `Lists the last ${maxDeliveries} deliveries. A finished delivery is kept for ${keptDays} days.`,
      query: paging,
      responses: { 200: page(Delivery, 'The latest delivery comes first.') },
      handle({ directory, team, params, query: { limit, cursor } }, services) {
        const { id } = findWebhook(directory, team.id, params.webhookId);
        const before = cursor === undefined ? undefined : readCursor(cursor);
        const found = listDeliveries(services.accounts, id, before, limit + 1);
        const items = found.slice(0, limit);
        const nextCursor = found.length > limit ? writeCursor(items.at(-1)!.number) : null;
        return ok({ items: items.map((delivery) => showOne(services, delivery)), nextCursor });
      },
    }),
    endpoint('GET /teams/:id/webhooks/:webhookId/deliveries/:deliveryId', {
      access,
      operationId: 'getDelivery',
      summary: 'Read a delivery with its body',
      responses: { 200: jsonResponse(DeliveryDetail, 'The delivery.') },
      handle({ directory, team, params: { webhookId, deliveryId } }, services) {
        const webhook = findWebhook(directory, team.id, webhookId);
        const delivery = mustExist('delivery', findDelivery(services.accountStore, webhook.id, deliveryId));
        const body = delivery.sent ?? formatBody(webhook, delivery, services.consoleUrl);
        return ok({ ...showOne(services, delivery), body });
      },
    }),
    endpoint('POST /teams/:id/webhooks/:webhookId/deliveries/:deliveryId/redeliver', {
      access,
      operationId: 'redeliver',
      summary: 'Repeat a delivery',
      description: 'The delivery keeps its id. Failed attempts are retried as for a new delivery.',
      responses: { 200: jsonResponse(Delivery, 'The pending delivery.') },
      refuses: { conflict: disabledWebhook },
      async handle(call, services) {
        return ok(showOne(services, await redeliver(call.directory, createPath(call), call.params.deliveryId)));
      },
    }),
  ],
};

interface OfWebhook {
  readonly team: { readonly id: string };
  readonly params: { readonly webhookId: string };
}

function createPath({ team, params }: OfWebhook): WebhookPath {
  return { teamId: team.id, id: params.webhookId };
}

function show({ accountStore }: Services, webhook: StoredWebhook) {
  return showWebhook(webhook, listWaitingKeys(accountStore, webhook.id).length);
}

function showOne({ accountStore }: Services, delivery: WebhookDelivery) {
  const claim = accountStore.get('webhookTurns', deliveryKey(delivery.webhookId, delivery.number));
  return showDelivery(delivery, claim?.due);
}

/** Formats a webhook for a response, without its secret. @param waiting number of pending deliveries */
function showWebhook(webhook: StoredWebhook, waiting: number): Webhook {
  const { id, teamId, name, url, enabled, disabledFor, project = null, issueType = null } = webhook;
  const [, previous] = webhook.secrets;
  return {
    id,
    teamId,
    name,
    url,
    enabled,
    disabledFor,
    waiting,
    project,
    issueType,
    format: getFormat(webhook),
    hasAuthorization: webhook.authorization !== undefined,
    events: [...eventTypes(webhook)],
    failingSince: timeText(webhook.failingSince),
    previousSecretUntil: timeText(previous?.until ?? null),
    createdAt: timeText(webhook.createdAt),
    updatedAt: timeText(webhook.updatedAt),
  };
}

/** @param due time of the next attempt */
function showDelivery(delivery: WebhookDelivery, due: number | undefined): Delivery {
  const { id, type, state, attempts, latest } = delivery;
  return {
    id,
    type,
    state,
    attempts,
    latest: latest.map(({ answer = null, ...attempt }) => ({ ...attempt, answer, at: timeText(attempt.at) })),
    nextAttemptAt: timeText(due ?? null),
    createdAt: timeText(delivery.createdAt),
    endedAt: timeText(delivery.endedAt),
  };
}
