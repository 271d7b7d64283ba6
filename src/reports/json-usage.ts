import Type, { type Static } from 'typebox';
import { compiled } from '../compiled.ts';
import { ApiError } from '../errors.ts';
import { hashed } from '../ingest/sender-schemas.ts';
import { endEntry, usersOf, type VariantDraft } from './entries.ts';
import { canonicalInteger } from './exact-integers.ts';
import { count, headFields, listOf, mapOf, name, optionalName, readHead, readReport } from './json.ts';
import type { UsageReport } from './report.ts';

/** A hash may have more digits than a double holds, so it may also come as a string. */
const hashes = () => listOf(Type.Unsafe<number | string>({ type: ['integer', 'string'], ...hashed }));

const VariantStats = Type.Object({
  checkCount: count(),
  requestCount: count(),
  usedCount: count(),
  viewedCount: count(),
});

const UsageStat = Type.Object({
  feature: name(),
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
  }),
  uniqueViewedUserHashes: hashes(),
});

/** A usage report as JSON: the fields of the protobuf message `FeatureStat`. */
export const UsageReportSchema = Type.Object(
  {
    ...headFields,
    stats: Type.Unsafe<readonly Static<typeof UsageStat>[] | null>({
      type: ['array', 'null'],
      items: UsageStat,
      description: 'May be empty, but not missing: a misspelt name would count nothing.',
    }),
    totalUniqueUsers: count(),
    appVersion: optionalName({ description: 'Version of the program that reports.' }),
    uniqueUserHashes: hashes(),
    definitionCacheHits: count(),
    definitionCacheMisses: count(),
  },
  { component: 'UsageReport' },
);

type UsageBody = Static<typeof UsageReportSchema>;

const checker = compiled(UsageReportSchema);

/**
 * Reads a usage report from JSON.
 * @throws {ApiError} of status 400, saying what is wrong and where
 */
export function decodeUsage(json: string): UsageReport {
  const body = readReport(checker(), json);
  const stats = body.stats ?? [];
  return {
    ...readHead(body),
    appVersion: body.appVersion == null ? undefined : String(body.appVersion),
    statCount: stats.length,
    variants: variantsOf(stats),
    users: stats.flatMap(({ feature, uniqueUserHashes, uniqueViewedUserHashes }) =>
      usersOf(String(feature), readHashes(uniqueUserHashes), readHashes(uniqueViewedUserHashes)),
    ),
    environmentHashes: [...new Set(readHashes(body.uniqueUserHashes))],
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
    endEntry(variants, first, { ...stat, feature: String(stat.feature) });
  }
  return variants;
}

function readHashes(sent: UsageBody['uniqueUserHashes']): string[] {
  return (sent ?? []).map((hash) => {
    if (Number.isSafeInteger(hash)) return String(hash);
    const integer = canonicalInteger(String(hash));
    if (integer === undefined) throw new ApiError('invalid_hash', 'One of the hashes is no such integer');
    return integer;
  });
}
