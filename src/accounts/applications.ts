import { ApiError } from '../contract/errors.ts';
import type { Plan } from '../contract/plans.ts';
import { type PlainApplicationSettings, plainApplicationDefaults } from '../contract/shapes/application.ts';
import type { Application, Deletion, Environment } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
import { ofTeam } from './accounts.ts';
import { changesBetween } from './audit-log.ts';
import { checkLimit, checkName, checkPathName, mustExist } from './checks.ts';
import { removeScansOf } from './code-scans.ts';
import { declarationKey } from './declarations.ts';
import { requestDeletion } from './deletions.ts';
import type { Directory } from './directory.ts';
import { removeNotesOf } from './features.ts';
import { isOriginPattern, withoutSlash } from './origins.ts';
import { checkPlan, planOf } from './plans.ts';
import { newId } from './secrets.ts';

interface NewApplication extends Partial<Omit<PlainApplicationSettings, 'name'>> {
  readonly name: string;
  readonly teamId: string;
  /** Names, in display order. */
  readonly environments?: readonly string[];
}

/** Limits the number of patterns, because each packet's origin is compared with all of them. */
export const maxOrigins = 100;

const defaultEnvironments = ['Production', 'Staging', 'Development'];

/** @throws {ApiError} `not_found` (team), `invalid_name`, `invalid_body`, `plan_limit` */
export function createApplication(directory: Directory, wanted: NewApplication): Promise<Application> {
  const { environments: names = defaultEnvironments, teamId, ...given } = wanted;
  return directory.change((draft) => {
    const settings = entered({ ...plainApplicationDefaults, ...given });
    checkSettings(settings);
    const { plan } = mustExist('team', draft.teams.get(teamId));
    checkEnvironmentNames(plan, names);
    checkPlan(plan, 'applications', ofTeam(draft.applications, teamId).length + 1);
    const now = directory.clock.now();
    const application: Application = {
      id: newId('app', directory.randomBytes),
      number: draft.takeNumber('application'),
      teamId,
      ...settings,
      environments: names.map((name) => newEnvironment(draft, name, now)),
      createdAt: now,
      updatedAt: now,
    };
    draft.put('applications', application.id, application);
    draft.note('application.created', teamId, targetOf(application));
    return application;
  });
}

/** @throws {ApiError} `not_found`, `invalid_name`, `invalid_body` */
export function patchApplication(
  directory: Directory,
  id: string,
  patch: Partial<PlainApplicationSettings>,
): Promise<Application> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(id));
    if (Object.keys(patch).length === 0) return application;
    const patched = entered({ ...application, ...patch, updatedAt: directory.clock.now() });
    checkSettings(patched);
    draft.put('applications', id, patched);
    const changes = changesBetween(application, patched);
    draft.note('application.changed', patched.teamId, targetOf(patched), changes);
    return patched;
  });
}

/** Deletes an application. A background task removes its usage. @throws {ApiError} `not_found` */
export function deleteApplication(directory: Directory, id: string): Promise<void> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(id));
    const { number, teamId, environments } = application;
    const target = targetOf(application);
    draft.note('application.deleted', teamId, target);
    draft.remove('applications', id);
    for (const key of draft.keysOf(id)) draft.remove('applicationKeys', key.hash);
    for (const name of draft.featuresOf(id).keys()) draft.remove('features', declarationKey(id, name));
    removeNotesOf(draft, id);
    removeScansOf(draft, id);
    for (const name of draft.metricsOf(id).keys()) draft.remove('metrics', declarationKey(id, name));
    requestDeletion(draft, {
      application: number,
      environments: environments.map((each) => each.number),
      whole: true,
      target,
      teamId,
      requestedAt: directory.clock.now(),
    });
  });
}

export function targetOf({ id, name }: Application): Deletion['target'] {
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
    throw new ApiError('invalid_body', `Cannot take allowedOrigins[${wrong}]: ${must}`);
  }
  if (rate !== null && !(rate >= 0 && rate < Infinity)) {
    throw new ApiError('invalid_body', 'Cannot take rate: must be null or a number of at least 0');
  }
  if (burst !== null && !(Number.isSafeInteger(burst) && burst >= 0)) {
    throw new ApiError('invalid_body', 'Cannot take burst: must be null or an integer of at least 0');
  }
  if (burst === 0 && rate !== 0) {
    throw new ApiError('invalid_body', 'Cannot take burst: must be at least 1, unless rate is 0 (no limit)');
  }
}

export const environmentExists = 'The application already has an environment of this name';

/** @throws {ApiError} `not_found`, `invalid_name`, `conflict` if the name is taken, `plan_limit` */
export function createEnvironment(directory: Directory, applicationId: string, name: string): Promise<Environment> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    checkPathName('an environment', name);
    if (application.environments.some((each) => each.name === name)) {
      throw new ApiError('conflict', environmentExists);
    }
    checkPlan(planOf(draft, application), 'environments', application.environments.length + 1);
    const now = directory.clock.now();
    const environment = newEnvironment(draft, name, now);
    const environments = [...application.environments, environment];
    draft.put('applications', applicationId, { ...application, environments, updatedAt: now });
    draft.note('environment.created', application.teamId, environmentTarget(application, name));
    return environment;
  });
}

/**
 * Deletes an environment. A background task removes its usage. An environment created later with the same name starts without usage.
 * @throws {ApiError} `not_found`
 */
export function deleteEnvironment(directory: Directory, applicationId: string, name: string): Promise<void> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    const { number: gone } = mustExist(
      'environment',
      application.environments.find((each) => each.name === name),
    );
    const environments = application.environments.filter(({ number }) => number !== gone);
    const { number, teamId } = application;
    const now = directory.clock.now();
    const target = environmentTarget(application, name);
    draft.put('applications', applicationId, { ...application, environments, updatedAt: now });
    draft.note('environment.deleted', teamId, target);
    requestDeletion(draft, {
      application: number,
      environments: [gone],
      whole: false,
      target,
      teamId,
      requestedAt: now,
    });
  });
}

/** Records in the audit log that the import of a file into an environment begins. @throws {ApiError} `not_found` */
export function noteImport(directory: Directory, applicationId: string, name: string): Promise<void> {
  return directory.change((draft) => {
    const application = mustExist('application', draft.applications.get(applicationId));
    draft.note('environment.imported', application.teamId, environmentTarget(application, name));
  });
}

function newEnvironment(draft: AccountDraft, name: string, now: number): Environment {
  return { name, number: draft.takeNumber('environment'), createdAt: now };
}

function environmentTarget({ id }: Application, name: string): Deletion['target'] {
  return { type: 'environment', id, name };
}

/** @throws {ApiError} `invalid_name`, `invalid_body` (repeated name), `plan_limit` */
function checkEnvironmentNames(plan: Plan, names: readonly string[]): void {
  checkPlan(plan, 'environments', names.length);
  for (const name of names) checkPathName('an environment', name);
  if (new Set(names).size < names.length) {
    throw new ApiError('invalid_body', 'Cannot take environments: names must be unique');
  }
}
