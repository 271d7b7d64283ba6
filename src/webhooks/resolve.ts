import { lookup, Resolver } from 'node:dns/promises';
import { type Address, addressIn, isPublic } from './addresses.ts';

/** Finds the addresses of a name. @throws {Error} when there is none, or no answer in time */
export type Resolve = (name: string) => Promise<readonly Address[]>;

/** A try takes this long, and there are two. */
const tryMs = 2000;

/**
 * Asks the name servers of the machine. A thread that asks for the system's own way (`getaddrinfo`) could be held by a name
 * server that does not answer, and with it the commits, which use the same threads.
 * @param orSystem names that no name server knows may stand in the hosts file
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
 * The addresses that a URL may be reached at. Connect to these and to no other: when asked again, the name may lead elsewhere.
 * @throws {Error} with words for people, when one of them is not public
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
    'the address is not one of the internet; the operator of the service can allow it with --webhook-allow-private',
  );
}
