import { Refusal } from '../errors.ts';
import type { Application, AuditEntry, Environment, Plan } from '../store/records.ts';
import { checkName, mustExist } from './checks.ts';
import type { Directory } from './directory.ts';
import { checkPlan, planOf } from './plans.ts';
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
    checkEnvironmentName(name);
    if (application.environments.some((each) => each.name === name)) {
      throw new Refusal('conflict', 'The application has an environment of this name already');
    }
    checkPlan(planOf(directory, application), 'environments', application.environments.length + 1);
    const now = directory.clock.now();
    const environment = newEnvironment(draft, name, now);
    const environments = [...application.environments, environment];
    draft.put('applications', applicationId, { ...application, environments, updatedAt: now });
    draft.note('environment.created', application.teamId, targetOf(application, name));
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
    draft.note('environment.deleted', application.teamId, targetOf(application, name));
  });
}

/** An environment under a number of its own, to be put into an application in the same draft. */
export function newEnvironment(draft: Draft, name: string, now: number): Environment {
  return { name, number: draft.takeNumber('environment'), createdAt: now };
}

function targetOf({ id }: Application, name: string): AuditEntry['target'] {
  return { type: 'environment', id, name };
}

/** What a URL takes for a step through its path (RFC 3986 §5.2.4), however it is encoded, could never be deleted. */
function checkEnvironmentName(name: string): void {
  checkName('an environment', name);
  if (name === '.' || name === '..') {
    throw new Refusal('invalid_name', `Cannot take the name of an environment: ${name} cannot be in a URL`);
  }
}

/** @throws {Refusal} `invalid_name`, `invalid_body` (the same name twice), `plan_limit` */
export function checkEnvironmentNames(plan: Plan, names: readonly string[]): void {
  checkPlan(plan, 'environments', names.length);
  for (const name of names) checkEnvironmentName(name);
  if (new Set(names).size < names.length) {
    throw new Refusal('invalid_body', 'Cannot take environments: each name must be there only once');
  }
}
