import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { useDialog } from '../../parts/open-dialog.ts';
import { NewUser } from './new-user.tsx';
import { isAdmin, ReadOnlyNote } from './role.tsx';
import type { Team, User } from './shapes.ts';
import { userColumns } from './user-columns.tsx';
import { UserDialog } from './user-dialog.tsx';

/** Everyone in the reader's teams. */
export function Users() {
  const list = useList<User>(resource('users'));
  const teams = useList<Team>(resource('teams'), { limit: 200 }).items ?? [];
  const dialog = useDialog();
  const close = () => {
    dialog.close();
    void list.reload();
  };
  const nameOf = (id: string) => teams.find((team) => team.id === id)?.name ?? '';
  return (
    <>
      <h1>Users</h1>
      <ReadOnlyNote what="users" />
      <ListTable
        stacked
        list={list}
        caption="Users"
        rowKey={({ id }) => id}
        columns={userColumns({
          onChange: (user) => dialog.open(<UserDialog id={user.id} onClose={close} />),
          remove: ({ id, name }) => (
            <ConfirmButton
              label="Delete"
              title={`Delete ${name}`}
              action="Delete the user"
              done={`${name} is deleted`}
              onConfirm={async () => {
                await call('DELETE', resource('users', id));
                await list.reload();
              }}
            >
              <p>
                They are signed out everywhere and cannot sign in again. What they did stays in the audit log.
              </p>
            </ConfirmButton>
          ),
          teamsOf: (user) => user.teams.map(nameOf).join(', '),
        })}
      />
      {isAdmin() && <NewUser label="Create a user" teams={teams} onDone={() => void list.reload()} />}
      {dialog.element}
    </>
  );
}
