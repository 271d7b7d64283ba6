import { useLocation } from 'preact-iso';
import type { Team as ShownTeam, TeamLimits } from '../../../contract/shapes/team.ts';
import { address, type TeamTab, teamAddress, useQuery } from '../../address/address.ts';
import { allowOnly, useParameters } from '../../address/parameters.ts';
import { call, resource } from '../../api/client.ts';
import { useList } from '../../api/list.ts';
import { forget, usePoll } from '../../api/poll.ts';
import { user } from '../../api/session.ts';
import { type Thing, useThing } from '../../api/thing.ts';
import { Reason } from '../../components/failure.tsx';
import { CreateButton } from '../../components/form/create.tsx';
import { OptionList } from '../../components/form/filters.tsx';
import { Field, Form, SelectField } from '../../components/form/form.tsx';
import { DeletionSection, NameSection, ReadOnlyNote, Section } from '../../components/resource/part.tsx';
import { OfThing } from '../../components/resource/thing.tsx';
import { Table } from '../../components/table/table.tsx';
import { hasRole } from '../../reader/reader.tsx';
import { format } from '../../text/format.ts';
import { ProgramAccess } from './access.tsx';
import { Members } from './members.tsx';
import { SecondFactorPolicy } from './sign-in.tsx';
import { Webhooks } from './webhooks.tsx';

/** Shows the team of the address, or the reader's primary team. */
export function Team() {
  const { query } = useQuery();
  const id = query['team'] ?? user.value!.primaryTeam;
  return <OneTeam key={id} id={id} />;
}

function OneTeam({ id }: { readonly id: string }) {
  const { route } = useLocation();
  const thing = useThing<ShownTeam>(resource('teams', id));
  async function remove() {
    await call('DELETE', resource('teams', id));
    route(address('settings'));
  }
  return (
    <OfThing thing={thing}>
      {(team) => (
        <>
          <h1>Team {team.name}</h1>
          <Choice current={team} />
          <ReadOnlyNote what="a team" />
          <Tabs team={id} />
          <TabContent team={team} thing={thing} remove={remove} />
        </>
      )}
    </OfThing>
  );
}

const tabs: readonly { readonly tab?: TeamTab; readonly title: string; readonly forAdmins: boolean }[] = [
  { title: 'Access', forAdmins: false },
  { tab: 'webhooks', title: 'Webhooks', forAdmins: true },
  { tab: 'limits', title: 'Limits', forAdmins: false },
  { tab: 'sign-in', title: 'Sign-in policy', forAdmins: true },
  { tab: 'general', title: 'General', forAdmins: true },
];

const parameters = { tab: allowOnly(tabs.flatMap(({ tab }) => tab ?? [])) };

const offeredTabs = () => tabs.filter(({ forAdmins }) => hasRole('Admin') || !forAdmins);

/** Returns the tab of the address. The default is the tab *Access*. */
function useTab(): TeamTab | undefined {
  const { query } = useQuery();
  useParameters(parameters);
  return offeredTabs().find(({ tab }) => tab === query['tab'])?.tab;
}

function Tabs({ team }: { readonly team: string }) {
  const shown = useTab();
  return (
    <nav class="tabs" aria-label="Team">
      {offeredTabs().map(({ tab, title }) => (
        <a key={title} href={teamAddress(team, tab)} aria-current={tab === shown ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}

interface TabContentProps {
  readonly team: ShownTeam;
  readonly thing: Thing<ShownTeam>;
  readonly remove: () => Promise<void>;
}

function TabContent({ team, thing, remove }: TabContentProps) {
  const { id } = team;
  const shown = useTab();
  if (shown === 'webhooks') return <Webhooks team={id} />;
  if (shown === 'limits') return <Limits team={team} change={thing.change} />;
  if (shown === 'sign-in')
    return (
      <SecondFactorPolicy
        key={thing.version}
        value={team.secondFactor}
        save={(secondFactor) => thing.change(() => ({ secondFactor }))}
      />
    );
  if (shown === undefined)
    return (
      <>
        <Members team={team} />
        {hasRole('Admin') && <ProgramAccess team={team} />}
      </>
    );
  return (
    <>
      <NameSection key={thing.version} name={team.name} save={(name) => thing.change(() => ({ name }))} />
      <DeletionSection kind="team" name={team.name} remove={remove}>
        The access of programs and the webhooks of the team are deleted too. The team must have no applications, and
        each member must have another team.
      </DeletionSection>
    </>
  );
}

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
          <OptionList options={teams.map(({ id, name }) => [id, name])} />
        </select>
      )}
      {hasRole('Admin') && (
        <CreateButton
          label="Create team"
          codes={{ plan_limit: 'name', conflict: 'name' }}
          create={async (data) => {
            const body = { name: data.get('name') };
            const { id } = await call<ShownTeam>('POST', resource('teams'), { body });
            change({ team: id }, true);
            return undefined;
          }}
        >
          <Field name="name" label="Name" required autoFocus hint="A team has its own applications and members." />
        </CreateButton>
      )}
    </div>
  );
}

interface LimitsProps {
  readonly team: ShownTeam;
  readonly change: Thing<ShownTeam>['change'];
}

function Limits({ team, change }: LimitsProps) {
  const { data, error } = usePoll<TeamLimits>(resource('teams', team.id, 'limits'), 15_000);
  if (data === undefined) return <Reason error={error} />;
  return (
    <Section title={`Plan: ${data.plan}`} help="semantics#limits-and-fairness">
      <Table
        caption="Limits of the plan"
        rows={data.allowances}
        rowKey={({ what }) => what}
        columns={[
          { key: 'words', title: 'Limit', cell: ({ words }) => words },
          {
            key: 'used',
            title: 'Used',
            number: true,
            cell: ({ used, allowed }) => <span class={used >= allowed ? 'warn' : ''}>{format.full(used)}</span>,
          },
          { key: 'allowed', title: 'Allowed', number: true, cell: ({ allowed }) => format.full(allowed) },
          { key: 'most', title: 'Most in', cell: ({ application }) => application },
        ]}
      />
      {hasRole('Admin') && <TierForm key={data.plan} limits={data} change={change} />}
      <h3>Limits of the service</h3>
      <p class="quiet">
        The operator sets these limits when the service starts. The settings of an application can lower its rate.
      </p>
      <Table
        caption="Limits of the service"
        rows={data.settings}
        rowKey={({ setting }) => setting}
        columns={[
          { key: 'words', title: 'Limit', cell: ({ words }) => words },
          { key: 'value', title: 'Value', number: true, cell: ({ value }) => format.full(value) },
          { key: 'setting', title: 'Setting', cell: ({ setting }) => <code>{setting}</code> },
        ]}
      />
    </Section>
  );
}

const tiers: readonly TeamLimits['plan'][] = ['free', 'team', 'enterprise'];

interface TierFormProps extends Pick<LimitsProps, 'change'> {
  readonly limits: TeamLimits;
}

function TierForm({ limits: { plan, canRaise }, change }: TierFormProps) {
  const offered = canRaise ? tiers : tiers.slice(0, tiers.indexOf(plan) + 1);
  if (offered.length < 2) return <p class="quiet">The operator of the service can raise the plan.</p>;
  return (
    <Form
      submit="Change plan"
      done="Plan changed"
      codes={{ conflict: 'plan', forbidden: 'plan' }}
      onSubmit={async (data) => {
        const saved = await change(() => ({ plan: String(data.get('plan')) }));
        forget(resource('teams'));
        return saved;
      }}
    >
      <SelectField
        name="plan"
        label="Plan"
        hint={canRaise ? undefined : 'You can lower the plan. Only the operator of the service can raise it again.'}
        options={offered.map((each) => [each])}
        value={plan}
      />
    </Form>
  );
}
