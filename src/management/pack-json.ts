import { gzipSync } from 'node:zlib';
import type { OverviewShown } from '../contract/shapes/overview.ts';
import { entityTag } from '../http/entity-tag.ts';
import type { Freshness } from '../storage/commit/usage-store.ts';
import type { PackedJson } from './shared-results.ts';

/** Fast rather than small: the answer changes every second or two. */
const level = 3;

/**
 * Writes an overview as JSON and compresses it. Its tag does not depend on when it was computed.
 * @param fresh what the headers say; none on one machine
 */
export function packJson(shown: OverviewShown, fresh?: Freshness): PackedJson {
  const json = JSON.stringify(shown);
  const withoutTimes = [shown.at, shown.completeThrough].reduce(
    (text, time) => text.replaceAll(`"${time}"`, '""'),
    json,
  );
  return { tag: entityTag(withoutTimes), gzip: Uint8Array.from(gzipSync(json, { level })), fresh };
}
