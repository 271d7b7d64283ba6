import type { AccountRecords, AccountTable, AccountTables, TableName } from '../lmdb/accounts.ts';
import { accountTables } from '../lmdb/accounts.ts';
import type { Reading } from '../lmdb/snapshot.ts';

interface Accounts {
  rows<Name extends TableName>(
    table: Name,
  ): Iterable<{ readonly key: string; readonly value: AccountRecords[Name] }>;
  has(table: TableName, key: string): boolean;
}

/** The tables with numbered records, with their sequences. */
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

/** The rules for each record. A rule returns the fault. */
const rules: {
  readonly [Name in TableName]?: (record: AccountRecords[Name], key: string, all: Accounts) => string | false;
} = {
  teams: ({ id }, key) => id !== key && 'it is under another id',
  users: ({ id, teams, primaryTeam }, key, all) =>
    (id !== key && 'it is under another id') ||
    (!teams.includes(primaryTeam) && 'its primary team is not among its teams') ||
    (!teams.every((team) => all.has('teams', team)) && 'one of its teams does not exist'),
  apiKeys: ({ clientId, teamId }, key, all) =>
    (clientId !== key && 'it is under another id') ||
    (!all.has('teams', teamId) && 'its team does not exist'),
  clients: ({ clientId, teamId }, key, all) =>
    (clientId !== key && 'it is under another id') ||
    (teamId !== null && !all.has('teams', teamId) && 'its team does not exist'),
  applications: ({ id, teamId }, key, all) =>
    (id !== key && 'it is under another id') || (!all.has('teams', teamId) && 'its team does not exist'),
  applicationKeys: ({ hash, applicationId }, key, all) =>
    (hash !== key && 'it is under another hash') ||
    (!all.has('applications', applicationId) && 'its application does not exist'),
  features: ({ applicationId, name }, key, all) => declaration(applicationId, name, key, all),
  metrics: ({ applicationId, name }, key, all) => declaration(applicationId, name, key, all),
  codeScans: ({ applicationId, repository }, key, all) => declaration(applicationId, repository, key, all),
  notes: (notes) => !Array.isArray(notes) && 'it is malformed',
  audit: ({ number }, key) => Number(key) !== number && 'it is under another number',
  sessions: ({ userId }, key, all) =>
    !all.has('userSessions', `${userId}.${key}`) && 'it is missing from the sessions of its user',
  signingKeys: ({ kid }, key) => kid !== key && 'it is under another id',
  webhooks: ({ id }, key) => id !== key && 'it is under another id',
  webhookDeliveries: ({ webhookId, number }, key) =>
    (!key.startsWith(`${webhookId}.`) || Number(key.slice(webhookId.length + 1)) !== number) &&
    'it is under another number',
};

function declaration(applicationId: string, name: string, key: string, all: Accounts): string | false {
  if (key !== `${applicationId} ${name}`) return 'it is under another name';
  return !all.has('applications', applicationId) && 'its application does not exist';
}

/** Checks every record and its references. @returns the first fault; `undefined` if there is none */
export function* checkAccounts(store: AccountTables): Reading<string | undefined> {
  const all: Accounts = {
    rows: (table) => (store[table] as unknown as AccountTable<typeof table>).getRange() as never,
    has: (table, key) => store[table].get(key) !== undefined,
  };
  for (const table of accountTables) {
    let last = '';
    try {
      for (const { key, value } of all.rows(table)) {
        last = key;
        const fault = (rules[table] as ((...args: unknown[]) => string | false) | undefined)?.(
          value,
          key,
          all,
        );
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
      if (number >= (next.get(sequence) ?? 1))
        return `it is damaged: the sequence of ${table} is below ${number}`;
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
  if (!keys.some(({ value }) => 'privateJwk' in value))
    return 'it is damaged: the key that signs tokens is missing';
  return undefined;
}
