import type { Database } from 'lmdb';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { isPresent } from '../../runtime/files.ts';
import type {
  AuthorizationCode,
  DeviceCode,
  IdentityProvider,
  LinkedIdentity,
  LoginFailures,
  Passkey,
  ProviderSignIn,
  RetiredKey,
  Session,
  SignIn,
  SigningKey,
  Totp,
} from './auth-records.ts';
import { getDataFile } from './data-directory.ts';
import { accountsLayout, attachLaidOut, checkLayouts, checkStores, openLaidOut } from './layout.ts';
import { type LmdbEnvironment, openRecords } from './lmdb.ts';
import { isLocked, waitUntilSharable } from './lock.ts';
import type {
  ApiKey,
  Application,
  ApplicationKey,
  AuditEntry,
  CodeScan,
  Deletion,
  FeatureDeclaration,
  FeatureNote,
  MetricDeclaration,
  OAuthClient,
  QueuedDelivery,
  SignInPolicy,
  Team,
  User,
  Webhook,
  WebhookAnnouncement,
  WebhookDelivery,
} from './records.ts';

/** Declares a table of records. @param name the table's name in the file, if it differs */
const table = <Value>(name?: string) => ({ name }) as { readonly name?: string; readonly value?: Value };

const tables = {
  teams: table<Team>(), // Key: `id`.
  users: table<User>(), // Key: `id`.
  apiKeys: table<ApiKey>(), // Key: `clientId`.
  applications: table<Application>(), // Key: `id`.
  applicationKeys: table<ApplicationKey>(), // Key: `hash`.
  clients: table<OAuthClient>(), // Key: `clientId`.
  features: table<FeatureDeclaration>(), // Key: `declarationKey`.
  // Notes of features, declared or not. Key: `declarationKey`.
  notes: table<readonly FeatureNote[]>(),
  metrics: table<MetricDeclaration>(), // Key: `declarationKey`.
  codeScans: table<CodeScan>(), // Key: `declarationKey` with the repository as name.
  // Key: the numbers of application and environments, so that each deletion is requested once.
  deletions: table<Deletion>(),
  audit: table<AuditEntry>(), // Key: `auditKey`. Entries are never changed, but removed once they expire.
  sessions: table<Session>(), // Key: the SHA-256 (hex) of the session's id, which its refresh tokens contain.
  // The sessions of a user. Key: `userId`, a dot, the session's key. The value has no meaning.
  userSessions: table<true>(),
  codes: table<AuthorizationCode>(), // Key: the SHA-256 (hex) of the code.
  deviceCodes: table<DeviceCode>(), // Key: the letters of the user code.
  signIns: table<SignIn>(), // Key: the SHA-256 (hex) of the cookie.
  passkeys: table<Passkey>(), // Key: `passkeyKey`.
  loginThrottles: table<LoginFailures>('brakes'), // Key: the throttled subject (see `auth/login-throttle.ts`).
  // The invalidation list of access tokens. Key: `invalidationKey`. The value has no meaning.
  invalidated: table<true>(),
  // The accepted client assertions. Key: the expiry, then the hash of client and `jti`. The value has no meaning.
  assertions: table<true>(),
  totp: table<Totp>(), // Key: the id of the user.
  // One record with the key `installation`. If the record is missing, the default applies.
  signInPolicy: table<SignInPolicy>(),
  signingKeys: table<SigningKey | RetiredKey>(), // Key: `kid`.
  webhooks: table<Webhook>(), // Key: `id`.
  webhookDeliveries: table<WebhookDelivery>(), // Key: `deliveryKey`.
  webhookTurns: table<QueuedDelivery>(), // The pending deliveries. Key: `deliveryKey`.
  webhookMarks: table<WebhookAnnouncement>(), // Key: the reported subject (see `webhooks/announcements.ts`).
  identityProviders: table<IdentityProvider>(), // Key: `id`.
  linkedIdentities: table<LinkedIdentity>(), // Key: `identityKey`.
  // The linked identities of a user. Key: `userId`, a dot, `identityKey`. The value has no meaning.
  userIdentities: table<true>(),
  // Key: the SHA-256 (hex) of issuer and subject, or of issuer and `sid`; a dot; the key of the sign-in.
  providerSignIns: table<ProviderSignIn>(),
  // The received logout tokens. Key: the SHA-256 (hex) of issuer and `jti`. The value is the expiry of the token.
  logoutTokens: table<number>(),
  // Named numbers: the next number of each sequence (`application`, `key`, `audit`, …) and the version of the `layout`.
  numbers: table<number>(),
};

export type TableName = keyof typeof tables;

export type AccountRecords = {
  readonly [Name in TableName]: NonNullable<(typeof tables)[Name]['value']>;
};

/** All tables, in alphabetical order. */
export const accountTables = (Object.keys(tables) as TableName[]).sort();

export type AccountTable<Name extends TableName> = Database<AccountRecords[Name], string>;

type Tables = { readonly [Name in TableName]: AccountTable<Name> };

/** The accounts of a data directory. Reads return the state on disk. */
export interface AccountTables extends Tables {
  /** True if all data files were checked for damage before they were opened; false if the time limit was reached. */
  readonly fullyChecked: boolean;
  readonly lmdb: LmdbEnvironment;
}

/** Opens the accounts, before any other store. @throws {Error} as `checkStores` and `openLaidOut` do */
export function openAccountTables(data: string, clock: Pick<Clock, 'monotonic'> = systemClock): AccountTables {
  const fullyChecked = checkStores(data, clock);
  return accountTablesIn(openLaidOut(data, accountsLayout), fullyChecked);
}

/**
 * Opens the accounts even while a service uses them. Pages can change at any time, so they are not checked. The caller
 * may write only data that the service does not cache.
 * @throws {Error} if the environment is missing or has another layout, or as `waitUntilSharable` and `checkStores` do
 */
export async function attachAccountTables(data: string): Promise<AccountTables> {
  if (!isPresent(getDataFile(data, 'accounts')))
    throw new Error(`Cannot use ${data}: it is not a prepared data directory; specify one with --data`);
  await waitUntilSharable(data);
  if (isLocked(data)) checkLayouts(data);
  else checkStores(data);
  return accountTablesIn(attachLaidOut(data, accountsLayout));
}

export function accountTablesIn(lmdb: LmdbEnvironment, fullyChecked = false): AccountTables {
  const opened = Object.entries(tables).map(([table, { name = table }]) => [table, openRecords(lmdb, name)]);
  return { fullyChecked, lmdb, ...(Object.fromEntries(opened) as Tables) };
}

/** The source of a copy of accounts, written in the same transaction as the records. */
export interface CopyState {
  /** The id of the PostgreSQL database. */
  readonly engine: string;
  readonly version: number;
  /** The id of the change that led to this version, as a decimal number. */
  readonly change: string;
  /** The copied tables. A later version of this program can have more tables. */
  readonly tables: string;
  /** True if PostgreSQL has lost changes that this copy had, and the loss is not handled yet. */
  readonly lossOpen: boolean;
  /** The repair number at the last copy. A higher number in PostgreSQL means that another node repaired the loss. */
  readonly lossMark?: number;
  /** True if the accounts are being moved to PostgreSQL and might not be there yet: see replication/adoption. */
  readonly adopting?: true;
}

const name = 'engine';
const key = 'copy';

/** The state of a copy; `undefined` if the accounts are not a copy. */
export function readCopyState(lmdb: LmdbEnvironment): CopyState | undefined {
  const options = { name, encoding: 'json', create: false } as const;
  const table: Database<CopyState, string> | undefined = lmdb.openDB<CopyState, string>(options);
  return table?.get(key);
}

/** Returns a function that writes the state of a copy. Call the function in a batch of writes. */
export function copyStateWriter(lmdb: LmdbEnvironment): (state: CopyState) => void {
  const table = openRecords<CopyState>(lmdb, name);
  return (state) => void table.put(key, state);
}
