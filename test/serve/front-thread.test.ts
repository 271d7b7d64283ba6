import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { Histogram } from '../../src/runtime/histogram.ts';
import { Publisher, publication } from '../../src/runtime/publication.ts';
import { FrontThread } from '../../src/serve/front/front-thread.ts';
import type { MainUpdate } from '../../src/serve/front/messages.ts';
import { queuesMemory } from '../../src/storage/commit/queue-monitor.ts';
import { load } from '../support/load-config.ts';

test('a barrier of a front-end thread first applies all published updates', async () => {
  const fromMain = publication();
  const toMain = publication();
  const relay = new MessageChannel();
  const thread = new FrontThread({
    number: 1,
    queues: queuesMemory(2),
    ahead: new Float64Array(1),
    config: load(),
    fromMain: fromMain.to,
    toMain: toMain.from,
    relay: relay.port2,
    delays: Histogram.shared().memory,
    listener: { host: '127.0.0.1', port: 0 },
  });
  onTestFinished(async () => {
    await thread.finish();
    thread.close();
  });
  await thread.begin({ digestSecret: new Uint8Array(32), accounts: [], timeOrigin: 0, producers: [] });
  const publisher = new Publisher<MainUpdate>(fromMain.from);
  publisher.publish({ about: 'instances', change: { dropped: 'a person' } });
  void thread.barrier(1).catch(() => {}); // No lane is open.
  expect(receiveMessageOnPort(fromMain.to.port)).toBeUndefined();
});
