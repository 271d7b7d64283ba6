/**
 * The floor for ingest: the bare HTTP engine, which parses each body and responds with 202. With the argument `read`,
 * it only reads bodies and responds with 200. Other arguments add steps that any durable ingest needs. `headers` reads
 * the headers that determine whether a packet is accepted. `bytes` rejects bodies that are not UTF-8. `group` waits for
 * a group of packets, as for a commit. `cors` adds response headers. The floor runs as a separate process: `bun
 * bench/floor.ts` prints `floor ready http=HOST:PORT`.
 */
const steps = new Set(process.argv.slice(2));
const [onlyReads, headers, bytes, group, cors] = ['read', 'headers', 'bytes', 'group', 'cors'].map((step) =>
  steps.has(step),
);
const decoder = new TextDecoder('utf-8', { fatal: true });
const decisive = ['content-length', 'content-encoding', 'content-type', 'idempotency-key', 'origin', 'user-agent'];
const accepted = {
  status: 202,
  headers: new Headers({ 'access-control-allow-origin': 'https://shop.example.com', vary: 'Origin' }),
};

/** `Request` with the method `bytes`, which is missing from Node's type declarations. */
type BunRequest = Request & { bytes(): Promise<Uint8Array> };

let open: Promise<void> | undefined;

/**
 * Adds a request to the current group. The promises of a group resolve together, at the end of the current event loop
 * iteration.
 */
function join(): Promise<void> {
  open ??= new Promise((resolve) => {
    setImmediate(() => {
      open = undefined;
      resolve();
    });
  });
  return open;
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    if (onlyReads) {
      await request.arrayBuffer();
      return new Response(null, { status: 200 });
    }
    if (headers) for (const name of decisive) request.headers.get(name);
    JSON.parse(bytes ? decoder.decode(await (request as BunRequest).bytes()) : await request.text());
    if (group) await join();
    return cors ? new Response(null, accepted) : new Response(null, { status: 202 });
  },
});

process.stdout.write(`floor ready http=${server.hostname}:${server.port}\n`);
