import { ApiError } from '../contract/errors.ts';
import { type PlainApplicationSettings, plainApplicationDefaults } from '../contract/shapes/application.ts';
import type { Application, Deletion } from '../storage/lmdb/records.ts';
import { ofTeam } from './accounts.ts';
import { changesBetween } from './changed-fields.ts';
import { checkLimit, checkName, mustExist } from './checks.ts';
import { removeScansOf } from './code-scans.ts';
import { declarationKey } from './declarations.ts';
import { requestDeletion } from './deletions.ts';
import type { Directory } from './directory.ts';
import { checkEnvironmentNames, newEnvironment } from './environments.ts';
import { removeNotesOf } from './feature-notes.ts';
import { isOriginPattern, withoutSlash } from './origins.ts';
import { checkPlan } from './plans.ts';
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
