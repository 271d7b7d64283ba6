import { describe, it, test } from 'vitest';
import { type Package, skipped } from './packages.ts';

/**
 * What declares tests that need packages. Where one of them is not installed the tests are skipped, and with them the hooks of
 * a file that has no others; `vitest.config.ts` says why.
 */
export function needing(...packages: Package[]) {
  const isSkipped = packages.some((name) => skipped.includes(name));
  return { describe: describe.skipIf(isSkipped), it: it.skipIf(isSkipped), test: test.skipIf(isSkipped) };
}
