import { resource } from '../../api/client.ts';
import { useThing } from '../../api/thing.ts';
import { ConflictDialog } from '../../parts/conflict.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Reason } from '../../parts/failure.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { changedFields } from './changed-fields.ts';
import { RoleField } from './role-field.tsx';
import type { User } from './shapes.ts';

export interface UserDialogProps {
  readonly id: string;
  readonly onClose: () => void;
}

/** Changes another user. */
export function UserDialog({ id, onClose }: UserDialogProps) {
  const thing = useThing<User>(resource('users', id));
  const { data: user, error, conflict, version } = thing;
  return (
    <Dialog title={user === undefined ? 'Change a user' : `Change ${user.name}`} onClose={onClose}>
      <Reason error={error} />
      {user !== undefined && (
        <Form
          key={version}
          submit="Save"
          done="The user is changed"
          codes={{ conflict: user.role === 'Admin' ? 'role' : 'email', invalid_name: 'name' }}
          onCancel={onClose}
          onSubmit={async (data) => {
            const { password, ...fields } = Object.fromEntries(data);
            const secret = password === '' ? {} : { password };
            const saved = await thing.change(() => changedFields(user, fields), secret);
            if (saved) onClose();
            return saved;
          }}
        >
          <Field name="name" label="Name" value={user.name} required autocomplete="off" />
          <Field name="email" label="E-mail address" value={user.email ?? ''} required autocomplete="off" />
          <RoleField value={user.role} />
          <Field
            name="password"
            label="New password"
            type="password"
            autocomplete="new-password"
            hint="Leave it empty to keep the password. A new one has at least 8 characters and signs the user out. They choose their own at the next sign-in."
          />
        </Form>
      )}
      <ConflictDialog conflict={conflict} />
    </Dialog>
  );
}
