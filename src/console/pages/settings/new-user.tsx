import { call, resource } from '../../api/client.ts';
import { CreateButton } from '../../parts/create.tsx';
import { Field } from '../../parts/form.tsx';
import { RoleField } from './role-field.tsx';
import type { NewUser as MadeUser, Team } from './shapes.ts';
import { TeamField } from './team-field.tsx';

export interface NewUserProps {
  readonly label: string;
  /** Those that the user can be in; the first is chosen. */
  readonly teams: readonly Team[];
  readonly onDone: () => void;
}

/** Creates a user, and shows the password that was generated for them. */
export function NewUser({ label, teams, onDone }: NewUserProps) {
  return (
    <CreateButton
      label={label}
      codes={{ conflict: 'email', plan_limit: 'email' }}
      onDone={onDone}
      create={async (data) => {
        const { name, email, role, teamId = teams[0]?.id } = Object.fromEntries(data);
        const body = { name, email, role, teams: [teamId] };
        const made = await call<MadeUser>('POST', resource('users'), { body });
        return {
          title: `Give ${made.name} their password`,
          once: true,
          values: [
            ['E-mail address', made.email ?? ''],
            ['Password', made.password ?? ''],
          ],
        };
      }}
    >
      <Field name="name" label="Name" required autoFocus autocomplete="off" />
      <Field
        name="email"
        label="E-mail address"
        required
        autocomplete="off"
        hint="They sign in with it and a generated password, and then choose their own."
      />
      <RoleField />
      <TeamField teams={teams} value={teams[0]?.id} />
    </CreateButton>
  );
}
