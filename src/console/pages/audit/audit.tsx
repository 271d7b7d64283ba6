import { auditedThings } from '../../../contract/audit.ts';
import { auditColumns } from '../../../contract/resources/columns.ts';
import type { AuditEntry } from '../../../contract/shapes/audit-entry.ts';
import type { Page } from '../../../contract/shapes/fields.ts';
import type { User } from '../../../contract/shapes/user.ts';
import { useQuery } from '../../address/address.ts';
import { call, type Query, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { useAction } from '../../components/action.tsx';
import { downloadCsv, toCsv } from '../../components/download.ts';
import { ExportMenu } from '../../components/export-menu.tsx';
import { Filter } from '../../components/form/filters.tsx';
import { Time } from '../../components/table/columns.tsx';
import { createDeclaredColumns } from '../../components/table/declared-columns.ts';
import { ListTable } from '../../components/table/list-table.tsx';
import { applications, hasRole } from '../../reader/reader.tsx';
import { actionText, changeText, dayBounds } from './audit-words.ts';

export function Audit() {
  return (
    <>
      <h1>Audit log</h1>
      {hasRole('Admin') ? (
        <Entries />
      ) : (
        <p class="callout callout-note">
          Only an Admin can read the audit log, which contains the addresses of all users.
        </p>
      )}
    </>
  );
}

function Entries() {
  const { query } = useQuery();
  const { action, actor, app: application, from, to } = query;
  const filters = { action, actor, application, ...dayBounds(from, to) };
  const list = useList<AuditEntry>(resource('audit'), filters);
  return (
    <>
      <Filters />
      <ListTable
        stacked
        list={list}
        caption="Audit log"
        rowKey={({ id }) => id}
        empty="No entries match the filters."
        columns={columns}
      />
      <Export filters={filters} />
    </>
  );
}

const columns = createDeclaredColumns<AuditEntry>(auditColumns, {
  at: Time,
  'actor.name': ({ actor }) => <Actor of={actor} />,
  action: ({ action }) => actionText(action),
  'target.name': (entry) => <Target of={entry} />,
  changes: ({ changes = [] }) => changes.map(changeText).join('; '),
});

function Target({ of: { target, applicationId } }: { readonly of: AuditEntry }) {
  const application = applications.value?.find(({ id }) => id === applicationId);
  if (application === undefined || target.type === 'application') return <>{target.name}</>;
  return (
    <>
      {target.name} <span class="quiet">of {application.name}</span>
    </>
  );
}

const mostPages = 100;

function Export({ filters }: { readonly filters: Query }) {
  const { refusal, run } = useAction();
  async function save() {
    const entries: AuditEntry[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < mostPages; page += 1) {
      const query = { ...filters, limit: 200, cursor };
      const read = await call<Page<AuditEntry>>('GET', resource('audit'), { query });
      entries.push(...read.items);
      if (read.nextCursor === null) break;
      cursor = read.nextCursor;
    }
    const rows = entries.map((entry) => columns.map((column) => column.csv?.(entry)));
    downloadCsv(
      'audit',
      toCsv(
        columns.map(({ title }) => title),
        rows,
      ),
    );
  }
  return (
    <p class="actions">
      <ExportMenu of="Audit log" items={[{ label: 'CSV', onSelect: () => run(save, 'File saved') }]} />
      {refusal}
    </p>
  );
}

function Actor({ of: { id, name, type } }: { readonly of: AuditEntry['actor'] }) {
  const { change, query } = useQuery();
  if (id === '') return <>{type === 'system' ? 'the service' : name || 'unauthenticated user'}</>;
  if (query['actor'] === id) return <>{name}</>;
  return (
    <button type="button" class="link" title={`Only entries of ${name}`} onClick={() => change({ actor: id })}>
      {name}
    </button>
  );
}

function Filters() {
  const { query } = useQuery();
  const { items: users = [] } = useList<User>(resource('users'), { limit: 200 });
  const { actor } = query;
  const unlisted = actor !== undefined && !users.some(({ id }) => id === actor);
  const actors = users.map(({ id, email }) => [id, email ?? id] as const);
  return (
    <search class="filters">
      <Filter name="action" label="What" options={[['', 'Everything'], ...Object.entries(auditedThings)]} />
      <Filter
        name="actor"
        label="Who"
        options={[['', 'Everyone'], ...(unlisted ? [[actor] as const] : []), ...actors]}
      />
      <Filter
        name="app"
        label="Application"
        options={[['', 'All applications'], ...(applications.value ?? []).map(({ id, name }) => [id, name] as const)]}
      />
      <Filter name="from" label="From" type="date" />
      <Filter name="to" label="To" type="date" />
    </search>
  );
}
