import { useSignal } from '@preact/signals';
import type { OriginCheck } from '../../../contract/shapes/application.ts';
import { call, resource } from '../../api/client.ts';
import { Field, Form } from '../../parts/form/form.tsx';
import { isAdmin, Part } from '../../parts/resource/part.tsx';
import { ResourceTable } from '../../parts/resource/resource-table.tsx';
import type { ApplicationProps } from './application-props.ts';
import { previewOrigin } from './origin-preview.ts';

/** The origins of pages that may send packets. */
export function Origins({ application: { id, allowedOrigins }, thing }: ApplicationProps) {
  const typed = useSignal('');
  const change = (make: (now: readonly string[]) => readonly string[]) =>
    thing.change((now) => ({ allowedOrigins: make(now.allowedOrigins) }));
  return (
    <Part title="Allowed origins" line>
      <p class="quiet">
        If the list has entries, packets from pages of other origins are refused. Apps and servers send no
        origin and are not affected.
      </p>
      <ResourceTable
        caption="Allowed origins"
        list={{ items: allowedOrigins, reload: async () => {} }}
        rowKey={(origin) => origin}
        empty="No entries: pages of every origin may send."
        columns={[
          { key: 'origin', title: 'Entry', cell: (origin) => <code>{origin}</code> },
          { key: 'preview', title: 'Allows', cell: (origin) => <Preview of={origin} /> },
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
          done="The origin is added. It applies from the next packet on."
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
    </Part>
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
  const answer = useSignal<OriginCheck | undefined>(undefined);
  return (
    <div class="settings-test">
      <h3>Test an origin</h3>
      <Form
        submit="Test it"
        done="Tested"
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
          hint="Scheme, host and port of the page, such as https://shop.example"
        />
      </Form>
      {answer.value && (
        <p role="status" class={answer.value.allowed ? 'good' : 'bad'}>
          <strong>{answer.value.allowed ? 'Allowed' : 'Refused'}</strong>: {answer.value.why}
        </p>
      )}
    </div>
  );
}
