import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { type Finding, runMutants } from '../../scripts/mutants/run.ts';
import { mutants } from '../../scripts/mutants/table.ts';
import { needing } from '../support/needing.ts';
import { patienceMs } from '../support/patience.ts';
import { root } from '../support/sources.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const { it } = needing('postgresql');

/** Runs the mutants command. @param rules names of the rules; all rules if it is empty */
function start(rules: readonly string[], tmpdir = process.env['TMPDIR']) {
  const args = ['scripts/mutants/main.ts', ...rules];
  const env = { ...process.env, TMPDIR: tmpdir };
  const child = spawn(join(root, 'node_modules/.bin/bun'), args, { cwd: root, env });
  const status = new Promise((resolve) => child.once('close', (code) => resolve(code)));
  return { child, status };
}

describe('npm run mutants', () => {
  it('npm run mutants detects the removal of every rule', { timeout: 10 * patienceMs }, async () => {
    const { child, status } = start([]);
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const all = expect.stringContaining(`All ${Object.keys(mutants).length} removals were found`);
    expect({ output, errors, status: await status }).toEqual({ output: all, errors: '', status: 0 });
  });

  it('npm run mutants reports a removal that its test does not detect, and a test that does not exist', async () => {
    const harmless = { ...mutants['body-size']!, without: mutants['body-size']!.text };
    const findings: Record<string, Finding> = {};
    const rows = { harmless, nameless: { ...harmless, title: 'is not there' } };
    await runMutants(Object.entries(rows), new AbortController().signal, (name, finding) => {
      findings[name] = finding;
    });
    expect(findings).toMatchObject({
      harmless: { found: false, message: expect.stringContaining('its test passes without the rule') },
      nameless: { found: false, message: expect.stringContaining(`has no test 'is not there'`) },
    });
  });

  it('npm run mutants leaves no files behind if it is interrupted', async () => {
    const folder = temporaryDirectory();
    const { child, status } = start(['body-size'], folder);
    child.stdout.once('data', () => child.kill('SIGINT'));
    expect(await status).toBe(130);
    expect(readdirSync(folder)).toEqual([]);
  });
});
