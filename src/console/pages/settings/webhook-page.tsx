import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import type { Webhook, WebhookShownOnce } from '../../../contract/shapes/webhook.ts';
import { teamAddress } from '../../address/address.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { isHidden } from '../../api/problem.ts';
import { useAction } from '../../parts/action.tsx';
import { Reason } from '../../parts/failure.tsx';
import { ConfirmButton } from '../../parts/form/confirm.tsx';
import { Secret, type Shown } from '../../parts/form/create.tsx';
import { Form } from '../../parts/form/form.tsx';
import { NotFound } from '../../parts/not-found.tsx';
import { Part } from '../../parts/resource/part.tsx';
import { Deliveries } from './deliveries.tsx';
import { shownSecret, WebhookFields, webhookCodes, webhookFields, webhookState } from './webhooks.tsx';

export function WebhookPage({ team, id }: { readonly team: string; readonly id: string }) {
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
        <a href={teamAddress(team, 'webhooks')}>All webhooks of the team</a>
      </p>
      <p class={webhook.enabled && webhook.failingSince === null ? 'quiet' : 'warn'}>
        State: {webhookState(webhook)}.
      </p>
      <Actions webhook={webhook} path={path} change={change} />
      <Deliveries path={path} canSend={webhook.enabled} />
      <Part title="Settings">
        <Form
          key={webhook.updatedAt}
          submit="Save"
          done="The webhook is saved"
          codes={webhookCodes}
          onSubmit={(data) => change(webhookFields(data))}
        >
          <WebhookFields of={webhook} />
        </Form>
      </Part>
    </>
  );
}

interface ActionsProps {
  readonly webhook: Webhook;
  readonly path: string;
  readonly change: (body: object) => Promise<void>;
}

function Actions({ webhook: { name, enabled, teamId, format }, path, change }: ActionsProps) {
  const { route } = useLocation();
  const { busy, refusal, run } = useAction();
  const created = useSignal<Shown | undefined>(undefined);
  return (
    <div class="actions">
      {enabled ? (
        <ConfirmButton
          label="Disable"
          title={`Disable the webhook ${name}`}
          action="Disable the webhook"
          done={`${name} is disabled`}
          onConfirm={() => change({ enabled: false })}
        >
          <p>Waiting deliveries are dropped. Events while it is disabled are not delivered later.</p>
        </ConfirmButton>
      ) : (
        <button
          type="button"
          disabled={busy}
          onClick={() => run(() => change({ enabled: true }), `${name} is enabled`)}
        >
          Enable
        </button>
      )}
      {format === 'standard' && (
        <ConfirmButton
          label="New secret"
          title={`Give ${name} a new secret`}
          action="Create a new secret"
          done="The new secret is created"
          onConfirm={async () => {
            created.value = shownSecret(await call<WebhookShownOnce>('POST', `${path}/secret`));
            forget(path);
          }}
        >
          <p>For a day, deliveries are signed with both the new and the old secret.</p>
        </ConfirmButton>
      )}
      <ConfirmButton
        danger
        label="Delete"
        title={`Delete the webhook ${name}`}
        action="Delete the webhook"
        done={`${name} is deleted`}
        onConfirm={async () => {
          await call('DELETE', path);
          route(teamAddress(teamId, 'webhooks'));
        }}
      >
        <p>Waiting deliveries are dropped.</p>
      </ConfirmButton>
      {refusal}
      {created.value && <Secret {...created.value} onDone={() => (created.value = undefined)} />}
    </div>
  );
}
