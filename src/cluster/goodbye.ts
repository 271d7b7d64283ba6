import type { EngineSession } from '../postgres/connection.ts';

/** Says that a process has shipped all that it counted, and ends. */
export async function sayGoodbye(
  session: EngineSession,
  { directory, stream, seq }: { readonly directory: string; readonly stream: string; readonly seq: number },
): Promise<void> {
  await session.transaction(async (run) => {
    await run({
      name: 'fm-goodbye-stream',
      text: `UPDATE fm_stream SET state = 'done' WHERE stream = $1 AND seq = $2 AND state = 'open'`,
      values: [stream, seq],
    });
    await run({
      name: 'fm-goodbye-node',
      text: `UPDATE fm_node SET state = 'done', beat_at = clock_timestamp()
             WHERE directory = $1 AND stream = $2 AND state = 'up'`,
      values: [directory, stream],
    });
  });
}
