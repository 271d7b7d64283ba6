import type { Recipe } from './recipe.ts';

const scan = '/applications/:id/code-scans/:repository';

/** Answers of the routes of code scans and of the clean-up. */
export const codeScanRecipes: Readonly<Record<string, Recipe>> = {
  [`PUT ${scan} invalid_name`]: async (_world, { path }) => ({
    path: path.replace(/[^/]+$/, 'a'.repeat(300)),
  }),
  [`PUT ${scan} conflict`]: async (_world, { path }) => ({
    again: (time) => ({ path: path.replace(/[^/]+$/, `repository-${time}`) }),
  }),
  [`PUT ${scan} body_too_large`]: async () => ({ body: ' '.repeat(5_000_000) }),
  'GET /applications/:id/cleanup invalid_query': async (_world, { path }) => ({
    path: `${path}?environment=`,
  }),
  'GET /applications/:id/health invalid_query': async (_world, { path }) => ({
    path: path.replace(/\?.*|$/, '?environment='),
  }),
};
