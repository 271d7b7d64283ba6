import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { deliveryColumns, stateOfWebhook, webhookColumns } from '../../../contract/resources/columns.ts';
import type { Delivery, DeliveryDetail, Webhook, WebhookShownOnce } from '../../../contract/shapes/webhook.ts';
import { webhookEvents } from '../../../contract/webhook-events.ts';
import { type WebhookFormat, webhookFormatNames, webhookFormats } from '../../../contract/webhook-formats.ts';
import { teamAddress, webhookAddress } from '../../address/address.ts';
import { call, resource } from '../../api/client.ts';
import { now } from '../../api/clock.ts';
import { useList } from '../../api/list.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { isHidden } from '../../api/problem.ts';
import { useAction } from '../../components/action.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { CloseButton, Dialog, useDialog } from '../../components/dialog.tsx';
import { NotFound, Reason } from '../../components/failure.tsx';
import { ConfirmButton } from '../../components/form/confirm.tsx';
import { EndingSecret, Secret, type SecretContent } from '../../components/form/create.tsx';
import { Choices, Field, Form, SelectField } from '../../components/form/form.tsx';
import { Section } from '../../components/resource/part.tsx';
import { ResourceTable } from '../../components/resource/resource-table.tsx';
import { actionsColumn } from '../../components/table/columns.tsx';
import { createDeclaredColumns } from '../../components/table/declared-columns.ts';
import { Table } from '../../components/table/table.tsx';
import { format } from '../../text/format.ts';

export function Webhooks({ team }: { readonly team: string }) {
  const path = resource('teams', team, 'webhooks');
  return (
    <Section
      title="Webhooks"
      help="webhooks#events"
      note="Addresses that receive events, such as a refused sender or a leaked key."
    >
      <ResourceTable
        list={useList<Webhook>(path)}
        caption="Webhooks"
        rowKey={({ id }) => id}
        columns={createDeclaredColumns<Webhook>(webhookColumns, {
          id: false,
          name: ({ id, name }) => <a href={webhookAddress(team, id)}>{name}</a>,
          events: true,
          enabled: webhookState,
          failingSince: false,
        })}
        create={{
          label: 'Create webhook',
          codes: webhookCodes,
          create: async (data) =>
            shownSecret(await call<WebhookShownOnce>('POST', path, { body: webhookFields(data) })),
          children: <WebhookFields />,
        }}
      />
    </Section>
  );
}

function webhookState(webhook: Webhook): string {
  const state = stateOfWebhook(webhook);
  const { failingSince } = webhook;
  return state === 'failing' && failingSince !== null ? `failing since ${format.time(failingSince)}` : state;
}

/** Returns a new secret for copying; `undefined` for a format without signatures. */
function shownSecret({ name, secret }: WebhookShownOnce): SecretContent | undefined {
  if (secret === null) return undefined;
  return {
    title: `Copy secret of ${name} now`,
    once: true,
    note: 'The receiver verifies deliveries with this secret, as described by Standard Webhooks.',
    values: [['Secret', secret]],
  };
}

const webhookCodes = { plan_limit: 'name', invalid_body: 'url' };

/** The form fields of a webhook. @param props `of`: the webhook to change; absent for a new webhook */
function WebhookFields({ of: webhook }: { readonly of?: Webhook }) {
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
      {webhookFormats[chosenFormat.value].isTracker && <Authorization kept={webhook?.hasAuthorization ?? false} />}
      <Choices
        legend="Events"
        type="checkbox"
        name="events"
        choices={Object.entries(webhookEvents).map(([event, { when }]) => [event, event, when.replaceAll('`', '')])}
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
  const hint = 'The value of the Authorization header, such as Bearer and a token. The value is not shown again.';
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

/** Converts the form data to the fields of the API. Omits fields that the format does not have. */
function webhookFields(data: FormData): object {
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
      <p class={webhook.enabled && webhook.failingSince === null ? 'quiet' : 'warn'}>State: {webhookState(webhook)}.</p>
      <Actions webhook={webhook} path={path} change={change} />
      <Deliveries path={path} canSend={webhook.enabled} />
      <Section title="Settings">
        <Form
          key={webhook.updatedAt}
          submit="Save"
          done="Webhook saved"
          codes={webhookCodes}
          onSubmit={(data) => change(webhookFields(data))}
        >
          <WebhookFields of={webhook} />
        </Form>
      </Section>
    </>
  );
}

interface ActionsProps {
  readonly webhook: Webhook;
  readonly path: string;
  readonly change: (body: object) => Promise<void>;
}

function Actions({ webhook, path, change }: ActionsProps) {
  const { name, enabled, teamId, format, previousSecretUntil } = webhook;
  const { route } = useLocation();
  const { busy, refusal, run } = useAction();
  const created = useSignal<SecretContent | undefined>(undefined);
  return (
    <div class="actions">
      {enabled ? (
        <ConfirmButton
          label="Disable"
          title={`Disable webhook ${name}`}
          action="Disable webhook"
          done={`Disabled ${name}`}
          onConfirm={() => change({ enabled: false })}
        >
          <p>Waiting deliveries are dropped. Events that occur while the webhook is disabled are never delivered.</p>
        </ConfirmButton>
      ) : (
        <button type="button" disabled={busy} onClick={() => run(() => change({ enabled: true }), `Enabled ${name}`)}>
          Enable
        </button>
      )}
      {format === 'standard' && (
        <ConfirmButton
          label="Create new secret"
          title={`Create new secret for ${name}`}
          action="Create new secret"
          done="New secret created"
          onConfirm={async () => {
            created.value = shownSecret(await call<WebhookShownOnce>('POST', `${path}/secret`));
            forget(path);
          }}
        >
          <p>For a day, deliveries are signed with both the new and the current secret.</p>
          <EndingSecret until={previousSecretUntil} />
        </ConfirmButton>
      )}
      <ConfirmButton
        danger
        label="Delete"
        title={`Delete webhook ${name}`}
        action="Delete webhook"
        done={`Deleted ${name}`}
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

interface DeliveriesProps {
  readonly path: string;
  readonly canSend: boolean;
}

/** Lists the last deliveries. An Admin can read a delivery, repeat it, or send a test. */
function Deliveries({ path, canSend }: DeliveriesProps) {
  const list = `${path}/deliveries?limit=50`;
  const { data, error } = usePoll<{ items: readonly Delivery[] }>(list, 3000);
  const { busy, refusal, run } = useAction();
  const { element, open, close } = useDialog();
  const finish = () => {
    close();
    forget(list);
  };
  const show = ({ id }: Pick<Delivery, 'id'>) =>
    open(<DeliveryDialog path={`${path}/deliveries/${id}`} onClose={finish} />);
  const repeat = ({ id }: Delivery) =>
    run(async () => {
      await call('POST', `${path}/deliveries/${id}/redeliver`);
      forget(list);
    }, 'Event queued again');
  const test = () =>
    run(async () => {
      show(await call<Delivery>('POST', `${path}/test`));
      forget(list);
    }, 'Test sent');
  return (
    <Section title="Deliveries" help="webhooks#delivery">
      <Reason error={data === undefined ? error : undefined} />
      {data !== undefined && (
        <DeliveryTable items={data.items} busy={busy} show={show} repeat={canSend ? repeat : undefined} />
      )}
      {refusal}
      {element}
      {canSend && (
        <p class="actions">
          <button type="button" disabled={busy} onClick={test}>
            Send test
          </button>
        </p>
      )}
    </Section>
  );
}

interface DeliveryTableProps {
  readonly items: readonly Delivery[];
  readonly busy: boolean;
  readonly show: (delivery: Delivery) => void;
  readonly repeat: ((delivery: Delivery) => void) | undefined;
}

function DeliveryTable({ items, busy, show, repeat }: DeliveryTableProps) {
  const actions = (delivery: Delivery) => (
    <span class="actions">
      <button type="button" aria-label={`Show ${delivery.id}`} onClick={() => show(delivery)}>
        Show
      </button>
      {repeat && delivery.state !== 'waiting' && (
        <button
          type="button"
          disabled={busy}
          aria-label={`Deliver again: ${delivery.id}`}
          onClick={() => repeat(delivery)}
        >
          Deliver again
        </button>
      )}
    </span>
  );
  return (
    <Table
      stacked
      caption="Deliveries"
      rows={items}
      rowKey={({ id }) => id}
      empty="No deliveries yet."
      columns={[
        ...createDeclaredColumns<Delivery>(deliveryColumns, {
          id: false,
          createdAt: true,
          type: true,
          state: deliveryState,
          attempts: true,
          nextAttemptAt: false,
          latest: lastAttempt,
        }),
        actionsColumn(actions),
      ]}
    />
  );
}

interface DeliveryDialogProps {
  readonly path: string;
  readonly onClose: () => void;
}

function DeliveryDialog({ path, onClose }: DeliveryDialogProps) {
  const { data, error } = usePoll<DeliveryDetail>(path, 1000);
  return (
    <Dialog title={data === undefined ? 'Delivery' : `Delivery of ${data.type}`} onClose={onClose}>
      <Reason error={data === undefined ? error : undefined} />
      {data !== undefined && <DeliverySections delivery={data} />}
      <CloseButton primary onClose={onClose} />
    </Dialog>
  );
}

function DeliverySections({ delivery }: { readonly delivery: DeliveryDetail }) {
  const last = delivery.latest.at(-1);
  return (
    <>
      <h3>Message</h3>
      <Text label="The message" text={delivery.body} />
      <p class="actions">
        <CopyButton text={delivery.body} title="Copy message" />
      </p>
      <h3>Response</h3>
      <p role="status" class={last?.error ? 'warn' : undefined}>
        {last === undefined ? 'No response yet.' : `${lastAttempt(delivery)}, ${deliveryState(delivery)}.`}
      </p>
      {last?.answer && <Text label="The response" text={last.answer} />}
    </>
  );
}

function Text({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it must be scrollable by keyboard
    <section class="delivery-text" tabIndex={0} aria-label={label}>
      <pre>{text}</pre>
    </section>
  );
}

function deliveryState({ state, nextAttemptAt }: Delivery): string {
  if (state !== 'waiting' || nextAttemptAt === null) return state;
  return `waiting, next ${format.relative(nextAttemptAt, now.value)}`;
}

function lastAttempt({ latest }: Delivery): string {
  const last = latest.at(-1);
  return last === undefined ? '' : (last.error ?? `responded with ${last.status}`);
}
