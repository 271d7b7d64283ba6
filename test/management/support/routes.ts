import { managementApi } from '../../../src/management/management-api.ts';

/** Every endpoint of the management API, as `GET /teams/:id`: the paths are below `/api/v2`. */
export const routes: readonly string[] = managementApi
  .flatMap(({ endpoints }) => endpoints)
  .map(({ method, path }) => `${method} ${path.replace('/api/v2', '')}`);
