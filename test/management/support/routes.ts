import { managementApi } from '../../../src/management/management-api.ts';

/** Every endpoint of the management API, such as `GET /teams/:id`. Paths omit the prefix `/api/v2`. */
export const routes: readonly string[] = managementApi
  .flatMap(({ endpoints }) => endpoints)
  .map(({ method, path }) => `${method} ${path.replace('/api/v2', '')}`);
