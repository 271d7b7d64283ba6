import { Refusal } from '../contract/errors.ts';
import type { Role } from '../contract/roles.ts';
import type { Tier, TierLimit } from '../contract/tiers.ts';
import type { AuditEntry, Team } from '../storage/lmdb/records.ts';
import { type Accounts, ofTeam } from './accounts.ts';
import { isCounted } from './application-keys.ts';
import { settingsBetween } from './audit-log.ts';
import { checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { join, leave, listAdmins, listMembers } from './members.ts';
import { newId, type RandomBytes } from './secrets.ts';
import { checkTierLimit, defaultTier, excess } from './tiers.ts';

interface NewTeam {
  readonly plan?: Tier;
  /** Ids of the initial members, who are Admins of the team. */
  readonly listFounders?: (accounts: Accounts) => readonly string[];
  /** Finds the team whose limit on created teams applies to the new team. Absent if no limit applies. */
  readonly findOrigin?: (accounts: Accounts) => string | undefined;
}

/** @throws {Refusal} `invalid_name`, `not_found` (user), `plan_limit` */
export function createTeam(
  directory: Directory,
  name: string,
  { plan = defaultTier, listFounders = () => [], findOrigin = () => undefined }: NewTeam = {},
): Promise<Team> {
  return directory.change((tx) => {
    checkName('a team', name);
    const members = listFounders(tx);
    checkTierLimit(plan, 'members', members.length);
    const origin = findOrigin(tx);
    if (origin !== undefined) checkOrigin(tx, origin, plan);
    const now = directory.clock.now();
    const wanted = { name, plan, number: tx.takeNumber('team') };
    const made = newTeam(wanted, now, directory.randomBytes);
    const team = origin === undefined ? made : { ...made, origin };
    tx.put('teams', team.id, team);
    for (const id of members) {
      const founder = mustExist('user', tx.users.get(id));
      tx.put('users', id, join(founder, team.id, now, founder.role === 'Admin' ? undefined : 'Admin'));
    }
    tx.note('team.created', team.id, describeTarget(team), settingsBetween('team', undefined, team));
    return team;
  });
}

/** @throws {Refusal} `not_found`, `invalid_name`, `conflict` if the team exceeds the limits of the new plan */
export function patchTeam(
  directory: Directory,
  id: string,
  patch: Partial<Pick<Team, 'name' | 'plan' | 'secondFactor'>>,
): Promise<Team> {
  return directory.change((tx) => {
    const team = mustExist('team', tx.teams.get(id));
    if (Object.keys(patch).length === 0) return team;
    const patched = { ...team, ...patch, updatedAt: directory.clock.now() };
    if (patched.name !== team.name) checkName('a team', patched.name);
    if (patched.plan !== team.plan) checkFits(tx, id, patched.plan);
    tx.put('teams', id, patched);
    tx.note('team.changed', id, describeTarget(patched), settingsBetween('team', team, patched));
    return patched;
  });
}

/**
 * Deletes a team with its API keys, sign-in clients and webhooks, and removes its members.
 * @throws {Refusal} `not_found`, `conflict` while the team has applications, or has members who are in no other team
 */
export function deleteTeam(directory: Directory, id: string): Promise<void> {
  return directory.change((tx) => {
    const team = mustExist('team', tx.teams.get(id));
    if (ofTeam(tx.applications, id).length > 0) {
      throw new Refusal('conflict', hasApplications);
    }
    const members = listMembers(tx, id);
    const alone = members.filter(({ teams }) => teams.length === 1).length;
    if (alone > 0) {
      const who = alone === 1 ? '1 member who is' : `${alone} members who are`;
      throw new Refusal(
        'conflict',
        `The team has ${who} not in another team; add them to another team or delete them first`,
      );
    }
    tx.remove('teams', id);
    for (const { clientId } of ofTeam(tx.apiKeys, id)) tx.remove('apiKeys', clientId);
    for (const { clientId } of ofTeam(tx.clients, id)) tx.remove('clients', clientId);
    for (const webhook of ofTeam(tx.webhooks, id)) tx.remove('webhooks', webhook.id);
    const admins = listAdmins(tx, id).map((admin) => admin.id);
    const left = members.map((user) => leave(user, id, directory.clock.now()));
    for (const user of left) tx.put('users', user.id, user);
    // The audit log of a deleted team is not readable, so the new primary teams of its Admins get the entry.
    const readers = new Set(left.filter((user) => admins.includes(user.id)).map(({ primaryTeam }) => primaryTeam));
    for (const reader of readers.size > 0 ? readers : [id]) tx.note('team.deleted', reader, describeTarget(team));
  });
}

export const hasApplications = 'The team has applications; delete them first';

export function newTeam(
  { name, number, plan = defaultTier }: Pick<Team, 'name' | 'number'> & Partial<Pick<Team, 'plan'>>,
  now: number,
  randomBytes: RandomBytes,
): Team {
  return { id: newId('team', randomBytes), number, name, plan, createdAt: now, updatedAt: now };
}

function describeTarget({ id, name }: Team): AuditEntry['target'] {
  return { type: 'team', id, name };
}

/**
 * True if a caller may administer the installation and see data that belongs to no team. Only Admins of the oldest team
 * may do this.
 */
export function isInstallationAdmin(
  accounts: Pick<Accounts, 'teams'>,
  caller: { roleIn(teamId: string): Role | undefined },
): boolean {
  let first: Team | undefined;
  for (const team of accounts.teams.values()) if (!first || team.number < first.number) first = team;
  return first !== undefined && caller.roleIn(first.id) === 'Admin';
}

const maxNamed = 10;

/** @throws {Refusal} `conflict`, which lists the exceeded limits */
function checkFits(accounts: Accounts, teamId: string, tier: Tier): void {
  const tooMany: string[] = [];
  for (const { what, count, of } of countResources(accounts, teamId)) {
    const words = excess(tier, what, count);
    if (words !== undefined) tooMany.push(of === undefined ? words : `${words} (${JSON.stringify(of)})`);
  }
  if (tooMany.length === 0) return;
  const rest = tooMany.length > maxNamed ? ['and more'] : [];
  const list = [...tooMany.slice(0, maxNamed), ...rest].join('; ');
  throw new Refusal('conflict', `The team exceeds the limits of the plan ${tier}: ${list}`);
}

interface Count {
  readonly what: TierLimit;
  readonly count: number;
  /** Name of the application with these resources. */
  readonly of?: string;
}

export function* countResources(accounts: Accounts, teamId: string): Generator<Count> {
  const applications = ofTeam(accounts.applications, teamId);
  yield { what: 'applications', count: applications.length };
  yield { what: 'apiKeys', count: ofTeam(accounts.apiKeys, teamId).length };
  yield { what: 'clients', count: ofTeam(accounts.clients, teamId).length };
  yield { what: 'webhooks', count: ofTeam(accounts.webhooks, teamId).length };
  yield { what: 'teams', count: teamsFrom(accounts, teamId).length };
  yield { what: 'members', count: listMembers(accounts, teamId).length };
  for (const { id, name, environments } of applications) {
    yield { what: 'environments', count: environments.length, of: name };
    yield { what: 'keys', count: accounts.getApplicationKeys(id).filter(isCounted).length, of: name };
    yield { what: 'features', count: accounts.getFeatures(id).size, of: name };
    yield { what: 'metrics', count: accounts.getMetrics(id).size, of: name };
  }
}

/** Returns the team whose limit on created teams applies if a member of `teamId` creates a team. */
export function findOrigin({ teams }: Pick<Accounts, 'teams'>, teamId: string): string {
  return teams.get(teamId)?.origin ?? teamId;
}

function teamsFrom({ teams }: Pick<Accounts, 'teams'>, origin: string): Team[] {
  return [...teams.values()].filter((team) => team.origin === origin);
}

/**
 * @param tier tier of the creating team, which applies if the origin was deleted
 * @throws {Refusal} `plan_limit` if one more team would be too many
 */
function checkOrigin(accounts: Pick<Accounts, 'teams'>, origin: string, tier: Tier): void {
  checkTierLimit(accounts.teams.get(origin)?.plan ?? tier, 'teams', teamsFrom(accounts, origin).length + 1);
}
