import type { Static } from 'typebox';
import Type from 'typebox';
import { type WebhookEventType, webhookEvents } from '../webhook-events.ts';
import { webhookFormatNames, webhookFormats } from '../webhook-formats.ts';
import {
  bodyShape,
  boolean,
  count,
  exampleIds,
  exampleTime,
  list,
  name,
  oneOf,
  optional,
  orNull,
  shape,
  text,
  time,
} from './fields.ts';
import { createFields, newName, option } from './option.ts';

const formats = webhookFormatNames.map((each) => `\`${each}\`: ${webhookFormats[each].meaning}`);
const formatWords = `Format of the deliveries. ${formats.join('. ')}.`;

const settings = {
  name: name('Name, for people.'),
  url: text('URL that receives deliveries by `POST`: `https:`, with a public host.'),
  format: oneOf(webhookFormatNames, formatWords),
  events: Type.Array(Type.Enum(Object.keys(webhookEvents) as WebhookEventType[]), {
    description: 'Subscribed events.',
    documented: { minItems: 1, uniqueItems: true },
  }),
  enabled: boolean(
    'True if events are delivered. Disabling a webhook cancels waiting deliveries. Events that occur while it is disabled are not delivered later.',
  ),
};

const project = text('Key of the project in Jira.');
const issueType = text('Name of the type of the issues in Jira, such as `Task`.');

const fields = {
  id: text('Id of the webhook.'),
  teamId: text('Id of the team that owns the webhook.'),
  ...settings,
  project: orNull(project),
  issueType: orNull(issueType),
  hasAuthorization: boolean('True if deliveries have an `Authorization` header, which is not shown again.'),
  disabledFor: Type.Unsafe<'failing' | 'gone' | null>({
    type: ['string', 'null'],
    enum: ['failing', 'gone', null],
    description:
      'Reason why the service disabled the webhook: no delivery succeeded for five days (`failing`), or the receiver responded with 410 (`gone`).',
  }),
  failingSince: orNull(
    time('Time of the first failure since the last successful attempt; `null` if the last attempt succeeded.'),
  ),
  waiting: count('Number of deliveries that wait for their first or next attempt.'),
  previousSecretUntil: orNull(
    time(
      'Time until which deliveries are also signed with the previous secret; `null` if there is no previous secret.',
    ),
  ),
  createdAt: time('Creation time.'),
  updatedAt: time('Time of the last change.'),
};

const example = {
  id: exampleIds.webhook,
  teamId: exampleIds.team,
  name: 'Chat',
  url: 'https://hooks.example.com/flags',
  format: 'standard' as const,
  events: ['flag.stale', 'key.leaked'] as WebhookEventType[],
  enabled: true,
  project: null,
  issueType: null,
  hasAuthorization: false,
  disabledFor: null,
  failingSince: null,
  waiting: 0,
  previousSecretUntil: null,
  createdAt: exampleTime,
  updatedAt: exampleTime,
};

export const Webhook = shape('Webhook', fields, example);
export type Webhook = Static<typeof Webhook>;

export const WebhookShownOnce = shape(
  'WebhookShownOnce',
  {
    ...fields,
    secret: orNull(
      text(
        'Secret that signs deliveries. Store the secret now: it is not shown again. `null` for a new webhook whose format is not `standard`.',
      ),
    ),
  },
  { ...example, secret: `whsec_${'A'.repeat(43)}=` },
);
export type WebhookShownOnce = Static<typeof WebhookShownOnce>;

export const { name: aName, url, events: someEvents, enabled } = settings;

const ofFormats = {
  format: Type.Optional(Type.Enum(webhookFormatNames, { description: `${formatWords} Default: \`standard\`.` })),
  project: Type.Optional(project),
  issueType: Type.Optional(issueType),
  authorization: Type.Optional(
    orNull(
      text(
        'Value of the `Authorization` header, for issue trackers only. `null` removes the header. A change of the URL to another host must contain the value again.',
      ),
    ),
  ),
};

export const NewWebhook = bodyShape(
  'NewWebhook',
  { name: aName, url, events: someEvents, enabled: Type.Optional(enabled), ...ofFormats },
  { name: 'Chat', url: 'https://hooks.example.com/flags', events: ['flag.stale', 'key.leaked'] },
);

export const WebhookPatch = bodyShape(
  'WebhookPatch',
  { ...optional({ name: aName, url, events: someEvents, enabled }), ...ofFormats },
  { enabled: false },
);

const settingOptions = {
  // `--url` is already the server address, as in every command.
  url: option('endpoint URL', 'Address that receives deliveries: https, with a public host'),
  events: option('event EVENT', 'Event to deliver; repeatable'),
  enabled: option('enabled true|false', 'Deliver events'),
  format: option('format FORMAT', 'Format of the deliveries', { more: 'default: standard' }),
  project: option('project KEY', 'Key of the project; only for jira'),
  issueType: option('issue-type TYPE', 'Type of the issues, such as Task; only for jira'),
  authorization: option('authorization-file FILE', 'File with the Authorization header, for github, gitlab and jira', {
    as: 'secretFile',
    file: true,
  }),
} as const;

export const webhookOptions = {
  create: createFields(NewWebhook, { name: null, ...settingOptions, enabled: null }),
  update: createFields(WebhookPatch, { name: newName, ...settingOptions }),
};

const Attempt = Type.Object({
  at: time('Start time.'),
  ms: count('Duration in milliseconds.'),
  status: orNull(Type.Integer({ description: 'HTTP status of the response; `null` if there was no response.' })),
  error: orNull(text('Reason for the failure; `null` if the attempt succeeded.')),
  answer: orNull(text('Beginning of the response body; `null` if the body was empty.')),
});

const deliveryFields = {
  id: text('Id of the delivery, which receivers get as the header `webhook-id`.'),
  type: text('Name of the event; `webhook.test` for a test.'),
  state: oneOf(
    ['waiting', 'delivered', 'failed'],
    'State of the delivery. `failed`: the service makes no more attempts.',
  ),
  attempts: count('Number of attempts.'),
  latest: list(Attempt, 'The last attempts, at most 12, the latest last.'),
  nextAttemptAt: orNull(time('Time of the next attempt; `null` if no attempt follows.')),
  createdAt: time('Time when the event was queued.'),
  endedAt: orNull(time('Time when the delivery succeeded or failed; `null` while the delivery waits.')),
};

const deliveryExample = {
  id: exampleIds.delivery,
  type: 'flag.stale',
  state: 'delivered' as const,
  attempts: 1,
  latest: [{ at: exampleTime, ms: 84, status: 204, error: null, answer: null }],
  nextAttemptAt: null,
  createdAt: exampleTime,
  endedAt: exampleTime,
};

export const Delivery = shape('Delivery', deliveryFields, deliveryExample);
export type Delivery = Static<typeof Delivery>;

export const DeliveryDetail = shape(
  'DeliveryDetail',
  {
    ...deliveryFields,
    body: text('Body of the last attempt, JSON. Before the first attempt: the body in the current format.'),
  },
  { ...deliveryExample, body: `{"type":"flag.stale","timestamp":"${exampleTime}","data":{"feature":"checkout"}}` },
);
export type DeliveryDetail = Static<typeof DeliveryDetail>;
