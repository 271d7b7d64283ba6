/**
 * The floor for ingest: the bare HTTP engine, which parses each body and answers 202.
 * Runs as a separate process: `bun bench/floor.ts` prints `floor ready http=HOST:PORT`.
 */
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    JSON.parse(await request.text());
    return new Response(null, { status: 202 });
  },
});

process.stdout.write(`floor ready http=${server.hostname}:${server.port}\n`);
