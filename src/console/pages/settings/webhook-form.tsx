import { type WebhookEventType, webhookEvents } from '../../../contract/events.ts';
import type { Shown } from '../../parts/create.tsx';
import { Field } from '../../parts/form.tsx';
import type { NewWebhook, Webhook } from './shapes.ts';

/** The fields that refusals are about. */
export const webhookCodes = { plan_limit: 'name', invalid_body: 'url' };

/** What a webhook is made of. @param of as it is; without it a new one */
export function WebhookFields({ of: webhook }: { readonly of?: Webhook }) {
  return (
    <>
      <Field
        name="name"
        label="Name"
        required
        autoFocus={webhook === undefined}
        {...(webhook && { value: webhook.name })}
      />
      <Field
        name="url"
        label="URL"
        type="url"
        required
        placeholder="https://hooks.example.com/flags"
        hint="Events are posted here. It must be https, and on the internet."
        {...(webhook && { value: webhook.url })}
      />
      <fieldset class="choices">
        <legend>Events</legend>
        {(Object.entries(webhookEvents) as [WebhookEventType, string][]).map(([event, words]) => (
          <label key={event}>
            <input
              type="checkbox"
              name="events"
              value={event}
              defaultChecked={webhook?.events.includes(event) ?? true}
            />
            <span>
              <strong>{event}</strong>
              <span class="hint">{words}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </>
  );
}

/** What the API takes of the fields. */
export function webhookFields(data: FormData): object {
  return { name: data.get('name'), url: data.get('url'), events: data.getAll('events') };
}

/** A secret, to be copied. */
export function shownSecret({ name, secret }: NewWebhook): Shown {
  return {
    title: `Copy the secret of ${name} now`,
    once: true,
    note: 'The receiver verifies deliveries with it, as Standard Webhooks says.',
    values: [['Secret', secret]],
  };
}
