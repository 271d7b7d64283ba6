import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import Ajv from 'ajv';
import { beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../../src/cli/options.ts';
import { scanCode } from '../../../src/cli/scan/run-scan.ts';
import { createKey, manage } from '../../support/binary.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { administrator } from '../administrator.ts';
import { testContext } from '../fixture.ts';

const admin = administrator();
let directory: string;

beforeEach(async () => {
  const { running, access, application } = admin;
  const { http } = running.service;
  const { key } = await createKey(http, access, application, 'Mobile');
  const f = { checkout: { on: [1] }, 'left-over': { on: [1] }, archived: { on: [1] } };
  const packet = { method: 'POST', body: JSON.stringify({ k: key, e: 'Production', f }) };
  expect((await fetch(`${running.url}/api/frontend/telemetry`, packet)).status).toBe(202);
  const features = `/api/v2/applications/${application}/features`;
  await manage(http, access, 'POST', features, 201, { name: 'not-yet' });
  await manage(http, access, 'PATCH', `${features}/archived`, 200, { archived: true });
  directory = temporaryDirectory();
  const code = "// A word: not-yet\nif (isEnabled('checkout')) {}\nif (isEnabled('chekout')) {}\n";
  writeFileSync(join(directory, 'a b.ts'), `${code}ask('left-alone');\nconst FLAG = 'not-yet';\n`);
});

async function run(...argv: string[]): Promise<{ out: string; err: string }> {
  const env = { FLAGMETER_URL: admin.running.url, FLAGMETER_TOKEN: admin.access };
  const context = testContext({ clock: admin.running.clock, env });
  expect(await scanCode.run([directory, '--app', admin.application, ...argv], context)).toBe(0);
  return context.output;
}

describe('features scan', () => {
  it('features scan lists differences between code and usage, with places in the code and similar names', async () => {
    const { out, err } = await run();
    expect(
      out.split('\n').map((line) =>
        line
          .replace(/ +/g, ' ')
          .replace(/\d{4}-\S+ \S+ UTC/, 'TIME')
          .trim(),
      ),
    ).toEqual([
      'FINDING NAME WHERE LAST SEEN VERDICT NEAREST',
      expect.stringMatching(/^never seen chekout a b.ts:3\b.* checkout$/),
      expect.stringMatching(/^never seen not-yet a b.ts:\d and \d more\b/),
      expect.stringMatching(/^not in the code left-over - TIME new -$/),
      '',
    ]);
    expect(err).toBe('Read 1 files; found 1 of the seen features in the code\n');
  });

  it('features scan --call accepts additional function names', async () => {
    const { out } = await run('--json', '--call', 'ask');
    expect(JSON.parse(out)).toMatchObject({
      findings: [
        { kind: 'never_seen', name: 'chekout', declared: false, nearest: 'checkout' },
        { kind: 'never_seen', name: 'left-alone', places: [{ file: 'a b.ts', line: 4, column: 6 }] },
        { kind: 'never_seen', name: 'not-yet', declared: true, nearest: null },
        { kind: 'not_in_code', name: 'left-over', places: [], count: 0 },
      ],
      inCode: 1,
      files: 1,
      binary: 0,
    });
  });

  it('features scan prints SARIF that conforms to the published schema', async () => {
    const { out } = await run('--sarif');
    const packaged = createRequire(import.meta.url).resolve('@microsoft/jest-sarif');
    const {
      $schema: _,
      id,
      ...schema
    } = JSON.parse(readFileSync(join(packaged, '../schemas/sarif-2.1.0-rtm.5.json'), 'utf8'));
    const validate = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(schema);
    expect(id).toContain('sarif-2.1.0');
    const sarif = JSON.parse(out);
    validate(sarif);
    expect(validate.errors).toBeNull();
    expect(sarif.runs[0].results).toHaveLength(3);
    expect(sarif.runs[0].results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: 'a%20b.ts' },
      region: { startLine: 3, startColumn: 16, endColumn: 23 },
    });
    validate({ ...sarif, runs: [{ results: [] }] });
    expect(validate.errors).not.toBeNull();
  });

  it('features scan --fail-if-any prints everything, and then fails', async () => {
    await expect(run('--fail-if-any')).rejects.toMatchObject({
      exitCode: 8,
      message: expect.stringMatching(/^There are 3 findings\. Never seen: 2\. Silence is the only evidence/),
    });
    writeFileSync(join(directory, 'a b.ts'), 'checkout left-over');
    await run('--fail-if-any');
  });

  it('features scan refuses a path that is not a directory', async () => {
    directory = join(directory, 'a b.ts');
    await expect(run()).rejects.toThrow(UsageError);
  });
});
