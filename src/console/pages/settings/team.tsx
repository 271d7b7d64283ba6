import { useLocation } from 'preact-iso';
import { address, useQuery } from '../../address.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { isHidden } from '../../api/problem.ts';
import { useThing } from '../../api/thing.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { ConflictDialog } from '../../parts/conflict.tsx';
import { CreateButton } from '../../parts/create.tsx';
import { Reason } from '../../parts/failure.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { user } from '../../session.ts';
import { NotFound } from '../not-found.tsx';
import { ApiKeys } from './api-keys.tsx';
import { Clients } from './clients.tsx';
import { Members } from './members.tsx';
import { isAdmin, ReadOnlyNote } from './role.tsx';
import type { Team as ShownTeam } from './shapes.ts';
import { Limits } from './team-limits.tsx';
import { Webhooks } from './webhooks.tsx';

/** A team: the one that the address names, or the reader's primary one. */
export function Team() {
  const { query } = useQuery();
  const id = query['team'] ?? user.value!.primaryTeam;
  return <OneTeam key={id} id={id} />;
}

function OneTeam({ id }: { readonly id: string }) {
  const thing = useThing<ShownTeam>(resource('teams', id));
  const { data: team, error, conflict, version } = thing;
  if (isHidden(error)) return <NotFound error={error} />;
  if (team === undefined) {
    return <Reason error={error} onRetry={() => void thing.reload()} />;
  }
  return (
    <>
      <h1>Team {team.name}</h1>
      <Choice current={team} />
      <ReadOnlyNote what="a team" />
      {isAdmin() && (
        <section class="settings-part settings-line">
          <h2>Name</h2>
          <Form
            key={version}
            submit="Save the name"
            done="The name is saved"
            onSubmit={(data) => thing.change(() => ({ name: String(data.get('name')) }))}
          >
            <Field name="name" label="Name" value={team.name} required />
          </Form>
        </section>
      )}
      <Members team={team} />
      {isAdmin() && <ApiKeys team={id} />}
      {isAdmin() && <Clients team={id} />}
      {isAdmin() && <Webhooks team={id} />}
      <Limits team={team} change={thing.change} />
      {isAdmin() && <Deletion team={team} />}
      <ConflictDialog conflict={conflict} />
    </>
  );
}

/** The other teams of the reader, and a new one. */
function Choice({ current }: { readonly current: ShownTeam }) {
  const teams = useList<ShownTeam>(resource('teams'), { limit: 200 }).items ?? [];
  const { change } = useQuery();
  return (
    <div class="actions">
      {teams.length > 1 && (
        <select
          aria-label="Team"
          value={current.id}
          onChange={({ currentTarget }) => change({ team: currentTarget.value }, true)}
        >
          {teams.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      {isAdmin() && (
        <CreateButton
          label="Create a team"
          codes={{ plan_limit: 'name', conflict: 'name' }}
          create={async (data) => {
            const body = { name: data.get('name') };
            const { id } = await call<ShownTeam>('POST', resource('teams'), { body });
            change({ team: id }, true);
            return undefined;
          }}
        >
          <Field
            name="name"
            label="Name"
            required
            autoFocus
            hint="It has applications and members of its own."
          />
        </CreateButton>
      )}
    </div>
  );
}

function Deletion({ team: { id, name } }: { readonly team: ShownTeam }) {
  const { route } = useLocation();
  return (
    <section class="settings-part">
      <h2>Delete the team</h2>
      <ConfirmButton
        danger
        label={`Delete the team ${name}`}
        title={`Delete the team ${name}`}
        action="Delete the team"
        done={`The team ${name} is deleted`}
        typed={name}
        onConfirm={async () => {
          await call('DELETE', resource('teams', id));
          route(address('settings'));
        }}
      >
        <p>
          Its API keys, sign-in clients and webhooks go with it. It must have no applications, and no members
          who are in no other team.
        </p>
      </ConfirmButton>
    </section>
  );
}
