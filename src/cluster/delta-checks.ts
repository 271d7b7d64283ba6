import { isName } from '../accounts/names.ts';
import { greatestCouponRank, greatestRank } from '../aggregate/hyperloglog.ts';
import type { LedgerExample } from '../store/ledger.ts';
import type { Sender } from '../store/senders.ts';
import { featureItself, type SeriesName } from '../store/series.ts';
import { chunkValueBytes, formCoupons, formRegisters, maxCoupons, readChunk } from '../store/sketches.ts';
import { type Column, fail, isWord, valid, whole } from './delta-values.ts';

/** A feature's variant, of which the feature itself is one; a metric; or a metric of a variant. */
export const seriesNames = valid<SeriesName>((parts) => {
  if (!Array.isArray(parts) || parts.length < 1 || parts.length > 3) return false;
  return parts.every((part: unknown, at) => {
    const isItself = part === featureItself && at === 1 && parts.length === 2;
    return typeof part === 'string' && (isItself || isName(part));
  });
});

/** Bytes of a chunk of a sketch, whose content `checkChunk` looks at. */
export const chunkBytes = valid<Uint8Array>((value) => {
  if (!(value instanceof Uint8Array)) return false;
  const { length } = value;
  if (value[0] === formRegisters) return length === chunkValueBytes;
  return value[0] === formCoupons && length % 4 === 1 && length > 1 && length <= 1 + 4 * maxCoupons;
});

/** A chunk has what `writeChunk` encodes. @throws {DeltaUnreadable} */
export function checkChunk({ chunk, value }: { readonly chunk: number; readonly value: Uint8Array }): void {
  const content = readChunk(Buffer.from(value.buffer, value.byteOffset, value.length));
  if (content.registers?.some((rank) => rank > greatestRank)) fail('sketches');
  let before = -1;
  for (const coupon of content.coupons ?? []) {
    const [prefix, rank] = [coupon >>> 6, coupon & 63];
    if (prefix <= before || coupon >>> 27 !== chunk || rank === 0 || rank > greatestCouponRank)
      fail('sketches');
    before = prefix;
  }
}

const transportNames: readonly unknown[] = ['http', 'grpc', 'grpc-web'];
const routeNames: readonly unknown[] = ['telemetry', 'usage', 'metrics'];
const outcomes: readonly unknown[] = ['accepted', 'refused', 'noted'];
/** Longer than any text of a sender that is kept. */
const longestText = 4096;

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestText;
}

function isTextOrNull(value: unknown): boolean {
  return value === null || isText(value);
}

export const shownText = valid<string>(isText);
export const shownTextOrNull = valid<string | null>(isTextOrNull);
export const transports = valid<Sender['transport']>((value) => transportNames.includes(value));
export const routes = valid<Sender['route']>((value) => routeNames.includes(value));

/** The text of a subject becomes part of a stored row, so it is exactly what `subjectText` writes. */
export const subjects = valid<string>((subject) => {
  const fields = parseJson(subject, 4 * longestText);
  if (!Array.isArray(fields) || fields.length !== 8) return false;
  const [environment, transport, route, outcome, status, code, userAgent, instance] = fields;
  const isSubject =
    (environment === null || isWord(environment as number)) &&
    transportNames.includes(transport) &&
    [...routeNames, 'identities'].includes(route) &&
    outcomes.includes(outcome) &&
    whole(1000)(status as number) &&
    [code, userAgent, instance].every(isTextOrNull);
  return isSubject && JSON.stringify(fields) === subject;
});

const exampleFields: readonly string[] = [
  'environment',
  'origin',
  'keyId',
  'keyPrefix',
  'keyType',
  'detail',
] satisfies (keyof LedgerExample)[];

/** The example of a line of the ledger, as JSON. */
export const examples: Column<LedgerExample | null> = {
  pack: (example) => JSON.stringify(example),
  unpack: (packed) => JSON.parse(packed as string) as LedgerExample | null,
  read(packed, name) {
    const example = parseJson(packed, 16 * longestText);
    const isObject = typeof example === 'object' && !Array.isArray(example);
    const isExample = Object.entries(example ?? {}).every(([key, held]) => {
      return exampleFields.includes(key) && isText(held);
    });
    return isObject && isExample ? example : fail(name);
  },
};

/** Parses a JSON text of at most so many characters; `undefined` when it is none. */
function parseJson(value: unknown, longest: number): unknown {
  if (typeof value !== 'string' || value.length > longest) return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
