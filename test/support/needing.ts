import { describe, it, test } from 'vitest';
import { installCommand, type Package, skipped } from './packages.ts';
import { withReason } from './skip-reason.ts';

/** A requirement other than a package. `why` is the reason why the requirement is missing; `undefined` if it is met. */
interface Other {
  readonly why: string | undefined;
}

/**
 * Returns functions that declare tests which need packages. If a package is missing, the tests are skipped, and their
 * names end with the reason. The hooks of a file without other tests are skipped, too.
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

/** Returns a function of vitest that adds the reason to each test name. This includes functions such as `each`. */
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
