import { describe, it, test } from 'vitest';
import { type Package, skipped } from './packages.ts';

/** Something else than a package; `why` it is not there is `undefined` when it is. */
interface Other {
  readonly why: string | undefined;
}

/**
 * What declares tests that need packages. Where one of them is not installed the tests are skipped, and with them the hooks of
 * a file that has no others; `vitest.config.ts` says why.
 */
export function needing(...needed: (Package | Other)[]) {
  const isSkipped = needed.some((one) =>
    typeof one === 'string' ? skipped.includes(one) : one.why !== undefined,
  );
  return { describe: describe.skipIf(isSkipped), it: it.skipIf(isSkipped), test: test.skipIf(isSkipped) };
}
