import { EngineUnfit } from './engine-error.ts';
import type { EngineKey } from './engine-key.ts';

const about = 'digest secret';
const sealedPrefix = 'sealed:';

/** How the secret of an engine stands in `fm_engine`: encrypted when there is a key file. */
export function storedSecret(secret: Buffer, key: EngineKey | undefined): string {
  return key === undefined ? secret.toString('base64') : `${sealedPrefix}${key.seal(secret, about)}`;
}

/**
 * Reads it again. It also tells whether the key file is that of the engine, before anything is written with it.
 * @throws {EngineUnfit} the engine has another key file, needs one, or has none
 */
export function readSecret(stored: string, key: EngineKey | undefined): Buffer {
  const isSealed = stored.startsWith(sealedPrefix);
  if (isSealed && key === undefined)
    throw new EngineUnfit('The engine was made with a key file: give the same one with --engine-key-file');
  if (!isSealed && key !== undefined)
    throw new EngineUnfit('The engine was made without a key file: leave out --engine-key-file');
  if (key === undefined) return Buffer.from(stored, 'base64');
  try {
    return key.open(stored.slice(sealedPrefix.length), about);
  } catch (error) {
    throw new EngineUnfit((error as Error).message);
  }
}
