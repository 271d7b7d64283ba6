import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { NewUser } from './new-user.tsx';
import { isAdmin, ReadOnlyNote } from './role.tsx';
import type { Team, User } from './shapes.ts';
import { UserTable } from './user-table.tsx';

/** Everyone in the reader's teams. */
export function Users() {
  const list = useList<User>(resource('users'));
  const teams = useList<Team>(resource('teams'), { limit: 200 }).items ?? [];
  const nameOf = (id: string) => teams.find((team) => team.id === id)?.name ?? '';
  return (
    <>
      <h1>Users</h1>
      <ReadOnlyNote what="users" />
      <UserTable
        list={list}
        caption="Users"
        remove={({ id, name }) => ({
          title: `Delete ${name}`,
          action: 'Delete the user',
          done: `${name} is deleted`,
          onConfirm: () => call('DELETE', resource('users', id)),
          children: (
            <p>
              They are signed out everywhere and cannot sign in again. What they did stays in the audit log.
            </p>
          ),
        })}
        teamsOf={(user) => user.teams.map(nameOf).join(', ')}
      />
      {isAdmin() && <NewUser label="Create a user" teams={teams} onDone={list.reload} />}
    </>
  );
}
