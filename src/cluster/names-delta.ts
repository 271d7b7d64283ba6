import { allSeries } from '../store/series.ts';
import type { UsageStore } from '../store/usage.ts';
import { emptyContent } from './delta.ts';
import { encodeDelta } from './delta-codec.ts';

/**
 * A delta that takes the place of lost ones. It has the names of all series of the spool, because the lost ones may have been the
 * first to refer to them.
 */
export function encodeNames(
  store: Pick<UsageStore, 'series'>,
  stream: string,
  seq: number,
  through: number,
): Buffer {
  return encodeDelta({
    ...{ stream, seq, through, since: 0, version: 0 },
    ...emptyContent(),
    series: [...allSeries(store)],
  });
}
