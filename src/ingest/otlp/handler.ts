import type { KeyHolder } from '../../accounts/key-index.ts';
import { ApiError } from '../../contract/errors.ts';
import type { LedgerNote } from '../../contract/notes.ts';
import { contentTypeCheck } from '../../http/body.ts';
import type { Refusals } from '../../http/endpoint.ts';
import { readSent, type SentBody } from '../../http/sent-body.ts';
import type { Reply, Request } from '../../http/types.ts';
import type { Batch } from '../../storage/commit/batch.ts';
import { maxTotals, totalsOf } from '../../storage/lmdb/totals.ts';
import type { UsageTables } from '../../storage/lmdb/usage.ts';
import { type CountingDeps, countOnce } from '../count-once.ts';
import { keyOf } from '../declared.ts';
import type { AttributedSource } from '../ledger/ledger.ts';
import { identityOf } from '../message-identity.ts';
import type { LongMessages, MessageHandler } from '../pipeline.ts';
import { acceptance, refusalOf } from './answer.ts';
import { type CountingParts, OtlpCounting } from './counting.ts';
import { decodeOtlp, type Encoding, encodings, type OtlpFormat } from './formats.ts';
import { type Placed, placesOf } from './places.ts';
import { type OtlpRequest, type Signal, Texts } from './request.ts';

export interface OtlpDeps extends CountingDeps, CountingParts {
  readonly decoder: OtlpDecoder;
  /** The store that reports read. */
  readonly store: Pick<UsageTables, 'totals'>;
  /** Maximum length of a decompressed body in bytes. */
  readonly maxReport: number;
}

/** Decodes large bodies in another thread. */
interface OtlpDecoder extends Pick<LongMessages<never, never, never>, 'inTurn'> {
  /** @param unpacked receives the length of the body, even if it is then refused @throws {ApiError} */
  decode(body: SentBody, format: OtlpFormat, unpacked: (bytes: number) => void): Promise<OtlpRequest>;
}

/** A decoded request, and its counting once that is prepared. */
interface OtlpMessage {
  readonly request: OtlpRequest;
  readonly texts: Texts;
  counting?: OtlpCounting;
}

interface OtlpSender extends Placed {
  readonly holder: KeyHolder;
}

const source = { route: 'otlp', transport: 'http' } as const;

/**
 * Handles export requests of one signal, in the steps of `Pipeline`. The key is in a header, so a sender without one learns nothing
 * else, and its body is not read.
 */
export function otlpHandler(
  deps: OtlpDeps,
  signal: Signal,
): MessageHandler<Request, OtlpMessage, OtlpSender, Reply> {
  const counting = ({ request, texts }: OtlpMessage, { holder, places }: OtlpSender) =>
    new OtlpCounting(deps, request, texts, holder, places);
  const messageOf = (request: OtlpRequest): OtlpMessage => ({ request, texts: new Texts(request) });
  const resolve = ({ request, texts }: OtlpMessage, sent: Request): OtlpSender => {
    const holder = findHolder(deps, sent);
    const unnamed = sent.header(environmentHeader) ?? holder.key.environment;
    const placed = placesOf(request, texts, holder, unnamed);
    if (placed.places.length > 0 && placed.places.every((place) => place === undefined))
      throw new ApiError('unknown_environment', senderRefusals.unknown_environment);
    return { holder, ...placed };
  };
  return {
    ...source,
    long: {
      inTurn: (sender, work) => deps.decoder.inTurn(sender, work),
      async decode(body, sent, unpacked) {
        const request = await deps.decoder.decode(body, formatOf(signal, sent), unpacked);
        return { message: messageOf(request), entries: request.work };
      },
      async prepare(message, sender, _sent, nextStep) {
        message.counting = counting(message, sender);
        for (const _ of message.counting.steps()) {
          keepFound(deps, message.counting, sender);
          await nextStep();
        }
      },
    },
    authorize: (sent) => void findHolder(deps, sent),
    address: (sent) => sent.remoteAddress,
    read: (sent, budget) => readSent(sent, deps.maxReport, budget),
    idempotencyKey: () => undefined,
    check: (body, sent) => messageOf(decodeOtlp(formatOf(signal, sent), body)),
    resolve,
    count(message, sender, sent) {
      if (message.counting === undefined) {
        message.counting = counting(message, sender);
        for (const _ of message.counting.steps()); // A short request is counted in one turn.
      }
      keepFound(deps, message.counting, sender);
      const rejected = message.request.rejected + sender.unplaced;
      const text = rejectionText(message.request, sender);
      return {
        durable: count(deps, message.request, message.counting, sender, sent),
        answer: acceptance(encodingOf(sent)!, signal, rejected, text),
      };
    },
    refuse: (refusal, sent) => refusalOf(refusal, encodingOf(sent)),
    userAgent: (sent) => sent.header('user-agent'),
    claimedSender: ({ request, texts }, sent) => ({
      appKey: keyIn(sent),
      environment: request.resources.length > 0 ? texts.at(request.resources[0]!) : undefined,
    }),
    peek: (sent) => ({ appKey: keyIn(sent) }),
  };
}

/** Adds new names and senders to the next batch, which the request joins or follows. They may stay if the request is refused. */
function keepFound({ laneOf }: OtlpDeps, { found }: OtlpCounting, { holder }: OtlpSender): void {
  const { number } = holder.application;
  if (found.isEmpty) return;
  laneOf(number)
    .addBefore(number, (batch) => found.moveTo(batch))
    .catch(() => {}); // If the batch is rolled back, they go with the next one.
}

/** Counts a request once. The ledger has it under each of its environments, and all notes under the first. */
function count(
  deps: OtlpDeps,
  { digest, isDistinct }: OtlpRequest,
  counting: OtlpCounting,
  { holder, places, unplaced }: OtlpSender,
  sent: Request,
): Promise<void> {
  const { ledger, store } = deps;
  const { application } = holder;
  const userAgent = sent.header('user-agent');
  const placeOf = (place: OtlpSender['places'][number]): AttributedSource => ({
    ...{ ...source, userAgent, application },
    ...{ environment: place?.environment, instance: place?.service },
  });
  const distinct = new Map(
    places.flatMap((place) => (place ? [[place.environment, placeOf(place)] as const] : [])),
  );
  const all = distinct.size > 0 ? [...distinct.values()] : [placeOf(undefined)];
  const [first] = all as [AttributedSource];
  const recognition =
    first.environment === undefined
      ? undefined
      : { identity: identityOf({ holder, environment: first.environment }, ...digest), repeats: isDistinct };
  return countOnce(deps, recognition, first, (batch: Batch) => {
    counting.addTo(batch);
    for (const place of all) ledger.accepted(place, batch);
    const notes = new Set<LedgerNote>(counting.notes);
    if (counting.hasTotals && totalsOf(store, application.number) >= maxTotals) notes.add('totals_full');
    if (unplaced > 0) notes.add('environment_unknown');
    for (const note of notes) ledger.noted(first, note, batch);
  });
}

function rejectionText({ notes }: OtlpRequest, { unplaced }: OtlpSender): string {
  const reasons = [...notes, ...(unplaced > 0 ? ['environment_unknown'] : [])];
  return `Some records about feature flags were not counted (${reasons.join(', ')})`;
}

const checkContentType = contentTypeCheck(...Object.keys(encodings));

function encodingOf(sent: Request): Encoding | undefined {
  const type = (sent.header('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
  return Object.hasOwn(encodings, type) ? encodings[type as keyof typeof encodings] : undefined;
}

/** @throws {ApiError} `invalid_content_type` */
function formatOf(signal: Signal, sent: Request): OtlpFormat {
  checkContentType(sent.header('content-type'));
  return `${signal}-${encodingOf(sent)!}`;
}

/** The environment of resources that name none. */
export const environmentHeader = 'x-flagmeter-environment';

function keyIn(sent: Request): string | undefined {
  return keyOf(sent) ?? sent.header('x-api-key')?.trim();
}

/** The refusals of senders, with their details. */
export const senderRefusals = {
  unknown_key: 'Send a key of an application in Authorization or x-api-key',
  unknown_environment:
    'deployment.environment.name of the resource, or X-Flagmeter-Environment, must name an environment of the application',
} as const satisfies Refusals;

const unknownKey = new ApiError('unknown_key', senderRefusals.unknown_key);

function findHolder({ keys }: OtlpDeps, sent: Request): KeyHolder {
  const key = keyIn(sent);
  const holder = key === undefined ? undefined : keys.findKey(key);
  if (holder === undefined) throw unknownKey;
  return holder;
}
