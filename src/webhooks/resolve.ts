import { lookup, Resolver } from 'node:dns/promises';
import { type Address, addressIn, isPublic } from './addresses.ts';

/**
 * Resolves a name to addresses.
 * @throws {Error} if there are none, or no answer in time
 */
export type Resolve = (name: string) => Promise<readonly Address[]>;

/** Timeout of a query, which is tried twice. */
const tryMs = 2000;

/**
 * Queries the machine's name servers. `getaddrinfo` would occupy a thread while a name server does not answer, and delay
 * commits, which use the same threads.
 * @param orSystem whether names unknown to the name servers are looked up in the hosts file
 */
export function resolver(orSystem: boolean): Resolve {
  return async (name) => {
    const asking = new Resolver({ timeout: tryMs, tries: 2 });
    const [v4, v6] = await Promise.allSettled([asking.resolve4(name), asking.resolve6(name)]);
    const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
    if (found.length > 0) return found;
    if (orSystem) return (await lookup(name, { all: true })) as Address[];
    throw new Error(whyNot(v4));
  };
}

function addressesOf(result: PromiseSettledResult<string[]>, family: 4 | 6): Address[] {
  return result.status === 'rejected' ? [] : result.value.map((address) => ({ address, family }));
}

function whyNot(result: PromiseSettledResult<unknown>): string {
  const { code } = (result.status === 'rejected' ? result.reason : {}) as { code?: string };
  return code === 'ETIMEOUT' ? 'the name servers do not answer' : 'the name has no address';
}

/**
 * The addresses at which a URL may be reached. Connect only to these: a second look-up may return others.
 * @throws {Error} with a message for people, if one of them is not public
 */
export async function addressesFor(
  url: URL,
  { resolve, allowPrivate }: { readonly resolve: Resolve; readonly allowPrivate: boolean },
): Promise<readonly Address[]> {
  const own = addressIn(url);
  const found = own === undefined ? await resolve(url.hostname) : [own];
  const refused = allowPrivate ? undefined : found.find((address) => !isPublic(address));
  if (refused === undefined && found.length > 0) return found;
  if (refused === undefined) throw new Error('the name has no address');
  throw new Error(
    'the address is not public; the operator of the service can allow it with --webhook-allow-private',
  );
}
