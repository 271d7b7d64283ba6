import { RecordCodec } from '../../engine/record-codec.ts';
import type { EngineSession } from '../../postgres/connection.ts';
import type { EngineKey } from '../../postgres/engine-key.ts';
import { storedSecret } from '../../postgres/engine-key.ts';
import { checkPlace } from '../../postgres/init-checks.ts';
import type { Adopted } from './adopt.ts';
import { AdoptionRefused, claimEngine, engineIdOf } from './claim.ts';
import { completeAdoption, encoded } from './complete.ts';
import type { Filling } from './filling.ts';
import type { Holding } from './holding.ts';
import type { Source } from './source.ts';
import { type Uploaded, uploadParts } from './upload.ts';

export interface FromReplicaDeps {
  readonly source: Source;
  /** The id of the directory. */
  readonly directory: string;
  /** The HMAC key of digests, which is the engine's. */
  readonly secret: Buffer;
  readonly connection: EngineSession;
  readonly key: EngineKey | undefined;
  /** See `AdoptionDeps`. */
  readonly allowAsynchronous: boolean;
  readonly onPart: (uploaded: Uploaded) => void;
}

/**
 * Fills an empty database with what a node holds of an engine that is lost. It becomes the same engine, so every node goes on with
 * it: one that is behind loads the snapshot, and ships what it keeps and the snapshot does not have. It can be interrupted at any
 * moment, and goes on when it is called again; until it is done, the database has another id, which nodes refuse.
 * @throws {AdoptionRefused} the database holds something else; nothing was changed
 */
export async function adoptReplica(deps: FromReplicaDeps): Promise<Adopted> {
  const { source, directory, connection, key, onPart } = deps;
  const { holding } = source;
  const filling = fillingOf(holding, directory);
  const found = await engineIdOf(connection);
  if (found === holding.engine && (await holds(connection, holding))) return { engine: holding.engine };
  if (found !== undefined && found !== filling.idMeanwhile)
    throw new AdoptionRefused(
      `Cannot fill this database: it holds engine ${found}; create an empty one, and give its URL to all nodes. Nothing was changed`,
    );
  if (found === undefined) await checkPlace(connection, deps.allowAsynchronous);
  const secret = storedSecret(deps.secret, key);
  await claimEngine(connection, { filling, directory, secret }, found !== undefined);
  const usage = await uploadParts(connection, filling.snapshot, source.parts(), onPart);
  const records = encoded(source.accounts(), new RecordCodec(key));
  return {
    engine: holding.engine,
    records: await completeAdoption(connection, filling, usage, records),
    usage,
  };
}

function fillingOf(holding: Holding, directory: string): Filling {
  const { engine } = holding;
  return { ...holding, idMeanwhile: `${engine}, which is being filled`, snapshot: `replica-${directory}` };
}

/** Whether the log of an engine has the last entry of a replica. */
async function holds(connection: FromReplicaDeps['connection'], { applied }: Holding): Promise<boolean> {
  const text = 'SELECT 1 FROM fm_entry WHERE position = $1 AND id = $2';
  return (await connection.query({ text, values: [applied.position, applied.id] })).rows.length > 0;
}
