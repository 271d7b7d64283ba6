import { describe } from 'vitest';
import { bodies } from './conformance/bodies.ts';
import { heads } from './conformance/heads.ts';
import { listeners } from './conformance/listeners.ts';
import { replies } from './conformance/replies.ts';
import { startBun, startUws } from './support/servers.ts';
import { openTarget } from './support/target.ts';

/** What every engine must do: one suite, run against each of them. */
function conformance(start: typeof startBun): void {
  const target = openTarget(start);
  for (const suite of [heads, bodies, replies, listeners]) suite(target);
}

describe.concurrent('bun', () => conformance(startBun));
describe.concurrent('uws', () => conformance(startUws));
