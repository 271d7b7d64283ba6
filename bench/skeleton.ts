/**
 * The second floor for ingest: the work of any durable ingest on this HTTP engine. It reads the headers that decide about a packet,
 * decodes and parses the body, waits for a group of others as for a commit, and answers with CORS headers. It validates, counts and
 * stores nothing. Runs as a separate process: `bun bench/skeleton.ts` prints `skeleton ready http=HOST:PORT`.
 */
const decoder = new TextDecoder('utf-8', { fatal: true });

const decisive = ['content-length', 'content-encoding', 'content-type', 'idempotency-key', 'user-agent'];

/** Missing from the types of Node, which Bun's are merged with. */
type BunRequest = Request & { bytes(): Promise<Uint8Array> };

let group: Promise<void> | undefined;

/** Resolves with the open group, in the turn of the event loop that opened it. */
function join(): Promise<void> {
  group ??= new Promise((resolve) => {
    setImmediate(() => {
      group = undefined;
      resolve();
    });
  });
  return group;
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { headers } = request;
    const origin = headers.get('origin') ?? '*';
    for (const name of decisive) headers.get(name);
    JSON.parse(decoder.decode(await (request as BunRequest).bytes()));
    await join();
    return new Response(null, {
      status: 202,
      headers: { 'access-control-allow-origin': origin, vary: 'Origin' },
    });
  },
});

process.stdout.write(`skeleton ready http=${server.hostname}:${server.port}\n`);
