import { useSignal } from '@preact/signals';
import { memberColumns, userColumns } from '../../../contract/resources/columns.ts';
import { roles } from '../../../contract/roles.ts';
import type { InvitationShownOnce } from '../../../contract/shapes/invitation.ts';
import type { Team } from '../../../contract/shapes/team.ts';
import type { UserShownOnce as CreatedUser, Member, User } from '../../../contract/shapes/user.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { user } from '../../api/session.ts';
import { useThing } from '../../api/thing.ts';
import { useAction } from '../../components/action.tsx';
import { Dialog, useDialog } from '../../components/dialog.tsx';
import { Reason } from '../../components/failure.tsx';
import { CreateButton, Secret, type SecretContent } from '../../components/form/create.tsx';
import { OptionList } from '../../components/form/filters.tsx';
import { Choices, changedFields, Field, Form, SelectField } from '../../components/form/form.tsx';
import { RoleField, Section } from '../../components/resource/part.tsx';
import { type Removal, ResourceTable } from '../../components/resource/resource-table.tsx';
import { ConflictDialog } from '../../components/resource/thing.tsx';
import { Ago } from '../../components/table/columns.tsx';
import { createDeclaredColumns } from '../../components/table/declared-columns.ts';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { Identities, LostFactors, Sessions } from './sign-ins.tsx';

/** The members of a team. Another page has the reader's own account. */
export function Members({ team }: { readonly team: Team }) {
  const list = useList<Member>(resource('teams', team.id, 'members'), { limit: 200 });
  const dialog = useDialog();
  const close = () => {
    dialog.close();
    void list.reload();
  };
  return (
    <Section
      title="Members"
      help="semantics#teams-users-and-roles"
      note="Members see all applications of the team. Their role determines what they can change."
    >
      <ResourceTable
        list={list}
        caption="Members"
        csv={`members-${team.name}`}
        rowKey={({ id }) => id}
        columns={createColumns(team, list.reload)}
        actions={(each) => (
          <>
            <button
              type="button"
              aria-label={`Change ${each.name}`}
              onClick={() => dialog.open(<UserDialog id={each.id} onClose={close} />)}
            >
              Change …
            </button>
            <button
              type="button"
              aria-label={`Sign-ins of ${each.name}`}
              onClick={() => dialog.open(<SignIns user={each} onClose={close} />)}
            >
              Sign-ins …
            </button>
          </>
        )}
        remove={(member) => (member.id === user.value?.id ? undefined : describeRemoval(team, member))}
      />
      {dialog.element}
      {hasRole('Admin') && (
        <>
          <AddMember team={team} members={list.items ?? []} onAdded={list.reload} />
          <NewUser team={team} onDone={list.reload} />
        </>
      )}
    </Section>
  );
}

function createColumns(team: Team, onChanged: () => Promise<void>) {
  const forAdmins = hasRole('Admin');
  return createDeclaredColumns<Member>(memberColumns, {
    name: ({ id, name }) => (id === user.value?.id ? `${name} (you)` : name),
    email: ({ email }) => <span class="settings-wrap">{email}</span>,
    role: (member) => <MemberRole team={team} member={member} onChanged={onChanged} />,
    joinedAt: ({ joinedAt }) => format.date(joinedAt),
    lastSignInAt: forAdmins && renderLastSignIn,
    secondFactors: forAdmins,
    id: false,
  });
}

function describeRemoval(team: Team, { id, name, teams }: Member): Removal {
  return {
    label: 'Remove',
    title: `Remove ${name} from ${team.name}`,
    action: 'Remove member',
    done: `Removed ${name} from ${team.name}`,
    onConfirm: () => call('DELETE', resource('teams', team.id, 'members', id)),
    children: (
      <>
        <p>The member immediately loses access to everything of this team.</p>
        {teams.length < 2 && (
          <p class="warn">
            A user without another team is deleted, and their entries in the audit log stay. As far as you can see,{' '}
            {name} has no other team.
          </p>
        )}
      </>
    ),
  };
}

function renderLastSignIn(member: Member) {
  return (
    <span>
      <Ago at={member.lastSignInAt} /> <span class="quiet">{userColumns.invitation.of(member)}</span>
    </span>
  );
}

interface MemberRoleProps {
  readonly team: Team;
  readonly member: Member;
  readonly onChanged: () => Promise<void>;
}

function MemberRole({ team, member: { id, name, role }, onChanged }: MemberRoleProps) {
  const { busy, refusal, run } = useAction();
  if (!hasRole('Admin') || id === user.value?.id) return <>{role}</>;
  async function change(select: HTMLSelectElement) {
    const { value: wanted } = select;
    try {
      await call('PUT', resource('teams', team.id, 'members', id), { body: { role: wanted } });
      await onChanged();
    } catch (error) {
      select.value = role;
      throw error;
    }
  }
  return (
    <>
      <select
        key={role}
        aria-label={`Role of ${name}`}
        disabled={busy}
        onChange={({ currentTarget }) => run(() => change(currentTarget), `Changed role of ${name}`)}
      >
        <OptionList options={roles.map((each) => [each])} selected={role} />
      </select>
      {refusal}
    </>
  );
}

interface AddMemberProps {
  readonly team: Team;
  readonly members: readonly User[];
  readonly onAdded: () => void;
}

function AddMember({ team, members, onAdded }: AddMemberProps) {
  const { items: known = [] } = useList<User>(resource('users'), { limit: 200 });
  const inTeam = new Set(members.map(({ id }) => id));
  const others = known.filter(({ id, teams }) => !inTeam.has(id) && !teams.includes(team.id));
  if (others.length === 0) return null;
  return (
    <Form
      submit="Add to team"
      done="User added"
      codes={{ not_found: 'user', not_in_team: 'user', plan_limit: 'user' }}
      onSubmit={async (data) => {
        const path = resource('teams', team.id, 'members', String(data.get('user')));
        await call('PUT', path, { body: { role: data.get('role') } });
        onAdded();
      }}
    >
      <SelectField
        name="user"
        label="User of your other teams"
        options={others.map(({ id, name, email }) => [id, `${name} (${email})`])}
      />
      <RoleField label="Role in this team" />
    </Form>
  );
}

function SignIns({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const { id, name, invitation } = user;
  const hasLink = useSignal(false);
  if (hasLink.value) return <LinkDialog user={user} onClose={onClose} />;
  return (
    <Dialog title={`Sign-ins of ${name}`} onClose={onClose}>
      <p class="actions">
        <button type="button" onClick={() => (hasLink.value = true)}>
          {invitation?.purpose === 'invitation' ? 'Invite again' : 'Reset password'} …
        </button>
        <LostFactors user={user} />
      </p>
      <Identities id={id} />
      <Sessions id={id} note="Programs that the user is signed in to." />
    </Dialog>
  );
}

function UserDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const thing = useThing<User>(resource('users', id));
  const { data: user, error, conflict, version } = thing;
  return (
    <Dialog title={user === undefined ? 'Change user' : `Change ${user.name}`} onClose={onClose}>
      <Reason error={error} />
      {user !== undefined && (
        <Form
          key={version}
          submit="Save"
          done="User changed"
          codes={{ conflict: user.role === 'Admin' ? 'role' : 'email', invalid_name: 'name' }}
          onCancel={onClose}
          onSubmit={async (data) => {
            const saved = await thing.change(() => changedFields(user, Object.fromEntries(data)));
            if (saved) onClose();
            return saved;
          }}
        >
          <Field name="name" label="Name" value={user.name} required autocomplete="off" />
          <Field name="email" label="E-mail address" value={user.email ?? ''} required autocomplete="off" />
          <RoleField label="Role in teams that give the user no role" value={user.role} />
        </Form>
      )}
      <ConflictDialog conflict={conflict} />
    </Dialog>
  );
}

function NewUser({ team, onDone }: { readonly team: Team; readonly onDone: () => void }) {
  return (
    <CreateButton
      label="Invite user to this team"
      codes={{ conflict: 'email', plan_limit: 'email' }}
      onDone={onDone}
      create={async (data) => {
        const body = { ...Object.fromEntries(data), teams: [team.id] };
        const { invitation, name } = await call<CreatedUser>('POST', resource('users'), { body });
        return invitation === null ? undefined : shownLink(name, invitation);
      }}
    >
      <Field name="name" label="Name" required autoFocus autocomplete="off" />
      <Field
        name="email"
        label="E-mail address"
        required
        autocomplete="off"
        hint="For signing in. You get a link with which the user chooses a password."
      />
      <RoleField />
    </CreateButton>
  );
}

function shownLink(name: string, { purpose, url, expiresAt }: InvitationShownOnce): SecretContent {
  const what = purpose === 'invitation' ? 'the invitation' : 'a reset link';
  return {
    title: `Send ${name} ${what}`,
    once: true,
    toSend: true,
    note: `The link is valid once, until ${format.time(expiresAt)}.`,
    values: [['Link', url]],
  };
}

/** Creates or withdraws a link. With the link, a user accepts an invitation or chooses another password. */
function LinkDialog({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const { id, name, invitation } = user;
  const path = resource('users', id, 'reset-link');
  const made = useSignal<SecretContent | undefined>(undefined);
  const { busy, refusal, run } = useAction();
  if (made.value !== undefined) return <Secret {...made.value} onDone={onClose} />;
  const isInvited = invitation?.purpose === 'invitation';
  const withdraw = async () => {
    await call('DELETE', path);
    onClose();
  };
  return (
    <Dialog title={isInvited ? `Invite ${name} again` : `Reset password of ${name}`} onClose={onClose}>
      <p>
        {isInvited
          ? 'The user has not accepted the invitation yet.'
          : 'You get a link with which the user chooses another password.'}
        {invitation !== null && ' A new link replaces the previous one.'}
      </p>
      {invitation !== null && (
        <p class="actions">
          <button type="button" disabled={busy} onClick={() => run(withdraw, 'Link withdrawn')}>
            Withdraw link
          </button>
        </p>
      )}
      {refusal}
      <Form
        submit="Create link"
        done="Link created"
        onCancel={onClose}
        onSubmit={async (data) => {
          const body = { endSessions: data.has('endSessions') };
          made.value = shownLink(name, await call<InvitationShownOnce>('POST', path, { body }));
        }}
      >
        {!isInvited && (
          <Choices
            legend="If the password might have leaked"
            type="checkbox"
            name="endSessions"
            checked={() => false}
            choices={[
              [
                'on',
                'End all sessions now',
                'The current password also becomes invalid now. Otherwise, the sessions and the password end when the link is used.',
              ],
            ]}
          />
        )}
      </Form>
    </Dialog>
  );
}
