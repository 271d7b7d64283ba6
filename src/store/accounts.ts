import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'lmdb';
import { type Clock, systemClock } from '../clock.ts';
import type { AuthorizationCode, Brake, RetiredKey, Session, SignIn, SigningKey } from './auth-records.ts';
import { checkDataFiles } from './data-file.ts';
import { accountsLayout, attachLaidOut, openLaidOut } from './layout.ts';
import { type LmdbEnvironment, openRecords } from './lmdb.ts';
import type {
  ApiKey,
  Application,
  ApplicationKey,
  AuditEntry,
  Deletion,
  FeatureDeclaration,
  MetricDeclaration,
  OAuthClient,
  Team,
  User,
} from './records.ts';

/** The tables of the accounts environment, each keyed by the record's id (users, keys and so on: see the field named). */
export interface AccountStore {
  /** Whether all data files were checked for damage before they were opened: there may have been no time. */
  readonly fullyChecked: boolean;
  readonly lmdb: LmdbEnvironment;
  /** By `id`. */
  readonly teams: Database<Team, string>;
  /** By `id`. */
  readonly users: Database<User, string>;
  /** By `clientId`. */
  readonly apiKeys: Database<ApiKey, string>;
  /** By `id`. */
  readonly applications: Database<Application, string>;
  /** By `hash`. */
  readonly applicationKeys: Database<ApplicationKey, string>;
  /** By `clientId`. */
  readonly clients: Database<OAuthClient, string>;
  /** By `declarationKey`. */
  readonly features: Database<FeatureDeclaration, string>;
  /** By `declarationKey`. */
  readonly metrics: Database<MetricDeclaration, string>;
  /** By the numbers of application and environments: each is requested once. */
  readonly deletions: Database<Deletion, string>;
  /** By `number`, in sixteen digits. Only ever added to; not kept in memory. */
  readonly audit: Database<AuditEntry, string>;
  /** By the SHA-256 (hex) of the session's id, which its refresh tokens carry. */
  readonly sessions: Database<Session, string>;
  /** Which sessions a user has: `userId`, a dot, the session's key. The value says nothing. */
  readonly userSessions: Database<true, string>;
  /** By the SHA-256 (hex) of the code. */
  readonly codes: Database<AuthorizationCode, string>;
  /** By the SHA-256 (hex) of the cookie. */
  readonly signIns: Database<SignIn, string>;
  /** By what is braked: see `auth/brakes.ts`. */
  readonly brakes: Database<Brake, string>;
  /** The invalidation list of access tokens, by `invalidationKey`. The value says nothing. */
  readonly invalidated: Database<true, string>;
  /** By `kid`. */
  readonly signingKeys: Database<SigningKey | RetiredKey, string>;
  /** Named numbers: the next of each sequence (`application`, `key`, `audit`, …) and the `layout`'s version. */
  readonly numbers: Database<number, string>;
}

/**
 * Opens the accounts environment of a data directory, before anything else of it is opened.
 * @throws {Error} as `checkDataFiles` and `openLaidOut` do
 */
export function openAccountStore(data: string, clock: Pick<Clock, 'monotonic'> = systemClock): AccountStore {
  const fullyChecked = checkDataFiles(data, clock);
  return openTables(openLaidOut(data, accountsLayout), fullyChecked);
}

/**
 * Opens the accounts environment beside a service that may be running on it: its files change meanwhile, and cannot be
 * checked. Only what the service does not keep in memory may be written.
 * @throws {Error} when there is none, or it has another layout
 */
export function attachAccountStore(data: string): AccountStore {
  if (!existsSync(join(data, 'accounts/data.mdb')))
    throw new Error(`Cannot use ${data}: it is no prepared data directory; name one with --data`);
  return openTables(attachLaidOut(data, accountsLayout), false);
}

function openTables(lmdb: LmdbEnvironment, fullyChecked: boolean): AccountStore {
  return {
    fullyChecked,
    lmdb,
    teams: openRecords(lmdb, 'teams'),
    users: openRecords(lmdb, 'users'),
    apiKeys: openRecords(lmdb, 'apiKeys'),
    applications: openRecords(lmdb, 'applications'),
    applicationKeys: openRecords(lmdb, 'applicationKeys'),
    clients: openRecords(lmdb, 'clients'),
    features: openRecords(lmdb, 'features'),
    metrics: openRecords(lmdb, 'metrics'),
    deletions: openRecords(lmdb, 'deletions'),
    audit: openRecords(lmdb, 'audit'),
    sessions: openRecords(lmdb, 'sessions'),
    userSessions: openRecords(lmdb, 'userSessions'),
    codes: openRecords(lmdb, 'codes'),
    signIns: openRecords(lmdb, 'signIns'),
    brakes: openRecords(lmdb, 'brakes'),
    invalidated: openRecords(lmdb, 'invalidated'),
    signingKeys: openRecords(lmdb, 'signingKeys'),
    numbers: openRecords(lmdb, 'numbers'),
  };
}
