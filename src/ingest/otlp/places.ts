import { environmentNamed, type KeyHolder } from '../../accounts/key-index.ts';
import type { Environment } from '../../storage/lmdb/records.ts';
import type { Place } from './counting.ts';
import { type OtlpRequest, resourceWidth, type Texts } from './request.ts';

/** The resources of a request in the environments of an application. */
export interface Placed {
  /** In the order of the resources; `undefined` for one whose environment is unknown. */
  readonly places: readonly (Place | undefined)[];
  /** Number of records without a place. */
  readonly unplaced: number;
}

/** @param fallback the environment of resources that name none */
export function placesOf(
  { resources }: Pick<OtlpRequest, 'resources'>,
  texts: Texts,
  { environments }: KeyHolder,
  fallback: string | undefined,
): Placed {
  const places: (Place | undefined)[] = [];
  let unplaced = 0;
  for (let at = 0; at < resources.length; at += resourceWidth) {
    const name = texts.at(resources[at]!) ?? fallback;
    const environment = environmentOf(environments, name);
    const service = texts.at(resources[at + 1]!) ?? '';
    const version = texts.at(resources[at + 2]!) ?? '';
    places.push(environment && { environment, service, version });
    if (environment === undefined) unplaced += resources[at + 3]!;
  }
  return { places, unplaced };
}

/** The environment of a name. Without one, the only environment of the application. */
function environmentOf(
  environments: KeyHolder['environments'],
  name: string | undefined,
): Environment | undefined {
  if (name !== undefined) return environmentNamed(environments, name);
  return environments.size === 1 ? [...environments.values()][0] : undefined;
}
