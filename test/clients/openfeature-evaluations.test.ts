import { expect, it } from 'vitest';
import { countEvaluations } from '../../clients/openfeature/src/evaluations.ts';

/** Returns the hook, the tracking handler, and the calls that they make. */
function counting() {
  const counted: unknown[][] = [];
  const evaluations = countEvaluations({
    checked: (...given) => void counted.push(['checked', ...given]),
    used: (...given) => void counted.push(['used', ...given]),
    add: (...given) => void counted.push(['add', ...given]),
    flush: async () => void counted.push(['flush']),
  });
  const evaluated = (flagKey: string, variant: string, targetingKey?: string) =>
    evaluations.hook.after({ flagKey, context: { targetingKey } }, { value: true, variant });
  return { ...evaluations, counted, evaluated };
}

it.each([
  ['`on` for the variant `on`', { variant: 'on', value: false }, 'on'],
  ['`enabled` for true', { value: true }, 'enabled'],
  ['`disabled` for false', { variant: '', value: false }, 'disabled'],
  ['`red` for the text `red`', { value: 'red' }, 'red'],
  ['`0` for the number 0', { value: 0 }, '0'],
  ['`(value)` for a long text', { value: 'é'.repeat(129) }, '(value)'],
  ['`(value)` for a text with a control character', { value: 'a\nb' }, '(value)'],
  ['`(value)` for an empty text', { value: '' }, '(value)'],
  ['`(value)` for an object', { value: { colour: 'red' } }, '(value)'],
])('an evaluation counts as a check of %s', (_, details, variant) => {
  const { hook, counted } = counting();
  hook.after({ flagKey: 'checkout', context: {} }, details);
  expect(counted).toEqual([['checked', 'checkout', variant]]);
});

it('an evaluation that fails counts as a check of `(error)`', () => {
  const { hook, counted } = counting();
  hook.error({ flagKey: 'checkout', context: {} });
  expect(counted).toEqual([['checked', 'checkout', '(error)']]);
});

it('an evaluation counts once even if a later hook fails', () => {
  const { hook, counted } = counting();
  const context = { flagKey: 'checkout', context: {} };
  hook.after(context, { value: true });
  hook.error(context);
  expect(counted).toEqual([['checked', 'checkout', 'enabled']]);
});

it('a tracking event with a flag counts as a use of the last variant that its targeting key got', () => {
  const { track, counted, evaluated } = counting();
  evaluated('checkout', 'on', 'ada');
  evaluated('checkout', 'off', 'bob');
  counted.length = 0;
  track('paid', { targetingKey: 'ada' }, { flag: 'checkout' });
  track('paid', { targetingKey: 'carol' }, { flag: 'checkout' });
  track('paid', undefined, { flag: 'checkout' });
  track('paid', { targetingKey: 'ada' }, { flag: 'checkout', variant: 'beta' });
  track('paid', { targetingKey: 'ada' }, { flag: 'unknown' });
  expect(counted).toEqual([
    ['used', 'checkout', 'on'],
    ['used', 'checkout', 'off'],
    ['used', 'checkout', 'off'],
    ['used', 'checkout', 'beta'],
    ['used', 'unknown', 'enabled'],
  ]);
});

it('the variants of the ten thousand most recent targeting keys are remembered', () => {
  const { track, counted, evaluated } = counting();
  for (let user = 0; user < 40_000; user += 1) evaluated('checkout', `v${user}`, `user ${user}`);
  counted.length = 0;
  for (const user of [0, 30_000, 39_999]) track('paid', { targetingKey: `user ${user}` }, { flag: 'checkout' });
  expect(counted.map(([, , variant]) => variant)).toEqual(['v39999', 'v30000', 'v39999']);
});

it('a tracking event without a flag adds its value to the metric with the name of the event', () => {
  const { track, counted } = counting();
  track('revenue', {}, { value: 20.5 });
  track('signed-up');
  track('odd', {}, { flag: 7 });
  expect(counted).toEqual([
    ['add', 'revenue', 20.5],
    ['add', 'signed-up', undefined],
    ['add', 'odd', undefined],
  ]);
});

it('the hook, track and withTracking never throw, even for invalid arguments', () => {
  const { hook, track, withTracking, counted } = counting();
  hook.after(null!, null!);
  hook.error(undefined!);
  track('event', null!, null!);
  const frozen = Object.freeze({ metadata: {} });
  expect(withTracking(frozen)).toBe(frozen);
  expect(withTracking(undefined!)).toBeUndefined();
  expect(counted).toEqual([['add', 'event', undefined]]);
});

it('a provider that withTracking wraps twice still tracks events itself, and each event counts once', () => {
  class OwnProvider {
    readonly metadata = {};
    readonly #events: unknown[] = [];
    track(event: string, ...rest: unknown[]) {
      this.#events.push([event, ...rest]);
    }
    get events() {
      return this.#events;
    }
  }
  const { withTracking, counted } = counting();
  const provider = withTracking(withTracking(new OwnProvider()));
  provider.track('paid', { targetingKey: 'ada' }, { value: 1 });
  expect(provider.events).toEqual([['paid', { targetingKey: 'ada' }, { value: 1 }]]);
  expect(counted).toEqual([['add', 'paid', 1]]);
});

it('closing a provider sends the waiting counts, even if the provider fails to close', async () => {
  const { withTracking, counted } = counting();
  const provider = withTracking({
    metadata: {},
    async onClose() {
      counted.push(['closed']);
      throw new Error('not connected');
    },
  });
  await expect(provider.onClose()).rejects.toThrow('not connected');
  expect(counted).toEqual([['closed'], ['flush']]);
});
