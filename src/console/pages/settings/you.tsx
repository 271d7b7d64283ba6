import type { Team } from '../../../contract/shapes/team.ts';
import type { User } from '../../../contract/shapes/user.ts';
import { passwordLength } from '../../../contract/sign-in.ts';
import { resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { ApiProblem } from '../../api/problem.ts';
import { user } from '../../api/session.ts';
import { type Thing, useThing } from '../../api/thing.ts';
import { ZonePreference } from '../../components/choices/range-dialogs.tsx';
import { changedFields, Field, Form } from '../../components/form/form.tsx';
import { Section, TeamField } from '../../components/resource/part.tsx';
import { OfThing } from '../../components/resource/thing.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { Identities, Passkeys, SecondFactor, Sessions } from './sign-ins.tsx';

export function You() {
  const { id } = user.value!;
  const thing = useThing<User>(resource('users', id));
  return (
    <OfThing thing={thing}>
      {(you) => (
        <>
          <h1>You</h1>
          <p class="quiet">
            {you.name} · {you.email} · {you.role}
          </p>
          <Profile key={`profile-${thing.version}`} you={you} thing={thing} />
          <Section title="Time zone" note="For ranges and times in the console.">
            <ZonePreference />
          </Section>
          <EmailAddress key={`email-${thing.version}`} you={you} thing={thing} />
          <Password you={you} thing={thing} />
          <SecondFactor id={id} />
          <Passkeys id={id} />
          <Identities id={id} own />
          <Sessions
            id={id}
            note="Programs that you are signed in to. End unknown sessions, and then change your password."
          />
        </>
      )}
    </OfThing>
  );
}

interface YouProps {
  readonly you: User;
  readonly thing: Thing<User>;
}

function Profile({ you, thing }: YouProps) {
  const { items: teams = [] } = useList<Team>(resource('teams'), { limit: 200 });
  return (
    <Section title="Profile">
      <Form
        submit="Save profile"
        done="Profile saved"
        codes={{ invalid_name: 'name' }}
        onSubmit={async (data) => {
          const saved = await thing.change(() => changedFields(you, Object.fromEntries(data)));
          if (saved) user.value = { ...user.value!, name: String(data.get('name')) };
          return saved;
        }}
      >
        <Field name="name" label="Name" value={you.name} required autocomplete="name" />
        <TeamField teams={teams} value={you.primaryTeam ?? undefined} name="primaryTeam" label="Primary team" />
      </Form>
    </Section>
  );
}

function EmailAddress({ you, thing }: YouProps) {
  if (!hasRole('Admin'))
    return (
      <Section title="E-mail address">
        <p class="callout callout-note">Only an Admin of your team can change your e-mail address and role.</p>
      </Section>
    );
  return (
    <Section title="E-mail address">
      <Form
        submit="Save address"
        done="E-mail address saved"
        codes={{ conflict: 'email', forbidden: 'currentPassword' }}
        onSubmit={async (data) => {
          const email = String(data.get('email'));
          const saved = await thing.change(() => ({ email }), { currentPassword: data.get('currentPassword') });
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
          hint="For signing in."
        />
        <CurrentPassword />
      </Form>
    </Section>
  );
}

function Password({ thing, you: { email } }: YouProps) {
  return (
    <Section title="Password">
      <Form
        submit="Change password"
        done="Password changed. Sign in again with the new password."
        codes={{ forbidden: 'currentPassword', invalid_body: 'password', differs: 'again' }}
        reset
        onSubmit={async (data) => {
          const { currentPassword, password, again } = Object.fromEntries(data);
          if (again !== password) throw new ApiProblem(400, 'differs', 'The two new passwords differ');
          await thing.change(() => ({}), { currentPassword, password });
          // A new password ends all sessions, so this request fails, and the page asks the user to sign in again.
          void thing.reload();
        }}
      >
        {/* This hidden field tells password managers which account the password belongs to. */}
        <input class="hidden" autocomplete="username" value={email ?? ''} readOnly tabIndex={-1} aria-hidden="true" />
        <CurrentPassword />
        <Field
          name="password"
          label="New password"
          type="password"
          required
          autocomplete="new-password"
          hint={`At least ${passwordLength.minCharacters} characters. It signs you out everywhere, including here.`}
        />
        <Field name="again" label="New password again" type="password" required autocomplete="new-password" />
      </Form>
    </Section>
  );
}

function CurrentPassword() {
  return (
    <Field
      name="currentPassword"
      label="Your current password"
      type="password"
      required
      autocomplete="current-password"
    />
  );
}
