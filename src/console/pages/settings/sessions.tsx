import { factorsOf } from '../../../contract/resources/columns.ts';
import type { SignInSessions } from '../../../contract/shapes/session.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { Reason } from '../../parts/failure.tsx';
import { ConfirmButton } from '../../parts/form/confirm.tsx';
import { Part } from '../../parts/resource/part.tsx';
import { Ago, Time } from '../../parts/table/columns.tsx';
import { Table } from '../../parts/table/table.tsx';
import { format } from '../../text/format.ts';

/** The sign-ins of a user, and their sessions. */
export function Sessions({ id, note }: { readonly id: string; readonly note: string }) {
  const path = resource('users', id, 'sessions');
  const { data, error } = usePoll<{ items: readonly SignInSessions[] }>(path, 15_000);
  const items = data?.items ?? [];
  const others = items.filter(({ current }) => !current);
  return (
    <Part title="Sessions" help="oauth#tokens-and-sessions" note={note}>
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
          {
            key: 'device',
            title: 'Device',
            cell: ({ device, userAgent }) => <span title={userAgent}>{device || 'Unknown'}</span>,
          },
          {
            key: 'factors',
            title: 'Factors',
            cell: (signIn) => factorsOf(signIn),
          },
          { key: 'startedAt', title: 'Since', cell: ({ startedAt }) => <Time at={startedAt} /> },
          {
            key: 'lastUsedAt',
            title: 'Last used',
            cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} />,
          },
          {
            key: 'do',
            title: 'Actions',
            class: 'settings-do',
            cell: (each) => !each.current && <EndSessions label="End" path={path} of={[each]} />,
          },
        ]}
      />
      {others.length > 0 && <EndSessions label="End all other sessions" path={path} of={others} danger />}
    </Part>
  );
}

interface EndProps {
  readonly label: string;
  readonly danger?: boolean;
  readonly path: string;
  readonly of: readonly SignInSessions[];
}

function EndSessions({ label, danger = false, of: ended, path }: EndProps) {
  const [first] = ended;
  return (
    <ConfirmButton
      label={label}
      danger={danger}
      title={danger ? label : `End the session since ${format.time(first!.startedAt)}`}
      action={ended.length === 1 ? 'End the session' : 'End the sessions'}
      done={ended.length === 1 ? 'The session has ended' : 'The other sessions have ended'}
      onConfirm={async () => {
        for (const { signIn } of ended) await call('DELETE', `${path}/${encodeURIComponent(signIn)}`);
        forget(path);
      }}
    >
      <p>The next request requires a new sign-in.</p>
    </ConfirmButton>
  );
}
