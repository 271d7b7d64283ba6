import { gzipSync } from 'node:zlib';
import { entityTag } from '../http/entity-tag.ts';
import type { OverviewShown } from './overview-shape.ts';
import type { PackedJson } from './shared-results.ts';

/** Fast rather than small: the answer changes every second or two. */
const level = 3;

/** Writes an overview as JSON and compresses it. Its tag does not depend on when it was computed. */
export function packJson(shown: OverviewShown): PackedJson {
  const json = JSON.stringify(shown);
  const tag = entityTag(json.replaceAll(`"${shown.at}"`, '""'));
  return { tag, gzip: Uint8Array.from(gzipSync(json, { level })) };
}
