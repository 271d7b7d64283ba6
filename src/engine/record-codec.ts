import type { EngineKey } from '../postgres/engine-key.ts';
import { accountTables, type TableName } from '../store/accounts.ts';
import type { Write } from './engine.ts';
import { openSecrets, sealSecrets } from './sealed-secrets.ts';

/** A record as the engine holds it: keys and values as JSON, so that they may hold any character. */
export interface StoredRecord {
  readonly table: string;
  readonly key: string;
  /** `undefined` for a removed one. */
  readonly value: string | undefined;
}

/** Turns records into what the engine holds, and back. Secrets that are kept as they are elsewhere are encrypted there. */
export class RecordCodec {
  readonly #key: EngineKey | undefined;

  /** @param key without it, private parts of signing keys and secrets of webhooks are in the engine as they are */
  constructor(key: EngineKey | undefined) {
    this.#key = key;
  }

  encode({ table, key, value }: Write): StoredRecord {
    const shown = value === undefined ? undefined : sealSecrets(this.#key, table, value);
    return { table, key: encodeKey(key), value: shown === undefined ? undefined : JSON.stringify(shown) };
  }

  /** `undefined` for a record of a table that this version of the program does not know. */
  decode({ table, key, value }: StoredRecord): Write | undefined {
    if (!isKnown(table)) return undefined;
    const read: unknown = value === undefined ? undefined : JSON.parse(value);
    const opened = read === undefined ? undefined : openSecrets(this.#key, table, read);
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
      const opened = value === null ? undefined : openSecrets(this.#key, table, value);
      return [{ table, key, value: opened } as Write];
    });
  }
}

function encodeKey(key: string): string {
  return JSON.stringify(key).slice(1, -1);
}

function isKnown(table: string): table is TableName {
  return (accountTables as readonly string[]).includes(table);
}
