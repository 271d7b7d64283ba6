import { flagmeter } from '@flagmeter/openfeature/server';
import { InMemoryProvider, OpenFeature, type TrackingEventDetails } from '@openfeature/server-sdk';
import { flags } from './flags.ts';

/** A server that its parent process controls over IPC. It ends when the parent process disconnects. */

/** A message of the parent process: a method of `actions`, and its arguments. */
type Order = readonly [action: keyof typeof actions, ...given: unknown[]];

const meter = flagmeter(JSON.parse(process.argv[2] ?? '{}'));
await OpenFeature.setProviderAndWait(meter.withTracking(new InMemoryProvider(flags)));
OpenFeature.addHooks(meter.hook);
const client = OpenFeature.getClient();

const actions = {
  async evaluate(flag: string, targetingKey: string, times: number) {
    for (let each = 0; each < times; each += 1) await client.getBooleanValue(flag, false, { targetingKey });
  },
  text: (flag: string) => client.getStringValue(flag, 'none'),
  track: (event: string, targetingKey: string, details: TrackingEventDetails) =>
    client.track(event, { targetingKey }, details),
  flush: () => meter.flush(),
  close: () => OpenFeature.close(),
};

process.on('message', async ([action, ...given]: Order) => {
  await (actions[action] as (...given: unknown[]) => unknown)(...given);
  process.send?.('done');
});
process.send?.('ready');
