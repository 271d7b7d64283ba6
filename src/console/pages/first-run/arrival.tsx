import { useSignal } from '@preact/signals';
import { programText } from '../../../contract/programs.ts';
import type { IngestReport, LedgerEntry, UnattributedRefusal } from '../../../contract/shapes/ledger.ts';
import type { UsageReport } from '../../../contract/shapes/reports.ts';
import { applicationSettingsAddress, environmentAddress } from '../../address/address.ts';
import { resource, withQuery } from '../../api/client.ts';
import { currentTime, now } from '../../api/clock.ts';
import { usePoll } from '../../api/poll.ts';
import { settings } from '../../api/settings.ts';
import { Ago } from '../../components/table/columns.tsx';
import { format, plural } from '../../text/format.ts';
import { adviceOn, senderName } from '../ingest/reasons.ts';
import { useUnattributed } from '../ingest/senders.tsx';
import type { Source } from './sources.ts';
import { type WatchResult, watch } from './watch.ts';

interface ArrivalProps {
  readonly app: string;
  readonly env: string;
  readonly source: Source;
}

const everyMs = 1000;

/** Waits for the first message of a source, and shows refusals. Only an accepted message counts as connected. */
export function Arrival({ app, env, source }: ArrivalProps) {
  const since = useSignal(currentTime());
  const query = { environment: env, unnamed: true };
  const path = withQuery(resource('applications', app, 'ingest'), query);
  const { data } = usePoll<IngestReport>(path, everyMs);
  const unattributed = useUnattributed(everyMs)?.items ?? [];
  const seen = watch({ source, since: since.value, now: now.value, ledger: data, unattributed });
  return (
    <section class="stack" aria-labelledby="connect-arrival">
      <h2 id="connect-arrival">4. The first message</h2>
      {/* The countdown is outside of the live region, so that screen readers do not announce it. */}
      {seen.kind === 'waiting' && <Waiting source={source} left={seen.leftMs} />}
      <div aria-live="polite">
        {seen.kind === 'arrived' && <Arrived app={app} env={env} source={source} seen={seen} />}
        {seen.kind === 'trouble' && (
          <Trouble app={app} env={env} source={source} seen={seen} again={() => (since.value = currentTime())} />
        )}
      </div>
    </section>
  );
}

function Waiting({ source, left }: { readonly source: Source; readonly left: number }) {
  return (
    <p class="connect-waiting">
      <span class="connect-pulse" aria-hidden="true" />
      Waiting for {source.message}. Nothing has arrived in the last day. In {Math.ceil(left / 1000)} s this page shows
      possible reasons.
    </p>
  );
}

interface TroubleProps extends ArrivalProps {
  readonly seen: Extract<WatchResult, { kind: 'trouble' }>;
  readonly again: () => void;
}

function Trouble({ app, env, source, seen: { refused, unattributed, late }, again }: TroubleProps) {
  const refusals = [...refused.map((entry) => ofEntry(entry, env)), ...unattributed.map(ofUnattributed)];
  return (
    <div class="stack panel panel-warn connect-result">
      <p>
        <strong class="warn">Not connected yet.</strong>{' '}
        {refused.length > 0
          ? 'Messages were refused:'
          : unattributed.length > 0
            ? 'No message was accepted. These messages were refused, and one might be yours:'
            : `Nothing arrived within ${source.patienceMs / 1000} seconds.`}
      </p>
      <ul class="stack connect-refusals">
        {refusals.map((refusal) => (
          <Refused key={JSON.stringify(refusal)} app={app} refusal={refusal} source={source} />
        ))}
      </ul>
      {late && refusals.length === 0 && <Hints hints={source.hints} />}
      <p class="actions">
        <button type="button" onClick={again}>
          Watch again
        </button>
      </p>
    </div>
  );
}

interface Refusal {
  readonly code: string;
  readonly count: number;
  readonly at: string;
  readonly facts: readonly (string | false | undefined)[];
}

function ofEntry({ code, count, lastAt, example }: LedgerEntry, env: string): Refusal {
  const { origin, environment } = example ?? {};
  const misspelt = code === 'unknown_environment' && environment && `the environment is ${environment}, not ${env}`;
  return { code: code ?? '', count, at: lastAt, facts: [origin && `the origin is ${origin}`, misspelt] };
}

function ofUnattributed(refusal: UnattributedRefusal): Refusal {
  const { code, count, at, keyPrefix, origin, environment, userAgent } = refusal;
  const facts = [
    keyPrefix !== null && `the key begins with ${keyPrefix}`,
    environment !== null && `the environment is ${environment}`,
    origin !== null && `the origin is ${origin}`,
    userAgent !== null && `the sender is ${programText(userAgent)}`,
  ];
  return { code, count, at, facts };
}

interface RefusedProps extends Pick<ArrivalProps, 'app' | 'source'> {
  readonly refusal: Refusal;
}

function Refused({ app, source, refusal: { code, count, at, facts } }: RefusedProps) {
  const { meaning, remedy } = source.advice[code] ?? adviceOn(code);
  const known = facts.filter((fact) => typeof fact === 'string');
  return (
    <li>
      <p>
        <strong>{meaning}</strong>{' '}
        <span class="quiet">
          <code>{code}</code>, {plural(count, 'time')}, last one <Ago at={at} />
        </span>
      </p>
      <p>
        {known.length > 0 && `Details: ${format.list(known)}. `}
        <strong>What to do:</strong> {remedy}
      </p>
      {code === 'origin_not_allowed' && (
        <p>
          <a href={applicationSettingsAddress(app)}>Change allowed origins</a>
        </p>
      )}
    </li>
  );
}

function Hints({ hints }: { readonly hints: readonly string[] }) {
  const secure = location.protocol === 'https:' && settings.metricsUrl.startsWith('http:');
  return (
    <>
      <p>
        Messages that never reach <code>{settings.metricsUrl}</code> leave no trace here:
      </p>
      <ul>
        {hints.map((hint) => (
          <li key={hint}>{hint}</li>
        ))}
        {secure && <li>A page over HTTPS cannot send to an HTTP address.</li>}
      </ul>
    </>
  );
}

interface ArrivedProps extends ArrivalProps {
  readonly seen: Extract<WatchResult, { kind: 'arrived' }>;
}

function Arrived({ app, env, source, seen: { count, last, isAlone } }: ArrivedProps) {
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
          Show flags of {env}
        </a>
        <a class="button" href={environmentAddress(app, env, 'ingest')}>
          Ingest
        </a>
      </p>
      <p class="quiet">This page stays available for further senders.</p>
    </div>
  );
}

interface CountedProps extends Pick<ArrivalProps, 'app' | 'env'> {
  readonly arrivedAt: string;
  /** True if all counts of the environment come from this source. */
  readonly isAlone: boolean;
}

const minuteMs = 60_000;
const maxFeatures = 5;

/** Shows the counts of the last day. If other sources report too, shows only the counts since the first message. */
function Counted({ app, env, arrivedAt, isAlone }: CountedProps) {
  const first = useSignal(Math.floor(Date.parse(arrivedAt) / minuteMs) * minuteMs);
  const from = isAlone ? undefined : new Date(first.value).toISOString();
  const query = { environment: env, step: isAlone ? 'day' : 'minute', from };
  const { data } = usePoll<UsageReport>(withQuery(resource('applications', app, 'usage'), query), everyMs);
  const features = data?.features ?? [];
  if (features.length === 0)
    return <p>The message named no flag. Counts appear here with the first message that names a flag.</p>;
  return (
    <>
      {from !== undefined && (
        <p class="quiet">
          Counted in {env} since {format.clock(from)}, from all senders:
        </p>
      )}
      <ul class="plain-list connect-counts" aria-label="Counted flags">
        {features.slice(0, maxFeatures).map(({ feature, variants }) => (
          <li key={feature}>
            <code>{feature}</code> {variants.map(formatCounts).join('; ')}
          </li>
        ))}
        {features.length > maxFeatures && <li>and {plural(features.length - maxFeatures, 'more flag')}</li>}
      </ul>
    </>
  );
}

type Variant = UsageReport['features'][number]['variants'][number];

/** `on: 3 checks, 1 use` */
function formatCounts({ variant, checks, used, viewed }: Variant): string {
  const counts = [plural(checks, 'check'), used > 0 && plural(used, 'use'), viewed > 0 && plural(viewed, 'view')];
  return `${variant}: ${counts.filter(Boolean).join(', ')}`;
}
