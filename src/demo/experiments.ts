import type { Directory } from '../accounts/directory.ts';
import { planExperiment } from '../accounts/experiments.ts';
import { patchFeature } from '../accounts/features.ts';

const dayMs = 86_400_000;

/** A change of the team, some days ago. */
interface Deed {
  readonly daysAgo: number;
  run(): Promise<unknown>;
}

/**
 * The experiments of the shop, each planned a day before it starts: one has finished, whose result the service freezes within a
 * minute, and one is running. The rollout of `loyalty-points` is behind its plan.
 */
export function experimentDeeds(directory: Directory, id: string, now: number): Deed[] {
  const today = Math.floor(now / dayMs);
  const { number: environment } = directory.applications.get(id)!.environments[0]!;
  const at = (daysAgo: number) => (today - daysAgo) * dayMs;
  const common = { environment, split: null, metric: 'used', direction: 'up', users: null } as const;
  const orders = { metric: 'viewed', direction: 'up', tolerated: 0.02 } as const;
  return [
    {
      daysAgo: 30,
      run: () =>
        planExperiment(directory, id, 'basket-layout', {
          ...common,
          name: 'Basket on one page',
          hypothesis: 'More people finish their order when the basket is on one page.',
          base: 'stepwise',
          startAt: at(28),
          endAt: at(0),
          guardrails: [orders],
        }),
    },
    {
      daysAgo: 11,
      run: () =>
        planExperiment(directory, id, 'free-shipping-banner', {
          ...common,
          name: 'Banner about free shipping',
          hypothesis: 'People buy more when they see that shipping is free.',
          base: 'none',
          startAt: at(10),
          endAt: at(-11),
          guardrails: [orders],
        }),
    },
    {
      daysAgo: 12,
      run: () =>
        patchFeature(directory, id, 'loyalty-points', {
          rollout: [
            {
              at: at(10),
              split: [
                ['on', 10],
                ['off', 90],
              ],
            },
            {
              at: at(6),
              split: [
                ['on', 50],
                ['off', 50],
              ],
            },
            { at: at(-4), split: [['on', 1]] },
          ],
        }),
    },
  ];
}
