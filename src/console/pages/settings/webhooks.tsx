import { useSignal } from '@preact/signals';
import { stateOfWebhook, webhookColumns } from '../../../contract/resources/columns.ts';
import type { Webhook, WebhookShownOnce } from '../../../contract/shapes/webhook.ts';
import { webhookEvents } from '../../../contract/webhook-events.ts';
import { type WebhookFormat, webhookFormatNames, webhookFormats } from '../../../contract/webhook-formats.ts';
import { webhookAddress } from '../../address/address.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import type { Shown } from '../../parts/form/create.tsx';
import { Choices, Field, SelectField } from '../../parts/form/form.tsx';
import { Part } from '../../parts/resource/part.tsx';
import { ResourceTable } from '../../parts/resource/resource-table.tsx';
import { columnsOf } from '../../parts/table/declared-columns.ts';
import { format } from '../../text/format.ts';

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

/** Fields by refusal code. */
export const webhookCodes = { plan_limit: 'name', invalid_body: 'url' };

/** The fields of a webhook. @param props `of`: the webhook; without it a new one */
export function WebhookFields({ of: webhook }: { readonly of?: Webhook }) {
  const events: readonly string[] | undefined = webhook?.events;
  const chosenFormat = useSignal<WebhookFormat>(webhook?.format ?? 'standard');
  return (
    <>
      <Field name="name" label="Name" required autoFocus={webhook === undefined} value={webhook?.name} />
      <SelectField
        name="format"
        label="Format"
        options={webhookFormatNames.map((name) => [name, webhookFormats[name].label])}
        value={chosenFormat.value}
        hint={`${webhookFormats[chosenFormat.value].meaning}.`}
        onInput={(value) => (chosenFormat.value = value as WebhookFormat)}
      />
      <Field
        name="url"
        label="URL"
        type="url"
        required
        placeholder={webhookFormats[chosenFormat.value].exampleUrl}
        hint="Receives the events by POST: an HTTPS address on the internet."
        value={webhook?.url}
      />
      {chosenFormat.value === 'jira' && <JiraFields of={webhook} />}
      {webhookFormats[chosenFormat.value].isTracker && (
        <Authorization kept={webhook?.hasAuthorization ?? false} />
      )}
      <Choices
        legend="Events"
        type="checkbox"
        name="events"
        choices={Object.entries(webhookEvents).map(([event, words]) => [
          event,
          event,
          words.replaceAll('`', ''),
        ])}
        checked={(event) => events?.includes(event) ?? true}
      />
    </>
  );
}

function JiraFields({ of: webhook }: { readonly of: Webhook | undefined }) {
  return (
    <>
      <Field
        name="project"
        label="Project"
        required
        hint="The key of the project, such as SHOP."
        value={webhook?.project ?? undefined}
      />
      <Field name="issueType" label="Issue type" required value={webhook?.issueType ?? 'Task'} />
    </>
  );
}

function Authorization({ kept }: { readonly kept: boolean }) {
  const hint = 'The value of the Authorization header, such as Bearer and a token. It is not shown again.';
  return (
    <Field
      name="authorization"
      label="Authorization"
      type="password"
      autocomplete="off"
      required={!kept}
      hint={kept ? `${hint} An empty field keeps the stored value.` : hint}
    />
  );
}

/** The fields as the API takes them. Formats without a field leave it out. */
export function webhookFields(data: FormData): object {
  const ofFormat = ['project', 'issueType', 'authorization'].flatMap((name) => {
    const value = data.get(name);
    return value ? [[name, value]] : [];
  });
  return {
    name: data.get('name'),
    url: data.get('url'),
    format: data.get('format'),
    events: data.getAll('events'),
    ...Object.fromEntries(ofFormat),
  };
}
