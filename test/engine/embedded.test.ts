import { onTestFinished } from 'vitest';
import { EmbeddedEngine } from '../../src/engine/embedded.ts';
import { startWriter, type Writer, writeHere } from '../../src/engine/writer.ts';
import { type AccountStore, openAccountStore } from '../../src/store/accounts.ts';
import { testHealth } from '../accounts/fixture.ts';
import { workerFile } from '../support/service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type EngineFixture, testEngine } from './engine-suite.ts';

/** Stands before the real writer: it can be held back, and fails when it is told to. */
class HeldWriter implements Writer {
  commits = 0;
  readonly #writer: Writer;
  #gate: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  hold(): () => void {
    let open: () => void = () => {};
    this.#gate = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  }

  failNext(error: Error): void {
    this.#failure = error;
  }

  async write(writes: Parameters<Writer['write']>[0]): Promise<void> {
    this.commits += 1;
    await this.#gate;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    await this.#writer.write(writes);
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}

type MakeWriter = (data: string, store: AccountStore) => Writer;

async function open(makeWriter: MakeWriter): Promise<EngineFixture> {
  const data = temporaryDirectory();
  const store = openAccountStore(data);
  const writer = new HeldWriter(makeWriter(data, store));
  const health = testHealth();
  const engine = new EmbeddedEngine(store, health, writer);
  onTestFinished(async () => {
    await engine.close();
    await store.lmdb.close();
  });
  return {
    engine,
    health,
    hold: () => writer.hold(),
    failNext: (error) => writer.failNext(error),
    commits: () => writer.commits,
    reopen: () => new EmbeddedEngine(store, testHealth()),
  };
}

testEngine('on the calling thread', () => open((_, store) => writeHere(store)));
testEngine('on a thread of its own', () => open((data) => startWriter(workerFile('engine/worker'), data)));
