import { hash } from 'node:crypto';
import { parseSentTime } from '../../../runtime/rfc3339.ts';
import { digestBytes, digestWords } from '../../../storage/commit/records.ts';
import type { CumulativeMessage } from '../../../storage/lmdb/cumulative.ts';
import { type Repeats, repeats } from '../../../storage/lmdb/cumulative-rows.ts';
import type { UnleashMessage } from './message/message.ts';

type Head = Pick<
  UnleashMessage,
  'appName' | 'connection' | 'instance' | 'sdk' | 'interval' | 'start' | 'stop'
>;

/** The sender of a message, and where it is counted. */
interface Place {
  readonly application: number;
  readonly environment: number;
  /** See `CumulativeMessage`. */
  readonly subject: string;
}

interface Headers {
  header(name: string): string | undefined;
}

/** A message that its sender may have sent before, without its content. */
export type SentBefore = Omit<CumulativeMessage, 'at' | 'bucket' | 'measuredAt' | 'rows'>;

/** Kinds of repetition, by the language of the SDK. All others send nothing again. */
const sentAgain = new Map<string, Repeats>([
  ['node', repeats.whole],
  ['go', repeats.withoutVariants],
  ['python', repeats.values],
  ['ruby', repeats.values],
]);

/** As `unleash-client-node`, `unleash-node-sdk` and `UnleashClientRuby`, with the language. */
const sdkName = /^unleash-?(?:client-?)?([a-z]+)/i;

/** `undefined` if the message does not name its SDK: early versions name it only when they register. */
function repeatsOf({ sdk, appName }: Head, request: Headers): Repeats | undefined {
  const agent = request.header('user-agent');
  const language = sdkName.exec(sdk ?? (agent === appName ? '' : (agent ?? '')))?.[1];
  if (language !== undefined) return sentAgain.get(language.toLowerCase()) ?? repeats.never;
  return sdk === undefined ? undefined : repeats.never;
}

/** True if the request has the headers of SDKs for Node before version 6, which put the service in place of the SDK. */
function isEarlyNode({ appName }: Head, request: Headers): boolean {
  return request.header('user-agent') === appName && request.header('accept-encoding') === 'gzip,deflate';
}

/** Seconds in the identities of senders. Later than those of any start: the oldest start is forgotten first. */
const senderSeconds = 2 ** 32 - 1;
const valuesSeconds = senderSeconds - 1;

/** Identity and kind of repetition of a message; `undefined` if its sender repeats nothing, or nothing identifies the message. */
export function sentBefore(head: Head, request: Headers, place: Place): SentBefore | undefined {
  const names = namesOf(head);
  const stated = repeatsOf(head, request);
  if (names === undefined || stated === repeats.never) return undefined;
  const { subject } = place;
  const { start, stop, interval } = head;
  if (stated === repeats.values) {
    const none = { sender: noSender, repeats: stated, stop: 0, length: 0, interval: 0, subject };
    return { ...none, identity: identityOf(place, names, valuesSeconds) };
  }
  if (start === undefined || stop === undefined) return undefined;
  const began = parseSentTime(start)?.at ?? stop;
  return {
    identity: identityOf(place, [...names, start], Math.min(began / 1000, valuesSeconds - 1)),
    sender:
      stated !== undefined && interval !== undefined ? noSender : identityOf(place, names, senderSeconds),
    repeats: stated ?? (isEarlyNode(head, request) ? repeats.whole : repeats.never),
    stop,
    length: Math.max(0, stop - began),
    interval: interval ?? 0,
    subject,
  };
}

/** A registration: states the SDK and the interval of the messages of a sender. */
export function registrationOf(head: Head, request: Headers, place: Place): SentBefore | undefined {
  const names = namesOf(head);
  if (names === undefined) return undefined;
  const identity = identityOf(place, names, senderSeconds);
  const own = { repeats: repeatsOf(head, request) ?? repeats.never, interval: head.interval ?? 0 };
  return { identity, sender: identity, ...own, stop: 0, length: 0, subject: place.subject };
}

const noSender = new Uint8Array();

/** The names that processes of one host can share. `undefined` if the message names neither a connection nor an instance. */
function namesOf({ appName, connection, instance }: Head): readonly string[] | undefined {
  if (connection !== undefined) return [appName ?? '', 'connection', connection];
  return instance === undefined ? undefined : [appName ?? '', 'instance', instance];
}

/** Identities of about the same time are beside each other in the store. */
function identityOf(
  { application, environment }: Place,
  names: readonly string[],
  seconds: number,
): Uint8Array {
  const text = JSON.stringify(['unleash', environment, ...names]);
  const [a, b] = digestWords(hash('sha256', text, 'buffer'));
  return digestBytes(application, Math.max(0, Math.floor(seconds)), a, b);
}
