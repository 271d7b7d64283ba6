import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { refreshApplications } from '../../applications.tsx';
import { Field } from '../../parts/form.tsx';
import { user } from '../../session.ts';
import { linesOf } from './lines.ts';
import type { Application, Team } from './shapes.ts';
import { TeamField } from './team-field.tsx';

/** Fields by codes of refusals. */
export const applicationCodes = { plan_limit: 'name', not_found: 'teamId', not_in_team: 'teamId' };

/** What a new application is asked for. */
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
        hint="What your team calls it. One application has one set of flags."
      />
      <Field
        name="environments"
        label="Environments, one a line"
        hint="Packets name one of them exactly so: upper and lower case matter. You can add more later."
        control={(properties) => (
          <textarea {...properties} rows={4} defaultValue={'Production\nStaging\nDevelopment'} />
        )}
      />
      <TeamField teams={teams} value={user.value?.primaryTeam} />
    </>
  );
}

/** Creates an application. @param data of `ApplicationFields` */
export async function createApplication(data: FormData): Promise<Application> {
  const { name, teamId } = Object.fromEntries(data);
  const environments = linesOf(data, 'environments');
  const body = { name, environments, ...(teamId === undefined ? {} : { teamId }) };
  const made = await call<Application>('POST', resource('applications'), { body });
  refreshApplications();
  return made;
}
