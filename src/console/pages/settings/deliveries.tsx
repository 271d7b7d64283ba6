import { deliveryColumns } from '../../../contract/resources/columns.ts';
import type { Delivery, DeliveryDetail } from '../../../contract/shapes/webhook.ts';
import { call } from '../../api/client.ts';
import { now } from '../../api/clock.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { useAction } from '../../parts/action.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog, useDialog } from '../../parts/dialog.tsx';
import { Reason } from '../../parts/failure.tsx';
import { Part } from '../../parts/resource/part.tsx';
import { columnsOf } from '../../parts/table/declared-columns.ts';
import { Table } from '../../parts/table/table.tsx';
import { format } from '../../text/format.ts';

interface DeliveriesProps {
  /** The path of the webhook. */
  readonly path: string;
  readonly canSend: boolean;
}

/** The last deliveries. An Admin can read one, repeat it, or send a test. */
export function Deliveries({ path, canSend }: DeliveriesProps) {
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
    }, 'The event is queued again');
  const test = () =>
    run(async () => {
      show(await call<Delivery>('POST', `${path}/test`));
      forget(list);
    }, 'The test is sent');
  return (
    <Part title="Deliveries" help="webhooks#delivery">
      <Reason error={data === undefined ? error : undefined} />
      {data !== undefined && (
        <DeliveryTable items={data.items} busy={busy} show={show} repeat={canSend ? repeat : undefined} />
      )}
      {refusal}
      {element}
      {canSend && (
        <p class="actions">
          <button type="button" disabled={busy} onClick={test}>
            Send a test
          </button>
        </p>
      )}
    </Part>
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
          aria-label={`Deliver ${delivery.id} again`}
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
        ...columnsOf<Delivery>(deliveryColumns, {
          id: false,
          createdAt: true,
          type: true,
          state: deliveryState,
          attempts: true,
          nextAttemptAt: false,
          latest: lastAttempt,
        }),
        { key: 'do', title: 'Actions', class: 'settings-do', cell: actions },
      ]}
    />
  );
}

interface DeliveryDialogProps {
  /** The path of the delivery. */
  readonly path: string;
  readonly onClose: () => void;
}

/** Request to a receiver, and its response. */
function DeliveryDialog({ path, onClose }: DeliveryDialogProps) {
  const { data, error } = usePoll<DeliveryDetail>(path, 1000);
  return (
    <Dialog title={data === undefined ? 'Delivery' : `Delivery of ${data.type}`} onClose={onClose}>
      <Reason error={data === undefined ? error : undefined} />
      {data !== undefined && <DeliveryParts delivery={data} />}
      <p class="actions">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </p>
    </Dialog>
  );
}

function DeliveryParts({ delivery }: { readonly delivery: DeliveryDetail }) {
  const last = delivery.latest.at(-1);
  return (
    <>
      <h3>Message</h3>
      <Text label="The message" text={delivery.body} />
      <p class="actions">
        <CopyButton text={delivery.body} title="Copy the message" />
      </p>
      <h3>Answer</h3>
      <p role="status" class={last?.error ? 'warn' : undefined}>
        {last === undefined ? 'No answer yet.' : `${lastAttempt(delivery)}, ${deliveryState(delivery)}.`}
      </p>
      {last?.answer && <Text label="The answer" text={last.answer} />}
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

/** The state of a delivery, with the time of the next attempt. */
function deliveryState({ state, nextAttemptAt }: Delivery): string {
  if (state !== 'waiting' || nextAttemptAt === null) return state;
  return `waiting, next ${format.relative(nextAttemptAt, now.value)}`;
}

function lastAttempt({ latest }: Delivery): string {
  const last = latest.at(-1);
  return last === undefined ? '' : (last.error ?? `answered ${last.status}`);
}
