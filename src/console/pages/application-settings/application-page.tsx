/*
 * src/console/pages/application-settings: the settings of an application. application-page.tsx assembles them. Each
 * other file contains a section, or a part of a section.
 */

import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { environmentColumns } from '../../../contract/resources/columns.ts';
import type { Application, OriginCheck } from '../../../contract/shapes/application.ts';
import type { TeamLimits } from '../../../contract/shapes/team.ts';
import { address, environmentAddress, teamAddress } from '../../address/address.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { type Thing, useThing } from '../../api/thing.ts';
import { useAction } from '../../components/action.tsx';
import { Field, Form } from '../../components/form/form.tsx';
import { DeletionSection, NameSection, ReadOnlyNote, Section } from '../../components/resource/part.tsx';
import { ResourceTable } from '../../components/resource/resource-table.tsx';
import { OfThing } from '../../components/resource/thing.tsx';
import { createDeclaredColumns } from '../../components/table/declared-columns.ts';
import { hasRole, refreshApplications } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { Keys } from './keys.tsx';
import { previewOrigin } from './origin-preview.ts';
import { Removals } from './removals.tsx';

export function ApplicationPage({ id }: { readonly id: string }) {
  const { route } = useLocation();
  const thing = useThing<Application>(resource('applications', id));
  async function save(name: string) {
    const saved = await thing.change(() => ({ name }));
    refreshApplications();
    return saved;
  }
  async function remove() {
    await call('DELETE', resource('applications', id));
    forget(resource('deletions'));
    refreshApplications();
    route(address('settings', 'applications'));
  }
  const { version } = thing;
  return (
    <OfThing thing={thing}>
      {(application) => (
        <>
          <h1>{application.name}</h1>
          <p>
            <a href={teamAddress(application.teamId)}>Access: who can see the application</a>
          </p>
          <ReadOnlyNote what="the settings of an application" />
          {hasRole('Admin') && (
            <NameSection
              key={`name-${version}`}
              name={application.name}
              hint="Shown to people. Packets and keys do not depend on the name."
              save={save}
            />
          )}
          <Environments application={application} thing={thing} />
          <Keys application={application} />
          <Origins application={application} thing={thing} />
          <IdentitiesToggle application={application} thing={thing} />
          <Rates key={`rates-${version}`} application={application} thing={thing} />
          {hasRole('Admin') && (
            <DeletionSection kind="application" name={application.name} remove={remove}>
              The keys of the application stop working immediately, and all counts are removed. This cannot be undone.
            </DeletionSection>
          )}
        </>
      )}
    </OfThing>
  );
}

function IdentitiesToggle({ application: { acceptClientIdentities: on }, thing }: ApplicationProps) {
  const { refusal, run } = useAction();
  return (
    <Section title="Client-generated identities" help="semantics#unique-users">
      <label class="settings-switch">
        <input
          type="checkbox"
          checked={on}
          disabled={!hasRole('Admin')}
          onClick={(event) => {
            event.preventDefault();
            run(
              () => thing.change(() => ({ acceptClientIdentities: !on })),
              `Client-generated identities turned ${on ? 'off' : 'on'}`,
            );
          }}
        />
        Accept client-generated identities for metrics
      </label>
      <p class="quiet">
        A packet can name a person in its field <code>u</code>, and anyone can send any name. Such people count only if
        this setting is on. Instance ids that your server has minted (<code>i</code>) always count.
      </p>
      {refusal}
    </Section>
  );
}

const rates = [
  { name: 'rate', setting: '--rate', label: 'Packets and reports per second' },
  { name: 'burst', setting: '--burst', label: 'Burst size in packets and reports' },
] as const;

function Rates({ application, thing }: ApplicationProps) {
  const { data } = usePoll<TeamLimits>(resource('teams', application.teamId, 'limits'), undefined);
  const describeDefault = (setting: string) => {
    const value = data?.settings.find((each) => each.setting === setting)?.value;
    return value === undefined ? "the server's default" : `${format.full(value)} (${setting})`;
  };
  return (
    <Section
      title="Rate limits"
      help="semantics#limits-and-fairness"
      note="Requests above these limits get the status 429, and senders retry later. The server's limits apply as well; a rate of 0 means the server's limit."
    >
      {hasRole('Admin') ? (
        <Form
          submit="Save rate limits"
          done="Rate limits saved. They apply from the next packet on."
          onSubmit={(data) =>
            thing.change(() => Object.fromEntries(rates.map(({ name }) => [name, numberIn(data.get(name))])))
          }
        >
          {rates.map(({ name, setting, label }) => (
            <Field
              key={name}
              name={name}
              label={label}
              hint={`If empty: ${describeDefault(setting)}`}
              type="number"
              min="0"
              step="any"
              value={String(application[name] ?? '')}
            />
          ))}
        </Form>
      ) : (
        rates.map(({ name, setting, label }) => (
          <p key={name}>
            {label}: {application[name] === null ? describeDefault(setting) : format.full(application[name])}
          </p>
        ))
      )}
    </Section>
  );
}

function numberIn(text: FormDataEntryValue | null): number | null {
  return text === '' ? null : Number(text);
}

interface ApplicationProps {
  readonly application: Application;
  readonly thing: Thing<Application>;
}

function Environments({ application: { id, environments }, thing }: ApplicationProps) {
  const path = resource('applications', id, 'environments');
  const reload = () => {
    refreshApplications();
    return thing.reload();
  };
  return (
    <Section title="Environments" line>
      <ResourceTable
        list={{ items: environments, reload }}
        caption="Environments"
        rowKey={({ name }) => name}
        empty="No environments yet. Packets are refused until an environment is added."
        columns={createDeclaredColumns<Application['environments'][number]>(environmentColumns, {
          name: ({ name }) => <a href={environmentAddress(id, name, 'flags')}>{name}</a>,
        })}
        remove={({ name }) => ({
          title: `Delete environment ${name}`,
          action: 'Delete environment',
          done: `Deleted ${name}. Its data is being removed.`,
          typed: name,
          onConfirm: () =>
            call('DELETE', `${path}/${encodeURIComponent(name)}`).then(() => forget(resource('deletions'))),
          children: (
            <p>
              Packets and reports for {name} are refused from now on, and its counts are deleted. This cannot be undone.
            </p>
          ),
        })}
      />
      <Removals of={id} />
      {hasRole('Admin') && (
        <Form
          submit="Add environment"
          done="Environment added"
          codes={{ conflict: 'name', plan_limit: 'name', invalid_name: 'name' }}
          reset
          onSubmit={async (data) => {
            await call('POST', path, { body: { name: data.get('name') } });
            await reload();
          }}
        >
          <Field
            name="name"
            label="New environment"
            required
            hint="Spelt as in your packets and reports; case matters."
          />
        </Form>
      )}
    </Section>
  );
}

function Origins({ application: { id, allowedOrigins }, thing }: ApplicationProps) {
  const typed = useSignal('');
  const change = (make: (now: readonly string[]) => readonly string[]) =>
    thing.change((now) => ({ allowedOrigins: make(now.allowedOrigins) }));
  return (
    <Section title="Allowed origins" line>
      <p class="quiet">
        If the list has entries, packets from pages of other origins are refused. Apps and servers send no origin and
        are not affected.
      </p>
      <ResourceTable
        caption="Allowed origins"
        list={{ items: allowedOrigins, reload: async () => {} }}
        rowKey={(origin) => origin}
        empty="No entries. Pages of every origin may send."
        columns={[
          { key: 'origin', title: 'Entry', cell: (origin) => <code>{origin}</code> },
          { key: 'preview', title: 'Allows', cell: (origin) => <Preview of={origin} /> },
        ]}
        remove={(origin) => ({
          label: 'Remove',
          title: `Remove ${origin}`,
          action: 'Remove origin',
          done: `Removed ${origin}`,
          onConfirm: () => change((now) => now.filter((each) => each !== origin)),
          children: <p>{allowedOrigins.length === 1 ? lastRemoved : removed}</p>,
        })}
      />
      {hasRole('Admin') && (
        <Form
          submit="Add origin"
          done="Origin added. It applies from the next packet on."
          codes={{ invalid_body: 'origin', plan_limit: 'origin' }}
          onSubmit={async (data) => {
            const origin = String(data.get('origin')).trim();
            const added = await change((now) => [...now.filter((each) => each !== origin), origin]);
            if (added) typed.value = '';
            return added;
          }}
          reset
        >
          <Field
            name="origin"
            label="New origin"
            required
            placeholder="https://shop.example"
            hint={typed.value === '' ? examples : <Preview of={typed.value} />}
            onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
          />
        </Form>
      )}
      <OriginTest application={id} />
    </Section>
  );
}

const removed = 'Packets from these pages are refused from now on.';
const lastRemoved = 'This is the last entry. Without entries, pages of every origin may send with your keys.';
const examples =
  'An origin; https://*.shop.example for subdomains; http://localhost:* for any port; or null for sandboxed pages.';

function Preview({ of: origin }: { readonly of: string }) {
  const preview = previewOrigin(origin);
  if (preview.fault !== undefined) return <span class="warn">{preview.fault}</span>;
  return (
    <span class="settings-preview">
      {preview.words}: {preview.matches.join(', ')}
      {preview.misses.length > 0 && <span class="quiet"> · not {preview.misses.join(', ')}</span>}
    </span>
  );
}

function OriginTest({ application }: { readonly application: string }) {
  const result = useSignal<OriginCheck | undefined>(undefined);
  return (
    <div class="settings-test">
      <h3>Test an origin</h3>
      <Form
        submit="Test origin"
        done="Origin tested"
        codes={{ invalid_query: 'origin' }}
        onSubmit={async (data) => {
          result.value = undefined;
          const query = { origin: String(data.get('origin')).trim() };
          result.value = await call('GET', resource('applications', application, 'origin-check'), { query });
        }}
      >
        <Field
          name="origin"
          label="Origin of a page"
          required
          hint="Scheme, host and port of the page, such as https://shop.example"
        />
      </Form>
      {result.value && (
        <p role="status" class={result.value.allowed ? 'good' : 'bad'}>
          <strong>{result.value.allowed ? 'Allowed' : 'Refused'}</strong>: {result.value.why}
        </p>
      )}
    </div>
  );
}
