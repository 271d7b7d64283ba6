import { webhookColumns } from '../../../contract/resources/columns.ts';
import { webhookAddress } from '../../address.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { columnsOf } from '../../parts/declared-columns.ts';
import { ResourceTable } from './resource-table.tsx';
import type { NewWebhook, Webhook } from './shapes.ts';
import { shownSecret, WebhookFields, webhookCodes, webhookFields } from './webhook-form.tsx';
import { webhookState } from './webhook-words.ts';

/** The addresses of a team that are told of events. */
export function Webhooks({ team }: { readonly team: string }) {
  const path = resource('teams', team, 'webhooks');
  return (
    <section class="settings-part">
      <h2>Webhooks</h2>
      <p class="quiet">Addresses that are told when a flag is stale, a key has leaked, and the like.</p>
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
            shownSecret(await call<NewWebhook>('POST', path, { body: webhookFields(data) })),
          children: <WebhookFields />,
        }}
      />
    </section>
  );
}
