import { useSignal } from '@preact/signals';
import { deliveryColumns } from '../../../contract/resources/columns.ts';
import { call } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { messageOf } from '../../api/problem.ts';
import { now } from '../../clock.ts';
import { format } from '../../format.ts';
import { announce } from '../../parts/announce.tsx';
import { columnsOf } from '../../parts/declared-columns.ts';
import { Reason } from '../../parts/failure.tsx';
import { Table } from '../../parts/table.tsx';
import type { Delivery } from './shapes.ts';
import { lastAttempt } from './webhook-words.ts';

export interface DeliveriesProps {
  /** Of the webhook. */
  readonly path: string;
  readonly canSend: boolean;
}

/** The last deliveries of a webhook, and how to make one again. */
export function Deliveries({ path, canSend }: DeliveriesProps) {
  const list = `${path}/deliveries?limit=50`;
  const { data, error } = usePoll<{ items: readonly Delivery[] }>(list, 3000);
  const refused = useSignal('');
  const send = async (to: string, done: string) => {
    refused.value = '';
    try {
      await call('POST', to);
      announce(done);
      forget(list);
    } catch (failure) {
      refused.value = messageOf(failure);
    }
  };
  return (
    <section class="settings-part">
      <h2>Deliveries</h2>
      <Reason error={data === undefined ? error : undefined} />
      {data !== undefined && (
        <DeliveryTable
          rows={data.items}
          canSend={canSend}
          onAgain={(id) => void send(`${path}/deliveries/${id}/redeliver`, 'It is delivered again')}
        />
      )}
      {refused.value && (
        <p class="form-error" role="alert">
          {refused.value}
        </p>
      )}
      {canSend && (
        <p class="actions">
          <button type="button" onClick={() => void send(`${path}/test`, 'A test is sent')}>
            Send a test
          </button>
        </p>
      )}
    </section>
  );
}

interface DeliveryTableProps {
  readonly rows: readonly Delivery[];
  readonly canSend: boolean;
  readonly onAgain: (id: string) => void;
}

function DeliveryTable({ rows, canSend, onAgain }: DeliveryTableProps) {
  return (
    <Table
      stacked
      caption="Deliveries"
      rows={rows}
      rowKey={({ id }) => id}
      empty="Nothing was delivered yet."
      columns={[
        ...columnsOf<Delivery>(deliveryColumns, {
          id: false,
          createdAt: true,
          type: true,
          state: stateOf,
          attempts: true,
          nextAttemptAt: false,
          latest: lastAttempt,
        }),
        {
          key: 'do',
          title: 'Actions',
          class: 'settings-do',
          cell: ({ id, state }) =>
            canSend &&
            state !== 'waiting' && (
              <button type="button" aria-label={`Deliver ${id} again`} onClick={() => onAgain(id)}>
                Deliver again
              </button>
            ),
        },
      ]}
    />
  );
}

function stateOf({ state, nextAttemptAt }: Delivery): string {
  if (state !== 'waiting' || nextAttemptAt === null) return state;
  return `waiting, next ${format.relative(nextAttemptAt, now.value)}`;
}
