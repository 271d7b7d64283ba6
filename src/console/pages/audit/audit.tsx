import { auditedThings } from '../../../contract/audit.ts';
import { auditColumns } from '../../../contract/resources/columns.ts';
import type { AuditEntry } from '../../../contract/shapes/audit-entry.ts';
import type { User } from '../../../contract/shapes/user.ts';
import { useQuery } from '../../address.ts';
import { resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { Time } from '../../parts/columns.tsx';
import { columnsOf } from '../../parts/declared-columns.ts';
import { Filter } from '../../parts/filters.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { isAdmin } from '../settings/part.tsx';
import { actionText, dayBounds } from './audit-words.ts';

/** `/audit`: the audit log. */
export function Audit() {
  return (
    <>
      <h1>Audit log</h1>
      {isAdmin() ? (
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
  const { action, actor, from, to } = query;
  const list = useList<AuditEntry>(resource('audit'), { action, actor, ...dayBounds(from, to) });
  return (
    <>
      <Filters />
      <ListTable
        stacked
        list={list}
        caption="Audit log"
        csv="audit"
        rowKey={({ id }) => id}
        empty="No entries match the filters."
        columns={columns}
      />
    </>
  );
}

const columns = columnsOf<AuditEntry>(auditColumns, {
  at: Time,
  'actor.name': ({ actor }) => <Actor of={actor} />,
  action: ({ action }) => actionText(action),
});

function Actor({ of: { id, name, type } }: { readonly of: AuditEntry['actor'] }) {
  const { change, query } = useQuery();
  if (id === '') return <>{type === 'system' ? 'the service' : name || 'unauthenticated user'}</>;
  if (query['actor'] === id) return <>{name}</>;
  return (
    <button
      type="button"
      class="link"
      title={`Only entries of ${name}`}
      onClick={() => change({ actor: id })}
    >
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
      <Filter name="from" label="From" type="date" />
      <Filter name="to" label="To" type="date" />
    </search>
  );
}
