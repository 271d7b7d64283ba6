import { initialize } from 'unleash-client';

// A service with the published SDK of Unleash for Node: `node bench/switch-over-sdk.mjs URL TOKEN NAME`. It checks
// flags until its standard input ends, and exits when the server has confirmed all reports. Prints the number of its
// checks by flag.
const [url, token, appName] = process.argv.slice(2);
const flag = (name, enabled) => ({
  ...{ name, enabled, type: 'release', project: 'default', stale: false, impressionData: false },
  ...{ strategies: [{ name: 'default', parameters: {} }], variants: [] },
});
const sdk = initialize({
  ...{ url, appName, customHeaders: { Authorization: token }, metricsInterval: 1000, metricsJitter: 500 },
  ...{ refreshInterval: 0, skipInstanceCountWarning: true, disableMetrics: false },
  bootstrap: { data: [flag('checkout', true), flag('search', false), flag('banner', true)] },
});
const counts = { checkout: 0, search: 0, banner: 0 };
let [checks, confirmed] = [0, 0];
sdk.on('warn', () => {});
sdk.on('error', () => {});
sdk.on('sent', ({ bucket }) => {
  for (const { yes, no } of Object.values(bucket?.toggles ?? {})) confirmed += yes + no;
});
await new Promise((resolve) => sdk.once('ready', resolve));
let isOver = false;
process.stdin.resume().on('end', () => {
  isOver = true;
});
const timer = setInterval(() => {
  if (!isOver) {
    const names = Object.keys(counts);
    const name = names[Math.floor(Math.random() * names.length)];
    sdk.isEnabled(name);
    counts[name] += 1;
    checks += 1;
  } else if (confirmed >= checks) {
    clearInterval(timer);
    sdk.destroy();
    process.stdout.write(`${JSON.stringify({ counts, checks, confirmed })}\n`, () => process.exit(0));
  }
}, 50);
