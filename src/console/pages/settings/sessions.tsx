import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { now } from '../../clock.ts';
import { format } from '../../format.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { Reason } from '../../parts/failure.tsx';
import { Table } from '../../parts/table.tsx';
import type { SignInSessions } from './shapes.ts';

/** Where the reader is signed in. */
export function Sessions({ id }: { readonly id: string }) {
  const path = resource('users', id, 'sessions');
  const { data, error } = usePoll<{ items: readonly SignInSessions[] }>(path, 15_000);
  const items = data?.items ?? [];
  const others = items.filter(({ current }) => !current);
  return (
    <section class="settings-part">
      <h2>Sessions</h2>
      <p class="quiet">Where you are signed in. End what you do not know, and change your password then.</p>
      <Reason error={data === undefined ? error : undefined} />
      <Table
        stacked
        caption="Sessions"
        rows={items}
        rowKey={({ signIn }) => signIn}
        columns={[
          {
            key: 'what',
            title: 'Signed in to',
            cell: ({ sessions, current }) => (
              <span>
                {format.list([...new Set(sessions.map(({ clientName }) => clientName))])}
                {current && <strong> (this one)</strong>}
              </span>
            ),
          },
          { key: 'startedAt', title: 'Since', cell: ({ startedAt }) => format.time(startedAt) },
          {
            key: 'lastUsedAt',
            title: 'Last used',
            cell: ({ lastUsedAt }) => format.relative(lastUsedAt, now.value),
          },
          {
            key: 'do',
            title: 'Actions',
            class: 'settings-do',
            cell: (each) =>
              !each.current && (
                <EndSessions
                  title={`End the session since ${format.time(each.startedAt)}`}
                  label="End"
                  path={path}
                  of={[each]}
                />
              ),
          },
        ]}
      />
      {others.length > 0 && (
        <EndSessions
          title="End all other sessions"
          label="End all other sessions"
          path={path}
          of={others}
          danger
        />
      )}
    </section>
  );
}

interface EndProps {
  readonly title: string;
  readonly label: string;
  readonly danger?: boolean;
  /** Of the sessions. */
  readonly path: string;
  readonly of: readonly SignInSessions[];
}

function EndSessions({ of: ended, path, ...texts }: EndProps) {
  return (
    <ConfirmButton
      {...texts}
      action={ended.length === 1 ? 'End the session' : 'End the sessions'}
      done={ended.length === 1 ? 'The session has ended' : 'The other sessions have ended'}
      onConfirm={async () => {
        for (const { signIn } of ended) await call('DELETE', `${path}/${encodeURIComponent(signIn)}`);
        forget(path);
      }}
    >
      <p>Whoever uses it has to sign in again, from the next request on.</p>
    </ConfirmButton>
  );
}
