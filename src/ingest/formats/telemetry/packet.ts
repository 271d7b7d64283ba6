import Type, { type Static } from 'typebox';
import type { KeyHolder } from '../../../accounts/key-index.ts';
import { isName } from '../../../contract/names.ts';
import { Name } from '../../../contract/shapes/fields.ts';
import { shapeError } from '../../../http/json-body.ts';
import { compiled } from '../../../runtime/compiled.ts';
import type { Environment } from '../../../storage/lmdb/records.ts';
import { quoteLargeNumbers } from '../../json-text.ts';
import type { AttributedSource } from '../../ledger/ledger.ts';
import { describePlace, omitInvalid, pathText, pickRequired } from '../../omissions.ts';
import { checkName, Named } from '../../sender-schemas.ts';

/** Maximum count in a packet: the maximum of an int32. */
const maxCount = 2_147_483_647;

const Count = Type.Integer({ minimum: 0, maximum: maxCount });

/** Schema of a map. PHP encodes an empty map as `[]`; `null` is accepted, too. */
const Mapped = <T extends Type.TSchema>(value: T, options: Type.TObjectOptions = {}) =>
  Type.Unsafe<Readonly<Record<string, Static<T>>> | null>({
    ...Named(value),
    type: ['object', 'array', 'null'],
    items: {},
    maxItems: 0,
    ...options,
  });

const Counts = Type.Unsafe<readonly number[] | null>({ type: ['array', 'null'], items: Count, maxItems: 3 });

const nullable = <T>(type: string | readonly string[], options: object) =>
  Type.Optional(Type.Unsafe<T | null>({ type: [type, 'null'].flat(), ...options }));

type Text = string | number | boolean;
const text = ['string', 'number', 'boolean'];

/**
 * Schema of a packet: counts `[checks, used, viewed]` by feature and variant, without trailing zeros, and metrics. Only
 * the size of the body limits their number. Invalid names are left out later (see `EnvironmentSeries`).
 */
export const PacketSchema = Type.Object(
  {
    k: Type.String({ minLength: 1, maxLength: 256, description: 'Frontend or Mobile application key.' }),
    e: Type.String({ minLength: 1, maxLength: 256, description: 'Name of the environment.', ...Name }),
    f: Type.Optional(
      Mapped(Mapped(Counts), {
        description: 'Counts by feature, then by variant: `[checks, used, viewed]`, trailing zeros left out.',
      }),
    ),
    m: Type.Optional(
      Mapped(Type.Number(), {
        description: 'Values by metric. Counters are summed; of a gauge the last value counts.',
      }),
    ),
    i: nullable<Text>(text, {
      description:
        'Minted instance id. A number or boolean is converted to text. An unknown or expired id is ignored, and the packet is counted.',
    }),
    u: nullable<Text>(text, {
      description:
        'Identity asserted by the client. A number or boolean is converted to text. The identity is used only if the application accepts such ' +
        'identities and there is no `i`. It must have 1 to 256 characters and no control characters. An invalid identity is ignored, and the ' +
        'packet is counted.',
    }),
  },
  { component: 'Packet' },
);

type SentPacket = Static<typeof PacketSchema>;

/** Property with the path of the first value that was left out of a packet. A symbol cannot come from a sender. */
const omitted = Symbol('omitted');

/** A packet in the form that is counted, without empty fields. */
export interface Packet extends Pick<SentPacket, 'k' | 'e'> {
  readonly f?: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;
  readonly m?: Readonly<Record<string, number>>;
  readonly i?: string;
  readonly u?: string;
  readonly [omitted]?: string;
}

const checker = compiled(PacketSchema);

/**
 * Checks a parsed body. A value that cannot be counted is left out: see `omitInvalid`.
 * @param json the body as sent, which has all digits of an id that is a large number
 * @throws {Refusal} of status 400 if the body lacks its key or its environment, or has a value of a wrong type
 */
export function checkPacket(body: unknown, json?: string): Packet {
  const packet = isPlainPacket(body) ? (body as Packet) : repairPacket(body, json);
  checkName(packet.e, 'environment');
  return packet;
}

function repairPacket(body: unknown, json: string | undefined): Packet {
  const check = checker();
  const required = pickRequired(PacketSchema, body);
  if (!check.Check(required)) throw shapeError(check.Errors(required), { describePlace });
  const sent = body as Mutable<SentPacket>;
  const path = omitInvalid(PacketSchema, sent);
  for (const field of ['i', 'u'] as const) {
    const id = sent[field];
    if (id != null && typeof id !== 'string') sent[field] = readText(field, id, json);
  }
  removeNothings(sent);
  const packet = sent as Mutable<Packet>;
  if (path !== undefined) packet[omitted] = path;
  return packet;
}

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };

function readText(field: 'i' | 'u', id: number | boolean, json: string | undefined): string {
  if (json === undefined || typeof id === 'boolean' || Number.isSafeInteger(id)) return String(id);
  return String((JSON.parse(quoteLargeNumbers(json)) as SentPacket)[field]);
}

/** Removes fields that are `null`, and replaces lists that are `null` by empty lists. */
function removeNothings(sent: Mutable<SentPacket>): void {
  for (const field of ['f', 'm', 'i', 'u'] as const) if (sent[field] == null) delete sent[field];
  for (const variants of Object.values(sent.f ?? {})) {
    const counts = (variants ?? {}) as Record<string, readonly number[] | null>;
    for (const variant of Object.keys(counts)) counts[variant] ??= [];
  }
  const values = (sent.m ?? {}) as Record<string, number>;
  for (const metric of Object.keys(values)) if (Number.isNaN(values[metric])) delete values[metric];
}

export function omittedIn(packet: Packet): string | undefined {
  return packet[omitted];
}

/** Returns the path of the first name that is not valid. */
export function invalidNameIn({ f = {}, m = {} }: Packet): string | undefined {
  for (const feature in f) {
    if (!isName(feature)) return pathText(['f', feature]);
    for (const variant in f[feature]) if (!isName(variant)) return pathText(['f', feature, variant]);
  }
  for (const metric in m) if (!isName(metric)) return pathText(['m', metric]);
  return undefined;
}

const fields: ReadonlySet<string> = new Set(Object.keys(PacketSchema.properties));

/** Returns the first unknown field of a packet. The ledger notes it, because it can be a misspelling. */
export function unknownFieldIn(packet: Packet): string | undefined {
  for (const field in packet) if (!fields.has(field)) return field;
  return undefined;
}

const maxText = 256;

/**
 * True if a parsed body is a packet as sent by SDKs. Such a packet also passes `PacketSchema`, which checks other
 * packets and describes errors. The schema's check takes longer than parsing the packet.
 */
export function isPlainPacket(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { k, e, f, m, i, u } = body;
  return (
    isShortText(k) &&
    isShortText(e) &&
    (f == null || isFeatures(f)) &&
    (m == null || isMetrics(m)) &&
    (i === undefined || typeof i === 'string') &&
    (u === undefined || typeof u === 'string')
  );
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * True for a text within the schema's limit of characters. Compares the code units, which are never fewer than the
 * characters.
 */
function isShortText(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= maxText;
}

function isFeatures(features: unknown): boolean {
  if (!isObject(features)) return false;
  for (const feature in features) {
    const variants = features[feature];
    if (!isObject(variants)) return false;
    for (const variant in variants) if (!isCounts(variants[variant])) return false;
  }
  return true;
}

function isCounts(counts: unknown): boolean {
  if (!Array.isArray(counts) || counts.length > 3) return false;
  for (const count of counts) if ((count | 0) !== count || count < 0) return false;
  return true;
}

function isMetrics(metrics: unknown): boolean {
  if (!isObject(metrics)) return false;
  for (const metric in metrics) if (!Number.isFinite(metrics[metric])) return false;
  return true;
}

export interface PacketSender extends AttributedSource {
  readonly holder: KeyHolder;
  readonly environment: Environment;
  readonly origin: string | undefined;
}
