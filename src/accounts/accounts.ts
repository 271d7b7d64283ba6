import type { IdentityProvider } from '../storage/lmdb/auth-records.ts';
import type {
  ApiKey,
  Application,
  ApplicationKey,
  CodeScan,
  Deletion,
  FeatureDeclaration,
  MetricDeclaration,
  OAuthClient,
  Team,
  User,
  Webhook,
} from '../storage/lmdb/records.ts';
import { mustExist } from './checks.ts';

/** Teams and their resources, read-only. A directory has the committed state; a transaction also has pending writes. */
export interface Accounts {
  readonly teams: ReadonlyMap<string, Team>;
  readonly users: ReadonlyMap<string, User>;
  /** API keys by `clientId`. */
  readonly apiKeys: ReadonlyMap<string, ApiKey>;
  readonly applications: ReadonlyMap<string, Application>;
  /** Sign-in clients of teams, by `clientId`. */
  readonly clients: ReadonlyMap<string, OAuthClient>;
  readonly webhooks: ReadonlyMap<string, Webhook>;
  readonly identityProviders: ReadonlyMap<string, IdentityProvider>;
  /** Deletions whose data has not been removed from disk yet. */
  readonly deletions: ReadonlyMap<string, Deletion>;
  /** Declared features by name. */
  getFeatures(applicationId: string): ReadonlyMap<string, FeatureDeclaration>;
  getMetrics(applicationId: string): ReadonlyMap<string, MetricDeclaration>;
  /** The last code scan of each repository of an application. */
  getScans(applicationId: string): ReadonlyMap<string, CodeScan>;
  getApplicationKeys(applicationId: string): readonly ApplicationKey[];
}

/** The records of a team, in no particular order. */
export function ofTeam<T extends { readonly teamId: string | null }>(
  records: ReadonlyMap<string, T>,
  teamId: string,
): T[] {
  return [...records.values()].filter((record) => record.teamId === teamId);
}

/** Returns a record if it belongs to the team. @throws {Refusal} `not_found`, also for a record of another team */
export function mustBelong<T extends { readonly teamId: string | null }>(
  what: string,
  record: T | undefined,
  teamId: string,
): T {
  return mustExist(what, record?.teamId === teamId ? record : undefined);
}
