import type { ComponentChildren } from 'preact';
import type { Column } from '../../parts/table.tsx';
import { user } from '../../session.ts';
import { actionsColumn } from './actions-column.tsx';
import type { User } from './shapes.ts';

export interface UserActions {
  readonly onChange: (user: User) => void;
  /** The button that removes: from a team, or altogether. */
  readonly remove: (user: User) => ComponentChildren;
  /** Names the teams of a user, where they are shown. */
  readonly teamsOf?: (user: User) => string;
}

/** The columns of a table of users. What readers change of themselves is on their own page. */
export function userColumns({ onChange, remove, teamsOf }: UserActions): readonly Column<User>[] {
  return [
    { key: 'name', title: 'Name', cell: ({ id, name }) => (id === user.value?.id ? `${name} (you)` : name) },
    { key: 'email', title: 'E-mail address', cell: ({ email }) => email },
    { key: 'role', title: 'Role', cell: ({ role }) => role },
    ...(teamsOf === undefined ? [] : [{ key: 'teams', title: 'Teams', cell: teamsOf }]),
    ...actionsColumn(
      (each: User) =>
        each.id !== user.value?.id && (
          <span class="actions">
            <button type="button" aria-label={`Change ${each.name}`} onClick={() => onChange(each)}>
              Change …
            </button>
            {remove(each)}
          </span>
        ),
    ),
  ];
}
