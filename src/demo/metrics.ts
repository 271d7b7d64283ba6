import type { MetricKind } from '../storage/lmdb/records.ts';
import type { Random } from './random.ts';

/** Computes the value of some minutes. @param traffic of that time; 1 is the average */
type Value = (random: Random, traffic: number, minutes: number) => number;

const ordersPerMinute = 11;
const euros = 68;

const orders: Value = (random, traffic, minutes) => random.poisson(ordersPerMinute * traffic * minutes);
const revenue: Value = (random, traffic, minutes) =>
  Math.round(ordersPerMinute * traffic * minutes * euros * (1 + 0.05 * random.normal()));
const basket: Value = (random) => Math.round(euros * 100 * (1 + 0.06 * random.normal())) / 100;
const mails: Value = (random, traffic) => random.poisson(18 + 60 * traffic ** 2);
const searchTime: Value = (random, traffic) => Math.round(38 + 22 * traffic + 4 * random.normal());

/** The metrics of the shop. */
export const metrics: readonly { name: string; kind: MetricKind; unit: string | null; value: Value }[] = [
  { name: 'orders', kind: 'counter', unit: null, value: orders },
  { name: 'revenue', kind: 'counter', unit: 'EUR', value: revenue },
  { name: 'basket-value', kind: 'gauge', unit: 'EUR', value: basket },
  { name: 'mail-queue', kind: 'gauge', unit: 'mails', value: mails },
  { name: 'search-time', kind: 'gauge', unit: 'ms', value: searchTime },
];
