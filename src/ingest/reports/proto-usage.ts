import { ProtoReader } from '../../grpc/proto-reader.ts';
import { endEntry, endUsage, newUsage, type UsageDrafts, usersOf, type VariantDraft } from './entries.ts';
import { finishHead, keepLatest, newHead, readHeadField, readMapEntry, readTimestamp } from './proto.ts';
import type { ReportNote, UsageReport } from './report.ts';

/** Decodes a `Usage.FeatureStat` (`proto/usage.proto`). @throws {ApiError} of status 400 with the error */
export function decodeUsageReport(message: Uint8Array): UsageReport {
  const head = newHead();
  const notes = new Set<ReportNote>();
  const drafts = newUsage();
  const hashes: number[] = [];
  let appVersion: string | undefined;
  const reader = new ProtoReader(message);
  while (reader.next()) {
    switch (reader.field) {
      case 4:
        drafts.statCount += 1;
        readStat(reader, drafts);
        break;
      case 6:
        head.instanceName = reader.name();
        break;
      case 7:
        head.processStartTime = readTimestamp(reader);
        if (head.processStartTime === undefined) notes.add('value_dropped');
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
        reader.int32();
        break;
      default:
        readHeadField(reader, head);
    }
  }
  const rest = { appVersion, environmentHashes: textsOf(hashes) };
  return endUsage(finishHead(head, notes), drafts, rest, notes);
}

function readStat(reader: ProtoReader, drafts: UsageDrafts): void {
  const outer = reader.enter();
  const entry = { feature: '', enabledCount: 0, disabledCount: 0, usedCount: 0 };
  const { variants } = drafts;
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
        reader.int32();
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
  drafts.users.push(...usersOf(entry.feature, textsOf(hashes), []));
}

const noTexts: readonly string[] = [];

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
        reader.int32();
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
