import { endEntry, usersOf, type VariantDraft } from './entries.ts';
import { finishHead, keepLatest, newHead, readHeadField, readMapEntry, readTimestamp } from './proto.ts';
import { ProtoReader } from './proto-reader.ts';
import type { FeatureUsers, UsageReport } from './report.ts';

/** What the entries of a report add up to. */
interface Sums {
  statCount: number;
  readonly variants: VariantDraft[];
  readonly users: FeatureUsers[];
}

/**
 * Decodes a `Usage.FeatureStat` (`proto/usage.proto`).
 * @throws {ApiError} of status 400, saying what is wrong with it
 */
export function decodeUsageReport(message: Uint8Array): UsageReport {
  const head = newHead();
  const sums: Sums = { statCount: 0, variants: [], users: [] };
  const hashes: number[] = [];
  let appVersion: string | undefined;
  const reader = new ProtoReader(message);
  while (reader.next()) {
    switch (reader.field) {
      case 4:
        sums.statCount += 1;
        readStat(reader, sums);
        break;
      case 6:
        head.instanceName = reader.name();
        break;
      case 7:
        head.processStartTime = readTimestamp(reader);
        break;
      case 8:
        appVersion = reader.string();
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
        readHeadField(reader, head);
    }
  }
  const { statCount, variants, users } = sums;
  return { ...finishHead(head), appVersion, statCount, variants, users, environmentHashes: textsOf(hashes) };
}

/** Adds a `Usage.StatMessage` to the sums. */
function readStat(reader: ProtoReader, sums: Sums): void {
  const outer = reader.enter();
  const entry = { feature: '', enabledCount: 0, disabledCount: 0, usedCount: 0 };
  const { variants } = sums;
  const first = variants.length;
  let hashes: number[] | undefined;
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
        hashes ??= [];
        reader.int32s(hashes);
        break;
      case 11:
        variants.push(readMapEntry(reader, newVariant(), readVariantStats));
        break;
      default:
        reader.skip();
    }
  }
  reader.leave(outer);
  keepLatest(variants, first);
  endEntry(variants, first, entry);
  if (hashes === undefined) return;
  sums.users.push(...usersOf(entry.feature, textsOf(hashes), []));
}

const noTexts: readonly string[] = [];

/** The hashes as texts, each once. */
function textsOf(hashes: readonly number[]): readonly string[] {
  if (hashes.length === 0) return noTexts;
  return Array.from(new Set(hashes), String);
}

function newVariant(): VariantDraft {
  return { feature: '', variant: '', checks: 0, used: 0, viewed: 0 };
}

/** A `Usage.VariantStats`. */
function readVariantStats(reader: ProtoReader, draft: VariantDraft): void {
  const outer = reader.enter();
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        draft.checks = reader.count();
        break;
      case 2: // requestCount
        reader.count();
        break;
      case 3:
        draft.used = reader.count();
        break;
      case 4:
        draft.viewed = reader.count();
        break;
      default:
        reader.skip();
    }
  }
  reader.leave(outer);
}
