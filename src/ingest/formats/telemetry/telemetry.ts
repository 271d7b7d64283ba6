import type { KeyHolder } from '../../../accounts/key-index.ts';
import { Refusal } from '../../../contract/errors.ts';
import { contentTypeCheck, decodeText, parseJson, readBody } from '../../../http/body.ts';
import type { Refusals } from '../../../http/endpoint.ts';
import { problem } from '../../../http/responses.ts';
import type { HttpResponse, Request } from '../../../http/types.ts';
import type { Batch } from '../../../storage/commit/batch.ts';
import { type CountingDeps, countOnce, identityOfKey, type KeyFinder } from '../../count-once.ts';
import { allowOrigin, notedHeaders } from '../../declared.ts';
import { createPeeker } from '../../json-text.ts';
import { addNote, type Notes, recordNotes } from '../../omissions.ts';
import { type MessageHandler, NotHere } from '../../pipeline.ts';
import { addPacket, attribute, type PeopleFinder } from './add-packet.ts';
import { checkPacket, invalidNameIn, omittedIn, type Packet, type PacketSender, unknownFieldIn } from './packet.ts';

export interface TelemetryDeps extends CountingDeps {
  readonly instances: PeopleFinder;
  readonly maxBody: number;
  /** Owner of data that some packets need; `undefined` in the owner itself. See `packetsHere`. */
  readonly owner?: Owner;
}

type PacketHandler = MessageHandler<Request, Packet, PacketSender, HttpResponse>;

export function packetHandler(deps: TelemetryDeps): PacketHandler {
  const handler = ownPackets(deps);
  return deps.owner === undefined ? handler : packetsHere(handler, deps.owner, deps.maxBody, deps.bodies.free);
}

function ownPackets(deps: TelemetryDeps): PacketHandler {
  const acceptances = new Acceptances();
  return {
    route: 'telemetry',
    transport: 'http',
    address: (request) => request.remoteAddress,
    read: (request, budget) => readBody(request, deps.maxBody, budget),
    idempotencyKey: (request) => request.header('idempotency-key'),
    check(body, request) {
      const contentType = request.header('content-type');
      if (contentType) checkContentType(contentType);
      const json = decodeText(body);
      return checkPacket(parseJson(json), json);
    },
    resolve: (packet, request) => resolveSender(deps.keys, packet, request),
    count(packet, sender, _, key) {
      const { durable, omission } = count(deps, packet, sender, key);
      const { origin } = sender;
      return {
        durable,
        response:
          omission === undefined ? acceptances.of(origin) : { status: 202, headers: notedHeaders(origin, omission) },
      };
    },
    refuse(refusal, request, holder) {
      const origin = readOrigin(request);
      return problem(refusal, isReadable(refusal, origin, holder) ? allowOrigin(origin) : {});
    },
    userAgent: (request) => request.header('user-agent'),
    origin: (request) => request.header('origin'),
    claimedSender: ({ k, e }) => ({ appKey: k, environment: e }),
    peek(_, beginning) {
      const { k, e } = beginning === undefined ? {} : peek(beginning);
      return { appKey: k, environment: e };
    },
  };
}

/** Checks the content type. Accepts a `navigator.sendBeacon` of a text or an untyped Blob, which needs no preflight. */
const checkContentType = contentTypeCheck('application/json', 'text/plain');

const peek = createPeeker('k', 'e');

function readOrigin(request: Request): string | undefined {
  return request.header('origin') || undefined;
}

export const senderRefusals = {
  unknown_key: 'k is not a Frontend or Mobile key of any application',
  unknown_environment: 'e is not an environment of the application; case matters',
  origin_missing: 'A browser must send its Origin with this key',
  origin_not_allowed: 'The application does not allow this origin',
} as const satisfies Refusals;

const refusal = (code: keyof typeof senderRefusals) => new Refusal(code, senderRefusals[code]);

// Created once, because creating an error would dominate the cost of a refusal.
const unknownKey = refusal('unknown_key');
const unknownEnvironment = refusal('unknown_environment');
const originMissing = refusal('origin_missing');
const originNotAllowed = refusal('origin_not_allowed');

/** @throws {Refusal} of status 404 or 403 */
function resolveSender(keys: KeyFinder, { k, e }: Packet, request: Request): PacketSender {
  const holder = findHolder(keys, k);
  const { application } = holder;
  const environment = holder.environments.get(e);
  if (environment === undefined) throw unknownEnvironment;
  const origin = readOrigin(request);
  checkOrigin(holder, origin, request);
  const userAgent = request.header('user-agent');
  return { route: 'telemetry', transport: 'http', holder, application, environment, origin, userAgent };
}

/** Accepts only the keys of browsers and apps. A Backend key sent here is marked as leaked. */
function findHolder(keys: KeyFinder, key: string): KeyHolder {
  const holder = keys.findKey(key);
  if (holder !== undefined && holder.key.type !== 'Backend') return holder;
  if (holder !== undefined) keys.recordLeak(holder);
  throw unknownKey;
}

function checkOrigin(holder: KeyHolder, origin: string | undefined, request: Request): void {
  if (origin !== undefined) {
    if (holder.allowsOrigin(origin)) return;
    throw originNotAllowed;
  }
  const browser = holder.key.type === 'Frontend' || request.header('sec-fetch-site') !== undefined;
  if (browser) throw originMissing;
}

interface CountedPacket {
  readonly durable: Promise<void>;
  /** First entry that was left out: see `recordNotes`. */
  readonly omission: string | undefined;
}

/** Counts a packet. A packet with a `key` counts once, no matter how many times it is sent. */
function count(deps: TelemetryDeps, packet: Packet, sender: PacketSender, key: string | undefined): CountedPacket {
  const recognition =
    key === undefined ? undefined : { identity: identityOfKey('telemetry', sender, key), repeats: true };
  let omission: string | undefined;
  const durable = countOnce(deps, recognition, sender, (batch) => {
    omission = addToBatch(deps, packet, sender, batch);
  });
  return { durable, omission };
}

/** @returns the first entry that was left out: see `recordNotes` */
function addToBatch(
  { clock, instances, dictionary, senders, ledger }: TelemetryDeps,
  packet: Packet,
  sender: PacketSender,
  batch: Batch,
): string | undefined {
  const now = clock.now();
  const { application, environment, userAgent } = sender;
  const attribution = attribute(instances, packet, application, environment.number, now);
  const { person, use, unresolved, instanceDropped } = attribution;
  const { folded, dropped } = batch;
  const asker = senders.ofPacket(batch, environment.number, userAgent, now);
  addPacket(packet, dictionary.of(environment.number), batch, now, person, asker, unresolved?.rows);
  if (unresolved !== undefined) batch.unresolved.push(unresolved);
  if (use !== undefined) batch.uses.push(use);
  ledger.packet(batch, application, environment, userAgent, now);
  const omitted = omittedIn(packet);
  const unknown = unknownFieldIn(packet);
  const isWhole = omitted === undefined && unknown === undefined && !instanceDropped;
  if (isWhole && batch.folded === folded && batch.dropped === dropped) return undefined;
  const notes: Notes = new Map();
  if (omitted !== undefined) notes.set('value_dropped', omitted);
  if (batch.dropped > dropped) notes.set('name_dropped', invalidNameIn(packet));
  if (unknown !== undefined) addNote(notes, 'field_unknown', unknown);
  if (instanceDropped) addNote(notes, 'instance_dropped', 'i');
  if (batch.folded > folded) addNote(notes, 'series_folded');
  return recordNotes(ledger, sender, notes, batch);
}

/** Maximum number and length of origins with a cached response. They are limited because senders choose them. */
const maxOrigins = 1000;
const maxOrigin = 300;

class Acceptances {
  readonly #byOrigin = new Map<string | undefined, HttpResponse>();

  of(origin: string | undefined): HttpResponse {
    return this.#byOrigin.get(origin) ?? this.#add(origin);
  }

  #add(origin: string | undefined): HttpResponse {
    const response = { status: 202, headers: allowOrigin(origin), isReused: true } as const;
    if (this.#byOrigin.size >= maxOrigins) this.#byOrigin.clear();
    if ((origin?.length ?? 0) <= maxOrigin) this.#byOrigin.set(origin, response);
    return response;
  }
}

/**
 * True if a page of this origin may read the reason of a refusal. If the application is unknown, any page may read the
 * reason. Otherwise only pages of the application's origins may read it.
 */
function isReadable({ code, status }: Refusal, origin: string | undefined, holder: KeyHolder | undefined): boolean {
  if (code !== 'unknown_environment') return status !== 403;
  return origin !== undefined && holder?.allowsOrigin(origin) === true;
}

/** The thread that owns the data for some packets, as seen by other threads. */
export interface Owner {
  /** Applies all changes that the owner has published. */
  catchUp(): void;
  /** True if this thread can count a packet exactly as the owner would. A later call can return another result. */
  countsHere(packet: Packet, sender: PacketSender): boolean;
  /** Forwards a request to the owner. @param body if it was read */
  forward(request: Request, body?: Uint8Array): Promise<HttpResponse>;
}

// Created once, because creating an error would cost more than forwarding a packet.
const notHere = new NotHere();

/**
 * Handles packets in a thread that is not their owner. It forwards packets that it cannot decide alone: packets with an
 * `Idempotency-Key`, which only the owner remembers; long or compressed packets, whose memory the owner bounds; and
 * packets that need a new series. Forwarded packets are neither counted nor charged in this thread.
 * @param maxBody maximum length of a body @param longest maximum length of a body that this thread reads
 */
export function packetsHere(handler: PacketHandler, owner: Owner, maxBody: number, longest: number): PacketHandler {
  return {
    ...handler,
    read(request, budget) {
      const length = request.header('content-length');
      if (length === undefined || !(Number(length) <= longest)) throw notHere;
      if (request.header('content-encoding') !== undefined) throw notHere;
      return request.body(maxBody, budget);
    },
    idempotencyKey(request) {
      if (request.header('idempotency-key') !== undefined) throw notHere;
      return undefined;
    },
    check(body, request) {
      owner.catchUp(); // The body could have arrived long after the head.
      return handler.check(body, request);
    },
    resolve(packet, request) {
      const sender = handler.resolve(packet, request);
      if (!owner.countsHere(packet, sender)) throw notHere;
      return sender;
    },
    passOn: (request, body) => owner.forward(request, body),
  };
}
