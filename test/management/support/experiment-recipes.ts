import type { Recipe } from './recipe.ts';
import { make } from './targets.ts';

const list = '/applications/:id/experiments';
const one = `${list}/:experimentId`;

const feature = '/applications/:id/features/:feature';

const plan = {
  feature: 'checkout',
  name: 'A',
  environment: 'Production',
  base: 'off',
  metric: 'used',
  users: 1000,
};

/** The same below a feature that does not exist. */
const ofNone =
  (what: string): Recipe =>
  async (_world, { path }) => ({ path: path.replace(`/${what}`, `-none/${what}`) });

const withBody =
  (body: object): Recipe =>
  async () => ({ body });

/** The good body with another field. */
const but =
  (fields: object): Recipe =>
  async (_world, { body }) => ({ body: { ...(body as object), ...fields } });

/** Answers of the routes of experiments, comparisons and splits. */
export const experimentRecipes: Readonly<Record<string, Recipe>> = {
  [`GET ${feature}/comparison not_found`]: ofNone('comparison'),
  [`GET ${feature}/split not_found`]: ofNone('split'),
  [`POST ${list} invalid_name`]: but({ base: '' }),
  [`POST ${list} invalid_time`]: but({ startAt: 'soon' }),
  [`POST ${list} unknown_environment`]: but({ environment: 'Nowhere' }),
  [`POST ${list} conflict`]: async () => ({ again: () => ({}) }),
  // Only an experiment with a planned number of users is computed for the list.
  [`GET ${list} backpressure`]: async (world, { path }) => {
    await make(world, path, plan, 'id');
    return {};
  },
  [`PATCH ${one} invalid_name`]: withBody({ base: '' }),
  [`PATCH ${one} invalid_time`]: withBody({ startAt: 'soon' }),
  [`PATCH ${one} unknown_environment`]: withBody({ environment: 'Nowhere' }),
  [`PATCH ${one} conflict`]: withBody({ users: 5000 }),
  // Each time another experiment, because an experiment can be stopped only once.
  [`PATCH ${one} backpressure`]: async (world, { path }) => {
    const all = path.slice(0, path.lastIndexOf('/'));
    const ids: string[] = [];
    for (let at = 0; at < 60; at += 1)
      ids.push(await make(world, all, { ...plan, feature: `crowd-${at % 3}` }, 'id'));
    return {
      body: { stop: 'Too many errors' },
      again: (time) => ({ path: `${all}/${ids[time % ids.length]}` }),
    };
  },
};
