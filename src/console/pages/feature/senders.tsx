import { checksOnlyText, isChecksOnly, listChecksOnly } from '../../../contract/message-routes.ts';
import { surplusName } from '../../../contract/names.ts';
import type { FeatureDetail } from '../../../contract/shapes/feature.ts';
import type { FeatureSenders } from '../../../contract/shapes/verdict.ts';
import { environmentAddress, featureAddress, kept, useQuery } from '../../address/address.ts';
import { withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { CodePlaces } from '../../components/code-places.tsx';
import { Reason, Skeleton } from '../../components/failure.tsx';
import { agoColumn, SeenAgo } from '../../components/table/columns.tsx';
import { type Column, Table } from '../../components/table/table.tsx';
import { type FeaturePlace, featurePath } from './change.tsx';
import { groupPrograms, type ProgramThere, type SenderProgram } from './traffic.ts';

const everyMs = 15_000;

/** Returns the sources of the flag in this environment, if no source reports uses and views. */
export function useChecksOnly(place: FeaturePlace): readonly string[] {
  const { data } = usePoll<FeatureSenders>(featurePath(place, 'senders'), everyMs);
  return listChecksOnly(data?.items.filter(({ environment }) => environment === place.environment) ?? []);
}

export function Senders({ place }: { readonly place: FeaturePlace }) {
  const { data, error } = usePoll<FeatureSenders>(featurePath(place, 'senders'), everyMs);
  const { query } = useQuery();
  const sources = listChecksOnly(data?.items.filter(isChecksOnly) ?? []);
  const versionsAddress = (program: string) =>
    withQuery(environmentAddress(place.application, place.environment, 'ingest'), { ...kept(query), program });
  return (
    <section aria-labelledby="flag-senders">
      <h2 id="flag-senders">Senders</h2>
      <Reason error={error} what="The senders" />
      {data === undefined && error === undefined && <Skeleton kind="lines" />}
      {data !== undefined && (
        <Table
          caption="Senders of the flag"
          columns={programColumns(data.items, versionsAddress)}
          rows={groupPrograms(data.items)}
          rowKey={({ name }) => name}
          csv={`${place.name}-senders`}
          empty="No sender has requested the flag yet, in any environment."
        />
      )}
      {sources.length > 0 && <p class="quiet">{checksOnlyText(sources)}</p>}
      {data?.othersLeftOut && <p class="quiet">There were more senders than are recorded.</p>}
    </section>
  );
}

export function Code({ code }: Pick<FeatureDetail, 'code'>) {
  return (
    <section aria-labelledby="flag-code">
      <h2 id="flag-code">Places in the code</h2>
      {code.length === 0 ? (
        <p class="quiet">
          No code scan yet. CI uploads a scan with <code>flagmeter features scan --upload</code>.
        </p>
      ) : (
        <CodePlaces code={code} />
      )}
    </section>
  );
}

/** @param getHref returns the address that shows the messages of a program by version */
function programColumns(
  senders: FeatureSenders['items'],
  getHref: (program: string) => string,
): Column<SenderProgram>[] {
  const environments = [...new Set(senders.map(({ environment }) => environment))].sort();
  return [
    {
      key: 'name',
      title: 'Program',
      value: ({ name }) => (name === surplusName ? 'Others' : name),
      cell: ({ name }) => (name === surplusName ? 'Others' : <a href={getHref(name)}>{name}</a>),
    },
    {
      key: 'last',
      title: 'Last request',
      value: ({ lastAt }) => lastAt,
      cell: ({ lastAt }) => <SeenAgo at={lastAt} />,
    },
    ...environments.map((environment) => ({
      key: `in ${environment}`,
      title: environment,
      value: ({ environments }: SenderProgram) => environments.get(environment)?.lastAt,
      csv: ({ environments }: SenderProgram) => thereText(environments.get(environment)),
      cell: ({ environments }: SenderProgram) => <There there={environments.get(environment)} />,
    })),
    { key: 'how', title: 'Route', value: ({ routes }) => routes.join('; ') },
  ];
}

function thereText(there: ProgramThere | undefined): string {
  return there === undefined ? '' : `${there.versions.join(', ')} ${there.lastAt}`.trim();
}

const maxVersions = 3;

function There({ there }: { readonly there: ProgramThere | undefined }) {
  if (there === undefined) return <span class="quiet">–</span>;
  const { versions, lastAt } = there;
  const rest = versions.length - maxVersions;
  return (
    <>
      {versions.length > 0 && (
        <span title={versions.join(', ')}>
          {versions.slice(0, maxVersions).join(', ')}
          {rest > 0 && ` and ${rest} more`} ·{' '}
        </span>
      )}
      <span class="quiet">
        <SeenAgo at={lastAt} />
      </span>
    </>
  );
}

interface SeenProps {
  readonly place: FeaturePlace;
  readonly detail: FeatureDetail;
}

export function Seen({ place, detail }: SeenProps) {
  const { query } = useQuery();
  const columns: readonly Column<FeatureDetail['environments'][number]>[] = [
    {
      key: 'environment',
      title: 'Environment',
      value: ({ environment }) => environment,
      cell: ({ environment }) =>
        environment === place.environment ? (
          environment
        ) : (
          <a href={featureAddress({ ...place, environment }, query)}>{environment}</a>
        ),
    },
    agoColumn('lastSeenAt', 'Last seen', 'last'),
    agoColumn('firstSeenAt', 'First seen', 'first'),
    { key: 'variants', title: 'Variants', value: ({ variants }) => variants.map(({ variant }) => variant).join(', ') },
  ];
  return (
    <section aria-labelledby="flag-seen">
      <h2 id="flag-seen">Environments</h2>
      <Table
        caption="First seen and last seen, by environment"
        columns={columns}
        rows={detail.environments}
        rowKey={({ environment }) => environment}
        csv={`${place.name}-environments`}
        empty="The flag has not been seen in any environment yet."
      />
    </section>
  );
}
