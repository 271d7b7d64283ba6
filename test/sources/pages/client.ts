import { type IConfig, UnleashClient } from 'unleash-proxy-client';

/** Starts Unleash's SDK for pages. @returns a function that checks each flag the given number of times */
async function start(config: IConfig): Promise<(times: number) => void> {
  const client = new UnleashClient(config);
  await client.start();
  return (times) => {
    for (let each = 0; each < times; each += 1) {
      client.isEnabled('checkout');
      client.isEnabled('search');
      client.getVariant('banner');
    }
  };
}

Object.assign(globalThis, { start });
