import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Refusal } from '../errors.ts';
import { parseJson } from '../http/body.ts';
import { named } from '../http/openapi/named-schemas.ts';
import { canonicalInteger, quoteLargeNumbers } from './exact-integers.ts';
import { hashed } from './openapi/sender-schemas.ts';
import type { UsageReport } from './report.ts';
import { checkSize, entriesPerUsageReport, hashesPerReport, variantsPerEntry } from './report-checks.ts';
import { endEntry, usersOf, type VariantDraft } from './report-entries.ts';
import { checkShape, count, headFields, listOf, mapOf, readHead, text } from './report-json.ts';

/** A hash may have more digits than a double holds, so it may also come as a string. */
const hashes = () =>
  listOf(Type.Unsafe<number | string>({ type: ['integer', 'string'], ...hashed }), {
    documented: { maxItems: hashesPerReport },
  });

const VariantStats = Type.Object({
  checkCount: count(),
  requestCount: count(),
  usedCount: count(),
  viewedCount: count(),
});

const UsageStat = Type.Object({
  feature: Type.String(named),
  enabledCount: count(),
  disabledCount: count(),
  uniqueContextIdentifierEnabledCount: count(),
  uniqueContextIdentifierDisabledCount: count(),
  uniqueRequestEnabledCount: count(),
  uniqueRequestDisabledCount: count(),
  usedCount: count(),
  uniqueUsersUsedCount: count(),
  uniqueUserHashes: hashes(),
  variantStats: mapOf(VariantStats, {
    description: 'Counts by variant; without any, the counts above are those of `enabled` and `disabled`.',
    documented: { maxProperties: variantsPerEntry },
  }),
  uniqueViewedUserHashes: hashes(),
});

/** A usage report as JSON: the fields of the protobuf message `FeatureStat`. */
export const UsageReportSchema = Type.Object({
  ...headFields,
  stats: listOf(UsageStat, { documented: { maxItems: entriesPerUsageReport } }),
  totalUniqueUsers: count(),
  appVersion: text(),
  uniqueUserHashes: hashes(),
  definitionCacheHits: count(),
  definitionCacheMisses: count(),
});

type UsageBody = Static<typeof UsageReportSchema>;

const checker = Compile(UsageReportSchema);

/**
 * Reads a usage report from JSON.
 * @throws {Refusal} of status 400, saying what is wrong and where
 */
export function decodeUsage(json: string): UsageReport {
  const body = checkShape(checker, parseJson(json));
  const head = readHead(body);
  const stats = body.stats ?? [];
  checkSize(stats.length, entriesPerUsageReport, 'too_many_features');
  const exact = withExactHashes(json, body);
  checkSize(hashesIn(exact), hashesPerReport, 'too_many_hashes');
  return {
    ...head,
    statCount: stats.length,
    variants: variantsOf(stats),
    users: (exact.stats ?? []).flatMap(({ feature, uniqueUserHashes, uniqueViewedUserHashes }) =>
      usersOf(feature, readHashes(uniqueUserHashes), readHashes(uniqueViewedUserHashes)),
    ),
    environmentHashes: readHashes(exact.uniqueUserHashes),
  };
}

function variantsOf(stats: NonNullable<UsageBody['stats']>): VariantDraft[] {
  const variants: VariantDraft[] = [];
  for (const stat of stats) {
    const first = variants.length;
    for (const [variant, { checkCount, usedCount, viewedCount }] of Object.entries(stat.variantStats ?? {})) {
      const counts = { checks: checkCount ?? 0, used: usedCount ?? 0, viewed: viewedCount ?? 0 };
      variants.push({ feature: '', variant, ...counts });
    }
    endEntry(variants, first, stat);
  }
  return variants;
}

/**
 * The body with large numbers as strings, to read the hashes from. Everything else is read from the body that was
 * checked: there a number is a number, however large.
 */
function withExactHashes(json: string, body: UsageBody): UsageBody {
  return /\d{16}/.test(json) ? (JSON.parse(quoteLargeNumbers(json)) as UsageBody) : body;
}

type Hashes = UsageBody['uniqueUserHashes'];

function hashesIn({ stats, uniqueUserHashes }: UsageBody): number {
  let size = uniqueUserHashes?.length ?? 0;
  for (const stat of stats ?? []) {
    size += (stat.uniqueUserHashes?.length ?? 0) + (stat.uniqueViewedUserHashes?.length ?? 0);
  }
  return size;
}

function readHashes(sent: Hashes): string[] {
  return (sent ?? []).map((hash) => {
    const integer = canonicalInteger(String(hash));
    if (integer === undefined) throw new Refusal('invalid_hash', 'One of the hashes is no such integer');
    return integer;
  });
}
