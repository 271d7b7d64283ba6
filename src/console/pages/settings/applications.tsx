import { useLocation } from 'preact-iso';
import { applicationSettingsAddress } from '../../address.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { refreshApplications } from '../../applications.tsx';
import { format } from '../../format.ts';
import { CreateButton } from '../../parts/create-button.tsx';
import { Field } from '../../parts/form.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { user } from '../../session.ts';
import { Removals } from '../application-settings/environments.tsx';
import { linesOf } from './lines.ts';
import { isAdmin, ReadOnlyNote } from './role.tsx';
import type { Application, Team } from './shapes.ts';
import { TeamField } from './team-field.tsx';

/** All applications of the reader's teams. */
export function Applications() {
  const list = useList<Application>(resource('applications'));
  const teams = useList<Team>(resource('teams'), { limit: 200 }).items ?? [];
  return (
    <>
      <h1>Applications</h1>
      <ReadOnlyNote what="applications" />
      <ListTable
        stacked
        list={list}
        caption="Applications"
        rowKey={({ id }) => id}
        empty="There is no application yet. Create one, and it gets a key and an address to send to."
        columns={[
          {
            key: 'name',
            title: 'Name',
            cell: ({ id, name }) => <a href={applicationSettingsAddress(id)}>{name}</a>,
          },
          {
            key: 'environments',
            title: 'Environments',
            cell: ({ environments }) => environments.map(({ name }) => name).join(', '),
          },
          {
            key: 'team',
            title: 'Team',
            cell: ({ teamId }) => teams.find(({ id }) => id === teamId)?.name,
          },
          { key: 'createdAt', title: 'Created', cell: ({ createdAt }) => format.time(createdAt) },
        ]}
      />
      <Removals />
      {isAdmin() && <NewApplication teams={teams} />}
    </>
  );
}

function NewApplication({ teams }: { readonly teams: readonly Team[] }) {
  const { route } = useLocation();
  return (
    <CreateButton
      primary
      label="Create an application"
      codes={{ plan_limit: 'name', not_found: 'teamId' }}
      onDone={refreshApplications}
      create={async (data) => {
        const { name, teamId } = Object.fromEntries(data);
        const environments = linesOf(data, 'environments');
        const body = { name, environments, ...(teamId === undefined ? {} : { teamId }) };
        const { id } = await call<Application>('POST', resource('applications'), { body });
        route(applicationSettingsAddress(id));
        return undefined;
      }}
    >
      <Field name="name" label="Name" required autoFocus />
      <Field
        name="environments"
        label="Environments, one a line"
        hint="Each has its own counts. Your packets name one of them."
        control={(properties) => (
          <textarea {...properties} rows={4} defaultValue={'Production\nStaging\nDevelopment'} />
        )}
      />
      <TeamField teams={teams} value={user.value?.primaryTeam} />
    </CreateButton>
  );
}
