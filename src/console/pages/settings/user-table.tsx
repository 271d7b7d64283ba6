import { userColumns } from '../../../contract/resources/columns.ts';
import type { List } from '../../api/list.ts';
import { columnsOf } from '../../parts/declared-columns.ts';
import { useDialog } from '../../parts/dialog.tsx';
import { user } from '../../session.ts';
import { type Removal, ResourceTable } from './resource-table.tsx';
import type { User } from './shapes.ts';
import { UserDialog } from './user-dialog.tsx';

export interface UserTableProps {
  readonly caption: string;
  readonly list: List<User>;
  /** Removes: from a team, or altogether. */
  readonly remove: (user: User) => Removal;
  /** Names the teams of a user, where they are shown. */
  readonly teamsOf?: (user: User) => string;
}

/** A table of users. What readers change of themselves is on their own page. */
export function UserTable({ caption, list, remove, teamsOf }: UserTableProps) {
  const dialog = useDialog();
  const close = () => {
    dialog.close();
    void list.reload();
  };
  const own = user.value?.id;
  return (
    <>
      <ResourceTable
        list={list}
        caption={caption}
        rowKey={({ id }) => id}
        columns={columnsOf<User>(userColumns, {
          name: ({ id, name }) => (id === own ? `${name} (you)` : name),
          email: true,
          role: true,
          id: false,
          teams: teamsOf ?? false,
        })}
        actions={({ id, name }) => (
          <button
            type="button"
            aria-label={`Change ${name}`}
            onClick={() => dialog.open(<UserDialog id={id} onClose={close} />)}
          >
            Change …
          </button>
        )}
        remove={(each) => (each.id === own ? undefined : remove(each))}
      />
      {dialog.element}
    </>
  );
}
