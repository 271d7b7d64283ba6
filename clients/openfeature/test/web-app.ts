import { flagmeter } from '@flagmeter/openfeature/web';
import { InMemoryProvider, OpenFeature } from '@openfeature/web-sdk';
import { flags } from './flags.ts';

/** Creates the objects that a test uses on a page. */
async function start(options: Parameters<typeof flagmeter>[0]) {
  const meter = flagmeter(options);
  await OpenFeature.setContext({ targetingKey: 'ada' });
  await OpenFeature.setProviderAndWait(meter.withTracking(new InMemoryProvider(flags)));
  OpenFeature.addHooks(meter.hook);
  return { meter, client: OpenFeature.getClient(), OpenFeature };
}

Object.assign(globalThis, { start });
