import Type from 'typebox';
import { type WebhookEventType, webhookEvents } from '../events.ts';
import {
  bodyShape,
  count,
  exampleIds,
  exampleTime,
  flag,
  listOf,
  name,
  oneOf,
  orNull,
  shape,
  text,
  time,
} from './fields.ts';

const settings = {
  name: name('To know it by.'),
  url: text('Where deliveries are posted to: `https:`, with a public host.'),
  events: Type.Array(Type.Enum(Object.keys(webhookEvents) as WebhookEventType[]), {
    description: 'What it is told of.',
    documented: { minItems: 1, uniqueItems: true },
  }),
  enabled: flag(
    'Whether it is told of anything. Disabling it gives up what waits; what happens meanwhile is not delivered later.',
  ),
};

const fields = {
  id: text('Its id.'),
  teamId: text('Id of its team.'),
  ...settings,
  disabledFor: Type.Unsafe<'failing' | 'gone' | null>({
    type: ['string', 'null'],
    enum: ['failing', 'gone', null],
    description:
      'Why the service has disabled it: no delivery has succeeded for five days, or the receiver has answered 410.',
  }),
  failingSince: orNull(
    time('Since when deliveries fail; `null` while the last attempt that ended has succeeded.'),
  ),
  waiting: count('Deliveries that wait to be made, or to be made again.'),
  previousSecretUntil: orNull(
    time('Until when deliveries are signed with the secret before, too; `null` without one.'),
  ),
  createdAt: time('When it was created.'),
  updatedAt: time('When it was last changed.'),
};

const example = {
  id: exampleIds.webhook,
  teamId: exampleIds.team,
  name: 'Chat',
  url: 'https://hooks.example.com/flags',
  events: ['flag.stale', 'key.leaked'] as WebhookEventType[],
  enabled: true,
  disabledFor: null,
  failingSince: null,
  waiting: 0,
  previousSecretUntil: null,
  createdAt: exampleTime,
  updatedAt: exampleTime,
};

export const Webhook = shape('Webhook', fields, example);

export const WebhookShownOnce = shape(
  'WebhookShownOnce',
  {
    ...fields,
    secret: text('The secret that deliveries are signed with. Keep it now: it is never shown again.'),
  },
  { ...example, secret: `whsec_${'A'.repeat(43)}=` },
);

export const { name: aName, url, events: someEvents, enabled } = settings;

export const NewWebhook = bodyShape(
  'NewWebhook',
  { name: aName, url, events: someEvents, enabled: Type.Optional(enabled) },
  { name: 'Chat', url: 'https://hooks.example.com/flags', events: ['flag.stale', 'key.leaked'] },
);

export const WebhookPatch = bodyShape(
  'WebhookPatch',
  {
    name: Type.Optional(aName),
    url: Type.Optional(url),
    events: Type.Optional(someEvents),
    enabled: Type.Optional(enabled),
  },
  { enabled: false },
);

const Attempt = Type.Object({
  at: time('When it began.'),
  ms: count('How long it took, in milliseconds.'),
  status: orNull(Type.Integer({ description: 'The status of the answer; `null` when there was none.' })),
  error: orNull(text('Why it failed; `null` when it did not.')),
});

const deliveryFields = {
  id: text('Its id, which receivers get as the header `webhook-id`.'),
  type: text('The event; `webhook.test` for a test.'),
  state: oneOf(['waiting', 'delivered', 'failed'], '`failed`: it was given up.'),
  attempts: count('How many attempts were made.'),
  latest: listOf(Attempt, 'The last attempts, at most 12; the latest comes last.'),
  nextAttemptAt: orNull(time('When it is tried next; `null` when it is not.')),
  createdAt: time('When it was queued.'),
  endedAt: orNull(time('When it was delivered or given up; `null` while it waits.')),
};

const deliveryExample = {
  id: exampleIds.delivery,
  type: 'flag.stale',
  state: 'delivered' as const,
  attempts: 1,
  latest: [{ at: exampleTime, ms: 84, status: 204, error: null }],
  nextAttemptAt: null,
  createdAt: exampleTime,
  endedAt: exampleTime,
};

export const Delivery = shape('Delivery', deliveryFields, deliveryExample);

export const DeliveryDetail = shape(
  'DeliveryDetail',
  { ...deliveryFields, body: text('What is sent, as JSON.') },
  {
    ...deliveryExample,
    body: `{"type":"flag.stale","timestamp":"${exampleTime}","data":{"feature":"checkout"}}`,
  },
);
