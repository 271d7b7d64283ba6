/* src/console/pages/experiments: page.tsx lists an environment's experiments; experiment.tsx shows one of them. */

import type { Experiment, ExperimentState as State } from '../../../contract/shapes/experiment.ts';
import { ownersText } from '../../../contract/shapes/owned.ts';
import { environmentAddress, featureAddress, useQuery } from '../../address/address.ts';
import type { InEnvironment } from '../../address/place.ts';
import { resource, withQuery } from '../../api/client.ts';
import { useWholeList } from '../../api/list.ts';
import { ExperimentState } from '../../components/experiment-state.tsx';
import { Pending } from '../../components/failure.tsx';
import { Help } from '../../components/help.tsx';
import { Ago } from '../../components/table/columns.tsx';
import { type Column, Table } from '../../components/table/table.tsx';

const everyMs = 30_000;

const titles: Readonly<Record<State, string>> = {
  running: 'Running',
  planned: 'Planned',
  finished: 'Finished',
  stopped: 'Stopped early',
};

const states: readonly State[] = ['running', 'planned', 'finished', 'stopped'];

export function ExperimentsPage({ application: app, environment: env }: InEnvironment) {
  const path = resource('applications', app, 'experiments');
  const { items, error } = useWholeList<Experiment>(path, { environment: env }, everyMs);
  return (
    <div class="stack">
      <h1>
        <Help to="semantics#experiments">Experiments</Help>
      </h1>
      {items === undefined && <Pending error={error} />}
      {items?.length === 0 && (
        <p class="empty">
          No experiment is planned in {env}. Plan an experiment on the page of a flag. The plan states in advance what
          is compared and for how long, so that the result can be trusted.
        </p>
      )}
      {states.map((state) => {
        const rows = (items ?? []).filter((each) => each.state === state).toReversed();
        if (rows.length === 0) return null;
        return (
          <section key={state} aria-labelledby={`experiments-${state}`}>
            <h2 id={`experiments-${state}`}>{titles[state]}</h2>
            <Experiments app={app} env={env} rows={rows} caption={`${titles[state]} experiments`} />
          </section>
        );
      })}
    </div>
  );
}

interface ExperimentsProps {
  readonly app: string;
  readonly env: string;
  readonly rows: readonly Experiment[];
  readonly caption: string;
}

function Experiments({ app, env, rows, caption }: ExperimentsProps) {
  const { query } = useQuery();
  const columns: readonly Column<Experiment>[] = [
    {
      key: 'name',
      title: 'Name',
      value: ({ name }) => name,
      cell: ({ id, name }) => <a href={experimentAddress(app, env, id)}>{name}</a>,
    },
    {
      key: 'flag',
      title: 'Flag',
      value: ({ feature }) => feature,
      cell: ({ feature }) => (
        <a href={featureAddress({ application: app, environment: env, name: feature }, query)}>{feature}</a>
      ),
    },
    { key: 'owners', title: 'Owner', value: ({ owners }) => ownersText(owners) || '–' },
    { key: 'metric', title: 'Metric', value: ({ metric }) => metric },
    {
      key: 'result',
      title: 'Progress or result',
      value: ({ verdict, progress }) => verdict ?? progress.text,
      cell: (experiment) => (
        <>
          <ExperimentState experiment={experiment} /> {experiment.verdict ?? experiment.progress.text}
        </>
      ),
      class: 'experiment-result',
    },
    { key: 'by', title: 'By', value: ({ by }) => by },
    { key: 'start', title: 'Start', value: ({ startAt }) => startAt, cell: ({ startAt }) => <Ago at={startAt} /> },
  ];
  return <Table caption={caption} columns={columns} rows={rows} rowKey={({ id }) => id} stacked />;
}

export function experimentAddress(app: string, env: string, id: string): string {
  return withQuery(environmentAddress(app, env, 'experiment'), { id });
}
