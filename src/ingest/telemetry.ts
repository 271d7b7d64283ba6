import type { KeyHolder } from '../accounts/key-holder.ts';
import { Refusal } from '../errors.ts';
import { decodeText, parseJson, readBody } from '../http/body.ts';
import { problem } from '../http/problem.ts';
import type { Reply, Request, Route } from '../http/types.ts';
import type { Environment } from '../store/records.ts';
import { addPacket } from './add-packet.ts';
import { admit, takeToken } from './admission.ts';
import type { Batch } from './batch.ts';
import { allowOrigin, preflight } from './cors.ts';
import type { CountingParts } from './counting-parts.ts';
import { checkIdempotencyKey, identityOfKey } from './message-identity.ts';
import { checkPacket, type Packet } from './packet.ts';

/** What the telemetry route needs of the rest of the service. */
export interface TelemetryParts extends CountingParts {
  /** Most bytes of a body, inflated. */
  readonly maxBody: number;
}

const path = '/api/frontend/telemetry';

/** `POST /api/frontend/telemetry` and its preflight. */
export function telemetryRoutes(parts: TelemetryParts): readonly Route[] {
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

/**
 * Answers one packet: 202 when it is on disk. Checked in the order 503, 413, 400, 404, 403, 429, so that a refusal
 * costs as little as it can and a refused packet has changed nothing.
 */
async function receive(parts: TelemetryParts, request: Request): Promise<Reply> {
  const origin = request.header('origin');
  try {
    admit(parts);
    const body = await readBody(request, parts.maxBody);
    checkContentType(request.header('content-type'));
    const key = checkIdempotencyKey(request.header('idempotency-key'));
    const packet = checkPacket(parseJson(decodeText(body)));
    const holder = findHolder(parts, packet);
    const environment = holder.environments.get(packet.e);
    if (environment === undefined) return unknownEnvironment(holder, origin);
    checkOrigin(holder, request, origin);
    admit(parts); // Others may have filled the queue while this body arrived.
    takeToken(parts, holder);
    await keep(parts, { holder, environment, packet, bytes: body.length }, key);
    return origin === undefined ? accepted : { status: 202, headers: allowOrigin(origin) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return problem(error, error.status === 403 ? {} : allowOrigin(origin));
  }
}

/** JSON, or plain text so that `navigator.sendBeacon` needs no preflight; UTF-8 in any case. */
const contentType = /^\s*(?:application\/json|text\/plain)\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

function checkContentType(value: string | undefined): void {
  if (value === 'application/json' || (value !== undefined && contentType.test(value))) return;
  throw new Refusal('invalid_content_type', 'Send application/json or text/plain, in UTF-8');
}

function findHolder({ keys }: TelemetryParts, packet: Packet): KeyHolder {
  const holder = keys.findKey(packet.k);
  if (holder !== undefined && holder.key.type !== 'Backend') return holder;
  if (holder !== undefined) keys.markLeaked(holder);
  throw new Refusal('unknown_key', 'k is not a Frontend or Mobile key of any application');
}

/** The application is known here, so only its own origins may read the answer. */
function unknownEnvironment(holder: KeyHolder, origin: string | undefined): Reply {
  const refusal = new Refusal('unknown_environment', 'e is not an environment of the application');
  return problem(refusal, origin !== undefined && holder.allowsOrigin(origin) ? allowOrigin(origin) : {});
}

function checkOrigin(holder: KeyHolder, request: Request, origin: string | undefined): void {
  if (origin !== undefined) {
    if (holder.allowsOrigin(origin)) return;
    throw new Refusal('origin_not_allowed', 'The application does not allow this origin');
  }
  const browser = holder.key.type === 'Frontend' || request.header('sec-fetch-site') !== undefined;
  if (browser) throw new Refusal('origin_missing', 'A browser must send its Origin with this key');
}

/** A packet that nothing speaks against. */
interface Admitted {
  readonly holder: KeyHolder;
  readonly environment: Environment;
  readonly packet: Packet;
  readonly bytes: number;
}

/** Resolves when the packet is on disk. One that its sender has named by a `key` counts once, however often it comes. */
function keep(parts: TelemetryParts, admitted: Admitted, key: string | undefined): Promise<void> {
  if (key === undefined) return addToBatch(parts, admitted).durable;
  const { holder, environment } = admitted;
  const scope = { application: holder.application.number, environment: environment.number };
  const identity = identityOfKey('telemetry', scope, key);
  return parts.messages.once(identity, parts.clock.now(), () => addToBatch(parts, admitted));
}

/** Nothing is awaited between joining a batch and being whole in it. */
function addToBatch(parts: TelemetryParts, { holder, environment, packet, bytes }: Admitted): Batch {
  const batch = parts.laneOf(holder.application.number).join(bytes);
  addPacket(packet, parts.dictionary.of(environment.number), batch, parts.clock.now());
  parts.keys.markUsed(holder);
  return batch;
}
