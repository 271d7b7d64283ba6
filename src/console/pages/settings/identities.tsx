import type { LinkedIdentities } from '../../../contract/shapes/identity-provider.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { settings } from '../../api/settings.ts';
import { ConfirmButton } from '../../parts/form/confirm.tsx';
import { Part } from '../../parts/resource/part.tsx';
import { Ago, Time } from '../../parts/table/columns.tsx';
import { Table } from '../../parts/table/table.tsx';

interface IdentitiesProps {
  readonly id: string;
  /** True if it is the reader's. They are linked on a page of the auth host, which asks for a recent sign-in. */
  readonly own?: boolean;
}

/** The accounts at identity providers that a user signs in with. Most have none, and see nothing. */
export function Identities({ id, own = false }: IdentitiesProps) {
  const path = resource('users', id, 'identities');
  const { data } = usePoll<LinkedIdentities>(path, 60_000);
  const { items = [], linkable = false } = data ?? {};
  if (items.length === 0 && !(own && linkable)) return null;
  return (
    <Part
      title="Linked accounts"
      note={`Accounts at identity providers that ${own ? 'you sign' : 'the user signs'} in with.`}
    >
      {items.length > 0 && (
        <Table
          stacked
          caption="Linked accounts"
          rows={items}
          rowKey={(linked) => linked.id}
          columns={[
            { key: 'provider', title: 'Provider', cell: ({ provider }) => provider },
            { key: 'email', title: 'E-mail', cell: ({ email }) => email ?? 'Unknown' },
            { key: 'linkedAt', title: 'Since', cell: ({ linkedAt }) => <Time at={linkedAt} /> },
            {
              key: 'lastUsedAt',
              title: 'Last used',
              cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} />,
            },
            {
              key: 'do',
              title: 'Actions',
              class: 'settings-do',
              cell: (linked) => (
                <ConfirmButton
                  label="Unlink"
                  title={`Unlink the account at ${linked.provider}`}
                  action="Unlink the account"
                  done={`The account at ${linked.provider} is unlinked`}
                  onConfirm={async () => {
                    await call('DELETE', `${path}/${linked.id}`);
                    forget(path);
                  }}
                >
                  <p>It can no longer be used for signing in. Existing sessions continue.</p>
                </ConfirmButton>
              ),
            },
          ]}
        />
      )}
      {own && linkable && (
        <p class="actions">
          <a class="button" href={`${settings.authUrl}/connect/identities`}>
            Link an account
          </a>
        </p>
      )}
    </Part>
  );
}
