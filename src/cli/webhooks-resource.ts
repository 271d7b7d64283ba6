import { webhookEvents } from '../contract/events.ts';
import { createdAt, name } from './common-columns.ts';
import { flag } from './fields.ts';
import { column, cut, right } from './print.ts';
import type { Resource } from './resource.ts';

/** `--url` is the address of the server, as with every command. */
const endpoint = flag('endpoint URL', 'Where deliveries are posted to: https, with a public host', {
  field: 'url',
});
const event = flag('event EVENT', 'What it is told of; once for each', {
  many: true,
  field: 'events',
  values: Object.keys(webhookEvents),
});

export const webhooks: Resource = {
  name: 'webhooks',
  one: 'webhook',
  many: 'webhooks',
  within: 'team',
  collection: 'webhooks',
  key: 'id',
  alias: 'name',
  single: true,
  columns: [
    column('ID', 'id'),
    name,
    column('EVENTS', 'events', cut),
    column('ENABLED', 'enabled'),
    column('FAILING SINCE', 'failingSince'),
    column('WAITING', 'waiting', right),
  ],
  create: {
    operand: { name: 'NAME', description: 'Name to know it by' },
    fields: [
      { ...endpoint, required: true },
      { ...event, required: true },
    ],
    secretOf: () => 'secret',
  },
  update: {
    fields: [
      flag('name NAME', 'Another name'),
      endpoint,
      event,
      flag('enabled YES', 'Whether it is told of anything: true or false', {
        values: ['true', 'false'],
        read: (value) => value === 'true',
      }),
    ],
  },
  actions: [
    { word: 'test', summary: 'Send a test to a webhook', path: () => ['test'] },
    {
      word: 'rotate',
      summary: 'Give a webhook another secret; the one before signs too, for a day',
      path: () => ['secret'],
      secret: 'secret',
    },
    {
      word: 'deliveries',
      summary: 'List the last deliveries of a webhook',
      path: () => ['deliveries'],
      most: 50,
      columns: [
        column('ID', 'id'),
        column('EVENT', 'type'),
        column('STATE', 'state'),
        column('ATTEMPTS', 'attempts', right),
        createdAt,
        column('NEXT', 'nextAttemptAt'),
        { title: 'LAST ANSWER', ...cut, of: ({ latest }) => lastAnswer(latest as readonly Attempt[]) },
      ],
    },
    {
      word: 'redeliver',
      summary: 'Make a delivery of a webhook again',
      flags: [flag('delivery ID', 'Id of the delivery, as webhooks deliveries shows it', { required: true })],
      path: (given) => ['deliveries', given.value('delivery') ?? '', 'redeliver'],
    },
  ],
  remove: { loses: 'what waits to be delivered' },
};

interface Attempt {
  readonly status: number | null;
  readonly error: string | null;
}

/** Why the last attempt failed, or the status of its answer. */
function lastAnswer(latest: readonly Attempt[]): string | number | null | undefined {
  const last = latest.at(-1);
  return last?.error ?? last?.status;
}
