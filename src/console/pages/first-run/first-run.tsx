/*
 * src/console/pages/first-run: from an empty console to the first packet. first-run.tsx creates an application; connect.tsx is the
 * page that stays: a key (key.tsx), a sender for every language (snippet.tsx), and what came of it (arrival.tsx). snippets.ts and
 * quoting.ts write the senders, watch.ts decides what to tell.
 */
import { useLocation } from 'preact-iso';
import type { ApplicationShown } from '../../../manage/applications.ts';
import { environmentAddress } from '../../address.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { Field, Form } from '../../parts/form.tsx';
import { user } from '../../session.ts';
import { environmentNames } from './environment-names.ts';

/** What `/` shows while there is no application. */
export function FirstRun() {
  if (user.value?.role !== 'Admin')
    return (
      <section class="first-run">
        <h1>There is no application yet</h1>
        <p>An Admin of your team creates the first one. Then its flags appear here.</p>
      </section>
    );
  return (
    <section class="first-run">
      <h1>Welcome</h1>
      <p>
        flagmeter shows what each feature flag really does: who asks for it, which variant they get, and what
        can be deleted. It takes three steps.
      </p>
      <ol class="first-run-steps">
        <li aria-current="step">Create an application</li>
        <li>Get a key for it</li>
        <li>Send a packet, and see it arrive</li>
      </ol>
      <NewApplication />
    </section>
  );
}

/** Creates an application, and goes on to its first packet. */
export function NewApplication({ onCancel }: { readonly onCancel?: () => void }) {
  const { route } = useLocation();
  async function create(data: FormData) {
    const environments = environmentNames(String(data.get('environments')));
    const teamId = data.get('teamId') ?? undefined;
    const made = await call<ApplicationShown>('POST', resource('applications'), {
      body: { name: data.get('name'), environments, teamId },
    });
    forget(resource('applications'));
    route(environmentAddress(made.id, environments[0] ?? 'Production', 'connect'));
  }
  return (
    <Form
      onSubmit={create}
      submit="Create the application"
      done="The application is created"
      {...(onCancel && { onCancel })}
    >
      <Field
        name="name"
        label="Name"
        required
        maxLength={256}
        placeholder="Shop"
        hint="What your team calls it. One application has one set of flags."
      />
      <Field
        name="environments"
        label="Environments"
        value="Production, Staging, Development"
        required
        hint="Separated by commas. Senders name them exactly so: upper and lower case matter. You can add more later."
      />
      <TeamField />
    </Form>
  );
}

interface Team {
  readonly id: string;
  readonly name: string;
}

/** Asks for the team, if there is a choice. */
function TeamField() {
  const several = (user.value?.teams.length ?? 0) > 1;
  const { data } = usePoll<{ items: Team[] }>(several ? resource('teams') : undefined, undefined);
  if (data === undefined) return null;
  return (
    <Field
      name="teamId"
      label="Team"
      control={(properties) => (
        <select {...properties} defaultValue={user.value?.primaryTeam ?? ''}>
          {data.items.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    />
  );
}
