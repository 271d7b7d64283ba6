import { useSignal } from '@preact/signals';
import type { UsageReport } from '../../../contract/shapes/reports.ts';
import { environmentAddress } from '../../address.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { format, plural } from '../../format.ts';
import { Ago } from '../../parts/columns.tsx';
import { senderName } from '../ingest/reasons.ts';
import type { Source } from './sources.ts';
import type { Watched } from './watch.ts';

interface ArrivedProps {
  readonly app: string;
  readonly env: string;
  readonly source: Source;
  readonly seen: Extract<Watched, { kind: 'arrived' }>;
}

/** The first messages of a source: their sender, and the flags in them. */
export function Arrived({ app, env, source, seen: { count, last, isAlone } }: ArrivedProps) {
  return (
    <div class="stack panel panel-good connect-result">
      <p>
        <strong class="good">✓ Connected.</strong> {plural(count, 'message')} in the last day; the last one{' '}
        <Ago at={last.lastAt} /> from {senderName(last)}.
      </p>
      <Counted app={app} env={env} arrivedAt={last.lastAt} isAlone={isAlone} />
      {source.omits && <p class="quiet">{source.omits}</p>}
      <p class="actions">
        <a class="button primary" href={environmentAddress(app, env, 'flags')}>
          See the flags of {env}
        </a>
        <a class="button" href={environmentAddress(app, env, 'ingest')}>
          Ingest
        </a>
      </p>
      <p class="quiet">This page stays available for further senders.</p>
    </div>
  );
}

interface CountedProps {
  readonly app: string;
  readonly env: string;
  readonly arrivedAt: string;
  /** Whether all counts of the environment come from this source. */
  readonly isAlone: boolean;
}

const everyMs = 1000;
const minuteMs = 60_000;
const maxFlags = 5;

/** The counts of the last day or, if others report to the environment as well, since the first message was seen here. */
function Counted({ app, env, arrivedAt, isAlone }: CountedProps) {
  const first = useSignal(Math.floor(Date.parse(arrivedAt) / minuteMs) * minuteMs);
  const from = isAlone ? undefined : new Date(first.value).toISOString();
  const query = { environment: env, step: isAlone ? 'day' : 'minute', from };
  const { data } = usePoll<UsageReport>(withQuery(resource('applications', app, 'usage'), query), everyMs);
  const flags = data?.features ?? [];
  if (flags.length === 0)
    return <p>It named no flag yet. The counts appear here as soon as a message has some.</p>;
  return (
    <>
      {from !== undefined && (
        <p class="quiet">
          Counted in {env} since {format.clock(from)}, from all senders:
        </p>
      )}
      <ul class="plain-list connect-counts" aria-label="Counted flags">
        {flags.slice(0, maxFlags).map(({ feature, variants }) => (
          <li key={feature}>
            <code>{feature}</code> {variants.map(countsOf).join('; ')}
          </li>
        ))}
        {flags.length > maxFlags && <li>and {plural(flags.length - maxFlags, 'more flag')}</li>}
      </ul>
    </>
  );
}

type Variant = UsageReport['features'][number]['variants'][number];

/** `on: 3 checks, 1 use` */
function countsOf({ variant, checks, used, viewed }: Variant): string {
  const counts = [
    plural(checks, 'check'),
    used > 0 && plural(used, 'use'),
    viewed > 0 && plural(viewed, 'view'),
  ];
  return `${variant}: ${counts.filter(Boolean).join(', ')}`;
}
