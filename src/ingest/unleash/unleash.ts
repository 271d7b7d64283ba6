import { createHash } from 'node:crypto';
import type { KeyHolder } from '../../accounts/key-index.ts';
import { ApiError } from '../../contract/errors.ts';
import type { LedgerNote } from '../../contract/notes.ts';
import { decodeText, parseJson, readBody } from '../../http/body.ts';
import type { Refusals } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import type { Reply, Request } from '../../http/types.ts';
import { parseSentTime } from '../../runtime/rfc3339.ts';
import type { Batch } from '../../storage/commit/batch.ts';
import { type Digest, digestWords } from '../../storage/commit/records.ts';
import type { Application, Environment } from '../../storage/lmdb/records.ts';
import type { Retention } from '../../storage/lmdb/retention.ts';
import type { CountingDeps } from '../count-once.ts';
import { countedAt } from '../counted-at.ts';
import { keyOf } from '../declared.ts';
import { checkJsonEntries } from '../json-entries.ts';
import type { AttributedSource } from '../ledger/ledger.ts';
import type { MessageHandler } from '../pipeline.ts';
import { allowOrigin } from '../telemetry/cors.ts';
import { readMessage, type SdkHeaders, type UnleashKind, type UnleashMessage } from './message.ts';

export interface UnleashDeps extends CountingDeps {
  readonly retention: Retention;
  readonly maxBody: number;
  readonly maxReport: number;
}

interface UnleashSender {
  readonly holder: KeyHolder;
  /** The environment that the token stands for. */
  readonly environment: Environment;
}

const source = { route: 'unleash', transport: 'http' } as const;

/**
 * Handles messages of Unleash SDKs and of Edge, in the steps of `Pipeline`. The token is in a header, so a body without a known one
 * is not read. Nothing that may pass is answered 400, 401, 403 or 413, because SDKs stop at these until their process restarts.
 * @param forPages whether pages and apps send it, with a token that is public
 */
export function unleashHandler(
  deps: UnleashDeps,
  kind: UnleashKind,
  forPages: boolean,
): MessageHandler<Request, UnleashMessage, UnleashSender, Reply> {
  const originOf = (request: Request) => (forPages ? request.header('origin') || undefined : undefined);
  const resolve = (request: Request) => {
    const sender = findSender(deps, request, forPages);
    const origin = originOf(request);
    if (origin === undefined || sender.holder.allowsOrigin(origin)) return sender;
    throw originNotAllowed;
  };
  const claimOf = (request: Request) => {
    const token = keyOf(request);
    const holder = token === undefined ? undefined : deps.keys.findKey(token);
    return { appKey: token, environment: holder?.key.environment };
  };
  return {
    ...source,
    address: (request) => request.remoteAddress,
    read(request, budget) {
      const { type } = resolve(request).holder.key;
      return readBody(request, type === 'Backend' ? deps.maxReport : deps.maxBody, budget);
    },
    idempotencyKey: () => undefined,
    check(body, request) {
      checkJsonEntries(body);
      return readMessage(kind, parseJson(decodeText(body)), sdkHeadersOf(request));
    },
    resolve: (_, request) => resolve(request), // The key may have been deleted meanwhile.
    count: (message, sender, request) => ({
      durable: count(deps, message, sender, request),
      answer: { status: 202, headers: allowOrigin(originOf(request)) },
    }),
    refuse: (refusal, request) =>
      problem(refusal, refusal.status === 403 ? {} : allowOrigin(originOf(request))),
    userAgent: (request) => request.header('user-agent'),
    origin: (request) => request.header('origin'),
    claimedSender: ({ instance }, request) => ({ ...claimOf(request), instanceName: instance }),
    peek: (request) => claimOf(request),
  };
}

function sdkHeadersOf(request: Request): SdkHeaders {
  const read = (name: string) => request.header(name) ?? request.header(`x-${name}`);
  return {
    appName: read('unleash-appname'),
    connection: read('unleash-connection-id'),
    instance: read('unleash-instanceid'),
    sdk: read('unleash-sdk'),
  };
}

/** The refusals of senders, with their details. */
export const senderRefusals = {
  unknown_key: 'Authorization has no token that an application has adopted',
  unknown_environment: 'The token stands for no environment of an application',
} as const satisfies Refusals;

const unknownKey = new ApiError('unknown_key', senderRefusals.unknown_key);
const unknownEnvironment = new ApiError('unknown_environment', senderRefusals.unknown_environment);
export const originRefusal = 'The application does not allow this origin';
const originNotAllowed = new ApiError('origin_not_allowed', originRefusal);

/** @throws {ApiError} of status 404: SDKs back off and keep what they have counted */
function findSender({ keys }: UnleashDeps, request: Request, forPages: boolean): UnleashSender {
  const token = keyOf(request);
  const holder = token === undefined ? undefined : keys.findKey(token);
  const isLeaked = holder !== undefined && forPages && holder.key.type === 'Backend';
  if (isLeaked) keys.markLeaked(holder);
  if (holder === undefined || isLeaked) throw unknownKey;
  const environment = holder.environments.get(holder.key.environment ?? '');
  if (environment === undefined) throw unknownEnvironment;
  return { holder, environment };
}

/** Adds a message to a batch. Resolves when it is on disk. */
function count(
  deps: UnleashDeps,
  message: UnleashMessage,
  { holder, environment }: UnleashSender,
  request: Request,
): Promise<void> {
  const { application } = holder;
  const place = {
    ...source,
    userAgent: userAgentOf(message),
    instance: message.instance,
    application,
    environment,
  };
  return deps.laneOf(application.number).submit(application.number, (batch) => {
    const token = keyOf(request) ?? '';
    const notes = new Set(message.notes);
    addUsages(deps, message, place, environmentsOf(holder, environment, token), batch, notes);
    deps.ledger.accepted(place, batch);
    for (const note of notes) deps.ledger.noted(place, note, batch);
  });
}

/** The sender as the ledger shows it: service, SDK and platform. */
function userAgentOf({ appName, sdk, platform }: UnleashMessage): string | undefined {
  const more = [sdk, platform].filter((each) => each !== undefined).join('; ');
  return more === '' ? appName : `${appName ?? 'unnamed'} (${more})`;
}

/**
 * Finds the environment of an entry that names one as Unleash does. The name in the token means the environment that the token
 * stands for. Any other is one of the application with the same name.
 */
function environmentsOf({ environments }: KeyHolder, own: Environment, token: string) {
  const ownName = /^[^:]*:([^.]+)\./.exec(token)?.[1];
  return (name: string | undefined): Environment | undefined => {
    if (name === undefined || name === ownName || name === own.name) return own;
    const alike = () =>
      [...environments.values()].find((each) => each.name.toLowerCase() === name.toLowerCase());
    return environments.get(name) ?? alike();
  };
}

function addUsages(
  { clock, dictionary, senders, retention }: UnleashDeps,
  message: UnleashMessage,
  { application, environment: own }: AttributedSource & { readonly environment: Environment },
  environmentOf: (name: string | undefined) => Environment | undefined,
  batch: Batch,
  notes: Set<LedgerNote>,
): void {
  const now = clock.now();
  const { folded, dropped } = batch;
  const identity = identityOf(application, own, message);
  const askerOf = (appName: string | undefined, { number }: Environment) =>
    senders.ofNamed(batch, number, { ...source, name: appName ?? '', version: message.sdk ?? null }, now);
  askerOf(message.appName, own);
  const [counts, measurements]: [number[], number[]] = [[], []];
  for (const { appName, environment: name, at: sentAt, checks } of message.usages) {
    const environment = environmentOf(name);
    if (environment === undefined) {
      notes.add('environment_unknown');
      continue;
    }
    const { bucket, moved } = countedAt(sentAt ?? now, now, retention);
    if (moved) notes.add('time_moved');
    const series = dictionary.of(environment.number);
    const asker = askerOf(appName ?? message.appName, environment);
    for (const { feature, variant, checks: sum } of checks) {
      const ref = series.variant(feature, variant, batch);
      if (ref === undefined) continue;
      asker.asked(feature, ref, series, batch);
      if (identity === undefined) batch.counts.add(ref, bucket, sum, 0, 0);
      else counts.push(ref, sum);
    }
  }
  const { bucket, at } = countedAt(message.usages[0]?.at ?? now, now, retention);
  const series = dictionary.of(own.number);
  for (const [metric, value] of message.counters) {
    const ref = series.metric(metric, batch);
    if (ref === undefined) continue;
    if (identity === undefined) batch.measurements.add(ref, bucket, value, at);
    else measurements.push(ref, value);
  }
  for (const [metric, value] of message.gauges) {
    const ref = series.metric(metric, batch);
    if (ref !== undefined) batch.measurements.add(ref, bucket, value, at);
  }
  if (identity !== undefined) {
    const sent = { environment: own.number, bucket, at: now, measuredAt: at, counts, measurements };
    batch.cumulative.addMessage({ identity, ...sent });
  }
  if (batch.folded > folded) notes.add('series_folded');
  if (batch.dropped > dropped) notes.add('name_dropped');
}

/** What all browsers give as their instance. */
const anyBrowser = 'browser';

/**
 * The identity of a bucket, which is sent again with more in it until it is confirmed. Without a connection id, an instance
 * identifies its sender only together with a start that is finer than a second: processes may share it.
 */
function identityOf(
  { number }: Application,
  environment: Environment,
  { appName, connection, instance, start }: UnleashMessage,
): Digest | undefined {
  if (start === undefined) return undefined;
  const isOwn = instance !== undefined && instance !== anyBrowser && /\.\d/.test(start);
  if (connection === undefined && !isOwn) return undefined;
  const sender = connection === undefined ? ['instance', instance] : ['connection', connection];
  const text = JSON.stringify(['unleash', number, environment.number, appName ?? '', ...sender, start]);
  const [a, b, c] = digestWords(createHash('sha256').update(text).digest());
  // Digests of about the same time are beside each other in the store.
  const seconds = Math.floor((parseSentTime(start)?.at ?? 0) / 1000);
  return [Math.min(2 ** 32 - 1, Math.max(0, seconds)), a, b, c];
}
