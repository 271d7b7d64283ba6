import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/serve/config/config.ts';
import { checkPublicUrls } from '../../src/serve/listeners.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** These tests check the files of the checklist. test/binary/production.test.ts runs its commands. */

const root = join(import.meta.dirname, '../..');
const checklist = readFileSync(join(root, 'docs/production.md'), 'utf8');

function readBlock(language: string): string {
  const [, block = ''] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(checklist) ?? [];
  return block;
}

test('the settings of the checklist are valid, and set public URLs', () => {
  const read = loadConfig({ argv: ['--config', 'flagmeter.json'], env: {}, readFile: () => readBlock('json') });
  expect(read).toMatchObject({ data: '/var/lib/flagmeter', listen: '0.0.0.0:443' });
  expect(() => checkPublicUrls(read)).not.toThrow();
});

test('the drop-in of the checklist allows every directory that the settings name for writing', () => {
  const { 'backup-to': backupTo } = JSON.parse(readBlock('json')) as Record<string, string>;
  expect(readBlock('ini')).toContain(`ReadWritePaths=-${backupTo}\n`);
});

const program = 'systemd-analyze';
test.skipIf(spawnSync(program, ['--version']).error !== undefined)(
  'systemd-analyze accepts the unit of the packages with the drop-in of the checklist',
  () => {
    const folder = temporaryDirectory();
    const unit = readFileSync(join(root, 'packaging/flagmeter.service'), 'utf8');
    const file = join(folder, 'flagmeter.service');
    writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
    mkdirSync(`${file}.d`);
    writeFileSync(join(`${file}.d`, 'override.conf'), readBlock('ini'));
    const { status, stderr } = spawnSync(program, ['verify', '--man=no', file], {
      encoding: 'utf8',
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` },
    });
    expect({ status, complaints: stderr.split('\n').filter((line) => line.includes(folder)) }).toEqual({
      status: 0,
      complaints: [],
    });
  },
);
