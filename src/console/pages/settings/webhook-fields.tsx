import { useSignal } from '@preact/signals';
import { webhookEvents } from '../../../contract/events.ts';
import type { Webhook } from '../../../contract/shapes/webhook.ts';
import { type WebhookFormat, webhookFormatNames, webhookFormats } from '../../../contract/webhook-formats.ts';
import { Choices, Field, SelectField } from '../../parts/form.tsx';

/** Fields by refusal code. */
export const webhookCodes = { plan_limit: 'name', invalid_body: 'url' };

/** The fields of a webhook. @param props `of`: the webhook; without it a new one */
export function WebhookFields({ of: webhook }: { readonly of?: Webhook }) {
  const events: readonly string[] | undefined = webhook?.events;
  const format = useSignal<WebhookFormat>(webhook?.format ?? 'standard');
  return (
    <>
      <Field name="name" label="Name" required autoFocus={webhook === undefined} value={webhook?.name} />
      <SelectField
        name="format"
        label="Format"
        options={webhookFormatNames.map((name) => [name, webhookFormats[name].label])}
        value={format.value}
        hint={`${webhookFormats[format.value].meaning}.`}
        onInput={(value) => (format.value = value as WebhookFormat)}
      />
      <Field
        name="url"
        label="URL"
        type="url"
        required
        placeholder={webhookFormats[format.value].exampleUrl}
        hint="Receives the events by POST: an HTTPS address on the internet."
        value={webhook?.url}
      />
      {format.value === 'jira' && <JiraFields of={webhook} />}
      {webhookFormats[format.value].isTracker && <Authorization kept={webhook?.hasAuthorization ?? false} />}
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
