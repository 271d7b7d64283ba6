import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runImport } from '../../../src/cli/import/run-import.ts';
import { createApplication } from '../../support/binary.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { administrator } from '../administrator.ts';
import { type TestContext, testContext } from '../fixture.ts';

export const header = 'time,environment,feature,variant,checks,used,viewed';

export function file(...lines: readonly string[]): string {
  const path = join(temporaryDirectory(), 'history.csv');
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}

export interface ImportResult {
  readonly summary: Readonly<Record<string, unknown>>;
  readonly context: TestContext;
  readonly failure: unknown;
}

export function importing() {
  const admin = administrator();
  const { running, api } = admin;

  async function run(
    path: string,
    more = '--format csv',
    app = admin.application,
    fetching: typeof fetch = fetch,
  ): Promise<ImportResult> {
    const env = { FLAGMETER_URL: running.url, FLAGMETER_TOKEN: admin.access };
    const context = {
      ...testContext({ clock: running.clock, env }),
      fetch: (url: string, init: RequestInit) => fetching(url, init),
    };
    const target = ['--app', app, '--env', 'Production', '--json'];
    let failure: unknown;
    await runImport.run([path, ...target, ...more.split(' ')], context).catch((error) => {
      failure = error;
    });
    return { summary: JSON.parse(context.output.out || '{}'), context, failure };
  }

  /** Exports all usage or all measurements of an application. */
  async function exported(step: string, app = admin.application, format = 'csv', report = 'usage'): Promise<string> {
    const query = new URLSearchParams({ environment: 'Production', step, from: '2020-01-01T00:00:00Z', format });
    const response = await fetch(`${running.url}/api/v2/applications/${app}/${report}?${query}`, {
      headers: { authorization: `Bearer ${admin.access}` },
    });
    expect(response.status).toBe(200);
    return response.text();
  }

  const newApplication = () => createApplication(running.service.http, admin.access, { name: admin.fresh() });

  return { admin, api, run, exported, newApplication };
}
