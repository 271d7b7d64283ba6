/*
 * src/console/pages/people: shows and deletes the data of a person. An identity can be personal data, so it is never
 * part of an address.
 */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Application } from '../../../contract/shapes/application.ts';
import type { Exposure } from '../../../contract/shapes/exposures.ts';
import type { InEnvironment } from '../../address/place.ts';
import { call, resource } from '../../api/client.ts';
import { describeError } from '../../api/problem.ts';
import { announce } from '../../components/announce.tsx';
import { ConfirmButton } from '../../components/form/confirm.tsx';
import { Field, Form } from '../../components/form/form.tsx';
import { countColumn, timeColumn } from '../../components/table/columns.tsx';
import { type Column, Table } from '../../components/table/table.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { askedPerson } from './asked-person.ts';

export function PeoplePage({ application: app, environment: env }: InEnvironment) {
  const found = useSignal<PersonExposures | undefined>(undefined);
  async function read(identity: string): Promise<void> {
    found.value = await readExposures(app, identity);
  }
  useEffect(() => {
    const asked = askedPerson.value;
    if (asked === undefined) return;
    askedPerson.value = undefined;
    read(asked).catch((error) => announce(describeError(error)));
  }, [askedPerson.value]);
  return (
    <div class="stack people">
      <h1>People</h1>
      <p class="quiet">
        Shows the variants of one person. Type the identity as your application creates or sends it. The identity
        appears neither in the address nor in the history of this browser.
      </p>
      <div class="form-line">
        <Form submit="Show" done="Records loaded" onSubmit={(data) => read(String(data.get('identity')))}>
          <Field name="identity" label="Identity" required maxLength={256} spellcheck={false} autocomplete="off" />
        </Form>
      </div>
      {found.value !== undefined && (
        <section class="stack" aria-live="polite">
          <Exposures kept={found.value} first={env} />
          <Forget app={app} identity={found.value.identity} onDone={read} />
        </section>
      )}
    </div>
  );
}

interface PersonExposures {
  readonly identity: string;
  /** False if a path cannot contain the identity. */
  readonly readable: boolean;
  readonly environments: readonly { readonly name: string; readonly exposures: readonly Exposure[] }[];
}

async function readExposures(app: string, identity: string): Promise<PersonExposures> {
  // Clients resolve dot segments, so these identities cannot be part of a path.
  if (identity === '.' || identity === '..') return { identity, readable: false, environments: [] };
  const application = await call<Application>('GET', resource('applications', app));
  const environments = await Promise.all(
    application.environments.map(async ({ name }) => {
      const path = resource('applications', app, 'identities', identity, 'exposures');
      const query = { environment: name };
      const { exposures } = await call<{ exposures: Exposure[] }>('GET', path, { query });
      return { name, exposures };
    }),
  );
  return { identity, readable: true, environments };
}

interface ExposuresProps {
  readonly kept: PersonExposures;
  readonly first: string;
}

function Exposures({ kept: { identity, readable, environments }, first }: ExposuresProps) {
  const filled = environments.filter(({ exposures }) => exposures.length > 0);
  const ordered = [...filled].sort((a, b) => Number(b.name === first) - Number(a.name === first));
  if (!readable)
    return (
      <p class="empty">A path cannot contain this identity, so its records cannot be shown. They can be removed.</p>
    );
  if (ordered.length === 0)
    return (
      <p class="empty">
        No records of <strong>{identity}</strong>. The identity might be misspelt, or no packet of the last weeks named
        this person.
      </p>
    );
  return (
    <>
      <h2>{identity}</h2>
      {ordered.map(({ name, exposures }) => (
        <Table
          key={name}
          caption={name}
          showCaption
          columns={columns}
          rows={exposures}
          rowKey={({ feature, variant }) => JSON.stringify([feature, variant])}
          sort="-last"
          csv={`exposures-${name}`}
        />
      ))}
    </>
  );
}

const columns: readonly Column<Exposure>[] = [
  { key: 'flag', title: 'Flag', value: ({ feature }) => feature },
  { key: 'variant', title: 'Variant', value: ({ variant }) => variant },
  countColumn('checks', 'Checks'),
  countColumn('used', 'Used'),
  countColumn('viewed', 'Viewed'),
  timeColumn('firstSeenAt', 'First', 'first'),
  timeColumn('lastSeenAt', 'Last', 'last'),
];

interface ForgetProps {
  readonly app: string;
  readonly identity: string;
  readonly onDone: (identity: string) => Promise<void>;
}

function Forget({ app, identity, onDone }: ForgetProps) {
  if (!hasRole('Admin')) return <p class="quiet">An Admin of the team can remove the records of this person.</p>;
  return (
    <p class="actions">
      <ConfirmButton
        danger
        label="Forget person"
        title="Forget person"
        action="Forget person"
        done="Person forgotten"
        onConfirm={async () => {
          await call('DELETE', resource('applications', app, 'identities'), { query: { identity } });
          await onDone(identity);
        }}
      >
        <p>
          <strong>{identity}</strong>
        </p>
        <p>
          Removes this person's instance ids, which become invalid immediately, and their variants, in all environments
          of the application. This cannot be undone.
        </p>
        <p>
          Totals and counts of unique users stay; they name no one. The audit log records that a person was forgotten,
          but not who. If the application keeps sending this identity, it is recorded again.
        </p>
      </ConfirmButton>
    </p>
  );
}
