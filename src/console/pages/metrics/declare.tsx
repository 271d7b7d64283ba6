import { call, resource } from '../../api/client.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Form } from '../../parts/form.tsx';
import type { MetricRow } from './rows.ts';

interface DeclareProps {
  readonly app: string;
  /** The metric whose name is known; without it the reader types one. */
  readonly metric: MetricRow | undefined;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** Says what the numbers of a metric mean. */
export function Declare({ app, metric, onDone, onClose }: DeclareProps) {
  async function send(data: FormData) {
    const name = metric?.name ?? String(data.get('name'));
    const unit = String(data.get('unit')).trim();
    await call('PUT', resource('applications', app, 'metrics', name), {
      body: { kind: data.get('kind'), unit: unit === '' ? null : unit },
    });
    await onDone();
  }
  return (
    <Dialog title={metric === undefined ? 'Declare a metric' : `Declare ${metric.name}`} onClose={onClose}>
      <p class="quiet">
        A counter is added up: purchases, errors. A gauge shows its last number: a queue's length. A kind that
        is declared late holds for earlier numbers, too.
      </p>
      <Form onSubmit={send} submit="Declare" done="The metric is declared" onCancel={onClose}>
        {metric === undefined && (
          <Field
            name="name"
            label="Name"
            required
            autoFocus
            hint="As senders write it: upper and lower case matter."
          />
        )}
        <Field
          name="kind"
          label="Kind"
          control={(properties) => (
            <select {...properties} defaultValue={metric?.kind ?? 'counter'}>
              <option value="counter">Counter</option>
              <option value="gauge">Gauge</option>
            </select>
          )}
        />
        <Field
          name="unit"
          label="Unit"
          value={metric?.unit ?? ''}
          maxLength={64}
          hint="Such as EUR, ms or MB. It may stay empty."
        />
      </Form>
    </Dialog>
  );
}

interface UndeclareProps extends DeclareProps {
  readonly metric: MetricRow;
}

/** Takes a declaration back. */
export function Undeclare({ app, metric: { name }, onDone, onClose }: UndeclareProps) {
  async function send() {
    await call('DELETE', resource('applications', app, 'metrics', name));
    await onDone();
  }
  return (
    <Confirm
      title={`Undeclare ${name}?`}
      action="Undeclare"
      done={`${name} is not declared any more`}
      onConfirm={send}
      onClose={onClose}
    >
      <p>Its numbers stay, and read as those of a counter without a unit.</p>
    </Confirm>
  );
}
