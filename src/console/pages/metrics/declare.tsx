import { call, resource } from '../../api/client.ts';
import { forget } from '../../api/poll.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Confirm } from '../../parts/form/confirm.tsx';
import { Field, Form, SelectField } from '../../parts/form/form.tsx';
import type { MetricRow } from './rows.ts';

interface DeclareProps {
  readonly app: string;
  /** Without it the reader types a name. */
  readonly metric: MetricRow | undefined;
  readonly onClose: () => void;
}

/** Declares the kind and the unit of a metric. */
export function Declare({ app, metric, onClose }: DeclareProps) {
  async function send(data: FormData) {
    const name = metric?.name ?? String(data.get('name'));
    const unit = String(data.get('unit')).trim();
    const body = { kind: data.get('kind'), unit: unit === '' ? null : unit };
    await call('PUT', resource('applications', app, 'metrics', name), { body });
    forget(resource('applications', app, 'metrics'));
    onClose();
  }
  return (
    <Dialog title={metric === undefined ? 'Declare a metric' : `Declare ${metric.name}`} onClose={onClose}>
      <p class="quiet">
        A counter is summed up, such as purchases or errors. A gauge shows its last value, such as the length
        of a queue. The declared kind applies to earlier values too.
      </p>
      <Form onSubmit={send} submit="Declare" done="The metric is declared" onCancel={onClose}>
        {metric === undefined && (
          <Field
            name="name"
            label="Name"
            required
            autoFocus
            hint="As senders write it. Upper and lower case differ."
          />
        )}
        <SelectField name="kind" label="Kind" options={kinds} value={metric?.kind} />
        <Field
          name="unit"
          label="Unit"
          value={metric?.unit ?? ''}
          maxLength={64}
          hint="Such as EUR, ms or MB; optional."
        />
      </Form>
    </Dialog>
  );
}

const kinds = [
  ['counter', 'Counter'],
  ['gauge', 'Gauge'],
] as const;

export function Undeclare({ app, metric: { name }, onClose }: DeclareProps & { readonly metric: MetricRow }) {
  async function send() {
    await call('DELETE', resource('applications', app, 'metrics', name));
    forget(resource('applications', app, 'metrics'));
  }
  return (
    <Confirm
      title={`Undeclare ${name}?`}
      action="Undeclare"
      done={`${name} is no longer declared`}
      onConfirm={send}
      onClose={onClose}
    >
      <p>Its values stay, and are shown as those of a counter without a unit.</p>
    </Confirm>
  );
}
