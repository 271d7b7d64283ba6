import Type from 'typebox';
import { createEnvironment, deleteEnvironment, environmentExists } from '../accounts/applications.ts';
import { sentNameRule } from '../accounts/checks.ts';
import { describeTierLimit } from '../accounts/tiers.ts';
import { Refusal } from '../contract/errors.ts';
import { Environment, NewEnvironment } from '../contract/shapes/application.ts';
import { createPage, paging } from '../http/lists.ts';
import { ok } from '../http/responses.ts';
import { timeText } from '../runtime/rfc3339.ts';
import type { Environment as StoredEnvironment } from '../storage/lmdb/records.ts';
import { endpoint, type Group } from './endpoint.ts';
import { created, done, made, page } from './responses.ts';

export const unknownEnvironment = 'The application has no such environment';

export const environments: Group = {
  tag: 'Environments',
  description: 'Each environment of an application has its own counts.',
  endpoints: [
    endpoint('GET /applications/:id/environments', {
      access: { within: 'application', least: 'Viewer' },
      operationId: 'listEnvironments',
      summary: 'List the environments of an application',
      query: paging,
      responses: { 200: page(Environment, 'The oldest environment comes first.') },
      handle: ({ application, query }) => ok(createPage(application.environments, query, showEnvironment)),
    }),
    endpoint('POST /applications/:id/environments', {
      access: { within: 'application', least: 'Admin' },
      operationId: 'createEnvironment',
      summary: 'Add an environment',
      body: NewEnvironment,
      responses: { 201: made(Environment, 'The environment.') },
      refuses: {
        invalid_name: sentNameRule('an environment'),
        conflict: environmentExists,
        plan_limit: describeTierLimit('free', 'environments'),
      },
      async handle({ directory, application: { id }, body: { name } }) {
        const environment = await createEnvironment(directory, id, name);
        return created(['applications', id, 'environments', name], showEnvironment(environment));
      },
    }),
    endpoint('DELETE /applications/:id/environments/:name', {
      access: { within: 'application', least: 'Admin', recent: true },
      operationId: 'deleteEnvironment',
      summary: 'Delete an environment with its data',
      description:
        'The data is removed from the disk in the background. A later environment of the same name starts empty.',
      responses: { 204: done('The environment is deleted.') },
      handle: ({ directory, application, params }) => deleteEnvironment(directory, application.id, params.name),
    }),
  ],
};

export function showEnvironment({ name, createdAt }: StoredEnvironment): Environment {
  return { name, createdAt: timeText(createdAt) };
}

/** The query parameter of endpoints that read one environment, with its refusals. */
export const oneEnvironment = {
  query: { environment: Type.String({ component: 'Environment', description: 'Name of the environment.' }) },
  refuses: { invalid_query: 'environment is missing', unknown_environment: unknownEnvironment },
};

/** The query parameter of endpoints that read all environments or one, with its refusals. */
export const anyEnvironment = {
  query: { environment: Type.Optional(Type.String({ minLength: 1, description: 'Only this environment.' })) },
  refuses: { invalid_query: 'environment must not be empty', unknown_environment: unknownEnvironment },
};

/** Finds the environment with this name. @throws {Refusal} `unknown_environment` */
export function findEnvironment(environments: readonly StoredEnvironment[], name: string): StoredEnvironment {
  const environment = environments.find((each) => each.name === name);
  if (environment !== undefined) return environment;
  const meant = environments.find((each) => each.name.toLowerCase() === name.toLowerCase());
  const hint = meant === undefined ? '' : `; case matters, and there is ${meant.name}`;
  throw new Refusal('unknown_environment', `${unknownEnvironment}${hint}`);
}

/** Finds one environment by name, or all if the name is absent. @throws {Refusal} `unknown_environment` */
export function findEnvironments(
  environments: readonly StoredEnvironment[],
  name: string | undefined,
): readonly StoredEnvironment[] {
  return name === undefined ? environments : [findEnvironment(environments, name)];
}
