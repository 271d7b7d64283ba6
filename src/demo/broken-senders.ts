import { ApiError } from '../contract/errors.ts';
import type { LedgerSource } from '../ingest/ledger/ledger.ts';
import type { KeyName } from './shop.ts';

/** A program of the made-up shop that is set up wrongly, so that it is refused. */
export interface BrokenSender {
  readonly daysAgo: number;
  readonly perHour: number;
  readonly key: KeyName;
  readonly environment: string;
  readonly origin?: string;
  readonly source: LedgerSource;
  /** What the service answers, and so what the ledger has of earlier ones. */
  readonly refusal: ApiError;
  /** The path that it sends to, and the body; a text is sent as it is. */
  readonly path: string;
  body(key: string, environment: string): string;
}

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const telemetry = '/api/frontend/telemetry';
const packet = (k: string, e: string) => JSON.stringify({ k, e, f: { 'gift-cards': { on: [1, 0, 1] } } });

/** All of them. */
export const brokenSenders: readonly BrokenSender[] = [
  {
    daysAgo: 12,
    perHour: 9,
    key: 'Frontend',
    environment: 'Production',
    origin: 'https://shop-preview.pages.example',
    source: { route: 'telemetry', transport: 'http', userAgent: chrome },
    refusal: new ApiError('origin_not_allowed', 'The application does not allow this origin'),
    path: telemetry,
    body: packet,
  },
  {
    daysAgo: 5,
    perHour: 4,
    key: 'leaked',
    environment: 'Production',
    origin: 'https://partner.example',
    source: { route: 'telemetry', transport: 'http', userAgent: chrome },
    refusal: new ApiError('unknown_key', 'k is not a Frontend or Mobile key of any application'),
    path: telemetry,
    body: packet,
  },
  {
    daysAgo: 30,
    perHour: 6,
    key: 'Backend',
    environment: 'prod',
    source: { route: 'usage', transport: 'http', userAgent: 'nightly-export/1.2', instance: 'cron-1' },
    refusal: new ApiError('unknown_environment', 'environment is not one of the application; case matters'),
    path: '/api/usage/stats',
    body: (appKey, environment) => {
      const time = '2026-01-01T00:00:00Z';
      return JSON.stringify({ appKey, environment, time, instanceName: 'cron-1', stats: [] });
    },
  },
  {
    daysAgo: 60,
    perHour: 3,
    key: 'Backend',
    environment: 'Production',
    source: { route: 'usage', transport: 'http', userAgent: 'old-php-shop/0.4' },
    refusal: new ApiError('invalid_time', 'time must be an RFC 3339 time'),
    path: '/api/usage/stats',
    body: (appKey, environment) => JSON.stringify({ appKey, environment, time: 'yesterday', stats: [] }),
  },
];
