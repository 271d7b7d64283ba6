import { createHash } from 'node:crypto';
import { Refusal } from '../../../contract/errors.ts';
import type { Refusals } from '../../../http/endpoint.ts';
import { problem } from '../../../http/responses.ts';
import { readSent } from '../../../http/sent-body.ts';
import type { HttpResponse, Request } from '../../../http/types.ts';
import { type Digest, digestWords } from '../../../storage/commit/records.ts';
import { type CountingDeps, countOnce, FoundNames, identityOfBytes } from '../../count-once.ts';
import { allowOrigin, notedHeaders, readKey } from '../../declared.ts';
import type { AttributedSource, Ledger } from '../../ledger/ledger.ts';
import { type Notes, recordNotes } from '../../omissions.ts';
import type { ClaimedSender, Decoder, LongMessages, MessageHandler } from '../../pipeline.ts';
import {
  createRegistration,
  type SentBefore,
  sentBefore,
  source,
  UnleashCounter,
  type UnleashCountingDeps,
  type UnleashSender,
} from './counting.ts';
import {
  decodeUnleash,
  type PackedMessage,
  parseSdk,
  type SdkHead,
  type UnleashContent,
  type UnleashFormat,
  type UnleashKind,
  unpackChunk,
  withHeaders,
} from './message.ts';

export interface UnleashDeps extends CountingDeps, UnleashCountingDeps {
  readonly decoder: Decoder<UnleashFormat, PackedMessage>;
  readonly maxBody: number;
  readonly maxReport: number;
}

interface ReceivedMessage {
  readonly head: PackedMessage['head'];
  readonly content: UnleashContent | undefined;
  /** Chunks of a large message. */
  readonly chunks: readonly Uint8Array[];
  /** Set once the sender is resolved. */
  sender?: UnleashSender;
  /** Set once the chunks are resolved. */
  counting?: UnleashCounter;
  /**
   * Hash of a message that can arrive again unchanged. Unleash Edge repeats batches, and browsers repeat a request if
   * its connection is lost. Messages of different pages differ in their connection id.
   */
  readonly bytes: Digest | undefined;
}

/**
 * Handles messages of Unleash SDKs and Unleash Edge, in the steps of `Pipeline`. The token is in a header, so a body
 * without a known token is not read. Temporary refusals never have status 400, 401, 403 or 413. After such a status,
 * SDKs send nothing until their process restarts.
 * @param forPages true if web pages and mobile apps send the message, with a public token
 */
export function unleashHandler(
  deps: UnleashDeps,
  kind: UnleashKind,
  forPages: boolean,
): MessageHandler<Request, ReceivedMessage, UnleashSender, HttpResponse> {
  const readOrigin = (request: Request) => (forPages ? request.header('origin') || undefined : undefined);
  const resolve = (request: Request) => {
    const sender = findSender(deps, request, forPages);
    const origin = readOrigin(request);
    if (origin === undefined || sender.holder.allowsOrigin(origin)) return sender;
    throw originNotAllowed;
  };
  return {
    ...source,
    address: (request) => request.remoteAddress,
    read(request, budget) {
      const { type } = resolve(request).holder.key;
      return readSent(request, type === 'Backend' ? deps.maxReport : deps.maxBody, budget);
    },
    idempotencyKey: () => undefined,
    long: longMessages(deps, kind),
    check(body, request) {
      const message = decodeUnleash(kind, body);
      const head = withHeaders(message, readSdkHead(request));
      const isOfPage = forPages && kind === 'metrics' && head.connection !== undefined;
      const bytes = kind === 'bulk' || isOfPage ? hashBody(body, head.connection) : undefined;
      return { head, content: message, chunks: [], bytes };
    },
    resolve(message, request) {
      message.sender = resolve(request); // The key can have been deleted since `read`.
      return message.sender;
    },
    count(message, sender, request) {
      message.counting ??= createCounter(deps, message, sender);
      const sent = forPages ? undefined : { kind, request };
      const { durable, omission } = count(deps, message, message.counting, sender, sent);
      const origin = readOrigin(request);
      const headers = omission === undefined ? allowOrigin(origin) : notedHeaders(origin, omission);
      return { durable, response: { status: 202, headers } };
    },
    refuse: (refusal, request) => problem(refusal, refusal.status === 403 ? {} : allowOrigin(readOrigin(request))),
    userAgent: (request) =>
      formatUserAgent({ ...readSdkHead(request), platform: undefined }) ?? request.header('user-agent'),
    origin: (request) => request.header('origin'),
    claimedSender: ({ head, sender }, request) => ({
      ...findClaim(deps, request, sender),
      instanceName: head.instance,
    }),
    peek: (request) => findClaim(deps, request),
  };
}

/** Decodes large messages in another thread, and resolves them chunk by chunk. */
function longMessages(deps: UnleashDeps, kind: UnleashKind): LongMessages<Request, ReceivedMessage, UnleashSender> {
  return {
    schedule: (sender, work) => deps.decoder.schedule(sender, work),
    async decode(body, request, unpacked) {
      const bytes = kind === 'bulk' ? hashBody(body.bytes) : undefined;
      const { head, chunks, entries } = await deps.decoder.decode(body, `unleash-${kind}`, unpacked);
      const message = { head: withHeaders(head, readSdkHead(request)), content: undefined, chunks, bytes };
      return { message, entries };
    },
    async prepare(message, sender, _, nextStep) {
      message.counting = createCounter(deps, message, sender);
      const { number } = sender.holder.application;
      for (const chunk of message.chunks) {
        const found = new FoundNames();
        message.counting.add(unpackChunk(chunk), found);
        found.keep((fill) => deps.findLane(number).addBefore(number, fill));
        await nextStep();
      }
    },
  };
}

function createCounter(deps: UnleashDeps, { head }: ReceivedMessage, sender: UnleashSender) {
  return new UnleashCounter(deps, head, sender, deps.clock.now());
}

/** Reads the headers that identify a sender. Some versions of SDKs put `x-` before the names. */
function readSdkHead(request: Request): SdkHead {
  const read = (name: string) => request.header(`unleash-${name}`) ?? request.header(`x-unleash-${name}`);
  const appName = read('appname');
  const connection = read('connection-id');
  const interval = Number(read('interval'));
  const own = interval > 0 ? { interval } : { interval: undefined };
  return { appName, connection, instance: read('instanceid'), sdk: parseSdk(read('sdk')), ...own };
}

export const senderRefusals = {
  unknown_key: 'Authorization must have a token of Unleash that is a key of an application',
  unknown_environment: 'The token must stand for an environment of an application',
} as const satisfies Refusals;

const unknownKey = new Refusal('unknown_key', senderRefusals.unknown_key);
const unknownEnvironment = new Refusal('unknown_environment', senderRefusals.unknown_environment);
export const originRefusal = 'The application does not allow this origin';
const originNotAllowed = new Refusal('origin_not_allowed', originRefusal);

/** @throws {Refusal} of status 404, after which SDKs for Node keep their counts and retry later */
function findSender({ keys }: UnleashDeps, request: Request, forPages: boolean): UnleashSender {
  const token = readKey(request);
  const holder = token === undefined ? undefined : keys.findKey(token);
  const isLeaked = holder !== undefined && forPages && holder.key.type === 'Backend';
  if (isLeaked) keys.recordLeak(holder);
  if (token === undefined || holder === undefined || isLeaked) throw unknownKey;
  const environment = holder.environments.get(holder.key.environment ?? '');
  if (environment === undefined) throw unknownEnvironment;
  return { holder, environment, token };
}

/** Returns the claimed sender of a request, without hashing the token again if the sender is known. */
function findClaim({ keys }: UnleashDeps, request: Request, sender?: UnleashSender): ClaimedSender {
  const token = sender === undefined ? readKey(request) : sender.token;
  const holder = sender?.holder ?? (token === undefined ? undefined : keys.findKey(token));
  return { appKey: token, environment: holder?.key.environment };
}

function hashBody(body: Uint8Array, connection = ''): Digest {
  return digestWords(createHash('sha256').update(connection).update(body).digest());
}

/**
 * @param sent kind and request of a server's message; `undefined` for pages and mobile apps, whose SDKs never repeat a
 * message
 */
function count(
  deps: UnleashDeps,
  { head, content, bytes }: ReceivedMessage,
  counting: UnleashCounter,
  sender: UnleashSender,
  sent: { readonly kind: UnleashKind; readonly request: Request } | undefined,
): { readonly durable: Promise<void>; readonly omission: string | undefined } {
  const { ledger } = deps;
  const { environment, holder } = sender;
  const { application } = holder;
  const place = { ...source, userAgent: formatUserAgent(head), instance: head.instance, application, environment };
  const recognition = bytes && { identity: identityOfBytes(sender, bytes), repeats: true };
  let omission: string | undefined;
  const durable = countOnce(deps, recognition, place, (batch) => {
    if (content !== undefined) counting.add(content, batch);
    counting.addTo(batch, sent && findSentBefore(sent, head, place, ledger));
    ledger.accepted(place, batch);
    const notes: Notes = new Map([...counting.notes, ...head.notes]);
    omission = recordNotes(ledger, place, notes, batch);
  });
  return { durable, omission };
}

function findSentBefore(
  { kind, request }: { readonly kind: UnleashKind; readonly request: Request },
  head: ReceivedMessage['head'],
  source: AttributedSource,
  ledger: Ledger,
): SentBefore | undefined {
  if (kind === 'bulk') return undefined;
  const place = {
    application: source.application.number,
    environment: source.environment!.number,
    subject: ledger.noteDimensions(source),
  };
  return (kind === 'register' ? createRegistration : sentBefore)(head, request, place);
}

/** Formats the sender as the ledger shows it: service, SDK and platform. */
function formatUserAgent({
  appName,
  sdk,
  platform,
}: Pick<ReceivedMessage['head'], 'appName' | 'sdk' | 'platform'>): string | undefined {
  const more = [sdk, platform].filter((each) => each !== undefined).join('; ');
  return more === '' ? appName : `${appName ?? 'unnamed'} (${more})`;
}
