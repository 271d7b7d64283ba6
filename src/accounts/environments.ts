import { ApiError } from '../contract/errors.ts';
import type { Plan } from '../contract/plans.ts';
import type { Application, Deletion, Environment } from '../storage/lmdb/records.ts';
import type { AccountDraft } from './account-draft.ts';
import { checkPathName, mustExist } from './checks.ts';
import { requestDeletion } from './deletions.ts';
import type { Directory } from './directory.ts';
import { checkPlan, planOf } from './plans.ts';

export const environmentExists = 'The application already has an environment of this name';

/** @throws {ApiError} `not_found`, `invalid_name`, `conflict` if the name is taken, `plan_limit` */
export function createEnvironment(
  directory: Directory,
  applicationId: string,
  name: string,
): Promise<Environment> {
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
    draft.note('environment.created', application.teamId, targetOf(application, name));
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
    const target = targetOf(application, name);
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
    draft.note('environment.imported', application.teamId, targetOf(application, name));
  });
}

export function newEnvironment(draft: AccountDraft, name: string, now: number): Environment {
  return { name, number: draft.takeNumber('environment'), createdAt: now };
}

function targetOf({ id }: Application, name: string): Deletion['target'] {
  return { type: 'environment', id, name };
}

/** @throws {ApiError} `invalid_name`, `invalid_body` (repeated name), `plan_limit` */
export function checkEnvironmentNames(plan: Plan, names: readonly string[]): void {
  checkPlan(plan, 'environments', names.length);
  for (const name of names) checkPathName('an environment', name);
  if (new Set(names).size < names.length) {
    throw new ApiError('invalid_body', 'Cannot take environments: names must be unique');
  }
}
