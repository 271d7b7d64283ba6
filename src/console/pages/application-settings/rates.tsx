import { resource } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { format } from '../../format.ts';
import { Field, Form } from '../../parts/form.tsx';
import { isAdmin } from '../settings/role.tsx';
import type { TeamLimits } from '../settings/shapes.ts';
import type { ApplicationProps } from './application-props.ts';

const fields = [
  { name: 'rate', setting: '--rate', label: 'Packets and reports a second' },
  { name: 'burst', setting: '--burst', label: 'Packets and reports at once' },
] as const;

/** How much an application may send: of its own, or by default. */
export function Rates({ application, thing }: ApplicationProps) {
  const { data } = usePoll<TeamLimits>(resource('teams', application.teamId, 'limits'), undefined);
  const defaultOf = (setting: string) => {
    const value = data?.settings.find((each) => each.setting === setting)?.value;
    return value === undefined ? 'the default of the service' : `${format.full(value)}, set by ${setting}`;
  };
  return (
    <section class="settings-part">
      <h2>Rates</h2>
      <p class="quiet">
        What comes faster is answered 429, and senders try again later. The server's own rate is the maximum;
        0 packets a second means that rate.
      </p>
      {isAdmin() ? (
        <Form
          submit="Save the rates"
          done="The rates are saved. They count from the next packet on."
          onSubmit={(data) =>
            thing.change(() => Object.fromEntries(fields.map(({ name }) => [name, numberIn(data.get(name))])))
          }
        >
          {fields.map(({ name, setting, label }) => (
            <Field
              key={name}
              name={name}
              label={label}
              hint={`Empty: ${defaultOf(setting)}`}
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
        fields.map(({ name, setting, label }) => (
          <p key={name}>
            {label}: {application[name] === null ? defaultOf(setting) : format.full(application[name])}
          </p>
        ))
      )}
    </section>
  );
}

function numberIn(text: FormDataEntryValue | null): number | null {
  return text === '' ? null : Number(text);
}
