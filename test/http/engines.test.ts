import { describe } from 'vitest';
import { loadHttpEngine } from '../../src/http/engines/runtime.ts';
import { bodies, slowBodies } from './conformance/bodies.ts';
import { heads } from './conformance/heads.ts';
import { listeners } from './conformance/listeners.ts';
import { replies } from './conformance/replies.ts';
import { startWith } from './support/servers.ts';
import { openTarget } from './support/target.ts';

const engine = await loadHttpEngine();

/** The conformance tests run on Node and on Bun, each with its own engine. */
describe.concurrent(engine.name, () => {
  const target = openTarget(startWith(engine));
  for (const suite of [heads, bodies, slowBodies, replies, listeners]) suite(target);
});
