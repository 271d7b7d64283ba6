import { NewWebhook, WebhookPatch } from '../shapes/webhook.ts';
import { deliveryColumns, webhookColumns } from './columns.ts';
import { fieldsOf, flag } from './field.ts';
import type { Resource } from './resource.ts';

/** `--url` is the address of the server, as in every command. */
const url = flag('endpoint URL', 'Address that receives deliveries: https, with a public host');
const events = flag('event EVENT', 'Event to deliver; repeatable');

export const webhooks: Resource = {
  name: 'webhooks',
  one: 'webhook',
  many: 'webhooks',
  within: 'team',
  collection: 'webhooks',
  key: 'id',
  alias: 'name',
  single: true,
  columns: webhookColumns,
  create: {
    operand: { name: 'NAME', description: 'Webhook name' },
    fields: fieldsOf(NewWebhook, { name: null, url, events, enabled: null }),
    secret: { field: 'secret' },
  },
  update: {
    fields: fieldsOf(WebhookPatch, {
      name: flag('name NAME', 'New name'),
      url,
      events,
      enabled: flag('enabled true|false', 'Whether events are delivered'),
    }),
  },
  actions: [
    { word: 'test', summary: 'Send a test event to a webhook', path: ['test'] },
    {
      word: 'rotate',
      summary: 'Rotate the secret of a webhook; the previous one signs too for a day',
      path: ['secret'],
      secret: { field: 'secret' },
    },
    {
      word: 'deliveries',
      summary: 'List the latest deliveries of a webhook',
      path: ['deliveries'],
      most: 50,
      columns: deliveryColumns,
    },
    {
      word: 'redeliver',
      summary: 'Repeat a delivery of a webhook',
      flags: [flag('delivery ID', 'Id of the delivery, from webhooks deliveries', { required: true })],
      path: ['deliveries', '--delivery', 'redeliver'],
    },
  ],
  remove: { loses: 'Pending deliveries are dropped' },
};
