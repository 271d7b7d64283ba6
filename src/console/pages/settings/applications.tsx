import { useLocation } from 'preact-iso';
import { applicationColumns } from '../../../contract/resources/columns.ts';
import type { Application } from '../../../contract/shapes/application.ts';
import type { Team } from '../../../contract/shapes/team.ts';
import { applicationSettingsAddress } from '../../address/address.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { user } from '../../api/session.ts';
import { CreateButton } from '../../components/form/create.tsx';
import { Field, readLines } from '../../components/form/form.tsx';
import { ReadOnlyNote, TeamField } from '../../components/resource/part.tsx';
import { createDeclaredColumns } from '../../components/table/declared-columns.ts';
import { ListTable } from '../../components/table/list-table.tsx';
import { hasRole, refreshApplications } from '../../reader/reader.tsx';
import { Removals } from '../application-settings/removals.tsx';

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
        empty="No applications yet."
        columns={createDeclaredColumns<Application>(applicationColumns, {
          id: false,
          name: ({ id, name }) => <a href={applicationSettingsAddress(id)}>{name}</a>,
          environments: ({ environments }) => environments.map(({ name }) => name).join(', '),
          teamId: ({ teamId }) => teams.find(({ id }) => id === teamId)?.name,
        })}
      />
      <Removals />
      {hasRole('Admin') && <NewApplication />}
    </>
  );
}

function NewApplication() {
  const { route } = useLocation();
  return (
    <CreateButton
      primary
      label="Create application"
      codes={applicationCodes}
      create={async (data) => {
        const { id } = await createApplication(data);
        route(applicationSettingsAddress(id));
        return undefined;
      }}
    >
      <ApplicationFields />
    </CreateButton>
  );
}

export const applicationCodes = { plan_limit: 'name', not_found: 'teamId', not_in_team: 'teamId' };

export function ApplicationFields() {
  const teams = useList<Team>(resource('teams'), { limit: 200 }).items ?? [];
  return (
    <>
      <Field
        name="name"
        label="Name"
        required
        autoFocus
        placeholder="Shop"
        hint="An application has one set of flags."
      />
      <Field
        name="environments"
        label="Environments, one a line"
        hint="Packets contain one of these names. Upper and lower case differ. You can add more later."
        rows={4}
        value={'Production\nStaging\nDevelopment'}
      />
      <TeamField teams={teams} value={user.value?.primaryTeam} />
    </>
  );
}

export async function createApplication(data: FormData): Promise<Application> {
  const { name, teamId } = Object.fromEntries(data);
  const environments = readLines(data, 'environments');
  const body = { name, environments, ...(teamId === undefined ? {} : { teamId }) };
  const made = await call<Application>('POST', resource('applications'), { body });
  refreshApplications();
  return made;
}
