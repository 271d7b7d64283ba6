import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { createApplication } from '../../src/accounts/applications.ts';
import { mustExist } from '../../src/accounts/checks.ts';
import { type Directory, openDirectory } from '../../src/accounts/directory.ts';
import type { AccountStore } from '../../src/accounts/store/account-store.ts';
import { EmbeddedAccountStore } from '../../src/accounts/store/embedded.ts';
import { createTeam } from '../../src/accounts/teams.ts';
import { applyUserPatch, type UserPatch } from '../../src/accounts/users.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { type AccountTables, openAccountTables } from '../../src/storage/lmdb/accounts.ts';
import type { Application, Team, User } from '../../src/storage/lmdb/records.ts';
import type { StoreHealth } from '../../src/storage/lmdb/store-health.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** A clock whose time changes only when a test advances it. */
export interface TestClock extends Clock {
  advance(ms: number): void;
}

export function testClock(start = Date.UTC(2026, 0, 2, 3, 4, 5)): TestClock {
  let time = start;
  return {
    now: () => time,
    monotonic: () => time,
    advance: (ms) => {
      time += ms;
    },
  };
}

/** A store health whose state tests set. It collects the reported failures. */
export interface TestHealth extends Pick<StoreHealth, 'failed'> {
  ready: boolean;
  readonly failures: unknown[];
}

export function testHealth(): TestHealth {
  const failures: unknown[] = [];
  return { ready: true, failures, failed: (error) => void failures.push(error) };
}

/** A store in a fresh directory, closed when the test ends. */
export function openTestStore(data = temporaryDirectory()): AccountTables {
  const store = openAccountTables(data);
  onTestFinished(() => store.lmdb.close());
  return store;
}

export interface Fixture {
  /** The data directory. */
  readonly data: string;
  readonly store: AccountTables;
  readonly accountStore: AccountStore;
  readonly directory: Directory;
  readonly clock: TestClock;
  readonly health: TestHealth;
  readonly team: Team;
  readonly application: Application;
}

/** A directory with one team and one application. */
export async function openFixture(): Promise<Fixture> {
  const data = temporaryDirectory();
  const store = openTestStore(data);
  const health = testHealth();
  return fixtureOn({ data, store, health, accountStore: new EmbeddedAccountStore(store, health) });
}

/** A directory with one team and one application, in a given account store. */
export async function fixtureOn(base: Pick<Fixture, 'data' | 'store' | 'health' | 'accountStore'>): Promise<Fixture> {
  const clock = testClock();
  const directory = openDirectory(base.accountStore, { clock, randomBytes });
  const team = await createTeam(directory, 'Team');
  const application = await createApplication(directory, { name: 'Shop', teamId: team.id });
  return { ...base, directory, clock, team, application };
}

/** Opens the directory again, as a new process would. */
export function reopen({ store, clock }: Fixture): Directory {
  return openDirectory(new EmbeddedAccountStore(store, testHealth()), { clock, randomBytes });
}

export function patchUser(directory: Directory, id: string, patch: UserPatch): Promise<User> {
  return directory.change((tx) => {
    const user = mustExist('user', tx.users.get(id));
    return applyUserPatch(tx, user, patch, directory.clock.now());
  });
}
