import type { MetricKind } from '../storage/lmdb/records.ts';
import type { Random } from './random.ts';

/** A metric of the made-up shop. */
export interface DemoMetric {
  readonly name: string;
  readonly kind: MetricKind;
  readonly unit: string | null;
  /** What it comes to in some minutes. @param busyness of that time: 1 is the average */
  value(random: Random, busyness: number, minutes: number): number;
}

const ordersPerMinute = 11;
const euros = 68;

/** All metrics of the application. */
export const metrics: readonly DemoMetric[] = [
  {
    name: 'orders',
    kind: 'counter',
    unit: null,
    value: (random, busyness, minutes) => random.poisson(ordersPerMinute * busyness * minutes),
  },
  {
    name: 'revenue',
    kind: 'counter',
    unit: 'EUR',
    value: (random, busyness, minutes) =>
      Math.round(ordersPerMinute * busyness * minutes * euros * (1 + 0.05 * random.normal())),
  },
  {
    name: 'basket-value',
    kind: 'gauge',
    unit: 'EUR',
    value: (random) => Math.round(euros * 100 * (1 + 0.06 * random.normal())) / 100,
  },
  {
    name: 'mail-queue',
    kind: 'gauge',
    unit: 'mails',
    value: (random, busyness) => random.poisson(18 + 60 * busyness ** 2),
  },
  {
    name: 'search-time',
    kind: 'gauge',
    unit: 'ms',
    value: (random, busyness) => Math.round(38 + 22 * busyness + 4 * random.normal()),
  },
];
