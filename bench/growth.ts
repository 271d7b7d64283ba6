import { statSync } from 'node:fs';
import { join } from 'node:path';
import { freshDirectory } from '../test/support/binary.ts';
import { round } from './numbers.ts';
import { fillHistory, variants } from './report-store.ts';

/**
 * Growth of a usage store with the number of series. Packets that count known series in the same minute need no space.
 */
export interface Growth {
  readonly series: number;
  /** Size in MB if every series is counted in every retained minute. */
  readonly minutesMb: number;
  /** Size in MB of each further day, for which counts are kept by hour. */
  readonly dayMb: number;
}

const keptDays = 2;
const features = 70;

/**
 * Fills stores with the service's own code.
 * @param minuteHours number of hours with every minute filled
 * @param days length of the longer history, more than 2
 */
export async function measureGrowth(minuteHours: number, days: number): Promise<Growth> {
  const measureSize = async (history: number) => {
    const data = join(freshDirectory(), 'data');
    const environment = { environment: 2, application: 1, flags: features, days: history, hoursADay: 24, minuteHours };
    await fillHistory(data, [environment], Date.now());
    return statSync(join(data, 'usage/data.mdb')).size / 1e6;
  };
  const minutesMb = await measureSize(keptDays);
  const dayMb = ((await measureSize(days)) - minutesMb) / (days - keptDays);
  return { series: features * variants.length, minutesMb: round(minutesMb, 1), dayMb: round(dayMb, 2) };
}
