import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { isPresent, readable } from '../../runtime/files.ts';
import { getPeopleLane, isFoldedWhole } from '../commit/fold.ts';
import { checkSegments, isJournalEmpty } from '../journal/directory.ts';
import { JournalDamageError } from '../journal/errors.ts';
import {
  getJournalsDirectory,
  type JournalPlace,
  journalLanes,
  journalPlace,
  openJournal,
  spoolLane,
  spoolLanes,
} from '../journal/place.ts';
import { incompleteText, JournalReader } from '../journal/reader.ts';
import {
  type AccountRecords,
  type AccountTable,
  type AccountTables,
  accountTables,
  accountTablesIn,
  readCopyState,
  type TableName,
} from '../lmdb/accounts.ts';
import { checkPages } from '../lmdb/check-pages.ts';
import { dataFilesIn, getDataFile, missingFile } from '../lmdb/data-directory.ts';
import {
  accountsLayout,
  checkLayouts,
  isJournalled,
  type Layout,
  openIfCurrent,
  readFolded,
  readJournalId,
  spoolLayout,
  usageLayout,
} from '../lmdb/layout.ts';
import type { LmdbEnvironment } from '../lmdb/lmdb.ts';
import { fromSnapshot, type Reading, type Snapshot } from '../lmdb/snapshot.ts';
import { usageTables, usageTablesIn } from '../lmdb/usage.ts';
import { checkCarried, checkUsageTable } from './check-usage.ts';
import type { Pace } from './pace.ts';

/**
 * Checks a data directory: the pages of its files, the records of the tables and their references, the sums of counts,
 * and the frames of the journals. No other process may use the directory. A store with an earlier layout is not read
 * beyond its pages.
 * @returns true if no fault was found
 * @throws {Error} if a later version wrote a store
 */
export async function checkDirectory(data: string, pace: Pace, found: (finding: Finding) => void): Promise<boolean> {
  let isSound = true;
  const tell = (finding: Finding) => {
    isSound &&= finding.isSound;
    found(finding);
  };
  for (const file of dataFilesIn(data)) tell(await checkFile(file, pace));
  // A damaged file is not read further.
  if (isSound) await checkTables(data, pace, tell);
  return isSound;
}

async function checkFile(file: string, pace: Pace): Promise<Finding> {
  const descriptor = readable(file, () => openSync(file, 'r'));
  try {
    let pages = 0;
    const total = fstatSync(descriptor).size;
    const fault = await pace.finish(checkPages(descriptor), (steps) => {
      pages = steps;
      return { done: Math.min(total, pages * 4096), total };
    });
    return { file, isSound: fault === undefined, words: fault ?? `in order, ${pages} pages in use` };
  } finally {
    closeSync(descriptor);
  }
}

async function checkTables(data: string, pace: Pace, tell: (finding: Finding) => void): Promise<void> {
  checkLayouts(data);
  await withStore(data, accountsLayout, async (lmdb, file) => {
    const accounts = accountTablesIn(lmdb);
    const fault = await pace.finish(checkAccounts(accounts), records);
    tell({ file, isSound: fault === undefined, words: fault ?? 'every record is in order' });
    const missing = missingFile(data, readCopyState(lmdb));
    if (missing !== undefined) tell({ file: missing, isSound: false, words: 'missing' });
    if (fault === undefined) await checkUsage(data, listEnvironmentNumbers(accounts), pace, tell);
    // The journals of a spool are checked, but not its records.
    await withStore(data, spoolLayout, (spool) => checkJournals(data, spool, spoolLayout, pace, tell));
  });
}

/** Opens a store for an action. Does nothing if the store is missing or has the layout of another version. */
async function withStore(
  data: string,
  layout: Layout,
  action: (lmdb: LmdbEnvironment, file: string) => Promise<void>,
): Promise<void> {
  const file = getDataFile(data, layout.store);
  const lmdb = isPresent(file) ? openIfCurrent(data, layout) : undefined;
  try {
    if (lmdb !== undefined) await action(lmdb, file);
  } finally {
    await lmdb?.close();
  }
}

const records = (done: number) => ({ done, total: 0, unit: 'records' }) as const;

function listEnvironmentNumbers(accounts: AccountTables): ReadonlySet<number> {
  const numbers = Array.from(accounts.applications.getRange(), ({ value }) =>
    value.environments.map(({ number }) => number),
  );
  return new Set(numbers.flat());
}

async function checkUsage(
  data: string,
  environments: ReadonlySet<number>,
  pace: Pace,
  tell: (finding: Finding) => void,
): Promise<void> {
  await withStore(data, usageLayout, async (lmdb, file) => {
    const store = usageTablesIn(lmdb);
    const check = (read: (at: Snapshot) => Reading<string | undefined>) =>
      pace.finish(fromSnapshot(lmdb, read), records);
    const faults = [await check((at) => checkCarried(store, at))];
    for (const table of usageTables) faults.push(await check((at) => checkUsageTable(store, table, environments, at)));
    const found = faults.filter((fault) => fault !== undefined);
    for (const words of found) tell({ file, isSound: false, words });
    if (found.length === 0) tell({ file, isSound: true, words: 'every record is in order, and counts add up' });
    await checkJournals(data, lmdb, usageLayout, pace, tell);
  });
}

/** Reads every frame that is not folded yet, as startup does. @param lmdb a usage store or a spool */
async function checkJournals(
  data: string,
  lmdb: LmdbEnvironment,
  layout: Layout,
  pace: Pace,
  tell: (finding: Finding) => void,
): Promise<void> {
  const id = readJournalId(lmdb);
  const isSpool = layout.store === 'spool';
  const lanes = isSpool ? spoolLanes(data) : journalLanes(data);
  const isUsed = isJournalled(lmdb, layout);
  if (isUsed && lanes.length === 0) {
    const file = isSpool ? join(getJournalsDirectory(data), spoolLane) : getJournalsDirectory(data);
    const words = 'missing: the packets of the last seconds before the server ended are lost';
    tell({ file, isSound: false, words });
  }
  for (const lane of lanes) {
    const place = journalPlace(data, lane, id ?? Buffer.alloc(16));
    const folded = readFolded(lmdb, isSpool || isFoldedWhole(lmdb, lane) ? lane : getPeopleLane(lane));
    const found = await check(place, isUsed, folded, pace);
    if (found !== undefined) tell(found);
  }
}

/** @returns `undefined` if the journal was folded completely */
async function check(place: JournalPlace, isUsed: boolean, folded: number, pace: Pace): Promise<Finding | undefined> {
  const { directory } = place;
  let frames = 0;
  let bytes = 0;
  let incomplete: JournalReader['incompleteAt'];
  try {
    if (isUsed) checkSegments(directory);
    if (isJournalEmpty(directory)) return undefined;
    const reader = new JournalReader(openJournal(place), folded);
    try {
      for (const { body } of reader.frames()) {
        frames += 1;
        bytes += body.length;
        if (pace.isDue()) await pace.rest({ done: bytes, total: 0 });
      }
      incomplete = reader.incompleteAt;
    } finally {
      reader.close();
    }
  } catch (error) {
    if (!(error instanceof JournalDamageError)) throw error;
    return { file: directory, isSound: false, words: error.message };
  }
  const amount = `${frames} ${frames === 1 ? 'frame' : 'frames'} (${(bytes / 1024).toFixed(1)} KiB)`;
  const rest =
    frames === 0
      ? 'and all frames are in the store'
      : `${amount} not yet in the store; the server adds them at startup`;
  if (incomplete === undefined) return { file: directory, isSound: true, words: `in order, ${rest}` };
  // An incomplete last frame is the result of a power loss, not damage.
  const { segment, offset } = incomplete;
  const words = `in order up to offset ${offset}, ${rest}; ${incompleteText}`;
  return { file: join(directory, segment), isSound: true, words };
}

export interface Finding {
  readonly file: string;
  readonly isSound: boolean;
  readonly words: string;
}

interface Accounts {
  rows<Name extends TableName>(table: Name): Iterable<{ readonly key: string; readonly value: AccountRecords[Name] }>;
  has(table: TableName, key: string): boolean;
}

/** The tables with numbered records, each with the sequence that numbers its records. */
const sequences = {
  teams: 'team',
  users: 'user',
  apiKeys: 'apiKey',
  applications: 'application',
  applicationKeys: 'key',
  clients: 'client',
  audit: 'audit',
  webhooks: 'webhook',
} as const satisfies { [Name in TableName]?: string };

/** The rules for each record. A rule returns the fault, if any. */
const rules: {
  readonly [Name in TableName]?: (record: AccountRecords[Name], key: string, all: Accounts) => string | false;
} = {
  teams: ({ id }, key) => id !== key && 'the record is under another id',
  users: ({ id, teams, primaryTeam }, key, all) =>
    (id !== key && 'the record is under another id') ||
    (!teams.includes(primaryTeam) && 'the primary team is not among the teams of the user') ||
    (!teams.every((team) => all.has('teams', team)) && 'a team of the user does not exist'),
  apiKeys: ({ clientId, teamId }, key, all) =>
    (clientId !== key && 'the record is under another id') || (!all.has('teams', teamId) && 'the team does not exist'),
  clients: ({ clientId, teamId }, key, all) =>
    (clientId !== key && 'the record is under another id') ||
    (teamId !== null && !all.has('teams', teamId) && 'the team does not exist'),
  applications: ({ id, teamId }, key, all) =>
    (id !== key && 'the record is under another id') || (!all.has('teams', teamId) && 'the team does not exist'),
  applicationKeys: ({ hash, applicationId }, key, all) =>
    (hash !== key && 'the record is under another hash') ||
    (!all.has('applications', applicationId) && 'the application does not exist'),
  features: ({ applicationId, name }, key, all) => declaration(applicationId, name, key, all),
  metrics: ({ applicationId, name }, key, all) => declaration(applicationId, name, key, all),
  codeScans: ({ applicationId, repository }, key, all) => declaration(applicationId, repository, key, all),
  notes: (notes) => !Array.isArray(notes) && 'the record is malformed',
  audit: ({ number }, key) => Number(key) !== number && 'the record is under another number',
  sessions: ({ userId }, key, all) =>
    !all.has('userSessions', `${userId}.${key}`) && 'the session is missing from the sessions of the user',
  signingKeys: ({ kid }, key) => kid !== key && 'the record is under another id',
  webhooks: ({ id }, key) => id !== key && 'the record is under another id',
  webhookDeliveries: ({ webhookId, number }, key) =>
    (!key.startsWith(`${webhookId}.`) || Number(key.slice(webhookId.length + 1)) !== number) &&
    'the record is under another number',
};

function declaration(applicationId: string, name: string, key: string, all: Accounts): string | false {
  if (key !== `${applicationId} ${name}`) return 'the record is under another name';
  return !all.has('applications', applicationId) && 'the application does not exist';
}

/** Checks every record and its references. @returns the first fault; `undefined` for sound records */
function* checkAccounts(store: AccountTables): Reading<string | undefined> {
  const all: Accounts = {
    rows: (table) => (store[table] as unknown as AccountTable<typeof table>).getRange() as never,
    has: (table, key) => store[table].get(key) !== undefined,
  };
  for (const table of accountTables) {
    let last = '';
    try {
      for (const { key, value } of all.rows(table)) {
        last = key;
        const fault = (rules[table] as ((...args: unknown[]) => string | false) | undefined)?.(value, key, all);
        if (fault) return `it is damaged: ${table} ${key}: ${fault}`;
        yield;
      }
    } catch (error) {
      return `it is damaged: ${table}, after ${last || 'its beginning'}: ${(error as Error).message}`;
    }
  }
  return checkNumbers(all) ?? checkOnce(all);
}

function checkNumbers(all: Accounts): string | undefined {
  const next = new Map(Array.from(all.rows('numbers'), ({ key, value }) => [key, value] as const));
  for (const [table, sequence] of Object.entries(sequences)) {
    const seen = new Set<number>();
    for (const { value } of all.rows(table as keyof typeof sequences)) {
      const { number } = value;
      if (seen.has(number)) return `it is damaged: two ${table} have the number ${number}`;
      if (number >= (next.get(sequence) ?? 1)) return `it is damaged: the sequence of ${table} is below ${number}`;
      seen.add(number);
    }
  }
  return undefined;
}

function checkOnce(all: Accounts): string | undefined {
  const emails = new Set<string>();
  for (const { value } of all.rows('users')) {
    const email = value.email.toLowerCase();
    if (emails.has(email)) return `it is damaged: two users have one e-mail address (user ${value.id})`;
    emails.add(email);
  }
  const environments = new Set<number>();
  for (const { value } of all.rows('applications'))
    for (const { number } of value.environments) {
      if (environments.has(number)) return `it is damaged: two environments have the number ${number}`;
      environments.add(number);
    }
  const keys = [...all.rows('signingKeys')];
  if (!keys.some(({ value }) => 'privateJwk' in value)) return 'it is damaged: the key that signs tokens is missing';
  return undefined;
}
