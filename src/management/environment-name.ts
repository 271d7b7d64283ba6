import Type from 'typebox';
import { ApiError } from '../contract/errors.ts';
import type { Environment } from '../storage/lmdb/records.ts';

export const EnvironmentName = Type.String({
  component: 'Environment',
  description: 'Name of the environment.',
});

export const environmentMissing = 'environment is missing';

/** The environment of this name. @throws {ApiError} `unknown_environment` */
export function findEnvironment(environments: readonly Environment[], name: string): Environment {
  const environment = environments.find((each) => each.name === name);
  if (environment !== undefined) return environment;
  const meant = environments.find((each) => each.name.toLowerCase() === name.toLowerCase());
  const hint = meant === undefined ? '' : `; case matters, and there is ${meant.name}`;
  throw new ApiError('unknown_environment', `${unknownEnvironment}${hint}`);
}

export const unknownEnvironment = 'The application has no such environment';
