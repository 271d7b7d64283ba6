import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { cleanUp, freshDirectory } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { buildProgram, openFeatureSdks, saveProgram } from '../support/openfeature.ts';
import { byHttp1 } from '../support/proxy-clients.ts';
import { runProxy } from '../support/proxy-program.ts';
import { skippedWorkspaces } from '../support/workspaces.ts';
import { axeFaults, schemeFaults } from './support/axe.ts';
import { phone } from './support/chromium.ts';
import { type Console, openConsole, openSender, type VisitOptions } from './support/console.ts';
import { readWidth } from './support/looks.ts';
import { startPageServer } from './support/pages.ts';

const { test } = needing('chromium-headless-shell');

const run = promisify(execFile);

/** Programs whose SDKs read the exporter settings from environment variables. */
const logsSdk = `import { logs } from '@opentelemetry/api-logs';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
const processor = new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() });
const sdk = new LoggerProvider({ resource, processors: [processor] });
logs.setGlobalLoggerProvider(sdk);`;
const metricsSdk = `import { metrics } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
const reader = new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() });
const sdk = new MeterProvider({ resource, readers: [reader] });
metrics.setGlobalMeterProvider(sdk);`;

let console_: Console;
beforeAll(async () => {
  console_ = await openConsole();
});
afterAll(async () => {
  await console_?.close();
  cleanUp();
});

/** Opens the Connect page of a new application for a kind of sender. */
async function connect(use: string, options: VisitOptions = {}) {
  const { application, packet } = await openSender(console_, 'Shop');
  const visit = await console_.visit(`/apps/${application}/Production/connect?use=${use}`, options);
  await visit.page.getByRole('heading', { name: '4. The first message' }).waitFor();
  return { application, packet, ...visit };
}

const headers = (authorization: string) => ({ authorization, 'content-type': 'application/json' });

function bucket(feature: string): string {
  const at = new Date().toISOString();
  const toggles = { [feature]: { yes: 5, no: 1, variants: { blue: 2 } } };
  const sdk = { sdkVersion: 'unleash-client-node:6.12.1', platformName: 'node' };
  const sender = { appName: 'billing', instanceId: 'billing-1', connectionId: feature, ...sdk };
  return JSON.stringify({ ...sender, bucket: { start: at, stop: at, toggles } });
}

needing('chromium-headless-shell', 'nginx').test(
  'the Connect page for Unleash adopts the refused token, and its proxy rule forwards the first bucket',
  async () => {
    const { page, packet } = await connect('unleash');
    expect(await axeFaults(page)).toEqual([]);
    await packet({ search: { on: [7] } }); // This packet is from another kind of sender.
    const token = `default:production.${'a'.repeat(56)}`;
    // A reader pastes the upstream next to the server block, and the rest of the rule into the block.
    const [upstream, location] = (await page.locator('.connect-text').textContent())!.split('\n\n');
    const tls = 'ssl_certificate /etc/nginx/flagmeter.crt; ssl_certificate_key /etc/nginx/flagmeter.key;';
    const text = `${upstream}\nserver { listen 443 ssl; ${tls}\n${location}\nlocation / { return 404; } }\n`;
    const proxy = await runProxy('nginx', freshDirectory(), text);
    onTestFinished(() => proxy.stop());
    const send = (feature: string) =>
      byHttp1(proxy.port, '/api/client/metrics', { method: 'POST', headers: headers(token), body: bucket(feature) });

    await page.getByText('Waiting for a message of an Unleash SDK').waitFor();
    expect(await send('checkout')).toMatchObject({ status: 404 });
    await page.getByText('An SDK sent a token that no application has adopted.').waitFor();
    await page.getByText('Adopt this token in step 2').waitFor();
    expect(await axeFaults(page)).toEqual([]);

    await page.getByLabel('Token of Unleash', { exact: true }).fill(` ${token}\n`);
    await page.keyboard.press('Enter');
    await page.getByText('(Backend) counts in Production; not used yet').waitFor();
    expect(await send('checkout')).toMatchObject({ status: 202 });
    await page.getByText('✓ Connected.').waitFor();
    await page.getByText('from billing-1 (billing).').waitFor();
    await page.getByText('from all senders').waitFor();
    await expect.poll(() => counted(page)).toContain('checkout enabled: 3 checks; disabled: 1 check; blue: 2 checks');
    await page.getByText('Unleash does not report use and views').waitFor();
    expect(await axeFaults(page)).toEqual([]);
  },
);

test('each proxy for Unleash gets a rule with the address of the metrics host, and a token is adopted once', async () => {
  const { page, application } = await connect('own');
  await page.getByRole('link', { name: 'I use Unleash' }).press('Enter');
  await page.getByText('2. The token of the services').waitFor();
  expect(await page.locator(':focus').textContent()).toContain('I use Unleash');
  for (const name of ['nginx', 'nginx mirror', 'HAProxy', 'Caddy', 'Envoy']) {
    await page.getByRole('button', { name, exact: true }).press('Enter');
    expect(await page.locator(':focus').textContent()).toBe(name);
    const rule = page.getByRole('region', { name: `The rule for ${name}`, exact: true });
    const { hostname, port } = new URL(console_.origin);
    await expect.poll(() => rule.textContent()).toMatch(new RegExp(`${hostname}(:|, port_value: )${port}`));
    expect(await rule.textContent()).not.toMatch(/With TLS|example\.com/);
  }
  const adopt = `/api/v2/applications/${application}/keys/adopt`;
  const token = `default:production.${'b'.repeat(56)}`;
  await console_.manage('POST', adopt, 201, { token, type: 'Frontend', environment: 'Staging' });
  await page.getByLabel('Token of Unleash', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Adopt token' }).click();
  await page.getByRole('alert').getByText('is already a key of an application').waitFor();
  await page.getByLabel('Token of Unleash', { exact: true }).fill('default:production.short');
  await page.getByRole('button', { name: 'Adopt token' }).click();
  await page.getByRole('alert').getByText('must have 16 to 512').waitFor();
});

test('an adopted Unleash token that can be guessed has a warning, which the list of keys shows too', async () => {
  const { page, application } = await connect('unleash');
  const token = 'default:production.our-usual-password-1';
  await page.getByLabel('Token of Unleash', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Adopt token' }).click();
  await page.getByText('fewer than 32 random-looking characters').waitFor();
  await page.goto(`${console_.origin}/settings/application?app=${application}`);
  const note = page.getByRole('note');
  await note.getByText(/The key Adopted Backend \(default:production\..*…\) can be guessed/).waitFor();
  await note.getByText(/create a new token in Unleash, adopt it with .*flagmeter keys adopt/).waitFor();
  await page.getByRole('button', { name: 'Delete' }).first().waitFor();
  expect(await page.getByRole('button', { name: /^(Rotate|Replace) key Adopted/ }).count()).toBe(0);
});

/** Returns the lines below a heading, as a reader would copy them. */
async function readLines(page: Page, name: string): Promise<string> {
  return (await page.getByRole('region', { name: `The ${name}`, exact: true }).textContent())!;
}

const counted = (page: Page) => page.getByRole('list', { name: 'Counted flags' }).textContent();

needing('chromium-headless-shell', openFeatureSdks).test(
  'the code that the Connect page shows for OpenFeature counts checks on a server and on a web page',
  async () => {
    const { page, context } = await connect('openfeature');
    await page.getByRole('button', { name: 'Create Backend key' }).click();
    await page.getByText('is not shown again').waitFor();
    const onServer = `import { InMemoryProvider } from '@openfeature/server-sdk';
${providerScript('checkout')}
${await readLines(page, 'lines for the program')}
await OpenFeature.getClient().getBooleanValue('checkout', false);
await OpenFeature.close();`;
    await runWith(await readLines(page, 'key as a variable'), saveProgram('shown.mjs', onServer));
    await page.getByText('✓ Connected.').waitFor();
    await page.getByText('(my-service)').waitFor();
    await expect.poll(() => counted(page)).toBe('checkout on: 1 check');

    await page.getByRole('button', { name: 'Web page' }).click();
    const onPage = `import { InMemoryProvider } from '@openfeature/web-sdk';
${providerScript('banner')}
${await readLines(page, 'lines for the program')}
OpenFeature.getClient().getBooleanValue('banner', false);
await meter.flush();`;
    const pages = await startPageServer();
    onTestFinished(() => pages.close());
    const script = await buildProgram('shown-web', onPage);
    pages.put('/', { html: `<!doctype html><title>A shop</title><script type="module">${script}</script>` });
    await (await context.newPage()).goto(pages.origin);
    await page.bringToFront();
    await expect.poll(() => counted(page)).toContain('banner on: 1 check');
  },
);

/** Runs a program with the environment variables that the page shows. */
const runWith = (variables: string, path: string) =>
  run('bash', ['-c', `${variables}\nexec "${process.execPath}" ${path}`]);

const sourcesModules = { why: skippedWorkspaces.get('test/sources') };

needing('chromium-headless-shell', sourcesModules).test(
  'a program with the OpenTelemetry settings of the Connect page sends events and sums that are counted',
  async () => {
    const { page } = await connect('opentelemetry');
    const wrong = { method: 'POST', headers: headers('fm_be_wrong'), body: '{}' };
    expect((await fetch(`${console_.origin}/v1/logs`, wrong)).status).toBe(404);
    await page.getByText('A message had an unknown key.').waitFor();
    await page.getByRole('button', { name: 'Create Backend key' }).click();
    await page.getByText('is not shown again').waitFor();
    const directory = freshDirectory();
    symlinkSync(join(import.meta.dirname, '../../node_modules'), join(directory, 'node_modules'));
    const path = join(directory, 'shown.mjs');
    for (const [name, sdk, shown] of [
      ['Log events', logsSdk, 'checkout on: 1 check'],
      ['Metrics', metricsSdk, 'checkout on: 2 checks'],
    ] as const) {
      await page.getByRole('button', { name, exact: true }).click();
      const code = `import { InMemoryProvider } from '@openfeature/server-sdk';
import { detectResources, envDetector } from '@opentelemetry/resources';
const resource = detectResources({ detectors: [envDetector] });
${sdk}
${await readLines(page, 'lines for the program')}
${providerScript('checkout')}
await OpenFeature.setProviderAndWait(provider);
await OpenFeature.getClient().getBooleanValue('checkout', false);
await sdk.shutdown();`;
      writeFileSync(path, code);
      await runWith(await readLines(page, 'environment variables'), path);
      await expect.poll(() => counted(page)).toBe(shown);
    }
    await page.getByText('✓ Connected.').waitFor();
    await page.getByText('OpenTelemetry does not report use and views').waitFor();
  },
);

/** Returns the script of an OpenFeature provider, as a program would load it. */
function providerScript(name: string): string {
  const flags = { [name]: { disabled: false, variants: { on: true }, defaultVariant: 'on' } };
  return `const provider = new InMemoryProvider(${JSON.stringify(flags)});`;
}

test('the Connect page fits a phone and passes axe-core in light and dark mode', async () => {
  const { page, application } = await connect('unleash', phone);
  for (const use of ['unleash', 'openfeature&with=web', 'own']) {
    await page.goto(`${console_.origin}/apps/${application}/Production/connect?use=${use}`);
    await page.locator('.connect-text').first().waitFor();
    expect(await readWidth(page)).toBe(phone.viewport.width);
    expect(await schemeFaults(page)).toEqual([]);
  }
});
