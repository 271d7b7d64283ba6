import { describe, it, test } from 'vitest';
import { installCommand, type Package, skipped } from './packages.ts';
import { withReason } from './skip-reason.ts';

/** A requirement other than a package. `why` is the reason that it is missing; `undefined` if it is present. */
interface Other {
  readonly why: string | undefined;
}

/**
 * Returns functions that declare tests with needed packages. If a package is missing, the tests are skipped, with the
 * hooks of a file that has no other tests. Their names then end with the reason.
 */
export function needing(...needed: (Package | Other)[]) {
  const missing = needed.filter((one): one is Package => typeof one === 'string' && skipped.includes(one));
  const others = needed.flatMap((one) => (typeof one === 'string' || one.why === undefined ? [] : one.why));
  const packages = missing.length === 0 ? [] : [`needs ${missing.join(' and ')} (${installCommand(missing)})`];
  const reasons = [...packages, ...others];
  if (reasons.length === 0) return { describe, it, test };
  const reason = reasons.join('; ');
  return {
    describe: skipping(describe.skipIf(true), reason) as typeof describe,
    it: skipping(it.skipIf(true), reason) as typeof it,
    test: skipping(test.skipIf(true), reason) as typeof test,
  };
}

/** Adds the reason to the name that a function of vitest gets, also by `each` and the like. */
function skipping<Api extends object>(api: Api, reason: string): Api {
  const wrapped = (value: unknown) => (typeof value === 'function' ? skipping(value, reason) : value);
  return new Proxy(api, {
    get: (target, key, receiver) => wrapped(Reflect.get(target, key, receiver)),
    apply(target, self, [name, ...rest]) {
      const named = typeof name === 'string' ? withReason(name, reason) : name;
      return wrapped(Reflect.apply(target as () => unknown, self, [named, ...rest] as unknown as []));
    },
  });
}
