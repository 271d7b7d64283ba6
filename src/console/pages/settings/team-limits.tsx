import { resource } from '../../api/client.ts';
import { forget, usePoll } from '../../api/poll.ts';
import type { Thing } from '../../api/thing.ts';
import { format } from '../../format.ts';
import { Reason } from '../../parts/failure.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { Table } from '../../parts/table.tsx';
import { isAdmin } from './role.tsx';
import type { Team, TeamLimits } from './shapes.ts';

export interface LimitsProps {
  readonly team: Team;
  readonly change: Thing<Team>['change'];
}

/** What a team's plan and the service allow it. */
export function Limits({ team, change }: LimitsProps) {
  const { data, error } = usePoll<TeamLimits>(resource('teams', team.id, 'limits'), 15_000);
  if (data === undefined) return <Reason error={error} />;
  const { allowances, settings } = data;
  return (
    <section class="settings-part">
      <h2>Plan: {data.plan}</h2>
      <Table
        caption="What the plan allows"
        rows={allowances}
        rowKey={({ what }) => what}
        columns={[
          { key: 'words', title: 'Limited', cell: ({ words }) => words },
          {
            key: 'used',
            title: 'Used',
            number: true,
            cell: ({ used, allowed }) => (
              <span class={used >= allowed ? 'warn' : ''}>{format.full(used)}</span>
            ),
          },
          { key: 'allowed', title: 'Allowed', number: true, cell: ({ allowed }) => format.full(allowed) },
          { key: 'most', title: 'Most in', cell: ({ application }) => application },
        ]}
      />
      {isAdmin() && <Plan key={data.plan} limits={data} change={change} />}
      <h3>Set by the service</h3>
      <p class="quiet">
        The operator sets these when the service starts. An application can have a lower rate of its own, in
        its settings.
      </p>
      <Table
        caption="What the settings of the service allow"
        rows={settings}
        rowKey={({ setting }) => setting}
        columns={[
          { key: 'words', title: 'Limited', cell: ({ words }) => words },
          { key: 'value', title: 'Value', number: true, cell: ({ value }) => format.full(value) },
          { key: 'setting', title: 'Setting', cell: ({ setting }) => <code>{setting}</code> },
        ]}
      />
    </section>
  );
}

const plans: readonly TeamLimits['plan'][] = ['free', 'team', 'enterprise'];

function Plan({
  limits: { plan, canRaise },
  change,
}: {
  readonly limits: TeamLimits;
  readonly change: LimitsProps['change'];
}) {
  const offered = canRaise ? plans : plans.slice(0, plans.indexOf(plan) + 1);
  if (offered.length < 2) return <p class="quiet">The operator of the service can raise the plan.</p>;
  return (
    <Form
      submit="Change the plan"
      done="The plan is changed"
      codes={{ conflict: 'plan', forbidden: 'plan' }}
      onSubmit={async (data) => {
        const saved = await change(() => ({ plan: String(data.get('plan')) }));
        forget(resource('teams'));
        return saved;
      }}
    >
      <Field
        name="plan"
        label="Plan"
        hint={canRaise ? undefined : 'You can lower it. Only the operator of the service can raise it again.'}
        control={(properties) => (
          <select {...properties}>
            {offered.map((each) => (
              <option key={each} selected={each === plan}>
                {each}
              </option>
            ))}
          </select>
        )}
      />
    </Form>
  );
}
