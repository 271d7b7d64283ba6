import { afterAll, onTestFinished } from 'vitest';
import type { EngineSession } from '../../../src/replication/postgres/connection.ts';
import { EngineError } from '../../../src/replication/postgres/engine-error.ts';
import { needing } from '../../support/needing.ts';
import { testEngine } from './engine-suite.ts';
import type { EngineFixture } from './fixture.ts';
import { testModel } from './model-suite.ts';
import { closeSharedServer, newEngine, openNode, sharedServer } from './postgres-fixture.ts';

afterAll(closeSharedServer);

/** An engine whose transactions are delayed before COMMIT, or are rolled back. */
async function open(): Promise<EngineFixture> {
  let gate: Promise<void> | undefined;
  let failure: Error | undefined;
  let commits = 0;
  const wrap = (connection: EngineSession): EngineSession => ({
    query: (statement) => connection.query(statement),
    transaction: (work) =>
      connection.transaction(async (run) => {
        const result = await work((statement) => {
          if (statement.name === 'fm_control_write') commits += 1;
          return run(statement);
        });
        await gate;
        const error = failure;
        failure = undefined;
        if (error !== undefined) throw error;
        return result;
      }),
  });
  const url = await newEngine(await sharedServer());
  const { engine, health, store } = openNode(url, { wrap });
  return {
    engine,
    health,
    refusal: { code: 'engine_unavailable', status: 503, retryAfter: 2 },
    toldOf: () => [],
    hold() {
      let release: () => void = () => {};
      gate = new Promise((resolve) => {
        release = resolve;
      });
      onTestFinished(() => release());
      return release;
    },
    failNext() {
      failure = new EngineError('sql', 'could not extend file', '53100');
    },
    commits: () => commits,
    reopen: () => openNode(url, { store }).engine,
  };
}

needing('postgresql').describe('on PostgreSQL', () => {
  testEngine('postgres', open);
  testModel('postgres', open);
});
