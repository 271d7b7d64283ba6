import { resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { ApiProblem } from '../../api/problem.ts';
import { type Thing, useThing } from '../../api/thing.ts';
import { ConflictDialog } from '../../parts/conflict.tsx';
import { Reason } from '../../parts/failure.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { user } from '../../session.ts';
import { changedFields } from './changed-fields.ts';
import { isAdmin } from './role.tsx';
import { Sessions } from './sessions.tsx';
import type { Team, User } from './shapes.ts';
import { TeamField } from './team-field.tsx';

/** The reader's own account. */
export function You() {
  const { id } = user.value!;
  const thing = useThing<User>(resource('users', id));
  const { data: you, error, conflict, version } = thing;
  if (you === undefined) return <Reason error={error} onRetry={() => void thing.reload()} />;
  return (
    <>
      <h1>You</h1>
      <p class="quiet">
        {you.name} · {you.email} · {you.role}
      </p>
      <Profile key={`profile-${version}`} you={you} thing={thing} />
      {isAdmin() ? (
        <EmailAddress key={`email-${version}`} you={you} thing={thing} />
      ) : (
        <section class="settings-part">
          <h2>E-mail address</h2>
          <p class="callout callout-note">
            An Admin of your team changes the address that you sign in with, and your role.
          </p>
        </section>
      )}
      <Password you={you} thing={thing} />
      <Sessions id={id} />
      <ConflictDialog conflict={conflict} />
    </>
  );
}

interface YouProps {
  readonly you: User;
  readonly thing: Thing<User>;
}

function Profile({ you, thing }: YouProps) {
  const { items: teams = [] } = useList<Team>(resource('teams'), { limit: 200 });
  return (
    <section class="settings-part">
      <h2>Profile</h2>
      <Form
        submit="Save the profile"
        done="Your profile is saved"
        codes={{ invalid_name: 'name' }}
        onSubmit={async (data) => {
          const saved = await thing.change(() => changedFields(you, Object.fromEntries(data)));
          if (saved) user.value = { ...user.value!, name: String(data.get('name')) };
          return saved;
        }}
      >
        <Field name="name" label="Name" value={you.name} required autocomplete="name" />
        {teams.length > 1 && (
          <TeamField
            teams={teams}
            value={you.primaryTeam ?? undefined}
            name="primaryTeam"
            label="Primary team"
          />
        )}
      </Form>
    </section>
  );
}

function EmailAddress({ you, thing }: YouProps) {
  return (
    <section class="settings-part">
      <h2>E-mail address</h2>
      <Form
        submit="Save the address"
        done="Your e-mail address is saved"
        codes={{ conflict: 'email', forbidden: 'currentPassword' }}
        onSubmit={async (data) => {
          const email = String(data.get('email'));
          const saved = await thing.change(() => ({ email }), {
            currentPassword: data.get('currentPassword'),
          });
          if (saved) user.value = { ...user.value!, email };
          return saved;
        }}
      >
        <Field
          name="email"
          label="E-mail address"
          value={you.email ?? ''}
          required
          autocomplete="email"
          hint="You sign in with it."
        />
        <CurrentPassword />
      </Form>
    </section>
  );
}

function Password({ thing, you: { email } }: YouProps) {
  return (
    <section class="settings-part">
      <h2>Password</h2>
      <Form
        submit="Change the password"
        done="Your password is changed. Sign in again with it."
        codes={{ forbidden: 'currentPassword', invalid_body: 'password', differs: 'again' }}
        reset
        onSubmit={async (data) => {
          const { currentPassword, password, again } = Object.fromEntries(data);
          if (again !== password) throw new ApiProblem(400, 'differs', 'The two new passwords differ');
          await thing.change(() => ({}), { currentPassword, password });
          // Every session has ended with it, this one too: the page asks to sign in again.
          void thing.reload();
        }}
      >
        {/* Password managers learn from it whose password it is. */}
        <input
          class="hidden"
          autocomplete="username"
          value={email ?? ''}
          readOnly
          tabIndex={-1}
          aria-hidden="true"
        />
        <CurrentPassword />
        <Field
          name="password"
          label="New password"
          type="password"
          required
          autocomplete="new-password"
          hint="8 characters at least. It signs you out everywhere, here too."
        />
        <Field name="again" label="New password again" type="password" required autocomplete="new-password" />
      </Form>
    </section>
  );
}

function CurrentPassword() {
  return (
    <Field
      name="currentPassword"
      label="Your password as it is now"
      type="password"
      required
      autocomplete="current-password"
    />
  );
}
