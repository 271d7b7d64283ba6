import { join } from 'node:path';
import type { Database, RootDatabase } from 'lmdb';
import { openEnvironment, openRecords } from './environment.ts';
import type { ApiKey, Application, ApplicationKey, Team, User } from './records.ts';

/** A private signing key of the auth host, as JWK, and its life. Times are Unix milliseconds. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: 'ES256';
  readonly privateJwk: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
}

/** The tables of the accounts environment, each keyed by the record's id (users, keys and so on: see the field named). */
export interface AccountStore {
  readonly environment: RootDatabase<Buffer, Buffer>;
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
  /** By `kid`. */
  readonly signingKeys: Database<SigningKey, string>;
  /** Named numbers: the next of each sequence (`application`, `environment`, `key`) and the `layout`'s version. */
  readonly numbers: Database<number, string>;
}

/** Opens the accounts environment of a data directory. */
export function openAccountStore(data: string): AccountStore {
  const environment = openEnvironment(join(data, 'accounts'));
  return {
    environment,
    teams: openRecords(environment, 'teams'),
    users: openRecords(environment, 'users'),
    apiKeys: openRecords(environment, 'apiKeys'),
    applications: openRecords(environment, 'applications'),
    applicationKeys: openRecords(environment, 'applicationKeys'),
    signingKeys: openRecords(environment, 'signingKeys'),
    numbers: openRecords(environment, 'numbers'),
  };
}
