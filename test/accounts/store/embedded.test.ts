import { onTestFinished } from 'vitest';
import { EmbeddedAccountStore } from '../../../src/accounts/store/embedded.ts';
import { openTestStore, testHealth } from '../fixture.ts';
import { testAccountStore } from './account-store-suite.ts';
import type { AccountStoreFixture } from './fixture.ts';
import { testModel } from './model-suite.ts';

/** An account store whose commits are delayed, or fail, before they reach LMDB. */
async function open(): Promise<AccountStoreFixture> {
  const store = openTestStore();
  const health = testHealth();
  const accountStore = new EmbeddedAccountStore(store, health);
  onTestFinished(() => accountStore.close());
  let gate: Promise<void> | undefined;
  let failure: Error | undefined;
  let commits = 0;
  const { lmdb } = store;
  const { batch } = lmdb;
  lmdb.batch = async (action) => {
    commits += 1;
    await gate;
    const error = failure;
    failure = undefined;
    if (error !== undefined) throw error;
    return batch.call(lmdb, action);
  };
  return {
    accountStore,
    health,
    refusal: { code: 'store_unavailable', status: 503, retryAfter: 5 },
    listFailures: (error) => [error],
    hold() {
      let release: () => void = () => {};
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    failNext(error) {
      failure = error;
    },
    commits: () => commits,
    reopen: () => new EmbeddedAccountStore(store, testHealth()),
  };
}

testAccountStore('embedded', open);
testModel('embedded', open);
