import { Refusal } from '../contract/errors.ts';
import type { LedgerSource } from '../ingest/ledger/ledger.ts';
import type { KeyType, MetricKind } from '../storage/lmdb/records.ts';
import type { Random, Shares } from './random.ts';

/** A program that checks flags. */
export interface Program {
  readonly name: 'web' | 'app' | 'api' | 'worker' | 'search';
  readonly key: KeyType;
  /** Messages that the program sends: packets of single visitors, or reports of a server. */
  readonly sends: 'packets' | 'grpc reports' | 'json reports';
  /** Mean number of packets or reports a minute in Production. */
  readonly perMinute: number;
  /** The share of the program's traffic by User-Agent. */
  readonly agents: Shares;
  /** The version in a server's reports. */
  readonly version?: string;
}

export type ProgramName = Program['name'];

/** A key of each type, a Backend key that leaked into a web page, and a revoked key. */
export type KeyName = KeyType | 'leaked' | 'revoked';

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const safari =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';

// biome-ignore format: a table
export const programs: readonly Program[] = [
  { name: 'web', key: 'Frontend', sends: 'packets', perMinute: 540, agents: { [chrome]: 0.52, [safari]: 0.33, [firefox]: 0.15 } },
  { name: 'app', key: 'Mobile', sends: 'packets', perMinute: 240, agents: { 'ShopApp/5.2 (Android 16)': 0.55, 'ShopApp/5.2 (iOS 18)': 0.35, 'ShopApp/4.9 (Android 12)': 0.1 } },
  { name: 'api', key: 'Backend', sends: 'grpc reports', perMinute: 24, agents: { 'shop-api/1.9.3': 1 }, version: '1.9.3' },
  { name: 'worker', key: 'Backend', sends: 'json reports', perMinute: 6, agents: { 'shop-worker/3.0.1': 1 }, version: '3.0.1' },
  { name: 'search', key: 'Backend', sends: 'json reports', perMinute: 6, agents: { 'search-service/0.8.0': 1 }, version: '0.8.0' },
];

export const shopOrigin = 'https://shop.example';

/** Returns the source of a program's messages, as the ledger shows it. */
export function ledgerSource({ name, sends }: Program, userAgent: string) {
  if (sends === 'packets') return { route: 'telemetry', transport: 'http', userAgent } as const;
  const transport = sends === 'grpc reports' ? 'grpc' : 'http';
  return { route: 'usage', transport, userAgent, instance: `${name}-1` } as const;
}

/** A misconfigured program, whose messages are refused. */
export interface BrokenSender {
  readonly daysAgo: number;
  readonly perHour: number;
  readonly key: KeyName;
  readonly environment: string;
  readonly origin?: string;
  readonly source: LedgerSource & { readonly route: 'telemetry' | 'usage' };
  readonly refusal: Refusal;
  /** Content of the program's messages, without key and environment. */
  readonly content: object;
}

const page = { route: 'telemetry', transport: 'http', userAgent: chrome } as const;
const nightly = { ...page, route: 'usage', userAgent: 'nightly-export/1.2', instance: 'cron-1' } as const;
const php = { ...page, route: 'usage', userAgent: 'old-php-shop/0.4' } as const;
const giftCards = { f: { 'gift-cards': { on: [1, 0, 1] } } };

// biome-ignore format: a table
export const brokenSenders: readonly BrokenSender[] = [
  { daysAgo: 12, perHour: 9, key: 'Frontend', environment: 'Production', source: page, content: giftCards, origin: 'https://shop-preview.pages.example',
    refusal: new Refusal('origin_not_allowed', 'The application does not allow this origin') },
  { daysAgo: 5, perHour: 1500, key: 'leaked', environment: 'Production', source: page, content: giftCards, origin: 'https://partner.example',
    refusal: new Refusal('unknown_key', 'k is not a Frontend or Mobile key of any application') },
  { daysAgo: 40, perHour: 30, key: 'revoked', environment: 'Production', source: { ...page, userAgent: firefox }, content: giftCards, origin: shopOrigin,
    refusal: new Refusal('unknown_key', 'k is not a Frontend or Mobile key of any application') },
  { daysAgo: 30, perHour: 6, key: 'Backend', environment: 'prod', source: nightly, content: { time: '2026-01-01T00:00:00Z', instanceName: 'cron-1', stats: [] },
    refusal: new Refusal('unknown_environment', 'environment must name an environment of the application; case matters') },
  { daysAgo: 60, perHour: 3, key: 'Backend', environment: 'Production', source: php, content: { time: 'yesterday', stats: [] },
    refusal: new Refusal('invalid_time', 'time must be an RFC 3339 time') },
];

interface DemoMetric {
  readonly name: string;
  readonly kind: MetricKind;
  readonly unit: string | null;
  /** Computes the value of a metric in a period. @param traffic traffic relative to the average */
  readonly value: (random: Random, traffic: number, minutes: number) => number;
}

const orders = 11;
const euros = 68;

// biome-ignore format: a table
export const metrics: readonly DemoMetric[] = [
  { name: 'orders', kind: 'counter', unit: null,
    value: (random, traffic, minutes) => random.poisson(orders * traffic * minutes) },
  { name: 'revenue', kind: 'counter', unit: 'EUR',
    value: (random, traffic, minutes) => Math.round(orders * traffic * minutes * euros * (1 + 0.05 * random.normal())) },
  { name: 'basket-value', kind: 'gauge', unit: 'EUR',
    value: (random) => Math.round(euros * 100 * (1 + 0.06 * random.normal())) / 100 },
  { name: 'mail-queue', kind: 'gauge', unit: 'mails',
    value: (random, traffic) => random.poisson(18 + 60 * traffic ** 2) },
  { name: 'search-time', kind: 'gauge', unit: 'ms',
    value: (random, traffic) => Math.round(38 + 22 * traffic + 4 * random.normal()) },
];
