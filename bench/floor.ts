/**
 * The floor for ingest: the bare HTTP engine, which parses each body and answers 202, or with the argument `bytes` only reads it and
 * answers 200. Runs as a separate process: `bun bench/floor.ts` prints `floor ready http=HOST:PORT`.
 */
const onlyReads = process.argv[2] === 'bytes';
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    if (onlyReads) await request.arrayBuffer();
    else JSON.parse(await request.text());
    return new Response(null, { status: onlyReads ? 200 : 202 });
  },
});

process.stdout.write(`floor ready http=${server.hostname}:${server.port}\n`);
