import { loadHttpEngine } from '../../src/http/engines/runtime.ts';
import { type GrpcListener, type GrpcOptions, listenGrpc } from '../../src/ingest/grpc/listener.ts';
import { systemClock } from '../../src/runtime/clock.ts';

/** Opens a gRPC listener on a free port in this process. By default, it has no routes for HTTP. */
export async function openGrpc(options: Partial<GrpcOptions> = {}): Promise<GrpcListener> {
  return listenGrpc({
    host: '127.0.0.1',
    port: 0,
    engine: await loadHttpEngine(),
    dispatch: () => ({ status: 404 }),
    clock: systemClock,
    maxReport: 65_536,
    onError: (error) => {
      throw new Error('A call failed', { cause: error });
    },
    ...options,
  });
}
