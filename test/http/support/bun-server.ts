import { bunEngine } from '../../../src/http/engines/bun.ts';
import { testDispatch } from './routes.ts';

// Run by Bun, in a process of its own: the options come as JSON in the first argument, the port or the error goes out
// as a line of JSON.
const { host, port, tls, secondMs } = JSON.parse(process.argv[2] ?? '{}');
const say = (message: object) => console.log(JSON.stringify(message));

try {
  const dispatch = testDispatch(async (graceMs) => {
    await listener.close(graceMs);
    say({ closed: true });
    process.exit();
  });
  const listener = await bunEngine.listen({
    host,
    port,
    dispatch,
    busyPaths: ['/echo', '/describe'],
    ...(tls && { tls }),
    ...(secondMs && { secondMs }),
  });
  say({ port: listener.port });
} catch (error) {
  say({ error: (error as Error).message });
  process.exitCode = 1;
}
