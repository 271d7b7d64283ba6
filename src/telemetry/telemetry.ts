import type { KeyHolder } from '../accounts/key-holder.ts';
import type { Batch } from '../commit/batch.ts';
import { ApiError } from '../errors.ts';
import { decodeText, parseJson, readBody } from '../http/body.ts';
import { contentTypeCheck } from '../http/content-type.ts';
import { problem } from '../http/problem.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import type { Instances } from '../identities/instances.ts';
import { admit, admitOf, chargeLarge, chargeSmall, refusalNow } from '../ingest/admission.ts';
import { countOnce } from '../ingest/count-once.ts';
import type { CountingDeps } from '../ingest/deps.ts';
import { beginningOf, glimpseOf } from '../ingest/glimpse.ts';
import { checkIdempotencyKey, identityOfKey } from '../ingest/message-identity.ts';
import type { AttributedSource } from '../ledger/ledger.ts';
import type { Environment } from '../store/records.ts';
import { addPacket } from './add-packet.ts';
import { attribute } from './attribute.ts';
import { allowOrigin, preflight } from './cors.ts';
import { checkPacket, hasUnknownField, type Packet } from './packet.ts';

/** What the telemetry route needs of the rest of the service. */
export interface TelemetryDeps extends CountingDeps {
  readonly instances: Instances;
  /** Most bytes of a body, inflated. */
  readonly maxBody: number;
}

const path = '/api/frontend/telemetry';

/** `POST /api/frontend/telemetry` and its preflight. */
export function telemetryRoutes(parts: TelemetryDeps): readonly Route[] {
  return [
    { method: 'POST', path, handle: (request) => receive(parts, request) },
    {
      method: 'OPTIONS',
      path,
      handle: (request) => ({ status: 204, headers: preflight(request.header('origin')) }),
    },
  ];
}

const accepted: Reply = { status: 202 };

const source = { route: 'telemetry', transport: 'http' } as const;

/** Plain text too, or nothing at all, so that `navigator.sendBeacon` of a text or an untyped Blob needs no preflight. */
const checkContentType = contentTypeCheck('application/json', 'text/plain');

const glimpse = glimpseOf('k', 'e');

/**
 * Answers one packet: 202 when it is on disk. Checked in the order 503, 413, 400, 404, 403, 429, so that a refusal
 * costs as little as it can and a refused packet has changed nothing.
 */
function receive(parts: TelemetryDeps, request: Request): Reply | Promise<Reply> {
  const origin = request.header('origin') || undefined;
  const refusal = refusalNow(parts);
  if (refusal === undefined) return take(parts, request, origin);
  parts.ledger.refusedUnread(refusal);
  return problem(refusal, allowOrigin(origin));
}

async function take(parts: TelemetryDeps, request: Request, origin: string | undefined): Promise<Reply> {
  const { bodies } = parts;
  let body: Uint8Array | undefined;
  let packet: Packet | undefined;
  try {
    body = await readBody(request, parts.maxBody, bodies);
    const turn = bodies.turn(body, () => chargeLarge(parts, glimpse(beginningOf(body!)).k, body!.length));
    if (turn !== undefined) {
      await turn;
      admit(parts);
    }
    const contentType = request.header('content-type');
    if (contentType) checkContentType(contentType);
    const key = checkIdempotencyKey(request.header('idempotency-key'));
    packet = checkPacket(parseJson(decodeText(body)));
    const holder = findHolder(parts, packet);
    const environment = holder.environments.get(packet.e);
    if (environment === undefined) throw new UnknownEnvironment(holder);
    checkOrigin(holder, request, origin);
    admitOf(parts, holder); // Others may have filled the queue while this body arrived.
    chargeSmall(parts, holder, body.length);
    const userAgent = request.header('user-agent');
    const kept = keep(parts, { holder, environment, packet, userAgent }, key);
    bodies.release(body);
    body = undefined; // Nothing of it is held while it waits for the disk.
    packet = { k: packet.k, e: packet.e };
    await kept;
    return origin === undefined ? accepted : { status: 202, headers: allowOrigin(origin) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    recordRefusal(parts, request, error, packet ?? (body && glimpse(beginningOf(body))));
    return problem(error, isReadable(error, origin) ? allowOrigin(origin) : {});
  } finally {
    if (body !== undefined) bodies.release(body);
  }
}

function findHolder({ keys }: TelemetryDeps, packet: Packet): KeyHolder {
  const holder = keys.findKey(packet.k);
  if (holder !== undefined && holder.key.type !== 'Backend') return holder;
  if (holder !== undefined) keys.markLeaked(holder);
  throw new ApiError('unknown_key', 'k is not a Frontend or Mobile key of any application');
}

/** The application is known here, so only its own origins may read the answer. */
class UnknownEnvironment extends ApiError {
  readonly holder: KeyHolder;

  constructor(holder: KeyHolder) {
    super('unknown_environment', 'e is not an environment of the application; case matters');
    this.holder = holder;
  }
}

/** Whether a page of this origin may read why its packet was refused. */
function isReadable(refusal: ApiError, origin: string | undefined): boolean {
  if (refusal instanceof UnknownEnvironment)
    return origin !== undefined && refusal.holder.allowsOrigin(origin);
  return refusal.status !== 403;
}

/** Puts a refusal down to the application whose key is in the body, as far as that could be read. */
function recordRefusal(
  { keys, ledger }: TelemetryDeps,
  request: Request,
  refusal: ApiError,
  { k, e }: ReturnType<typeof glimpse> = {},
): void {
  ledger.refused(
    refusal,
    { ...source, userAgent: request.header('user-agent') },
    {
      holder: k === undefined ? undefined : keys.findKey(k),
      environment: e,
      origin: request.header('origin'),
    },
  );
}

function checkOrigin(holder: KeyHolder, request: Request, origin: string | undefined): void {
  if (origin !== undefined) {
    if (holder.allowsOrigin(origin)) return;
    throw new ApiError('origin_not_allowed', 'The application does not allow this origin');
  }
  const browser = holder.key.type === 'Frontend' || request.header('sec-fetch-site') !== undefined;
  if (browser) throw new ApiError('origin_missing', 'A browser must send its Origin with this key');
}

/** A packet that nothing speaks against. */
interface Admitted {
  readonly holder: KeyHolder;
  readonly environment: Environment;
  readonly packet: Packet;
  readonly userAgent: string | undefined;
}

/** Resolves when the packet is on disk. One that its sender has named by a `key` counts once, however often it comes. */
function keep(parts: TelemetryDeps, admitted: Admitted, key: string | undefined): Promise<void> {
  const { number } = admitted.holder.application;
  const add = (batch: Batch) => addToBatch(parts, admitted, batch);
  if (key === undefined) return parts.laneOf(number).submit(number, add);
  return countOnce(parts, identityOfKey('telemetry', admitted, key), placeOf(admitted), add);
}

function placeOf({ holder: { application }, environment, userAgent }: Admitted): AttributedSource {
  return { ...source, application, environment, userAgent };
}

function addToBatch(parts: TelemetryDeps, admitted: Admitted, batch: Batch): void {
  const { holder, environment, packet, userAgent } = admitted;
  const now = parts.clock.now();
  const { person, use, instanceDropped } = attribute(parts.instances, packet, holder.application, now);
  parts.keys.markUsed(holder);
  const { folded, dropped } = batch;
  addPacket(packet, parts.dictionary.of(environment.number), batch, now, person);
  if (use !== undefined) batch.uses.push(use);
  parts.ledger.packet(batch, holder.application, environment, userAgent, now);
  if (instanceDropped) parts.ledger.noted(placeOf(admitted), 'instance_dropped', batch);
  if (batch.folded > folded) parts.ledger.noted(placeOf(admitted), 'series_folded', batch);
  if (batch.dropped > dropped) parts.ledger.noted(placeOf(admitted), 'name_dropped', batch);
  if (hasUnknownField(packet)) parts.ledger.noted(placeOf(admitted), 'field_unknown', batch);
}
