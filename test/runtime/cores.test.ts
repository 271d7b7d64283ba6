import { describe, expect, it } from 'vitest';
import { usableCores } from '../../src/runtime/cores.ts';

const v2 = '/sys/fs/cgroup/cpu.max';
const v1 = '/sys/fs/cgroup/cpu/cpu.cfs_quota_us';
const v1Period = '/sys/fs/cgroup/cpu/cpu.cfs_period_us';

function coresWith(files: Readonly<Record<string, string>>, all = 64): number {
  const read = (path: string) => {
    const text = files[path];
    if (text === undefined) throw new Error(`ENOENT: ${path}`);
    return text;
  };
  return usableCores(read, all);
}

describe('usableCores', () => {
  it.each([
    ['no control group', {}, 64],
    ['no quota', { [v2]: 'max 100000\n' }, 64],
    ['a quota of two cores', { [v2]: '200000 100000\n' }, 2],
    ['a quota of half a core', { [v2]: '50000 100000\n' }, 1],
    ['a quota of one and a half cores', { [v2]: '150000 100000\n' }, 2],
    ['a quota above the number of cores', { [v2]: '9900000 100000\n' }, 64],
    ['a quota of version 1', { [v1]: '400000\n', [v1Period]: '100000\n' }, 4],
    ['no quota of version 1', { [v1]: '-1\n', [v1Period]: '100000\n' }, 64],
    ['an unreadable quota', { [v2]: 'no number' }, 64],
  ])('the number of usable cores with %s is $2', (_, files, cores) => {
    expect(coresWith(files)).toBe(cores);
  });
});
