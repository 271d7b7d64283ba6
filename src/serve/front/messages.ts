import type { Write } from '../../accounts/store/account-store.ts';
import type { ThreadKeyMarks } from '../../accounts/thread-keys.ts';
import type { TakenTotals } from '../../http/request-totals.ts';
import type { SharedLimit } from '../../ingest/admission/shared-rate-limits.ts';
import type { InstanceChange } from '../../ingest/formats/identities/instances.ts';
import type { LedgerFigures } from '../../ingest/ledger/ledger.ts';
import type { Failure } from '../../runtime/thread-calls.ts';
import type { TakenCommits } from '../../storage/commit/intake.ts';
import type { Deletion } from '../../storage/lmdb/records.ts';
import type { NewSeries } from '../../storage/lmdb/series.ts';
import type { Config } from '../config/config.ts';

/** What the main thread publishes to the front-end threads, in order. */
export type MainUpdate =
  /** Changes of applications and their keys. */
  | { readonly about: 'accounts'; readonly writes: readonly Write[] }
  /** Series that are on disk now. */
  | { readonly about: 'series'; readonly series: readonly NewSeries[] }
  /** All series of an environment that are on disk, for a thread that wants to count packets of it. JSON is faster to clone. */
  | { readonly about: 'dictionary'; readonly environment: number; readonly json: string }
  | { readonly about: 'limit'; readonly limit: SharedLimit }
  | { readonly about: 'instances'; readonly change: InstanceChange }
  | ({ readonly about: 'deletion' } & Deleted)
  | { readonly about: 'admission'; readonly admission: Admission }
  | { readonly about: 'settings'; readonly settings: LiveSettings };

/** A deleted application, or deleted environments of one. */
export type Deleted = Pick<Deletion, 'application' | 'environments' | 'whole'>;

/** Whether messages are accepted: see `admit`. */
export interface Admission {
  readonly ready: boolean;
  readonly refusal: Failure | undefined;
}

/** Settings that take effect without a restart. */
export type LiveSettings = Pick<Config, 'rate' | 'burst' | 'logLevel'>;

/** What a front-end thread publishes to the main thread, in order. */
export type FrontUpdate =
  | { readonly about: 'figures'; readonly requests: TakenTotals; readonly commits: TakenCommits }
  | { readonly about: 'ledger'; readonly figures: LedgerFigures }
  | { readonly about: 'keys'; readonly marks: ThreadKeyMarks }
  /** The thread wants to count packets of an environment, and needs its series. */
  | { readonly about: 'environment'; readonly wanted: number }
  | { readonly about: 'failure'; readonly failure: Failure };
