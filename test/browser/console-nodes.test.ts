import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp } from '../support/binary.ts';
import { needing } from '../support/needing.ts';
import { Postgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/prepare-postgres.ts';
import { axeFaults } from './support/axe.ts';
import { type Console, openConsole, openSender, type Sender } from './support/console.ts';

needing('chromium-headless-shell', 'postgresql').describe('the console with several nodes', () => {
  let database: Postgres;
  let postgresUrl: string;
  let console_: Console;
  let shop: Sender;

  beforeAll(async () => {
    database = await Postgres.start();
    postgresUrl = await database.database();
    const credentials = await preparePostgres(postgresUrl);
    const args = ['--postgres', postgresUrl, '--node-name', 'flagmeter-1'];
    console_ = await openConsole(args, undefined, credentials);
    shop = await openSender(console_, 'Shop', { allowedOrigins: ['https://shop.example'] });
    await shop.packet({ checkout: { on: [1] } });
  });

  afterAll(async () => {
    await console_?.close();
    await database?.close();
    cleanUp();
  });

  test('the overview names nodes that might be counting while they are disconnected from PostgreSQL', async () => {
    const stopped = `INSERT INTO fm_node (directory, name, state, beat_at) VALUES ($1, $2, 'done', now())`;
    for (const [directory, name] of Object.entries({ d1: 'left', d2: 'left', d3: 'right' }))
      await database.query(stopped, [directory, name], postgresUrl);
    const { page } = await console_.visit(`/apps/${shop.application}/Production/flags?range=24h`);
    const shown = page.getByText('Not included: counts of left (d1), left (d2), right, which cannot reach PostgreSQL.');
    await shown.waitFor();
    expect(await axeFaults(page)).toEqual([]);
  });

  test('the server page lists the nodes, and the ingest page keeps its figures without PostgreSQL', async () => {
    const { page, tab } = await console_.visit('/server');
    const ingest = await tab(`/apps/${shop.application}/Production/ingest?range=24h`);
    const row = page.getByRole('table', { name: 'Nodes' }).getByRole('row', { name: /^flagmeter-1 .* up / });
    await row.waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await database.stop();
    await ingest.locator('.live', { hasText: /since .*: .*PostgreSQL/ }).waitFor();
    await row.waitFor();
    await database.start();
    await shop.packet({ checkout: { on: [1] } });
    const accepted = ingest
      .locator('.ingest-sums')
      .getByText(/accepted$/)
      .locator('strong');
    await expect.poll(async () => Number(await accepted.textContent())).toBe(2);
  });

  test('a page opened while PostgreSQL is unreachable reports the outage, and recovers automatically', async () => {
    await console_.visit('/'); // The first visit signs in, which needs PostgreSQL.
    await database.stop();
    const { page, tab } = await console_.visit(`/apps/${shop.application}/Production/flags`);
    await page.getByRole('heading', { name: 'PostgreSQL is unreachable' }).waitFor();
    await page.getByText('This node keeps counting, and no data is lost.').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const signIn = await tab('/connect/authorize?client_id=flagmeter-console');
    await signIn.getByRole('heading', { name: 'Temporarily unavailable' }).waitFor();
    await signIn.goto(`${console_.origin}/console/sign-in`);
    await signIn.getByRole('heading', { name: 'Temporarily unavailable' }).waitFor();
    expect(await axeFaults(signIn)).toEqual([]);
    await database.start();
    await page.getByRole('link', { name: 'checkout' }).waitFor();
  });
});
