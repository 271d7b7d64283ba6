import { useSignal } from '@preact/signals';
import { call, resource } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { Secret } from '../../parts/secret.tsx';
import { RoleField } from './role-field.tsx';
import type { NewUser as MadeUser, Team } from './shapes.ts';
import { TeamField } from './team-field.tsx';

export interface NewUserProps {
  /** Those that the user can be in; the first is chosen. */
  readonly teams: readonly Team[];
  readonly onClose: () => void;
}

/** Creates a user, and shows the password that was generated for them. */
export function NewUser({ teams, onClose }: NewUserProps) {
  const made = useSignal<MadeUser | undefined>(undefined);
  if (made.value !== undefined) return <PasswordShown made={made.value} onDone={onClose} />;
  return (
    <Dialog title="Create a user" onClose={onClose}>
      <Form
        submit="Create the user"
        done="The user is created"
        codes={{ conflict: 'email', plan_limit: 'email', invalid_name: 'name' }}
        onCancel={onClose}
        onSubmit={async (data) => {
          const { name, email, role, teamId = teams[0]?.id } = Object.fromEntries(data);
          const body = { name, email, role, teams: [teamId] };
          made.value = await call<MadeUser>('POST', resource('users'), { body });
        }}
      >
        <Field name="name" label="Name" required autoFocus autocomplete="off" />
        <Field
          name="email"
          label="E-mail address"
          required
          autocomplete="off"
          hint="They sign in with it. A password is generated, which you give them."
        />
        <RoleField />
        <TeamField teams={teams} value={teams[0]?.id} />
      </Form>
    </Dialog>
  );
}

function PasswordShown({ made, onDone }: { readonly made: MadeUser; readonly onDone: () => void }) {
  const { email, password = '' } = made;
  const values = [
    ['E-mail address', email ?? ''],
    ['Password', password],
  ] as const;
  return (
    <Secret title={`Give ${made.name} their password`} values={values} onDone={onDone}>
      <p class="warn">
        This is the only time that the password is shown. They can change it after they have signed in.
      </p>
    </Secret>
  );
}
