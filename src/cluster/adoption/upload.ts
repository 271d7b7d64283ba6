import { createHash } from 'node:crypto';
import type { EngineSession } from '../../postgres/connection.ts';

export interface Uploaded {
  readonly parts: number;
  readonly bytes: number;
}

/**
 * Puts the parts of a snapshot into the engine, each in a transaction of its own. Those that are there already, since an earlier
 * attempt, are not sent again.
 */
export async function uploadParts(
  connection: EngineSession,
  snapshot: string,
  parts: AsyncIterable<Buffer>,
  onPart: (uploaded: Uploaded) => void,
): Promise<Uploaded> {
  const there = await digestsOf(connection, snapshot);
  let uploaded: Uploaded = { parts: 0, bytes: 0 };
  for await (const body of parts) {
    const part = uploaded.parts;
    const digest = createHash('sha256').update(body).digest();
    if (there.get(part)?.equals(digest) !== true) {
      await connection.query({
        text: `INSERT INTO fm_snapshot_part (snapshot, part, body) VALUES ($1, $2, $3)
               ON CONFLICT (snapshot, part) DO UPDATE SET body = excluded.body`,
        values: [snapshot, part, body],
      });
    }
    uploaded = { parts: part + 1, bytes: uploaded.bytes + body.length };
    onPart(uploaded);
  }
  await connection.query({
    text: 'DELETE FROM fm_snapshot_part WHERE snapshot = $1 AND part >= $2',
    values: [snapshot, uploaded.parts],
  });
  return uploaded;
}

async function digestsOf(connection: EngineSession, snapshot: string): Promise<ReadonlyMap<number, Buffer>> {
  const { rows } = await connection.query<{ part: number; digest: Buffer }>({
    text: 'SELECT part, sha256(body) AS digest FROM fm_snapshot_part WHERE snapshot = $1',
    values: [snapshot],
  });
  return new Map(rows.map(({ part, digest }) => [part, digest]));
}
