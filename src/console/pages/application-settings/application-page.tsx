/*
 * src/console/pages/application-settings: the settings of an application. application-page.tsx assembles them, and each other file
 * has a section or a step of one.
 */
import { useLocation } from 'preact-iso';
import type { Application } from '../../../contract/shapes/application.ts';
import type { TeamLimits } from '../../../contract/shapes/team.ts';
import { address } from '../../address/address.ts';
import { call, resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { useThing } from '../../api/thing.ts';
import { useAction } from '../../parts/action.tsx';
import { Field, Form } from '../../parts/form/form.tsx';
import { DeletionPart, isAdmin, NamePart, Part, ReadOnlyNote } from '../../parts/resource/part.tsx';
import { OfThing } from '../../parts/resource/thing.tsx';
import { refreshApplications } from '../../reader/applications.tsx';
import { format } from '../../text/format.ts';
import type { ApplicationProps } from './application-props.ts';
import { Environments } from './environments.tsx';
import { Keys } from './keys.tsx';
import { Origins } from './origins.tsx';

/** The settings of an application. @param props `id` of the application */
export function ApplicationPage({ id }: { readonly id: string }) {
  const { route } = useLocation();
  const thing = useThing<Application>(resource('applications', id));
  async function save(name: string) {
    const saved = await thing.change(() => ({ name }));
    refreshApplications();
    return saved;
  }
  async function remove() {
    await call('DELETE', resource('applications', id));
    forget(resource('deletions'));
    refreshApplications();
    route(address('settings', 'applications'));
  }
  const { version } = thing;
  return (
    <OfThing thing={thing}>
      {(application) => (
        <>
          <h1>{application.name}</h1>
          <ReadOnlyNote what="the settings of an application" />
          {isAdmin() && (
            <NamePart
              key={`name-${version}`}
              name={application.name}
              hint="Shown to people. Packets and keys do not depend on it."
              save={save}
            />
          )}
          <Environments application={application} thing={thing} />
          <Keys application={application} />
          <Origins application={application} thing={thing} />
          <IdentitiesToggle application={application} thing={thing} />
          <Rates key={`rates-${version}`} application={application} thing={thing} />
          {isAdmin() && (
            <DeletionPart kind="application" name={application.name} remove={remove}>
              Its keys stop working at once, and all its counts are removed. This cannot be undone.
            </DeletionPart>
          )}
        </>
      )}
    </OfThing>
  );
}

/** Accepts or ignores identities that clients generate. */
function IdentitiesToggle({ application: { acceptClientIdentities: on }, thing }: ApplicationProps) {
  const { refusal, run } = useAction();
  return (
    <Part title="Client-generated identities" help="semantics#unique-users">
      <label class="settings-switch">
        <input
          type="checkbox"
          checked={on}
          disabled={!isAdmin()}
          onClick={(event) => {
            event.preventDefault();
            run(
              () => thing.change(() => ({ acceptClientIdentities: !on })),
              `Client-generated identities are ${on ? 'ignored' : 'accepted'}`,
            );
          }}
        />
        Accept client-generated identities for metrics
      </label>
      <p class="quiet">
        A packet can name a person in its field <code>u</code>, and anyone can send any name. Such people
        count only if this is on. Instance ids that your server has minted (<code>i</code>) always count.
      </p>
      {refusal}
    </Part>
  );
}

const rates = [
  { name: 'rate', setting: '--rate', label: 'Packets and reports per second' },
  { name: 'burst', setting: '--burst', label: 'Burst: packets and reports at once' },
] as const;

/** The rate limits of an application: its own, or the defaults. */
function Rates({ application, thing }: ApplicationProps) {
  const { data } = usePoll<TeamLimits>(resource('teams', application.teamId, 'limits'), undefined);
  const defaultOf = (setting: string) => {
    const value = data?.settings.find((each) => each.setting === setting)?.value;
    return value === undefined ? 'the default of the server' : `${format.full(value)} (${setting})`;
  };
  return (
    <Part
      title="Rate limits"
      help="semantics#limits-and-fairness"
      note="Requests above these limits are answered 429, and senders retry later. They cannot exceed the limits of the server; a rate of 0 means the limit of the server."
    >
      {isAdmin() ? (
        <Form
          submit="Save the rate limits"
          done="The rate limits are saved. They apply from the next packet on."
          onSubmit={(data) =>
            thing.change(() => Object.fromEntries(rates.map(({ name }) => [name, numberIn(data.get(name))])))
          }
        >
          {rates.map(({ name, setting, label }) => (
            <Field
              key={name}
              name={name}
              label={label}
              hint={`If empty: ${defaultOf(setting)}`}
              control={(properties) => (
                <input
                  {...properties}
                  type="number"
                  min="0"
                  step="any"
                  defaultValue={String(application[name] ?? '')}
                />
              )}
            />
          ))}
        </Form>
      ) : (
        rates.map(({ name, setting, label }) => (
          <p key={name}>
            {label}: {application[name] === null ? defaultOf(setting) : format.full(application[name])}
          </p>
        ))
      )}
    </Part>
  );
}

function numberIn(text: FormDataEntryValue | null): number | null {
  return text === '' ? null : Number(text);
}
