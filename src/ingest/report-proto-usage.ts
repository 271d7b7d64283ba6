import { ProtoReader } from './proto-reader.ts';
import type { FeatureUsers, UsageReport, VariantUsage } from './report.ts';
import { checkSize, entriesPerUsageReport, hashesPerReport } from './report-checks.ts';
import { usersOf, type VariantStats, variantsOf } from './report-entries.ts';
import { finishHead, type MapEntries, newHead, readMapEntry, readTimestamp } from './report-proto.ts';

/** What the entries of a report add up to. */
interface Sums {
  statCount: number;
  /** Hashes so far. */
  hashCount: number;
  readonly variants: VariantUsage[];
  readonly users: FeatureUsers[];
}

/**
 * Decodes a `Usage.FeatureStat` (`proto/usage.proto`).
 * @throws {Refusal} of status 400, saying what is wrong with it
 */
export function decodeUsageReport(message: Uint8Array): UsageReport {
  const head = newHead();
  const sums: Sums = { statCount: 0, hashCount: 0, variants: [], users: [] };
  const hashes: number[] = [];
  const reader = new ProtoReader(message);
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        head.appKey = reader.string();
        break;
      case 2:
        head.environment = reader.name();
        break;
      case 3:
        head.time = readTimestamp(reader);
        break;
      case 4:
        checkSize(++sums.statCount, entriesPerUsageReport, 'too_many_features');
        readStat(reader, sums);
        break;
      case 6:
        head.instanceName = reader.string();
        break;
      case 7:
        head.processStartTime = readTimestamp(reader);
        break;
      case 8:
        reader.string(); // appVersion
        break;
      case 9:
        reader.int32s(hashes);
        break;
      case 5: // totalUniqueUsers
      case 10: // definitionCacheHits
      case 11: // definitionCacheMisses
        reader.count();
        break;
      default:
        reader.skip();
    }
  }
  checkSize(sums.hashCount + hashes.length, hashesPerReport, 'too_many_hashes');
  const { statCount, variants, users } = sums;
  return { ...finishHead(head), statCount, variants, users, environmentHashes: hashes.map(String) };
}

/** Adds a `Usage.StatMessage` to the sums. */
function readStat(reader: ProtoReader, sums: Sums): void {
  const outer = reader.enter();
  const entry = { feature: '', enabledCount: 0, disabledCount: 0, usedCount: 0 };
  const variantStats: MapEntries<VariantStats> = [];
  const hashes: number[] = [];
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        entry.feature = reader.name();
        break;
      case 2:
        entry.enabledCount = reader.count();
        break;
      case 3:
        entry.disabledCount = reader.count();
        break;
      case 4: // uniqueContextIdentifierEnabledCount
      case 5: // uniqueContextIdentifierDisabledCount
      case 6: // uniqueRequestEnabledCount
      case 7: // uniqueRequestDisabledCount
      case 9: // uniqueUsersUsedCount
        reader.count();
        break;
      case 8:
        entry.usedCount = reader.count();
        break;
      case 10: // uniqueUserHashes
      case 12: // uniqueViewedUserHashes
        reader.int32s(hashes);
        break;
      case 11:
        readMapEntry(reader, variantStats, noCounts, readVariantStats);
        break;
      default:
        reader.skip();
    }
  }
  reader.leave(outer);
  sums.hashCount += hashes.length;
  sums.variants.push(...variantsOf(entry, variantStats));
  sums.users.push(...usersOf(entry.feature, hashes.map(String), []));
}

const noCounts: VariantStats = {};

/** A `Usage.VariantStats`. */
function readVariantStats(reader: ProtoReader): VariantStats {
  const outer = reader.enter();
  const stats = { checkCount: 0, usedCount: 0, viewedCount: 0 };
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        stats.checkCount = reader.count();
        break;
      case 2: // requestCount
        reader.count();
        break;
      case 3:
        stats.usedCount = reader.count();
        break;
      case 4:
        stats.viewedCount = reader.count();
        break;
      default:
        reader.skip();
    }
  }
  reader.leave(outer);
  return stats;
}
