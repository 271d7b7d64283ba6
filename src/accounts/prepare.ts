import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../runtime/clock.ts';
import { isPresent } from '../runtime/presence.ts';
import { areJournalsEmpty } from '../storage/journal/lanes.ts';
import { type AccountStore, openAccountStore } from '../storage/lmdb/accounts.ts';
import type { SigningAlgorithm } from '../storage/lmdb/auth-records.ts';
import { readCopyState } from '../storage/lmdb/copy-state.ts';
import { createAtomically } from '../storage/lmdb/create-atomically.ts';
import { cannotOpen, checkDataFiles, explainDamage } from '../storage/lmdb/data-file.ts';
import { journalsOf } from '../storage/lmdb/journal-mark.ts';
import { accountsLayout, currentLayout } from '../storage/lmdb/layout.ts';
import type { User } from '../storage/lmdb/records.ts';
import { transact } from '../storage/lmdb/transact.ts';
import { openUsageStore } from '../storage/lmdb/usage.ts';
import { newApiKey } from './api-keys.ts';
import { newSigningKey } from './new-signing-key.ts';
import { hashPassword, newPassword } from './passwords.ts';
import { newId, type RandomBytes } from './secrets.ts';
import { applyWrites } from './store/committed.ts';
import type { Write } from './store/engine.ts';
import { newTeam } from './teams.ts';
import { temporary } from './temporary-password.ts';

export interface Preparation {
  readonly adminEmail: string;
  /** Generated when left out, and then to be replaced at the first sign-in. */
  readonly adminPassword?: string;
  /** ES256 when left out. */
  readonly signingAlg?: SigningAlgorithm;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/** The first credentials. The password, unless given, and the secret exist nowhere else. */
export interface FirstCredentials {
  readonly adminEmail: string;
  readonly adminPassword: string;
  readonly teamId: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The store was prepared before; nothing has changed. */
export class AlreadyPrepared extends Error {
  override readonly name = 'AlreadyPrepared';
  readonly code = 'already_prepared';

  constructor() {
    super('Cannot prepare the store: it is already prepared');
  }
}

/**
 * Checks that a data directory is prepared, without touching it.
 * @param has whether the directory has a file
 * @throws {Error} when it is not
 */
export function checkPrepared(
  data: string,
  has = (directory: string, file: string) => isPresent(join(directory, file)),
): void {
  const missing = ['accounts/data.mdb', 'usage/data.mdb'].find((name) => !has(data, name));
  if (missing === undefined) return;
  const must = 'check --data, and that its volume is mounted';
  throw new Error(`Cannot find a store in ${data}: there is no ${missing}; ${must}`);
}

/**
 * Opens the accounts of a data directory that was prepared; `undefined` when it was not.
 * @throws {Error} as `openAccountStore` does, and when the accounts are a copy of an engine
 */
export async function openPrepared(data: string): Promise<AccountStore | undefined> {
  const store = await openPreparedOrCopy(data);
  if (store === undefined || readCopyState(store.lmdb) === undefined) return store;
  await store.lmdb.close();
  throw isCopy(data);
}

/** The refusal to use a copy by itself. */
export function isCopy(data: string): Error {
  return new Error(
    `Cannot use ${data} by itself: its accounts are a copy of those of an engine; give the --engine that it was used with`,
  );
}

/** As `openPrepared`, and a copy of an engine as well. */
export async function openPreparedOrCopy(data: string): Promise<AccountStore | undefined> {
  if (!isPresent(join(data, 'accounts/data.mdb'))) {
    checkDataFiles(data);
    return undefined;
  }
  const { store, state } = await explainDamage(data, 'accounts', () => {
    const opened = openAccountStore(data);
    return { store: opened, state: stateOf(opened) };
  });
  if (state === 'prepared') return store;
  await store.lmdb.close();
  if (state === 'damaged')
    throw cannotOpen(join(data, 'accounts/data.mdb'), 'it has users, but not the number of its layout');
  // 0.1.0 made the tables first, and prepared them then.
  if (isPresent(join(data, 'usage/data.mdb')))
    throw new Error(
      `Cannot use ${data}: its accounts are empty, and its usage is not; restore it from a backup`,
    );
  rmSync(join(data, 'accounts'), { recursive: true });
  return undefined;
}

/**
 * Prepares both stores of a data directory, as `prepareStore` does. After a power cut meanwhile the directory is as it was,
 * or prepared.
 * @throws {Error} when it cannot be written, or has a journal without its store
 */
export async function prepareData(data: string, wanted: Preparation): Promise<FirstCredentials> {
  checkNoJournal(data);
  let first: FirstCredentials | undefined;
  await createAtomically(data, async (aside) => {
    const accounts = openAccountStore(aside);
    first = await prepareStore(accounts, wanted).finally(() => accounts.lmdb.close());
    await openUsageStore(aside).lmdb.close();
  });
  return first!;
}

/** @throws {Error} if a directory without stores has a journal: its packets were accepted, and belong to a store that is lost */
export function checkNoJournal(data: string): void {
  if (areJournalsEmpty(data)) return;
  throw new Error(
    `Cannot prepare ${data}: ${journalsOf(data)} has packets of a store that is not there; put the store back, or move the journal away`,
  );
}

/** `prepareStore` makes all of it in one transaction. */
function stateOf(store: AccountStore): 'prepared' | 'damaged' | 'empty' {
  if (isPrepared(store)) return 'prepared';
  return store.users.getCount() > 0 ? 'damaged' : 'empty';
}

/** Whether a store has what `prepareStore` makes. */
export function isPrepared(store: AccountStore): boolean {
  return store.numbers.get('layout') !== undefined;
}

/**
 * Makes the first team, its administrator, an Admin API key and a signing key, all in one durable transaction.
 * @throws {AlreadyPrepared} when the store is prepared
 * @throws {RangeError} when the given password cannot be hashed
 */
export async function prepareStore(store: AccountStore, wanted: Preparation): Promise<FirstCredentials> {
  if (isPrepared(store)) throw new AlreadyPrepared();
  const { writes, credentials } = await firstRecords(wanted);
  const first = transact(store.lmdb, () => {
    // Another preparation may have been under way at the same time.
    if (isPrepared(store)) return false;
    applyWrites(store, writes);
    return true;
  });
  if (!first) throw new AlreadyPrepared();
  return credentials;
}

/**
 * What new accounts begin with, and its credentials.
 * @throws {RangeError} when the given password cannot be hashed
 */
export async function firstRecords(
  wanted: Preparation,
): Promise<{ readonly writes: readonly Write[]; readonly credentials: FirstCredentials }> {
  const { adminEmail, clock, randomBytes } = wanted;
  const adminPassword = wanted.adminPassword ?? newPassword(randomBytes);
  const passwordHash = await hashPassword(adminPassword, randomBytes);
  const now = clock.now();
  const team = newTeam({ name: 'Default', number: 1 }, now, randomBytes);
  const { apiKey, clientSecret } = newApiKey(
    { number: 1, teamId: team.id, name: 'First API key', role: 'Admin' },
    now,
    randomBytes,
  );
  const admin: User = {
    id: newId('user', randomBytes),
    number: 1,
    email: adminEmail,
    name: 'Administrator',
    role: 'Admin',
    teams: [team.id],
    primaryTeam: team.id,
    passwordHash,
    ...(wanted.adminPassword === undefined && temporary(passwordHash)),
    createdAt: now,
    updatedAt: now,
  };
  const signingKey = await newSigningKey(now, wanted.signingAlg);
  const writes: Write[] = [
    { table: 'teams', key: team.id, value: team },
    { table: 'users', key: admin.id, value: admin },
    { table: 'apiKeys', key: apiKey.clientId, value: apiKey },
    ...(['team', 'user', 'apiKey'] as const).map((key) => ({ table: 'numbers' as const, key, value: 2 })),
    { table: 'numbers', key: 'layout', value: currentLayout(accountsLayout) },
    { table: 'signingKeys', key: signingKey.kid, value: signingKey },
  ];
  const { clientId } = apiKey;
  return { writes, credentials: { adminEmail, adminPassword, teamId: team.id, clientId, clientSecret } };
}
