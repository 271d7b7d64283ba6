import type { LinkedIdentity } from '../../../contract/shapes/identity-provider.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { now } from '../../clock.ts';
import { format } from '../../format.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { Table } from '../../parts/table.tsx';
import { Part } from './part.tsx';

/** The accounts at identity providers that the reader signs in with. Most have none, and see nothing. */
export function Identities({ id }: { readonly id: string }) {
  const path = resource('users', id, 'identities');
  const { data } = usePoll<{ items: readonly LinkedIdentity[] }>(path, 60_000);
  const items = data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Part title="Linked accounts" note="Accounts at identity providers that you sign in with.">
      <Table
        stacked
        caption="Linked accounts"
        rows={items}
        rowKey={(linked) => linked.id}
        columns={[
          { key: 'provider', title: 'Provider', cell: ({ provider }) => provider },
          { key: 'email', title: 'E-mail', cell: ({ email }) => email ?? 'Unknown' },
          { key: 'linkedAt', title: 'Since', cell: ({ linkedAt }) => format.time(linkedAt) },
          {
            key: 'lastUsedAt',
            title: 'Last used',
            cell: ({ lastUsedAt }) => format.relative(lastUsedAt, now.value),
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
                <p>You can no longer sign in with it. Your sessions continue.</p>
              </ConfirmButton>
            ),
          },
        ]}
      />
    </Part>
  );
}
