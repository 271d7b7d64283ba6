import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { teamAddress } from '../../address.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { isHidden } from '../../api/problem.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { Secret } from '../../parts/create.tsx';
import { Reason } from '../../parts/failure.tsx';
import { Form } from '../../parts/form.tsx';
import { NotFound } from '../not-found.tsx';
import { Deliveries } from './deliveries.tsx';
import type { NewWebhook, Webhook } from './shapes.ts';
import { shownSecret, WebhookFields, webhookCodes, webhookFields } from './webhook-form.tsx';
import { webhookState } from './webhook-words.ts';

export interface WebhookPageProps {
  readonly team: string;
  readonly id: string;
}

/** One webhook: what it is told of, and what became of that. */
export function WebhookPage({ team, id }: WebhookPageProps) {
  const path = resource('teams', team, 'webhooks', id);
  const { data: webhook, error } = usePoll<Webhook>(path, 15_000);
  if (isHidden(error)) return <NotFound error={error} />;
  if (webhook === undefined) return <Reason error={error} />;
  const change = async (body: object) => {
    await call('PATCH', path, { body });
    forget(path);
  };
  return (
    <>
      <h1>Webhook {webhook.name}</h1>
      <p>
        <a href={teamAddress(team)}>All webhooks of the team</a>
      </p>
      <p class={webhook.enabled && webhook.failingSince === null ? 'quiet' : 'warn'}>
        State: {webhookState(webhook)}.
      </p>
      <p class="actions">
        {webhook.enabled ? (
          <ConfirmButton
            label="Disable"
            title={`Disable the webhook ${webhook.name}`}
            action="Disable the webhook"
            done={`${webhook.name} is disabled`}
            onConfirm={() => change({ enabled: false })}
          >
            <p>What waits to be delivered is given up, and what happens meanwhile is not delivered later.</p>
          </ConfirmButton>
        ) : (
          <button type="button" onClick={() => void change({ enabled: true })}>
            Enable
          </button>
        )}
        <Rotate webhook={webhook} path={path} />
        <Delete webhook={webhook} path={path} />
      </p>
      <Deliveries path={path} canSend={webhook.enabled} />
      <section class="settings-part settings-line">
        <h2>Settings</h2>
        <Form
          key={webhook.updatedAt}
          submit="Save"
          done="The webhook is saved"
          codes={webhookCodes}
          onSubmit={(data) => change(webhookFields(data))}
        >
          <WebhookFields of={webhook} />
        </Form>
      </section>
    </>
  );
}

interface PartProps {
  readonly webhook: Webhook;
  /** Of the webhook. */
  readonly path: string;
}

function Rotate({ webhook: { name }, path }: PartProps) {
  const made = useSignal<NewWebhook | undefined>(undefined);
  return (
    <>
      <ConfirmButton
        label="New secret"
        title={`Give ${name} a new secret`}
        action="Make a new secret"
        done="There is a new secret"
        onConfirm={async () => {
          made.value = await call<NewWebhook>('POST', `${path}/secret`);
          forget(path);
        }}
      >
        <p>For a day, deliveries are signed with the new secret and with the one before.</p>
      </ConfirmButton>
      {made.value && <Secret {...shownSecret(made.value)} onDone={() => (made.value = undefined)} />}
    </>
  );
}

function Delete({ webhook: { name, teamId }, path }: PartProps) {
  const { route } = useLocation();
  return (
    <ConfirmButton
      danger
      label="Delete"
      title={`Delete the webhook ${name}`}
      action="Delete the webhook"
      done={`${name} is deleted`}
      onConfirm={async () => {
        await call('DELETE', path);
        route(teamAddress(teamId));
      }}
    >
      <p>What waits to be delivered is not.</p>
    </ConfirmButton>
  );
}
