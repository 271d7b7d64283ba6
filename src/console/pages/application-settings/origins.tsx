import { useSignal } from '@preact/signals';
import { call, resource } from '../../api/client.ts';
import { Field, Form } from '../../parts/form.tsx';
import { ResourceTable } from '../settings/resource-table.tsx';
import { isAdmin } from '../settings/role.tsx';
import type { OriginCheckShown } from '../settings/shapes.ts';
import type { ApplicationProps } from './application-props.ts';
import { previewOrigin } from './origin-preview.ts';

/** The pages that may send packets. */
export function Origins({ application: { id, allowedOrigins }, thing }: ApplicationProps) {
  const typed = useSignal('');
  const change = (make: (now: readonly string[]) => readonly string[]) =>
    thing.change((now) => ({ allowedOrigins: make(now.allowedOrigins) }));
  return (
    <section class="settings-part settings-line">
      <h2>Allowed origins</h2>
      <p class="quiet">
        When there are entries here, packets from other pages are refused. Reports of servers have no origin
        and are not affected.
      </p>
      <ResourceTable
        caption="Allowed origins"
        list={{ items: allowedOrigins, reload: async () => {} }}
        rowKey={(origin) => origin}
        empty="Every page may send: there is no entry."
        columns={[
          { key: 'origin', title: 'Entry', cell: (origin) => <code>{origin}</code> },
          { key: 'preview', title: 'Lets through', cell: (origin) => <Preview of={origin} /> },
        ]}
        remove={(origin) => ({
          label: 'Remove',
          title: `Remove ${origin}`,
          action: 'Remove the origin',
          done: `${origin} is removed`,
          onConfirm: () => change((now) => now.filter((each) => each !== origin)),
          children: <p>{allowedOrigins.length === 1 ? lastRemoved : removed}</p>,
        })}
      />
      {isAdmin() && (
        <Form
          submit="Add the origin"
          done="The origin is added. It counts from the next packet on."
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
            onInput={({ currentTarget }) => {
              typed.value = currentTarget.value;
            }}
          />
        </Form>
      )}
      <OriginTest application={id} />
    </section>
  );
}

const removed = 'Packets of these pages are refused from now on.';
const lastRemoved = 'It is the last entry. Without any, every page may send with your keys.';
const examples =
  'An origin, https://*.shop.example for its subdomains, http://localhost:* for any port of the own machine, or null.';

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
  const answer = useSignal<OriginCheckShown | undefined>(undefined);
  return (
    <div class="settings-test">
      <h3>Try an origin</h3>
      <Form
        submit="Try it"
        done="Tried"
        codes={{ invalid_query: 'origin' }}
        onSubmit={async (data) => {
          answer.value = undefined;
          const query = { origin: String(data.get('origin')).trim() };
          answer.value = await call('GET', resource('applications', application, 'origin-check'), { query });
        }}
      >
        <Field
          name="origin"
          label="Origin of a page"
          required
          hint="As the address bar of the page begins: https://shop.example"
        />
      </Form>
      {answer.value && (
        <p role="status" class={answer.value.allowed ? 'good' : 'bad'}>
          <strong>{answer.value.allowed ? 'Let through' : 'Refused'}</strong>: {answer.value.why}
        </p>
      )}
    </div>
  );
}
