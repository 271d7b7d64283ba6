import { environmentNamed, type KeyHolder } from '../../../accounts/key-index.ts';
import { Refusal } from '../../../contract/errors.ts';
import type { LedgerNote } from '../../../contract/notes.ts';
import type { Refusals } from '../../../http/endpoint.ts';
import type { Request } from '../../../http/types.ts';
import type { Batch } from '../../../storage/commit/batch.ts';
import type { Environment } from '../../../storage/lmdb/records.ts';
import { countTotals, maxTotals } from '../../../storage/lmdb/totals.ts';
import type { UsageTables } from '../../../storage/lmdb/usage.ts';
import { type CountingDeps, countOnce, createIdentity } from '../../count-once.ts';
import { readKey } from '../../declared.ts';
import type { AttributedSource } from '../../ledger/ledger.ts';
import type { Decoder, MessageHandler, Transport } from '../../pipeline.ts';
import { LatestTotals, OtlpCounter, type OtlpCountingDeps, type Place } from './counting.ts';
import { type Encoding, type OtlpFormat, otlpDecoders } from './decode.ts';
import { type OtlpRequest, resourceWidth, type Signal, Texts } from './request.ts';

export interface OtlpDeps extends CountingDeps, OtlpCountingDeps {
  readonly decoder: Decoder<OtlpFormat, OtlpRequest>;
  /** Store with the last total of each series. */
  readonly store: Pick<UsageTables, 'totals'>;
  /** Maximum length of a decompressed body in bytes. */
  readonly maxReport: number;
}

interface OtlpMessage {
  readonly request: OtlpRequest;
  readonly texts: Texts;
  counting?: OtlpCounter;
}

interface OtlpSender extends Placement {
  readonly holder: KeyHolder;
}

const route = 'otlp' as const;

type Headers = Pick<Request, 'header'>;

/** Reads export requests of one transport, and encodes their responses. */
export interface OtlpTransport<Incoming, Outgoing> extends Omit<Transport<Incoming>, 'idempotencyKey'> {
  getHeaders(incoming: Incoming): Headers;
  isRetry?(incoming: Incoming): boolean;
  /** Refuses messages that the transport does not allow. @throws {Refusal} */
  check?(incoming: Incoming): void;
  /** @throws {Refusal} `invalid_content_type` */
  readEncoding(incoming: Incoming): Encoding;
  /** @param rejected number of records that are not counted @param message human-readable reason */
  accept(rejected: number, message: string, incoming: Incoming): Outgoing;
  refuse(refusal: Refusal, incoming: Incoming): Outgoing;
}

/** Handles export requests. The key is in a header, so a body without a known key is not read. */
export function otlpHandler<Incoming, Outgoing>(
  deps: OtlpDeps,
  signal: Signal,
  transport: OtlpTransport<Incoming, Outgoing>,
): MessageHandler<Incoming, OtlpMessage, OtlpSender, Outgoing> {
  const { getHeaders } = transport;
  const latest = new LatestTotals(deps.store);
  const counting = ({ request, texts }: OtlpMessage, { holder, places }: OtlpSender) =>
    new OtlpCounter(deps, request, texts, { holder, places, transport: transport.transport });
  const findFormat = (incoming: Incoming): OtlpFormat => `${signal}-${transport.readEncoding(incoming)}`;
  const createMessage = (request: OtlpRequest): OtlpMessage => ({ request, texts: new Texts(request) });
  return {
    ...transport,
    route,
    long: {
      schedule: (sender, work) => deps.decoder.schedule(sender, work),
      async decode(body, incoming, unpacked) {
        transport.check?.(incoming);
        const request = await deps.decoder.decode(body, findFormat(incoming), unpacked);
        transport.check?.(incoming); // The call could have ended during decoding.
        return { message: createMessage(request), entries: request.work };
      },
      async prepare(message, sender, _incoming, nextStep) {
        message.counting = counting(message, sender);
        for (const _ of message.counting.steps()) {
          keepFound(deps, message.counting, sender);
          await nextStep();
        }
      },
    },
    authorize: (incoming) => void findHolder(deps, getHeaders(incoming)),
    idempotencyKey: () => undefined,
    check(body, incoming) {
      transport.check?.(incoming);
      return createMessage(otlpDecoders[findFormat(incoming)](body));
    },
    resolve: (message, incoming) => resolveSender(deps, message, getHeaders(incoming)),
    count(message, sender, incoming) {
      if (message.counting === undefined) {
        message.counting = counting(message, sender);
        for (const _ of message.counting.steps()); // A short request is counted in one event loop iteration.
      }
      keepFound(deps, message.counting, sender);
      const { request } = message;
      const text = rejectionText(request, sender);
      const source = { route, transport: transport.transport, userAgent: transport.userAgent(incoming) };
      const repeats = request.isDistinct || transport.isRetry?.(incoming) === true;
      const sent = { digest: request.digest, repeats };
      return {
        durable: count(deps, latest, sent, message.counting, sender, source),
        response: transport.accept(request.rejected + sender.unplaced, text, incoming),
      };
    },
    claimedSender: ({ request, texts }, incoming) => ({
      appKey: keyIn(getHeaders(incoming)),
      environment: request.resources.length > 0 ? texts.at(request.resources[0]!) : undefined,
    }),
    peek: (incoming) => ({ appKey: keyIn(getHeaders(incoming)) }),
  };
}

/** @throws {Refusal} `unknown_key`; `unknown_environment` if no resource has a known environment */
function resolveSender(deps: OtlpDeps, { request, texts }: OtlpMessage, headers: Headers): OtlpSender {
  const holder = findHolder(deps, headers);
  const unnamed = headers.header(environmentHeader) ?? holder.key.environment;
  const placed = findPlaces(request, texts, holder, unnamed);
  if (placed.places.length > 0 && placed.places.every((place) => place === undefined))
    throw new Refusal('unknown_environment', senderRefusals.unknown_environment);
  return { holder, ...placed };
}

function keepFound({ findLane }: OtlpDeps, { found }: OtlpCounter, { holder }: OtlpSender): void {
  const { number } = holder.application;
  found.keep((fill) => findLane(number).addBefore(number, fill));
}

/**
 * Counts a request once. The ledger records the request in each of its environments, and all notes in the first of
 * them.
 */
function count(
  deps: OtlpDeps,
  latest: LatestTotals,
  { digest, repeats }: Pick<OtlpRequest, 'digest'> & { readonly repeats: boolean },
  counting: OtlpCounter,
  { holder, places, unplaced }: OtlpSender,
  source: Pick<AttributedSource, 'route' | 'transport' | 'userAgent'>,
): Promise<void> {
  const { ledger, store } = deps;
  const { application } = holder;
  const createSource = (place: OtlpSender['places'][number]): AttributedSource => ({
    ...source,
    application,
    environment: place?.environment,
    instance: place?.service,
  });
  const distinct = new Map(
    places.flatMap((place) => (place ? [[place.environment, createSource(place)] as const] : [])),
  );
  const all = distinct.size > 0 ? [...distinct.values()] : [createSource(undefined)];
  const [first] = all as [AttributedSource];
  const recognition =
    first.environment === undefined
      ? undefined
      : { identity: createIdentity({ holder, environment: first.environment }, ...digest), repeats };
  return countOnce(deps, recognition, first, (batch: Batch) => {
    counting.addTo(batch);
    for (const place of all) ledger.accepted(place, batch);
    const notes = new Set<LedgerNote>([...counting.notes, ...counting.rememberTotals(latest)]);
    if (counting.hasTotals && countTotals(store, application.number) >= maxTotals) notes.add('totals_full');
    if (unplaced > 0) notes.add('environment_unknown');
    for (const note of notes) ledger.noted(first, note, batch);
  });
}

function rejectionText({ notes }: OtlpRequest, { unplaced }: OtlpSender): string {
  const reasons = [...notes, ...(unplaced > 0 ? ['environment_unknown'] : [])];
  return `Some records about feature flags were not counted (${reasons.join(', ')})`;
}

/** Header that names the environment of resources without an environment name. */
const environmentHeader = 'x-flagmeter-environment';

function keyIn(headers: Headers): string | undefined {
  return readKey(headers) ?? headers.header('x-api-key')?.trim();
}

/** Details of the refusals of an unknown key and an unknown environment. */
export const senderRefusals = {
  unknown_key: 'Send a key of an application in Authorization or x-api-key',
  unknown_environment:
    'deployment.environment.name of the resource, or X-Flagmeter-Environment, must name an environment of the application',
} as const satisfies Refusals;

const unknownKey = new Refusal('unknown_key', senderRefusals.unknown_key);

function findHolder({ keys }: OtlpDeps, headers: Headers): KeyHolder {
  const key = keyIn(headers);
  const holder = key === undefined ? undefined : keys.findKey(key);
  if (holder === undefined) throw unknownKey;
  return holder;
}

export interface Placement {
  /** Places in the order of the resources; `undefined` for a resource whose environment is unknown. */
  readonly places: readonly (Place | undefined)[];
  /** Number of records whose resource has no known environment. */
  readonly unplaced: number;
}

/** @param fallback the environment of resources that name no environment */
export function findPlaces(
  { resources }: Pick<OtlpRequest, 'resources'>,
  texts: Texts,
  { environments }: KeyHolder,
  fallback: string | undefined,
): Placement {
  const places: (Place | undefined)[] = [];
  let unplaced = 0;
  for (let at = 0; at < resources.length; at += resourceWidth) {
    const name = texts.at(resources[at]!) ?? fallback;
    const environment = findEnvironment(environments, name);
    const service = texts.at(resources[at + 1]!) ?? '';
    const version = texts.at(resources[at + 2]!) ?? '';
    places.push(environment && { environment, service, version });
    if (environment === undefined) unplaced += resources[at + 3]!;
  }
  return { places, unplaced };
}

/** Finds an environment by its name. Without a name, returns the application's environment if it has only one. */
function findEnvironment(environments: KeyHolder['environments'], name: string | undefined): Environment | undefined {
  if (name !== undefined) return environmentNamed(environments, name);
  return environments.size === 1 ? [...environments.values()][0] : undefined;
}
