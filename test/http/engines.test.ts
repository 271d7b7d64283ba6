import { describe } from 'vitest';
import { loadHttpEngine } from '../../src/http/engines/runtime.ts';
import { bodies, slowBodies } from './conformance/bodies.ts';
import { heads } from './conformance/heads.ts';
import { listeners } from './conformance/listeners.ts';
import { chunkedReplies, pipelining, replies } from './conformance/replies.ts';
import { relayed } from './support/relayed.ts';
import { startWith } from './support/servers.ts';
import { openTarget } from './support/target.ts';

const engine = await loadHttpEngine();
const suites = [heads, bodies, slowBodies, replies, listeners];

/** The conformance tests run on Node and on Bun, each with its own HTTP engine. */
describe.concurrent(engine.name, () => {
  const target = openTarget(startWith(engine));
  for (const suite of [...suites, chunkedReplies, pipelining]) suite(target);
});

/** Listeners that forward to another thread. Two suites do not apply, as no response is chunked or immediate. */
describe.concurrent(`${engine.name}, forwarding`, () => {
  const target = openTarget(startWith(relayed(engine)));
  for (const suite of suites) suite(target);
});
