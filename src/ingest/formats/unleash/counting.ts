import { hash } from 'node:crypto';
import { environmentNamed, type KeyHolder } from '../../../accounts/key-index.ts';
import { parseSentTime } from '../../../runtime/rfc3339.ts';
import type { Batch } from '../../../storage/commit/batch.ts';
import { digestBytes, digestWords } from '../../../storage/commit/records.ts';
import type { Retention } from '../../../storage/lmdb/blocks.ts';
import {
  type CumulativeMessage,
  eachAdded,
  opensFeature,
  type Repeats,
  repeats,
  rowKind,
} from '../../../storage/lmdb/cumulative.ts';
import type { Environment, MetricDeclaration } from '../../../storage/lmdb/records.ts';
import type { CountingDeps, NameSink } from '../../count-once.ts';
import { countedAt } from '../../counted-at.ts';
import { addNote, type Notes } from '../../omissions.ts';
import type { Checks, UnleashContent, UnleashMessage, UnleashUsage } from './message.ts';

export const source = { route: 'unleash', transport: 'http' } as const;

export interface UnleashSender {
  readonly holder: KeyHolder;
  /** Environment that the token stands for. */
  readonly environment: Environment;
  readonly token: string;
}

type NamedHead = Pick<UnleashMessage, 'appName' | 'sdk'>;

export interface UnleashCountingDeps extends Pick<CountingDeps, 'dictionary' | 'senders'> {
  readonly retention: Retention;
  /** Returns the declared metrics of an application, by name. */
  getMetrics(applicationId: string): ReadonlyMap<string, Pick<MetricDeclaration, 'kind'>>;
}

export class UnleashCounter {
  readonly notes: Notes = new Map();
  readonly #deps: UnleashCountingDeps;
  readonly #head: NamedHead;
  readonly #own: Environment;
  readonly #application: string;
  readonly #findEnvironment: (name: string | undefined) => Environment | undefined;
  /** Time of the message, Unix ms. */
  readonly #now: number;
  /** Time at which values are counted: the time of the first usage. */
  #at: number | undefined;
  /** Rows `ref, kind, amount` of each usage: see `CumulativeMessage`. */
  readonly #usages: { readonly bucket: number; readonly rows: number[] }[] = [];
  readonly #counters: number[] = [];
  readonly #gauges: number[] = [];

  constructor(deps: UnleashCountingDeps, head: NamedHead, sender: UnleashSender, now: number) {
    const { holder, environment } = sender;
    this.#deps = deps;
    this.#head = head;
    this.#own = environment;
    this.#application = holder.application.id;
    this.#findEnvironment = createEnvironmentFinder(sender);
    this.#now = now;
  }

  add({ usages, counters, gauges }: UnleashContent, sink: NameSink): void {
    const { folded, dropped } = sink;
    this.#findAsker(undefined, this.#own, sink);
    for (const usage of usages) this.#addUsage(usage, sink);
    const series = this.#deps.dictionary.of(this.#own.number);
    for (const [values, rows, kind] of [
      [counters, this.#counters, rowKind.counter],
      [gauges, this.#gauges, rowKind.gauge],
    ] as const) {
      for (const [metric, value] of values) {
        const ref = series.metric(metric, sink);
        if (ref !== undefined) rows.push(ref, kind, value);
      }
    }
    const declared = this.#deps.getMetrics(this.#application);
    if (gauges.some(([metric]) => declared.get(metric)?.kind !== 'gauge')) addNote(this.notes, 'gauge_undeclared');
    if (sink.folded > folded) addNote(this.notes, 'series_folded');
    if (sink.dropped > dropped) addNote(this.notes, 'name_dropped');
  }

  #addUsage({ appName, environment: name, at: sentAt, path, checks }: UnleashUsage, sink: NameSink): void {
    this.#at ??= sentAt ?? this.#now;
    const environment = this.#findEnvironment(name);
    if (environment === undefined) {
      addNote(this.notes, 'environment_unknown', ...path, 'environment');
      return;
    }
    const { bucket, moved } = countedAt(sentAt ?? this.#now, this.#now, this.#deps.retention);
    if (moved) addNote(this.notes, 'time_moved', ...path);
    const series = this.#deps.dictionary.of(environment.number);
    const asker = this.#findAsker(appName, environment, sink);
    const rows = this.#rowsAt(bucket, checks);
    let opens = 0;
    let last: string | undefined;
    let variants: ReadonlyMap<string, number> | undefined;
    for (const { feature, variant, checks: sum, kind } of checks) {
      if (kind >= opensFeature) opens = opensFeature;
      const isFirst = feature !== last;
      if (isFirst) variants = series.findVariants(feature);
      const ref = variants?.get(variant) ?? series.variant(feature, variant, sink);
      if (ref === undefined) {
        addNote(this.notes, 'name_dropped', ...path, ...(typeof path.at(-1) === 'string' ? [feature] : []));
        continue;
      }
      if (isFirst) asker.asked(feature, ref, series, sink);
      last = feature;
      rows.push(ref, (kind % opensFeature) + opens, sum);
      opens = 0;
    }
  }

  /** Returns the rows of a usage. A chunk that begins in the middle of a flag continues the rows of the last chunk. */
  #rowsAt(bucket: number, [first]: readonly Checks[]): number[] {
    const last = this.#usages.at(-1);
    if (last !== undefined && first !== undefined && first.kind < opensFeature) return last.rows;
    const rows: number[] = [];
    this.#usages.push({ bucket, rows });
    return rows;
  }

  #findAsker(appName: string | undefined, { number }: Environment, sink: NameSink) {
    const name = appName ?? this.#head.appName ?? '';
    const sender = { ...source, name, version: this.#head.sdk ?? null };
    return this.#deps.senders.ofNamed(sink, number, sender, this.#now);
  }

  /** @param sent the kind of repetition; `undefined` if the message is never repeated, or cannot be identified */
  addTo(batch: Batch, sent?: SentBefore): void {
    const { bucket, at: measuredAt } = countedAt(this.#at ?? this.#now, this.#now, this.#deps.retention);
    const counters = this.#counters;
    const gauges = this.#gauges;
    const add = (rows: readonly number[], bucket: number) =>
      eachAdded(rows, {
        count: (ref, checks) => batch.counts.add(ref, bucket, checks, 0, 0),
        measurement: (ref, value) => batch.measurements.add(ref, bucket, value, measuredAt),
      });
    const addCumulative = (sent: SentBefore, rows: readonly number[]) =>
      batch.addCumulative({ ...sent, at: this.#now, bucket, measuredAt, rows });
    if (sent !== undefined && sent.repeats !== repeats.values) {
      addCumulative(sent, counters.concat(gauges, ...this.#usages.map(({ rows }) => rows)));
      return;
    }
    for (const { bucket, rows } of this.#usages) add(rows, bucket);
    add(gauges, bucket);
    if (sent === undefined) add(counters, bucket);
    else if (counters.length > 0) addCumulative(sent, counters);
  }
}

/**
 * Finds the environment of an entry by the entry's environment name in Unleash. The name in the token means the
 * environment that the token stands for. Any other name is the name of an environment of the application.
 */
function createEnvironmentFinder({ holder, environment: own, token }: UnleashSender) {
  return (name: string | undefined): Environment | undefined => {
    if (name === undefined || name === own.name) return own;
    const ownName = /^[^:]*:([^.]+)\./.exec(token)?.[1];
    return name === ownName ? own : environmentNamed(holder.environments, name);
  };
}

type Head = Pick<UnleashMessage, 'appName' | 'connection' | 'instance' | 'sdk' | 'interval' | 'start' | 'stop'>;

/** Sender of a message, and the place where it is counted. */
interface Place {
  readonly application: number;
  readonly environment: number;
  /** See `CumulativeMessage`. */
  readonly subject: string;
}

interface Headers {
  header(name: string): string | undefined;
}

/** Data from which repetitions of a message by its sender are recognised, without the content of the message. */
export type SentBefore = Omit<CumulativeMessage, 'at' | 'bucket' | 'measuredAt' | 'rows'>;

/** Kinds of repetition, by the language of the SDK. SDKs in other languages never repeat a message. */
const sentAgain = new Map<string, Repeats>([
  ['node', repeats.whole],
  ['go', repeats.withoutVariants],
  ['python', repeats.values],
  ['ruby', repeats.values],
]);

/** Pattern of names such as `unleash-client-node`, `unleash-node-sdk` and `UnleashClientRuby`, with the language. */
const sdkName = /^unleash-?(?:client-?)?([a-z]+)/i;

/** Returns `undefined` if the message does not name its SDK. Early versions name the SDK only when they register. */
function findRepeats({ sdk, appName }: Head, request: Headers): Repeats | undefined {
  const agent = request.header('user-agent');
  const language = sdkName.exec(sdk ?? (agent === appName ? '' : (agent ?? '')))?.[1];
  if (language !== undefined) return sentAgain.get(language.toLowerCase()) ?? repeats.never;
  return sdk === undefined ? undefined : repeats.never;
}

/** True for SDKs for Node before version 6, whose headers have the service name in place of the SDK. */
function isEarlyNode({ appName }: Head, request: Headers): boolean {
  return request.header('user-agent') === appName && request.header('accept-encoding') === 'gzip,deflate';
}

/** Time in identities that are kept longest: it is later than any real start, and the earliest are forgotten first. */
const senderSeconds = 2 ** 32 - 1;
const valuesSeconds = senderSeconds - 1;

/**
 * Returns the data that recognises repetitions of a message; `undefined` if its sender never repeats messages or cannot
 * be identified.
 */
export function sentBefore(head: Head, request: Headers, place: Place): SentBefore | undefined {
  const names = listNames(head);
  const stated = findRepeats(head, request);
  if (names === undefined || stated === repeats.never) return undefined;
  const { subject } = place;
  const { start, stop, interval } = head;
  if (stated === repeats.values) {
    const none = { sender: noSender, repeats: stated, stop: 0, length: 0, interval: 0, subject };
    return { ...none, identity: createIdentity(place, names, valuesSeconds) };
  }
  if (start === undefined || stop === undefined) return undefined;
  const began = parseSentTime(start)?.at ?? stop;
  return {
    identity: createIdentity(place, [...names, start], Math.min(began / 1000, valuesSeconds - 1)),
    sender: stated !== undefined && interval !== undefined ? noSender : createIdentity(place, names, senderSeconds),
    repeats: stated ?? (isEarlyNode(head, request) ? repeats.whole : repeats.never),
    stop,
    length: Math.max(0, stop - began),
    interval: interval ?? 0,
    subject,
  };
}

/** Creates the record of a registration, which states a sender's SDK and the interval of its messages. */
export function createRegistration(head: Head, request: Headers, place: Place): SentBefore | undefined {
  const names = listNames(head);
  if (names === undefined) return undefined;
  const identity = createIdentity(place, names, senderSeconds);
  const own = { repeats: findRepeats(head, request) ?? repeats.never, interval: head.interval ?? 0 };
  return { identity, sender: identity, ...own, stop: 0, length: 0, subject: place.subject };
}

const noSender = new Uint8Array();

/**
 * Returns the names of a sender; `undefined` without a connection or instance. Processes of a host can share the names.
 */
function listNames({ appName, connection, instance }: Head): readonly string[] | undefined {
  if (connection !== undefined) return [appName ?? '', 'connection', connection];
  return instance === undefined ? undefined : [appName ?? '', 'instance', instance];
}

/** Creates the identity of a message or its sender. Identities of similar times are adjacent in the store. */
function createIdentity({ application, environment }: Place, names: readonly string[], seconds: number): Uint8Array {
  const text = JSON.stringify(['unleash', environment, ...names]);
  const [a, b] = digestWords(hash('sha256', text, 'buffer'));
  return digestBytes(application, Math.max(0, Math.floor(seconds)), a, b);
}
