import type { Signal } from '@preact/signals';
import type { Note } from '../../../contract/notes.ts';
import type { IngestReport, LedgerEntry, UnattributedRefusal } from '../../../contract/shapes/ledger.ts';
import type { UsageReport } from '../../../contract/shapes/reports.ts';
import { applicationSettingsAddress, environmentAddress } from '../../address.ts';
import { resource, withQuery } from '../../api/client.ts';
import { usePoll } from '../../api/poll.ts';
import { currentTime, now } from '../../clock.ts';
import { format, plural } from '../../format.ts';
import { settings } from '../../settings.ts';
import { adviceOn, senderName } from '../ingest/reasons.ts';
import { useUnattributed } from '../ingest/senders.tsx';
import { type Watched, watch } from './watch.ts';

interface ArrivalProps {
  readonly app: string;
  readonly env: string;
  /** When the reader started to wait, Unix ms. */
  readonly since: Signal<number>;
}

const everyMs = 1000;

/** Watches for the first packet. Only an accepted packet counts as connected. */
export function Arrival({ app, env, since }: ArrivalProps) {
  const query = { environment: env, unnamed: true };
  const path = withQuery(resource('applications', app, 'ingest'), query);
  const { data } = usePoll<IngestReport>(path, everyMs);
  const unattributed = useUnattributed(2000);
  const seen = watch({ since: since.value, now: now.value, ledger: data, unattributed });
  return (
    <section class="stack" aria-labelledby="connect-arrival">
      <h2 id="connect-arrival">4. The first packet</h2>
      {/* Screen readers do not announce the countdown. */}
      {seen.kind === 'waiting' && <Waiting left={seen.leftMs} />}
      <div aria-live="polite">
        {seen.kind === 'arrived' && <Arrived app={app} env={env} seen={seen} />}
        {seen.kind === 'trouble' && (
          <Trouble app={app} env={env} seen={seen} again={() => (since.value = currentTime())} />
        )}
      </div>
    </section>
  );
}

function Waiting({ left }: { readonly left: number }) {
  return (
    <p class="connect-waiting">
      <span class="connect-pulse" aria-hidden="true" />
      Waiting for a packet. None has arrived in the last day. In {Math.ceil(left / 1000)} s this page shows
      possible reasons.
    </p>
  );
}

interface ArrivedProps {
  readonly app: string;
  readonly env: string;
  readonly seen: Extract<Watched, { kind: 'arrived' }>;
}

function Arrived({ app, env, seen: { count, last } }: ArrivedProps) {
  const query = { environment: env, step: 'day' };
  const { data } = usePoll<UsageReport>(withQuery(resource('applications', app, 'usage'), query), 5000);
  const flags = data?.features.map(({ feature }) => feature) ?? [];
  return (
    <div class="stack panel panel-good connect-result">
      <p>
        <strong class="good">✓ Connected.</strong> {plural(count, 'packet or report', 'packets and reports')}{' '}
        in the last day; the last one {format.relative(last.lastAt, now.value)} from {senderName(last)}.
      </p>
      {flags.length > 0 && (
        <p>
          {flags.length === 1 ? 'The flag' : `${plural(flags.length, 'flag')}:`}{' '}
          {flags.slice(0, 5).map((flag, index) => (
            <>
              {index > 0 && ', '}
              <code key={flag}>{flag}</code>
            </>
          ))}
          {flags.length > 5 && ' …'}
          {flags.length === 1 && ' was seen.'}
        </p>
      )}
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

interface TroubleProps {
  readonly app: string;
  readonly env: string;
  readonly seen: Extract<Watched, { kind: 'trouble' }>;
  readonly again: () => void;
}

function Trouble({ app, env, seen: { refused, unattributed, late }, again }: TroubleProps) {
  return (
    <div class="stack panel panel-warn connect-result">
      <p>
        <strong class="warn">Not connected yet.</strong>{' '}
        {refused.length > 0
          ? 'Packets were refused:'
          : unattributed.length > 0
            ? 'No packet of this application arrived. These were refused, and may be yours:'
            : 'No packet has arrived in 30 seconds.'}
      </p>
      <ul class="stack connect-refusals">
        {refused.map((entry) => (
          <Refused key={JSON.stringify(entry.sender) + entry.code} {...ofEntry(entry, env)} app={app} />
        ))}
        {unattributed.map((refusal) => (
          <Refused key={JSON.stringify(refusal)} {...ofUnattributed(refusal)} app={app} />
        ))}
      </ul>
      {late && refused.length === 0 && <Hints />}
      <p class="actions">
        <button type="button" onClick={again}>
          Watch again
        </button>
      </p>
    </div>
  );
}

/** A refusal, and the known facts about its sender. */
interface Refusal {
  readonly code: string;
  readonly count: number;
  readonly at: string;
  readonly facts: readonly (string | false | undefined)[];
  /** Replaces the usual advice. */
  readonly advice?: Note | undefined;
}

function ofEntry({ code, count, lastAt, example }: LedgerEntry, env: string): Refusal {
  const { origin, environment } = example ?? {};
  const misspelt = code === 'unknown_environment' && `the environment is ${environment}, not ${env}`;
  return { code: code ?? '', count, at: lastAt, facts: [origin && `the origin is ${origin}`, misspelt] };
}

const unknownKey: Note = {
  meaning: 'A packet had an unknown key.',
  remedy: 'Copy the key of step 2 again: it was cut off, misspelt or deleted.',
};

function ofUnattributed(refusal: UnattributedRefusal): Refusal {
  const { code, count, at, keyPrefix, origin, environment, userAgent } = refusal;
  const facts = [
    keyPrefix !== null && `the key begins with ${keyPrefix}`,
    environment !== null && `the environment is ${environment}`,
    origin !== null && `the origin is ${origin}`,
    userAgent !== null && `the sender is ${userAgent}`,
  ];
  return { code, count, at, facts, advice: code === 'unknown_key' ? unknownKey : undefined };
}

function Refused({ app, code, count, at, facts, advice }: Refusal & { readonly app: string }) {
  const { meaning, remedy } = advice ?? adviceOn(code);
  const known = facts.filter((fact) => typeof fact === 'string');
  return (
    <li>
      <p>
        <strong>{meaning}</strong>{' '}
        <span class="quiet">
          <code>{code}</code>, {plural(count, 'time')}, last one{' '}
          <time dateTime={at}>{format.relative(at, now.value)}</time>
        </span>
      </p>
      <p>
        {known.length > 0 && `Known facts: ${format.list(known)}. `}
        <strong>What to do:</strong> {remedy}
      </p>
      {code === 'origin_not_allowed' && (
        <p>
          <a href={applicationSettingsAddress(app)}>Change the allowed origins</a>
        </p>
      )}
    </li>
  );
}

/** Reasons why a packet never reaches the server. */
function Hints() {
  const secure = location.protocol === 'https:' && settings.metricsUrl.startsWith('http:');
  return (
    <>
      <p>Packets that never reach the server leave no trace here:</p>
      <ul>
        <li>
          Does the sender print an answer? If not, its machine cannot reach <code>{settings.metricsUrl}</code>
          .
        </li>
        <li>
          In a browser, an ad blocker or the page's Content-Security-Policy may block the request. The
          developer tools show it.
        </li>
        {secure && <li>A page over HTTPS cannot send to an HTTP address.</li>}
      </ul>
    </>
  );
}
