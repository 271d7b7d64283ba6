import type { ApplicationShown } from '../../../contract/shapes/application.ts';
import type { ExposureShown } from '../../../contract/shapes/exposures.ts';
import { call, resource } from '../../api/client.ts';

/** What is kept of a person, by environment. */
export interface Kept {
  readonly identity: string;
  /** Whether it could be read: the address of a request cannot hold every identity. */
  readonly readable: boolean;
  readonly environments: readonly { readonly name: string; readonly exposures: readonly ExposureShown[] }[];
}

/** Reads what is kept of a person in every environment of an application. */
export async function readKept(app: string, identity: string): Promise<Kept> {
  // Clients resolve a segment of dots.
  if (identity === '.' || identity === '..') return { identity, readable: false, environments: [] };
  const application = await call<ApplicationShown>('GET', resource('applications', app));
  const environments = await Promise.all(
    application.environments.map(async ({ name }) => {
      const { exposures } = await call<{ exposures: ExposureShown[] }>('GET', exposuresPath(app, identity), {
        query: { environment: name },
      });
      return { name, exposures };
    }),
  );
  return { identity, readable: true, environments };
}

function exposuresPath(app: string, identity: string): string {
  return resource('applications', app, 'identities', identity, 'exposures');
}

/** Removes what is kept of a person, in every environment. */
export function forgetPerson(app: string, identity: string): Promise<void> {
  return call('DELETE', resource('applications', app, 'identities'), { query: { identity } });
}
