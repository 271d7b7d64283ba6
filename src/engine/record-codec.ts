import type { EngineKey } from '../postgres/engine-key.ts';
import { accountTables, type TableName } from '../store/accounts.ts';
import type { Jwk, RetiredKey, SigningKey } from '../store/auth-records.ts';
import type { Write } from './engine.ts';

/** A record as the engine holds it: keys and values as JSON, so that they may hold any character. */
export interface StoredRecord {
  readonly table: string;
  readonly key: string;
  /** `undefined` for a removed one. */
  readonly value: string | undefined;
}

/** A signing key whose private part is encrypted. */
type SealedKey = Omit<SigningKey, 'privateJwk'> & { readonly sealedJwk: string };

/** Turns records into what the engine holds, and back. The private parts of signing keys are encrypted there. */
export class RecordCodec {
  readonly #key: EngineKey | undefined;

  /** @param key without it, private parts of signing keys are in the engine as they are */
  constructor(key: EngineKey | undefined) {
    this.#key = key;
  }

  encode({ table, key, value }: Write): StoredRecord {
    const shown = table === 'signingKeys' && value !== undefined ? this.#seal(value as SigningKey) : value;
    return { table, key: encodeKey(key), value: shown === undefined ? undefined : JSON.stringify(shown) };
  }

  /** `undefined` for a record of a table that this version of the program does not know. */
  decode({ table, key, value }: StoredRecord): Write | undefined {
    if (!isKnown(table)) return undefined;
    const read: unknown = value === undefined ? undefined : JSON.parse(value);
    const opened = table === 'signingKeys' && read !== undefined ? this.#open(read as SealedKey) : read;
    return { table, key: JSON.parse(`"${key}"`) as string, value: opened } as Write;
  }

  /** All writes of a change as one text. */
  encodeChange(records: readonly StoredRecord[]): string {
    const rows = records.map(({ table, key, value }) => `["${table}","${key}",${value ?? 'null'}]`);
    return `[${rows.join(',')}]`;
  }

  /** @throws {Error} when a secret cannot be read */
  decodeChange(text: string): Write[] {
    const rows = JSON.parse(text) as [string, string, unknown][];
    return rows.flatMap(([table, key, value]) => {
      if (!isKnown(table)) return [];
      const record = value === null ? undefined : value;
      const opened =
        table === 'signingKeys' && record !== undefined ? this.#open(record as SealedKey) : record;
      return [{ table, key, value: opened } as Write];
    });
  }

  #seal(key: SigningKey | RetiredKey): SealedKey | SigningKey | RetiredKey {
    const { unaudited, ...plain } = key; // For the audit log of one machine.
    if (this.#key === undefined || !('privateJwk' in plain)) return plain;
    const { privateJwk, ...shown } = plain;
    return { ...shown, sealedJwk: this.#key.seal(JSON.stringify(privateJwk), aboutKey(key.kid)) };
  }

  /** @throws {Error} when it was encrypted with another key */
  #open(key: SealedKey | SigningKey | RetiredKey): SigningKey | RetiredKey {
    if (!('sealedJwk' in key)) return key;
    if (this.#key === undefined)
      throw new Error(
        'Cannot read the signing keys of the engine: they are encrypted; give --engine-key-file',
      );
    const { sealedJwk, ...shown } = key;
    const opened = this.#key.open(sealedJwk, aboutKey(key.kid));
    return { ...shown, privateJwk: JSON.parse(opened.toString()) as Jwk };
  }
}

function aboutKey(kid: string): string {
  return `signing key ${kid}`;
}

function encodeKey(key: string): string {
  return JSON.stringify(key).slice(1, -1);
}

function isKnown(table: string): table is TableName {
  return (accountTables as readonly string[]).includes(table);
}
