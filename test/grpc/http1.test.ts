import { describe } from 'vitest';
import { loadHttpEngine } from '../../src/http/engines/runtime.ts';
import type { HttpEngine } from '../../src/http/types.ts';
import { bodies } from '../http/conformance/bodies.ts';
import { heads } from '../http/conformance/heads.ts';
import { listeners } from '../http/conformance/listeners.ts';
import { pipelining, replies } from '../http/conformance/replies.ts';
import { startWith } from '../http/support/servers.ts';
import { openTarget } from '../http/support/target.ts';
import { openGrpc } from '../support/open-grpc.ts';

const engine = await loadHttpEngine();
const throughGrpc: HttpEngine = { ...engine, listen: (options) => openGrpc({ ...options, engine }) };

/** Conformance tests of the HTTP engines. The gRPC listener passes HTTP/1.1 on to an HTTP engine. */
describe.concurrent('HTTP/1.1 on the gRPC listener', () => {
  const target = openTarget(startWith(throughGrpc));
  for (const suite of [heads, bodies, replies, listeners, pipelining]) suite(target);
});
