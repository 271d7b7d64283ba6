import type { MessagePort } from 'node:worker_threads';
import type { ThreadKeyEvents } from '../../accounts/key-events.ts';
import type { Write } from '../../accounts/store/account-store.ts';
import type { TakenTotals } from '../../http/request-totals.ts';
import type { ListenOptions } from '../../http/types.ts';
import type { SharedLimit } from '../../ingest/admission/shared-rate-limits.ts';
import type { InstanceChange } from '../../ingest/formats/identities/instances.ts';
import type { LedgerFigures } from '../../ingest/ledger/ledger.ts';
import type { PublicationEnd } from '../../runtime/publication.ts';
import type { Failure } from '../../runtime/thread-calls.ts';
import type { TakenCommits } from '../../storage/commit/intake.ts';
import type { Deletion } from '../../storage/lmdb/records.ts';
import type { NewSeries } from '../../storage/lmdb/series.ts';
import type { Config } from '../config/config.ts';

/** Messages with which the main thread updates the front-end threads, in order. */
export type MainUpdate =
  /** Changes of applications and their keys. */
  | { readonly about: 'accounts'; readonly writes: readonly Write[] }
  /** Series that are on disk now. */
  | { readonly about: 'series'; readonly series: readonly NewSeries[] }
  /** All series of an environment, for a thread that requested them. JSON is faster to clone than objects. */
  | { readonly about: 'dictionary'; readonly environment: number; readonly json: string }
  | { readonly about: 'limit'; readonly limit: SharedLimit }
  | { readonly about: 'instances'; readonly change: InstanceChange }
  | ({ readonly about: 'deletion' } & DeletedScope)
  | { readonly about: 'admission'; readonly admission: Admission }
  | { readonly about: 'settings'; readonly settings: LiveSettings };

/** A deleted application, or the deleted environments of an application. */
export type DeletedScope = Pick<Deletion, 'application' | 'environments' | 'whole'>;

export interface Admission {
  readonly ready: boolean;
  readonly refusal: Failure | undefined;
}

/** Settings that take effect without a restart. */
export type LiveSettings = Pick<Config, 'rate' | 'burst' | 'logLevel'>;

/** Messages with which a front-end thread updates the main thread, in order. */
export type FrontUpdate =
  | { readonly about: 'figures'; readonly requests: TakenTotals; readonly commits: TakenCommits }
  | { readonly about: 'ledger'; readonly figures: LedgerFigures }
  | { readonly about: 'keys'; readonly lastUses: ThreadKeyEvents }
  /** The thread requests the series of an environment, to count its packets. */
  | { readonly about: 'environment'; readonly wanted: number }
  | { readonly about: 'failure'; readonly failure: Failure };

type JoinedListener = Pick<ListenOptions, 'host' | 'port' | 'tls' | 'joins' | 'headers' | 'busyPaths'>;

export interface FrontStart {
  /** The number of the thread. The first thread has number 1. */
  readonly number: number;
  /** See `SharedQueues`. */
  readonly queues: SharedArrayBuffer;
  /** One number: the time of the service minus the time of the machine, ms. */
  readonly ahead: Float64Array;
  readonly config: Config;
  readonly fromMain: PublicationEnd;
  readonly toMain: PublicationEnd;
  /** The port for requests that are forwarded to the main thread. */
  readonly relay: MessagePort;
  /** Memory of the histogram of this thread's event loop delays. */
  readonly delays: ArrayBufferLike;
  readonly listener: JoinedListener;
}

export function joinedListener({ host, port, tls, headers, busyPaths }: ListenOptions): JoinedListener {
  return { host, port, joins: true, ...(tls && { tls }), ...(headers && { headers }), ...(busyPaths && { busyPaths }) };
}
