/* A service with Unleash's SDK for Node: service.cjs MODULES URL TOKEN NAME ROUNDS. It checks its flags, and ends when they are reported. */
const { createRequire } = require('node:module');
const { setTimeout: pause } = require('node:timers/promises');

const [modules, url, token, appName, rounds] = process.argv.slice(2);
const { startUnleash } = createRequire(`${modules}/`)('unleash-client');

async function main() {
  const sdk = await startUnleash({
    ...{ url, appName, customHeaders: { Authorization: token } },
    ...{ metricsInterval: 200, refreshInterval: 1000 },
  });
  sdk.on('error', (error) => {
    throw error;
  });
  for (let round = 0; round < Number(rounds); round += 1) {
    sdk.isEnabled('checkout');
    sdk.isEnabled('search');
    sdk.getVariant('banner', { userId: String(round) });
    sdk.getVariant('checkout');
    sdk.getVariant('search');
    await pause(20); // Several buckets are reported meanwhile.
  }
  await sdk.destroyWithFlush();
}

main();
