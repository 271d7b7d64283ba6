import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/serve/config/config.ts';
import { checkPublicUrls } from '../../src/serve/listeners.ts';
import { needing } from '../support/needing.ts';
import { findUnitFaults } from '../support/unit-faults.ts';

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

test('the drop-in of the checklist allows writing to the backup directory in the settings', () => {
  const { 'backup-to': backupTo } = JSON.parse(readBlock('json')) as Record<string, string>;
  expect(readBlock('ini')).toContain(`ReadWritePaths=-${backupTo}\n`);
});

needing('systemd').test('systemd-analyze accepts the unit of the packages with the drop-in of the checklist', () => {
  const unit = readFileSync(join(root, 'packaging/flagmeter.service'), 'utf8');
  expect(findUnitFaults(unit, readBlock('ini'))).toEqual([]);
});
