import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { auditedThings } from '../../../contract/audit.ts';
import { auditColumns } from '../../../contract/resources/columns.ts';
import { useQuery } from '../../address.ts';
import { resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { format } from '../../format.ts';
import { columnsOf } from '../../parts/declared-columns.ts';
import { ListTable } from '../../parts/list-table.tsx';
import { actionText, dayBounds } from './audit-words.ts';
import { isAdmin } from './role.tsx';
import type { AuditEntry, User } from './shapes.ts';

/** Who did what, and when. */
export function Audit() {
  return (
    <>
      <h1>Audit</h1>
      {isAdmin() ? (
        <Entries />
      ) : (
        <p class="callout callout-note">
          The audit log is for Admins: it tells where everyone signed in from.
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
        caption="What was done"
        csv="audit"
        rowKey={({ id }) => id}
        empty="Nothing of this kind was done in this time."
        columns={columns}
      />
    </>
  );
}

const columns = columnsOf<AuditEntry>(auditColumns, {
  at: ({ at }) => <time dateTime={at}>{format.time(at)}</time>,
  'actor.name': ({ actor }) => <Actor of={actor} />,
  action: ({ action }) => actionText(action),
});

function Actor({ of: { id, name, type } }: { readonly of: AuditEntry['actor'] }) {
  const { change, query } = useQuery();
  if (id === '') return <>{type === 'system' ? 'the service' : name || 'someone who was not signed in'}</>;
  if (query['actor'] === id) return <>{name}</>;
  return (
    <button type="button" class="link" title={`Only what ${name} did`} onClick={() => change({ actor: id })}>
      {name}
    </button>
  );
}

function Filters() {
  const { query } = useQuery();
  const { items: users = [] } = useList<User>(resource('users'), { limit: 200 });
  const { actor } = query;
  const unlisted = actor !== undefined && !users.some(({ id }) => id === actor);
  return (
    <search class="filters">
      <Filter name="action" label="What">
        <option value="">Everything</option>
        {Object.entries(auditedThings).map(([action, words]) => (
          <option key={action} value={action}>
            {words}
          </option>
        ))}
      </Filter>
      <Filter name="actor" label="Who">
        <option value="">Everyone</option>
        {unlisted && <option value={actor}>{actor}</option>}
        {users.map(({ id, email }) => (
          <option key={id} value={id}>
            {email}
          </option>
        ))}
      </Filter>
      <Filter name="from" label="From" />
      <Filter name="to" label="To" />
    </search>
  );
}

interface FilterProps {
  /** Of the parameter in the address. */
  readonly name: string;
  readonly label: string;
  /** Its options; without them it is a date. */
  readonly children?: ComponentChildren;
}

function Filter({ name, label, children }: FilterProps) {
  const { query, change } = useQuery();
  const id = useId();
  const control = {
    id,
    value: query[name] ?? '',
    onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      change({ [name]: currentTarget.value || undefined }),
  };
  return (
    <div>
      <label for={id}>{label}</label>
      {children === undefined ? <input type="date" {...control} /> : <select {...control}>{children}</select>}
    </div>
  );
}
