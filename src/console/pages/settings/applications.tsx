import { useLocation } from 'preact-iso';
import { applicationColumns } from '../../../contract/resources/columns.ts';
import { applicationSettingsAddress } from '../../address.ts';
import { resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { CreateButton } from '../../parts/create.tsx';
import { columnsOf } from '../../parts/declared-columns.ts';
import { ListTable } from '../../parts/list-table.tsx';
import { Removals } from '../application-settings/environments.tsx';
import { ApplicationFields, applicationCodes, createApplication } from './application-form.tsx';
import { isAdmin, ReadOnlyNote } from './role.tsx';
import type { Application, Team } from './shapes.ts';

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
        columns={columnsOf<Application>(applicationColumns, {
          id: false,
          name: ({ id, name }) => <a href={applicationSettingsAddress(id)}>{name}</a>,
          environments: ({ environments }) => environments.map(({ name }) => name).join(', '),
          teamId: ({ teamId }) => teams.find(({ id }) => id === teamId)?.name,
        })}
      />
      <Removals />
      {isAdmin() && <NewApplication />}
    </>
  );
}

function NewApplication() {
  const { route } = useLocation();
  return (
    <CreateButton
      primary
      label="Create an application"
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
