import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './temporary.ts';

/**
 * Verifies a unit of systemd with `systemd-analyze`. The executable of the unit is replaced by an existing one.
 * @returns complaints about the unit; an empty list if the unit is valid
 */
export function findUnitFaults(unit: string, dropIn?: string): readonly string[] {
  const folder = temporaryDirectory();
  const file = join(folder, 'flagmeter.service');
  writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
  if (dropIn !== undefined) {
    mkdirSync(`${file}.d`);
    writeFileSync(join(`${file}.d`, 'override.conf'), dropIn);
  }
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
    encoding: 'utf8',
    env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` },
  });
  const complaints = stderr.split('\n').filter((line) => line.includes(folder));
  return status === 0 ? complaints : [...complaints, `systemd-analyze ended with status ${status}`];
}
