import { useLocation } from 'preact-iso';
import { environmentAddress } from '../../address.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { refreshApplications } from '../../applications.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { user } from '../../session.ts';
import { linesOf } from '../settings/lines.ts';
import type { Application, Team } from '../settings/shapes.ts';
import { TeamField } from '../settings/team-field.tsx';

/** Creates an application, and goes on to its first packet. */
export function NewApplication({ onCancel }: { readonly onCancel?: () => void }) {
  const { route } = useLocation();
  const teams = useList<Team>(resource('teams')).items ?? [];
  async function create(data: FormData) {
    const { name, teamId } = Object.fromEntries(data);
    const environments = linesOf(data, 'environments');
    const body = { name, environments, ...(teamId === undefined ? {} : { teamId }) };
    const made = await call<Application>('POST', resource('applications'), { body });
    refreshApplications();
    route(environmentAddress(made.id, made.environments[0]?.name ?? '', 'connect'));
  }
  return (
    <Form
      onSubmit={create}
      submit="Create the application"
      done="The application is created"
      codes={{ plan_limit: 'name', not_found: 'teamId' }}
      {...(onCancel && { onCancel })}
    >
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
    </Form>
  );
}
