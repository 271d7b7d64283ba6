import { deliveryColumns } from '../../../contract/resources/columns.ts';
import type { Delivery } from '../../../contract/shapes/webhook.ts';
import { call } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { useAction } from '../../parts/action.tsx';
import { columnsOf } from '../../parts/declared-columns.ts';
import { useDialog } from '../../parts/dialog.tsx';
import { Reason } from '../../parts/failure.tsx';
import { Table } from '../../parts/table.tsx';
import { DeliveryDialog, deliveryState, lastAttempt } from './delivery-dialog.tsx';
import { Part } from './part.tsx';

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
