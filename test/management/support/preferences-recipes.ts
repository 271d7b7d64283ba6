import { codeScanRecipes } from './code-scan-recipes.ts';
import type { Recipe, Wanted } from './recipe.ts';
import type { World } from './world.ts';

const columns = Object.fromEntries(Array.from({ length: 21 }, (_, page) => [`page-${page}`, ['users']]));

/** Answers of the routes of preferences, of saved views and of code scans. */
export const preferencesRecipes: Readonly<Record<string, Recipe>> = {
  ...codeScanRecipes,
  'GET /users/me/preferences forbidden': asApiKey,
  'PATCH /users/me/preferences forbidden': asApiKey,
  'PATCH /users/me/preferences plan_limit': async () => ({ body: { columns } }),
  'POST /applications/:id/views plan_limit': async () => ({ again: () => ({}) }),
  'PATCH /applications/:id/views/:viewId forbidden': asUser,
};

/** Makes a shared view of the Admin private, as a User. */
async function asUser({ sign, user }: World): Promise<Partial<Wanted>> {
  return { authorization: `Bearer ${await sign(user)}`, body: { shared: false } };
}

/** The same from an API key. */
async function asApiKey({ tokenOf, home }: World): Promise<Partial<Wanted>> {
  return { authorization: `Bearer ${await tokenOf(home.keys.Admin)}` };
}
