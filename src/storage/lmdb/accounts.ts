import { join } from 'node:path';
import type { Database } from 'lmdb';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { isPresent } from '../../runtime/presence.ts';
import type {
  AuthorizationCode,
  DeviceCode,
  LoginFailures,
  RetiredKey,
  Session,
  SignIn,
  SigningKey,
} from './auth-records.ts';
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
  FeatureNote,
  MetricDeclaration,
  OAuthClient,
  Team,
  User,
} from './records.ts';
import type { Webhook, WebhookDelivery, WebhookMark, WebhookTurn } from './webhook-records.ts';

/** The records of each table of the accounts, and their keys. */
export interface AccountRecords {
  /** By `id`. */
  readonly teams: Team;
  /** By `id`. */
  readonly users: User;
  /** By `clientId`. */
  readonly apiKeys: ApiKey;
  /** By `id`. */
  readonly applications: Application;
  /** By `hash`. */
  readonly applicationKeys: ApplicationKey;
  /** By `clientId`. */
  readonly clients: OAuthClient;
  /** By `declarationKey`. */
  readonly features: FeatureDeclaration;
  /** The notes of a feature, by `declarationKey`. The feature need not be declared. */
  readonly notes: readonly FeatureNote[];
  /** By `declarationKey`. */
  readonly metrics: MetricDeclaration;
  /** By the numbers of application and environments: each deletion is requested once. */
  readonly deletions: Deletion;
  /** By `auditKey`. Entries are only added, and removed once they expire. */
  readonly audit: AuditEntry;
  /** By the SHA-256 (hex) of the session's id, which its refresh tokens carry. */
  readonly sessions: Session;
  /** The sessions of a user: `userId`, a dot, the session's key. The value has no meaning. */
  readonly userSessions: true;
  /** By the SHA-256 (hex) of the code. */
  readonly codes: AuthorizationCode;
  /** By the letters of the user code. */
  readonly deviceCodes: DeviceCode;
  /** By the SHA-256 (hex) of the cookie. */
  readonly signIns: SignIn;
  /** By the throttled subject: see `auth/login-throttle.ts`. */
  readonly loginThrottles: LoginFailures;
  /** The invalidation list of access tokens, by `invalidationKey`. The value has no meaning. */
  readonly invalidated: true;
  /** By `kid`. */
  readonly signingKeys: SigningKey | RetiredKey;
  /** By `id`. */
  readonly webhooks: Webhook;
  /** By `deliveryKey`. */
  readonly webhookDeliveries: WebhookDelivery;
  /** The pending deliveries, by `deliveryKey`. */
  readonly webhookTurns: WebhookTurn;
  /** By the reported subject: see `webhooks/marks.ts`. */
  readonly webhookMarks: WebhookMark;
  /** Named numbers: the next of each sequence (`application`, `key`, `audit`, …) and the version of the `layout`. */
  readonly numbers: number;
}

export type TableName = keyof AccountRecords;

/** The tables by their names in the file. */
const namesInFile: Readonly<Record<TableName, string>> = {
  teams: 'teams',
  users: 'users',
  apiKeys: 'apiKeys',
  applications: 'applications',
  applicationKeys: 'applicationKeys',
  clients: 'clients',
  features: 'features',
  notes: 'notes',
  metrics: 'metrics',
  deletions: 'deletions',
  audit: 'audit',
  sessions: 'sessions',
  userSessions: 'userSessions',
  codes: 'codes',
  deviceCodes: 'deviceCodes',
  signIns: 'signIns',
  loginThrottles: 'brakes',
  invalidated: 'invalidated',
  signingKeys: 'signingKeys',
  webhooks: 'webhooks',
  webhookDeliveries: 'webhookDeliveries',
  webhookTurns: 'webhookTurns',
  webhookMarks: 'webhookMarks',
  numbers: 'numbers',
};

/** All tables, in alphabetical order. */
export const accountTables = (Object.keys(namesInFile) as TableName[]).sort();

export type AccountTable<Name extends TableName> = Database<AccountRecords[Name], string>;

type Tables = { readonly [Name in TableName]: AccountTable<Name> };

/** The accounts of a data directory. Reads return what is on disk. */
export interface AccountTables extends Tables {
  /** Whether all data files were checked for damage before they were opened, or time ran out. */
  readonly fullyChecked: boolean;
  readonly lmdb: LmdbEnvironment;
}

/**
 * Opens the accounts environment of a data directory. Call it before opening any other store of the directory.
 * @throws {Error} as `checkDataFiles` and `openLaidOut`
 */
export function openAccountTables(
  data: string,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): AccountTables {
  const fullyChecked = checkDataFiles(data, clock);
  return accountTablesIn(openLaidOut(data, accountsLayout), fullyChecked);
}

/**
 * Opens the accounts environment beside a service that may be using it. Its files change meanwhile, so they cannot be checked.
 * Write only data that the service does not cache in memory.
 * @throws {Error} if there is none, or it has another layout
 */
export function attachAccountTables(data: string): AccountTables {
  if (!isPresent(join(data, 'accounts/data.mdb')))
    throw new Error(`Cannot use ${data}: it is not a prepared data directory; specify one with --data`);
  return accountTablesIn(attachLaidOut(data, accountsLayout));
}

/** Opens the tables of accounts in an LMDB environment, and creates missing ones. */
export function accountTablesIn(lmdb: LmdbEnvironment, fullyChecked = false): AccountTables {
  const tables = Object.entries(namesInFile).map(([table, name]) => [table, openRecords(lmdb, name)]);
  return { fullyChecked, lmdb, ...(Object.fromEntries(tables) as Tables) };
}
