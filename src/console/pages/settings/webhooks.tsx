import { stateOfWebhook, webhookColumns } from '../../../contract/resources/columns.ts';
import type { Webhook, WebhookShownOnce } from '../../../contract/shapes/webhook.ts';
import { webhookAddress } from '../../address.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { format } from '../../format.ts';
import type { Shown } from '../../parts/create.tsx';
import { columnsOf } from '../../parts/declared-columns.ts';
import { Part } from './part.tsx';
import { ResourceTable } from './resource-table.tsx';
import { WebhookFields, webhookCodes, webhookFields } from './webhook-fields.tsx';

/** The webhooks of a team. */
export function Webhooks({ team }: { readonly team: string }) {
  const path = resource('teams', team, 'webhooks');
  return (
    <Part
      title="Webhooks"
      help="webhooks#events"
      note="Addresses that receive events, such as a stale flag or a leaked key."
    >
      <ResourceTable
        list={useList<Webhook>(path)}
        caption="Webhooks"
        rowKey={({ id }) => id}
        columns={columnsOf<Webhook>(webhookColumns, {
          id: false,
          name: ({ id, name }) => <a href={webhookAddress(team, id)}>{name}</a>,
          events: true,
          enabled: webhookState,
          failingSince: false,
        })}
        create={{
          label: 'Create a webhook',
          codes: webhookCodes,
          create: async (data) =>
            shownSecret(await call<WebhookShownOnce>('POST', path, { body: webhookFields(data) })),
          children: <WebhookFields />,
        }}
      />
    </Part>
  );
}

/** The state of a webhook, with the time of its first failure. */
export function webhookState(webhook: Webhook): string {
  const state = stateOfWebhook(webhook);
  const { failingSince } = webhook;
  return state === 'failing' && failingSince !== null ? `failing since ${format.time(failingSince)}` : state;
}

/** A new secret, for copying; `undefined` for a format without signatures. */
export function shownSecret({ name, secret }: WebhookShownOnce): Shown | undefined {
  if (secret === null) return undefined;
  return {
    title: `Copy the secret of ${name} now`,
    once: true,
    note: 'The receiver verifies deliveries with it, as described by Standard Webhooks.',
    values: [['Secret', secret]],
  };
}
