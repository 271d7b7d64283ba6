import Type, { type Static } from 'typebox';
import { compiled } from '../../../runtime/compiled.ts';
import { canonicalInteger } from '../../exact-integers.ts';
import { addNote, type Path } from '../../omissions.ts';
import { hashed } from '../../sender-schemas.ts';
import { endEntry, endUsage, newUsage, type UsageDrafts, usersOf } from './entries.ts';
import {
  count,
  headFields,
  listOf,
  mapOf,
  name,
  nameOf,
  optionalName,
  readHead,
  readReport,
  unreadCount,
} from './json.ts';
import type { ReportNotes, UsageReport } from './report.ts';

/** A hash may have more digits than a double holds, so it may also come as a string. */
const hashes = () => listOf(Type.Unsafe<number | string>({ type: ['integer', 'string'], ...hashed }));

interface SentCounts {
  readonly checkCount?: number | null;
  readonly usedCount?: number | null;
  readonly viewedCount?: number | null;
}

const VariantStats = Type.Unsafe<SentCounts | null>({
  type: ['object', 'array', 'null'],
  properties: {
    checkCount: count(),
    requestCount: unreadCount(),
    usedCount: count(),
    viewedCount: count(),
  },
  items: {},
  maxItems: 0,
});

const UsageStat = Type.Object({
  feature: name(),
  enabledCount: count(),
  disabledCount: count(),
  uniqueContextIdentifierEnabledCount: unreadCount(),
  uniqueContextIdentifierDisabledCount: unreadCount(),
  uniqueRequestEnabledCount: unreadCount(),
  uniqueRequestDisabledCount: unreadCount(),
  usedCount: count(),
  uniqueUsersUsedCount: unreadCount(),
  uniqueUserHashes: hashes(),
  variantStats: mapOf(VariantStats, {
    description: 'Counts by variant. Without any, the counts above apply to `enabled` and `disabled`.',
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
      description: 'Required, but may be empty. A misspelt field name is therefore refused.',
    }),
    totalUniqueUsers: unreadCount(),
    appVersion: optionalName({ description: 'Version of the reporting program.' }),
    uniqueUserHashes: hashes(),
    definitionCacheHits: unreadCount(),
    definitionCacheMisses: unreadCount(),
  },
  { component: 'UsageReport' },
);

type UsageBody = Static<typeof UsageReportSchema>;

const checker = compiled(UsageReportSchema);

export function decodeUsage(json: string): UsageReport {
  const { body, notes } = readReport(UsageReportSchema, checker(), json);
  const head = readHead(body, notes);
  const drafts = newUsage(notes);
  for (const stat of body.stats ?? []) readStat(stat, drafts);
  const rest = {
    appVersion: body.appVersion == null ? undefined : String(body.appVersion),
    environmentHashes: [...new Set(readHashes(body.uniqueUserHashes, notes, ['uniqueUserHashes']))],
  };
  return endUsage(head, drafts, rest);
}

function readStat(stat: Static<typeof UsageStat>, drafts: UsageDrafts): void {
  const { variants, users, notes } = drafts;
  const at = drafts.statCount;
  drafts.statCount += 1;
  const first = variants.length;
  for (const [variant, counts] of Object.entries(stat.variantStats ?? {})) {
    const { checkCount, usedCount, viewedCount } = counts ?? {};
    variants.push({
      feature: '',
      variant,
      checks: checkCount ?? 0,
      used: usedCount ?? 0,
      viewed: viewedCount ?? 0,
    });
  }
  const feature = nameOf(stat.feature);
  const { enabledCount, disabledCount, usedCount } = stat;
  endEntry(drafts, first, { feature, enabledCount, disabledCount, usedCount });
  const hashesIn = (field: 'uniqueUserHashes' | 'uniqueViewedUserHashes') =>
    readHashes(stat[field], notes, ['stats', at, field]);
  users.push(...usersOf(feature, hashesIn('uniqueUserHashes'), hashesIn('uniqueViewedUserHashes')));
}

/** The hashes as canonical integers, without those that are not integers. @param path of the list */
function readHashes(sent: UsageBody['uniqueUserHashes'], notes: ReportNotes, path: Path): string[] {
  const hashes: string[] = [];
  for (const [at, hash] of (sent ?? []).entries()) {
    const integer = Number.isSafeInteger(hash) ? String(hash) : canonicalInteger(String(hash));
    if (integer === undefined) addNote(notes, 'value_dropped', ...path, at);
    else hashes.push(integer);
  }
  return hashes;
}
