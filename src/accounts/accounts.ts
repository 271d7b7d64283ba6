import type {
  ApiKey,
  Application,
  ApplicationKey,
  Deletion,
  FeatureDeclaration,
  MetricDeclaration,
  OAuthClient,
  Team,
  User,
} from '../storage/lmdb/records.ts';
import type { Webhook } from '../storage/lmdb/webhook-records.ts';

/** Teams and what they have, to be read: a directory shows what is on disk, a draft what a change is made to. */
export interface Accounts {
  readonly teams: ReadonlyMap<string, Team>;
  readonly users: ReadonlyMap<string, User>;
  /** By `clientId`. */
  readonly apiKeys: ReadonlyMap<string, ApiKey>;
  readonly applications: ReadonlyMap<string, Application>;
  /** Those that teams registered, by `clientId`. */
  readonly clients: ReadonlyMap<string, OAuthClient>;
  readonly webhooks: ReadonlyMap<string, Webhook>;
  /** What is to be removed from the disk. */
  readonly deletions: ReadonlyMap<string, Deletion>;
  /** What is declared of an application's features, by name; the same for its metrics. */
  featuresOf(applicationId: string): ReadonlyMap<string, FeatureDeclaration>;
  metricsOf(applicationId: string): ReadonlyMap<string, MetricDeclaration>;
  /** The keys of an application, the oldest first. */
  keysOf(applicationId: string): readonly ApplicationKey[];
}
