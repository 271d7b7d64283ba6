import type { LedgerSource } from '../ingest/ledger/ledger.ts';
import type { KeyType } from '../storage/lmdb/records.ts';

/** The programs of the made-up shop that ask for flags. */
export type SourceName = 'web' | 'app' | 'api' | 'worker' | 'search';

/** One program. */
export interface Source {
  readonly name: SourceName;
  readonly keyType: KeyType;
  /** Packets of single visitors, or reports of a server. */
  readonly sends: 'packets' | 'grpc reports' | 'json reports';
  /** Packets or reports a minute in Production, on average. */
  readonly perMinute: number;
  /** What it calls itself, and how much of its traffic does so. */
  readonly agents: readonly (readonly [agent: string, share: number])[];
  /** Versions of a server, which its reports name. */
  readonly version?: string;
}

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const safari =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';

/** Every program, in the order in which the history tells of them. */
export const sources: readonly Source[] = [
  {
    name: 'web',
    keyType: 'Frontend',
    sends: 'packets',
    perMinute: 540,
    agents: [
      [chrome, 0.52],
      [safari, 0.33],
      [firefox, 0.15],
    ],
  },
  {
    name: 'app',
    keyType: 'Mobile',
    sends: 'packets',
    perMinute: 240,
    agents: [
      ['ShopApp/5.2 (Android 16)', 0.55],
      ['ShopApp/5.2 (iOS 18)', 0.35],
      ['ShopApp/4.9 (Android 12)', 0.1],
    ],
  },
  {
    name: 'api',
    keyType: 'Backend',
    sends: 'grpc reports',
    perMinute: 24,
    agents: [['shop-api/1.9', 1]],
    version: '1.9.3',
  },
  {
    name: 'worker',
    keyType: 'Backend',
    sends: 'json reports',
    perMinute: 6,
    agents: [['shop-worker/3.0', 1]],
    version: '3.0.1',
  },
  {
    name: 'search',
    keyType: 'Backend',
    sends: 'json reports',
    perMinute: 6,
    agents: [['search-service/0.8', 1]],
    version: '0.8.0',
  },
];

/** The page that the web shop is on. */
export const shopOrigin = 'https://shop.example';

/** A source as the ledger knows it. */
export function sourceOf({ name, sends }: Source, userAgent: string): LedgerSource {
  if (sends === 'packets') return { route: 'telemetry', transport: 'http', userAgent };
  return {
    route: 'usage',
    transport: sends === 'grpc reports' ? 'grpc' : 'http',
    userAgent,
    instance: `${name}-1`,
  };
}

/** One of the names of a source, by a chance from 0 to 1. */
export function agentOf({ agents }: Source, chance: number): string {
  let rest = chance;
  for (const [agent, share] of agents) {
    rest -= share;
    if (rest < 0) return agent;
  }
  return agents[0]![0];
}
