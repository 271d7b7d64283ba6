import { NewWebhook, WebhookPatch } from '../shapes/webhook.ts';
import { deliveryColumns, webhookColumns } from './columns.ts';
import { fieldsOf, flag } from './field.ts';
import type { Resource } from './resource.ts';

/** `--url` is the address of the server, as in every command. */
const url = flag('endpoint URL', 'Address that receives deliveries: https, with a public host');
const events = flag('event EVENT', 'Event to deliver; repeatable');
const format = flag('format FORMAT', 'Format of the deliveries', { more: 'default: standard' });
const project = flag('project KEY', 'Key of the project, for jira');
const issueType = flag('issue-type TYPE', 'Type of the issues, for jira, such as Task');
const authorization = flag(
  'authorization-file FILE',
  'File with the Authorization header, for github, gitlab and jira',
  {
    as: 'secretFile',
    file: true,
  },
);

const delivery = flag('delivery ID', 'Id of the delivery, from webhooks deliveries', { required: true });

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
    fields: fieldsOf(NewWebhook, {
      name: null,
      url,
      events,
      enabled: null,
      format,
      project,
      issueType,
      authorization,
    }),
    secret: { field: 'secret', where: { format: 'standard' } },
  },
  update: {
    fields: fieldsOf(WebhookPatch, {
      name: flag('name NAME', 'New name'),
      url,
      events,
      enabled: flag('enabled true|false', 'Whether events are delivered'),
      format,
      project,
      issueType,
      authorization,
    }),
  },
  actions: [
    {
      word: 'test',
      summary: 'Send a test event to a webhook; shows the message and the answer',
      path: ['test'],
      follow: ['deliveries'],
    },
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
      word: 'sent',
      summary: 'Show what a delivery of a webhook sent, and the answers',
      flags: [delivery],
      path: ['deliveries', '--delivery'],
      method: 'GET',
    },
    {
      word: 'redeliver',
      summary: 'Repeat a delivery of a webhook',
      flags: [delivery],
      path: ['deliveries', '--delivery', 'redeliver'],
    },
  ],
  remove: { loses: 'Pending deliveries are dropped' },
};
