import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { Field, Form } from '../../parts/form.tsx';
import { NewUser } from './new-user.tsx';
import { isAdmin } from './role.tsx';
import type { Team, User } from './shapes.ts';
import { UserTable } from './user-table.tsx';

/** The members of a team: to add, to change, to remove. */
export function Members({ team }: { readonly team: Team }) {
  const list = useList<User>(resource('teams', team.id, 'members'));
  return (
    <section class="settings-part">
      <h2>Members</h2>
      <UserTable
        list={list}
        caption="Members"
        remove={({ id, name, teams }) => ({
          label: 'Remove',
          title: `Remove ${name} from ${team.name}`,
          action: 'Remove',
          done: `${name} is not a member of ${team.name} any more`,
          onConfirm: () => call('DELETE', resource('teams', team.id, 'members', id)),
          children: (
            <>
              <p>They no longer see anything of this team, at once.</p>
              {teams.length < 2 && (
                <p class="warn">
                  A user who is in no other team is deleted with this. As far as you can see, {name} is in no
                  other.
                </p>
              )}
            </>
          ),
        })}
      />
      {isAdmin() && (
        <>
          <AddMember team={team} members={list.items ?? []} onAdded={list.reload} />
          <NewUser label="Create a user in this team" teams={[team]} onDone={list.reload} />
        </>
      )}
    </section>
  );
}

interface AddMemberProps {
  readonly team: Team;
  readonly members: readonly User[];
  readonly onAdded: () => void;
}

/** Adds a user of another team of the reader. */
function AddMember({ team, members, onAdded }: AddMemberProps) {
  const { items: known = [] } = useList<User>(resource('users'), { limit: 200 });
  const inTeam = new Set(members.map(({ id }) => id));
  const others = known.filter(({ id, teams }) => !inTeam.has(id) && !teams.includes(team.id));
  if (others.length === 0) return null;
  return (
    <Form
      submit="Add to the team"
      done="The user is a member"
      codes={{ not_found: 'user', not_in_team: 'user', plan_limit: 'user' }}
      onSubmit={async (data) => {
        await call('PUT', resource('teams', team.id, 'members', String(data.get('user'))));
        onAdded();
      }}
    >
      <Field
        name="user"
        label="Someone of your other teams"
        control={(properties) => (
          <select {...properties}>
            {others.map(({ id, name, email }) => (
              <option key={id} value={id}>
                {name} ({email})
              </option>
            ))}
          </select>
        )}
      />
    </Form>
  );
}
