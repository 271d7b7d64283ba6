/**
 * A usage counter as a team would write it, with Fastify and PostgreSQL: `node counter.mjs MODULES DATABASE KEY` prints
 * `counter ready http=HOST:PORT`. Each packet is stored by one upsert. The response 202 is sent after its commit.
 */
import { createRequire } from 'node:module';
import pg from 'pg';

const [modules, database, key] = process.argv.slice(2);
const { fastify } = createRequire(`${modules}/`)('fastify');

const table = `
  CREATE TABLE IF NOT EXISTS usage (
    application text, environment text, feature text, variant text, minute timestamptz,
    checks bigint NOT NULL, used bigint NOT NULL, viewed bigint NOT NULL, value double precision NOT NULL,
    PRIMARY KEY (application, environment, feature, variant, minute)
  )`;
const upsert = `
  INSERT INTO usage AS old
  SELECT $1, $2, feature, variant, date_trunc('minute', now()), checks, used, viewed, value
  FROM unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::double precision[])
    AS packet (feature, variant, checks, used, viewed, value)
  ON CONFLICT (application, environment, feature, variant, minute) DO UPDATE SET
    checks = old.checks + excluded.checks, used = old.used + excluded.used,
    viewed = old.viewed + excluded.viewed, value = old.value + excluded.value`;
const body = {
  type: 'object',
  required: ['k', 'e', 'f'],
  properties: {
    k: { type: 'string' },
    e: { type: 'string' },
    f: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'integer', minimum: 0 }, maxItems: 3 },
      },
    },
    m: { type: 'object', additionalProperties: { type: 'number' } },
  },
};

/** Returns one row per variant and metric, ordered by key, so that all packets lock rows in the same order. */
function rowsOf({ f, m = {} }) {
  const counts = Object.entries(f).flatMap(([feature, variants]) =>
    Object.entries(variants).map(([variant, counts]) => [feature, variant, ...counts, 0, 0, 0].slice(0, 5)),
  );
  const features = counts.map((row) => [...row, 0]);
  const metrics = Object.entries(m).map(([metric, value]) => [metric, '', 0, 0, 0, value]);
  return [...features, ...metrics].sort(([a, x], [b, y]) => (`${a}\0${x}` < `${b}\0${y}` ? -1 : 1));
}

const pool = new pg.Pool({ connectionString: database, max: 20 });
await pool.query(table);

const app = fastify({ logger: false, bodyLimit: 65_536 });
app.post('/api/frontend/telemetry', { schema: { body } }, async ({ body: packet, headers }, reply) => {
  if (packet.k !== key) return reply.code(404).send();
  if (headers.origin === undefined) return reply.code(403).send();
  const rows = rowsOf(packet);
  const columns = [0, 1, 2, 3, 4, 5].map((column) => rows.map((row) => row[column]));
  await pool.query({ name: 'count', text: upsert, values: [key, packet.e, ...columns] });
  return reply.code(202).send();
});

const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`counter ready http=${new URL(address).host}\n`);
