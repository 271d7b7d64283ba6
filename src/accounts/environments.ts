import { Refusal } from '../errors.ts';
import type { Environment } from '../store/records.ts';
import { checkLimit, checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { limits } from './limits.ts';
import type { Draft } from './tables.ts';

/**
 * Adds an environment to an application.
 * @throws {Refusal} `not_found`, `invalid_name`, `conflict` when the name is taken, `plan_limit`
 */
export function createEnvironment(
  directory: Directory,
  applicationId: string,
  name: string,
): Promise<Environment> {
  return directory.change((draft) => {
    const application = mustExist('application', directory.applications.get(applicationId));
    checkName('an environment', name);
    if (application.environments.some((each) => each.name === name)) {
      throw new Refusal('conflict', 'The application has an environment of this name already');
    }
    const count = application.environments.length + 1;
    checkLimit('environments in an application', count, limits.environmentsPerApplication);
    const now = directory.clock.now();
    const environment = newEnvironment(draft, name, now);
    const environments = [...application.environments, environment];
    draft.put('applications', applicationId, { ...application, environments, updatedAt: now });
    return environment;
  });
}

/** Deletes an environment; one made later under the same name is a new one. @throws {Refusal} `not_found` */
export function deleteEnvironment(directory: Directory, applicationId: string, name: string): Promise<void> {
  return directory.change((draft) => {
    const application = mustExist('application', directory.applications.get(applicationId));
    const environments = application.environments.filter((each) => each.name !== name);
    if (environments.length === application.environments.length) mustExist('environment', undefined);
    const updatedAt = directory.clock.now();
    draft.put('applications', applicationId, { ...application, environments, updatedAt });
  });
}

/** An environment under a number of its own, to be put into an application in the same draft. */
export function newEnvironment(draft: Draft, name: string, now: number): Environment {
  return { name, number: draft.takeNumber('environment'), createdAt: now };
}

/** @throws {Refusal} `invalid_name`, `invalid_body` (the same name twice), `plan_limit` */
export function checkEnvironmentNames(names: readonly string[]): void {
  checkLimit('environments in an application', names.length, limits.environmentsPerApplication);
  for (const name of names) checkName('an environment', name);
  if (new Set(names).size < names.length) {
    throw new Refusal('invalid_body', 'Cannot take environments: each name must be there only once');
  }
}
