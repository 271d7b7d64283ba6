import type { FeatureSendersShown, SenderShown } from '../../../contract/shapes/verdict.ts';
import { usePoll } from '../../api/poll.ts';
import { messageOf } from '../../api/problem.ts';
import { now } from '../../clock.ts';
import { format } from '../../format.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { type FlagPlace, flagPath } from './paths.ts';

const everyMs = 15_000;

const columns: readonly Column<SenderShown>[] = [
  { key: 'name', title: 'Sender', value: nameOf },
  {
    key: 'version',
    title: 'Version',
    value: ({ version }) => version,
    cell: ({ version }) => version ?? '–',
  },
  {
    key: 'last',
    title: 'Last asked',
    value: ({ lastAt }) => lastAt,
    cell: ({ lastAt }) => <Ago at={lastAt} />,
  },
  { key: 'environment', title: 'Environment', value: ({ environment }) => environment },
  { key: 'how', title: 'How', value: ({ transport, route }) => `${route}, ${transport}` },
];

/** Who still asks for the flag. */
export function Senders({ place }: { readonly place: FlagPlace }) {
  const { data, error } = usePoll<FeatureSendersShown>(flagPath(place, 'senders'), everyMs);
  return (
    <section aria-labelledby="flag-senders">
      <h2 id="flag-senders">Senders</h2>
      {error !== undefined && <p class="form-error">The senders cannot be read: {messageOf(error)}</p>}
      {data !== undefined && (
        <Table
          caption="Who has asked for it"
          columns={columns}
          rows={data.items}
          rowKey={({ environment, name, version, transport, route }) =>
            [environment, name, version, transport, route].join(' ')
          }
          csv={`${place.name}-senders`}
          empty="No sender has asked for it yet, in any environment."
        />
      )}
      {data?.othersLeftOut && <p class="quiet">There were more senders than can be told apart.</p>}
    </section>
  );
}

function nameOf({ name }: SenderShown): string {
  return name === '__other__' ? 'Others' : name;
}

/** How long ago something was; the time itself is in its title. */
export function Ago({ at }: { readonly at: string | null }) {
  if (at === null) return <>–</>;
  return (
    <time dateTime={at} title={format.time(at)}>
      {format.relative(Math.min(Date.parse(at), now.value), now.value)}
    </time>
  );
}
