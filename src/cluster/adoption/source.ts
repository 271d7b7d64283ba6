import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Write } from '../../engine/engine.ts';
import { isPresent } from '../../presence.ts';
import type { AccountStore } from '../../store/accounts.ts';
import type { ReplicaStore } from '../../store/replica-store.ts';
import { ReplicaSnapshot } from '../snapshot.ts';
import type { Spool } from '../spool.ts';
import { accountsIn, type Holding, holdingOf } from './holding.ts';
import { accountsFile, holdingFile, isWhole, partFile, setAsideFolder, setAsideIn } from './set-aside.ts';

/** Counts and accounts in the directory of a node, from which an engine can be filled. */
export interface Source {
  /** `replica`, or the name of what was set aside. */
  readonly name: string;
  readonly holding: Holding;
  /** Of a snapshot of the counts. */
  parts(): AsyncIterable<Buffer>;
  accounts(): Iterable<Write>;
}

export interface NodeStores {
  readonly data: string;
  readonly accounts: AccountStore;
  readonly usage: ReplicaStore;
  readonly spool: Spool;
}

/** All that there is, the best first: that with the latest accounts, then that with the highest position. */
export function sourcesIn({ data, accounts, usage, spool }: NodeStores): Source[] {
  const replica: Source = {
    name: 'replica',
    holding: holdingOf(usage, accounts, spool),
    parts: () => new ReplicaSnapshot(usage).parts(),
    accounts: () => accountsIn(accounts),
  };
  const kept = setAsideIn(data).names.map((name) => setAside(join(data, setAsideFolder, name), name));
  return [replica, ...kept]
    .filter(({ holding }) => isWhole(holding))
    .sort(({ holding: one }, { holding: other }) => {
      const later = other.place.version - one.place.version;
      return later === 0 ? other.applied.position - one.applied.position : later;
    });
}

function setAside(folder: string, name: string): Source {
  return {
    name,
    holding: JSON.parse(readFileSync(join(folder, holdingFile), 'utf8')) as Holding,
    async *parts() {
      for (let part = 0; isPresent(join(folder, partFile(part))); part += 1)
        yield await readFile(join(folder, partFile(part)));
    },
    accounts: () => linesOf(join(folder, accountsFile)),
  };
}

function* linesOf(path: string): Generator<Write> {
  for (const line of readFileSync(path, 'utf8').split('\n')) if (line !== '') yield JSON.parse(line) as Write;
}
