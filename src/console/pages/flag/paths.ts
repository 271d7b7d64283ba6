import { resource } from '../../api/client.ts';

/** Which flag the page is about. */
export interface FlagPlace {
  readonly application: string;
  readonly environment: string;
  readonly name: string;
}

/** The resource of a flag, below which its parts are; `undefined` for `.` and `..`, which no path can name. */
export function flagPath({ application, name }: FlagPlace, ...rest: readonly string[]): string | undefined {
  if (name === '.' || name === '..') return undefined;
  return resource('applications', application, 'features', name, ...rest);
}
