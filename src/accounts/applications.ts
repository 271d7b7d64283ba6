import { Refusal } from '../contract/errors.ts';
import { type PlainApplicationSettings, plainApplicationDefaults } from '../contract/shapes/application.ts';
import type { Tier } from '../contract/tiers.ts';
import type { Application, Deletion, Environment } from '../storage/lmdb/records.ts';
import type { AccountTransaction } from './account-transaction.ts';
import { ofTeam } from './accounts.ts';
import { changesBetween } from './audit-log.ts';
import { checkLimit, checkName, checkPathName, mustExist } from './checks.ts';
import { removeScans } from './code-scans.ts';
import { declarationKey } from './declarations.ts';
import { requestDeletion } from './deletions.ts';
import type { Directory } from './directory.ts';
import { removeNotes } from './features.ts';
import { isOriginPattern, withoutSlash } from './origins.ts';
import { newId } from './secrets.ts';
import { checkTierLimit, getTier } from './tiers.ts';

interface NewApplication extends Partial<Omit<PlainApplicationSettings, 'name'>> {
  readonly name: string;
  readonly teamId: string;
  /** Names of environments, in display order. */
  readonly environments?: readonly string[];
}

/** Maximum number of allowed origins. Each packet's origin is compared with all of them. */
export const maxOrigins = 100;

const defaultEnvironments = ['Production', 'Staging', 'Development'];

/** @throws {Refusal} `not_found` (team), `invalid_name`, `invalid_body`, `plan_limit` */
export function createApplication(directory: Directory, wanted: NewApplication): Promise<Application> {
  const { environments: names = defaultEnvironments, teamId, ...given } = wanted;
  return directory.change((tx) => {
    const settings = entered({ ...plainApplicationDefaults, ...given });
    checkSettings(settings);
    const { plan } = mustExist('team', tx.teams.get(teamId));
    checkEnvironmentNames(plan, names);
    checkTierLimit(plan, 'applications', ofTeam(tx.applications, teamId).length + 1);
    const now = directory.clock.now();
    const application: Application = {
      id: newId('app', directory.randomBytes),
      number: tx.takeNumber('application'),
      teamId,
      ...settings,
      environments: names.map((name) => newEnvironment(tx, name, now)),
      createdAt: now,
      updatedAt: now,
    };
    tx.put('applications', application.id, application);
    tx.note('application.created', teamId, describeTarget(application));
    return application;
  });
}

/** @throws {Refusal} `not_found`, `invalid_name`, `invalid_body` */
export function patchApplication(
  directory: Directory,
  id: string,
  patch: Partial<PlainApplicationSettings>,
): Promise<Application> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(id));
    if (Object.keys(patch).length === 0) return application;
    const patched = entered({ ...application, ...patch, updatedAt: directory.clock.now() });
    checkSettings(patched);
    tx.put('applications', id, patched);
    const changes = changesBetween(application, patched);
    tx.note('application.changed', patched.teamId, describeTarget(patched), changes);
    return patched;
  });
}

/** Deletes an application. A background task removes its usage. @throws {Refusal} `not_found` */
export function deleteApplication(directory: Directory, id: string): Promise<void> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(id));
    const { number, teamId, environments } = application;
    const target = describeTarget(application);
    tx.note('application.deleted', teamId, target);
    tx.remove('applications', id);
    for (const key of tx.getApplicationKeys(id)) tx.remove('applicationKeys', key.hash);
    for (const name of tx.getFeatures(id).keys()) tx.remove('features', declarationKey(id, name));
    removeNotes(tx, id);
    removeScans(tx, id);
    for (const name of tx.getMetrics(id).keys()) tx.remove('metrics', declarationKey(id, name));
    requestDeletion(tx, {
      application: number,
      environments: environments.map((each) => each.number),
      whole: true,
      target,
      teamId,
      requestedAt: directory.clock.now(),
    });
  });
}

export function describeTarget({ id, name }: Application): Deletion['target'] {
  return { type: 'application', id, name };
}

function entered<T extends Pick<PlainApplicationSettings, 'allowedOrigins'>>(settings: T): T {
  return { ...settings, allowedOrigins: settings.allowedOrigins.map(withoutSlash) };
}

function checkSettings({ name, allowedOrigins, rate, burst }: PlainApplicationSettings): void {
  checkName('an application', name);
  checkLimit('allowed origins', allowedOrigins.length, maxOrigins);
  const wrong = allowedOrigins.findIndex((pattern) => !isOriginPattern(pattern));
  if (wrong !== -1) {
    const must =
      'must be an origin such as https://example.com, https://*.example.com or http://localhost:*, without a path, or null';
    throw new Refusal('invalid_body', `\`allowedOrigins[${wrong}]\` ${must}`);
  }
  if (rate !== null && !(rate >= 0 && rate < Infinity)) {
    throw new Refusal('invalid_body', '`rate` must be null or a number of at least 0');
  }
  if (burst !== null && !(Number.isSafeInteger(burst) && burst >= 0)) {
    throw new Refusal('invalid_body', '`burst` must be null or an integer of at least 0');
  }
  if (burst === 0 && rate !== 0) {
    throw new Refusal('invalid_body', '`burst` must be at least 1, unless `rate` is 0 (no limit)');
  }
}

export const environmentExists = 'The application already has an environment of this name';

/** @throws {Refusal} `not_found`, `invalid_name`, `conflict` if the name is taken, `plan_limit` */
export function createEnvironment(directory: Directory, applicationId: string, name: string): Promise<Environment> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    checkPathName('an environment', name);
    if (application.environments.some((each) => each.name === name)) {
      throw new Refusal('conflict', environmentExists);
    }
    checkTierLimit(getTier(tx, application), 'environments', application.environments.length + 1);
    const now = directory.clock.now();
    const environment = newEnvironment(tx, name, now);
    const environments = [...application.environments, environment];
    tx.put('applications', applicationId, { ...application, environments, updatedAt: now });
    tx.note('environment.created', application.teamId, environmentTarget(application, name));
    return environment;
  });
}

/**
 * Deletes an environment. A background task removes its usage. An environment created later with the same name starts
 * without usage.
 * @throws {Refusal} `not_found`
 */
export function deleteEnvironment(directory: Directory, applicationId: string, name: string): Promise<void> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    const { number: gone } = mustExist(
      'environment',
      application.environments.find((each) => each.name === name),
    );
    const environments = application.environments.filter(({ number }) => number !== gone);
    const { number, teamId } = application;
    const now = directory.clock.now();
    const target = environmentTarget(application, name);
    tx.put('applications', applicationId, { ...application, environments, updatedAt: now });
    tx.note('environment.deleted', teamId, target);
    requestDeletion(tx, { application: number, environments: [gone], whole: false, target, teamId, requestedAt: now });
  });
}

/** Records in the audit log that the import of a file into an environment begins. @throws {Refusal} `not_found` */
export function noteImport(directory: Directory, applicationId: string, name: string): Promise<void> {
  return directory.change((tx) => {
    const application = mustExist('application', tx.applications.get(applicationId));
    tx.note('environment.imported', application.teamId, environmentTarget(application, name));
  });
}

function newEnvironment(tx: AccountTransaction, name: string, now: number): Environment {
  return { name, number: tx.takeNumber('environment'), createdAt: now };
}

function environmentTarget({ id }: Application, name: string): Deletion['target'] {
  return { type: 'environment', id, name };
}

/** @throws {Refusal} `invalid_name`, `invalid_body` (repeated name), `plan_limit` */
function checkEnvironmentNames(tier: Tier, names: readonly string[]): void {
  checkTierLimit(tier, 'environments', names.length);
  for (const name of names) checkPathName('an environment', name);
  if (new Set(names).size < names.length) {
    throw new Refusal('invalid_body', '`environments` must have unique names');
  }
}
