import type { Write } from '../../accounts/store/account-store.ts';
import { accountTables, type TableName } from '../../storage/lmdb/accounts.ts';
import type { LogEntry, Whole } from '../postgres/follower.ts';
import type { LogPosition } from '../postgres/log-position.ts';
import type { PostgresKey } from '../postgres/postgres-key.ts';

/** A change of the accounts as all nodes share it. Its position is the version that it leads to. */
export interface AccountChange extends LogPosition {
  readonly writes: readonly Write[];
}

/** A change as PostgreSQL holds it: see `RecordCodec.encodeChange`. */
export type StoredChange = LogEntry<string>;

/** A record as the engine holds it: keys and values as JSON, so that they may hold any character. */
export interface StoredRecord {
  readonly table: string;
  readonly key: string;
  /** `undefined` for a removed one. */
  readonly value: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** A field that must not be read in the engine: it is encrypted there, under another name. */
interface SecretField {
  readonly plain: string;
  readonly sealed: string;
  /** What it is: a sealed secret opens as nothing else. */
  readonly about: (record: Fields) => string;
  readonly people: string;
}

const secretFields: { readonly [Name in TableName]?: SecretField } = {
  signingKeys: {
    plain: 'privateJwk',
    sealed: 'sealedJwk',
    about: ({ kid }) => `signing key ${kid}`,
    people: 'signing keys',
  },
  webhooks: {
    plain: 'secrets',
    sealed: 'sealedSecrets',
    about: ({ id }) => `webhook ${id}`,
    people: 'secrets of webhooks',
  },
};

/** Turns records into what the engine holds, and back. Secrets that are kept as they are elsewhere are encrypted there. */
export class RecordCodec {
  readonly #key: PostgresKey | undefined;

  /** @param key without it, private parts of signing keys and secrets of webhooks are in the engine as they are */
  constructor(key: PostgresKey | undefined) {
    this.#key = key;
  }

  encode({ table, key, value }: Write): StoredRecord {
    const shown = value === undefined ? undefined : JSON.stringify(this.#seal(table, value));
    return { table, key: JSON.stringify(key).slice(1, -1), value: shown };
  }

  /** Leaves out records of tables that this version of the program does not know. @throws {Error} when a secret cannot be read */
  decodeRecords(records: readonly StoredRecord[]): Write[] {
    return records.flatMap(({ table, key, value }) =>
      this.#open(table, JSON.parse(`"${key}"`) as string, JSON.parse(value ?? 'null')),
    );
  }

  /** All writes of a change as one text. */
  encodeChange(records: readonly StoredRecord[]): string {
    const rows = records.map(({ table, key, value }) => `["${table}","${key}",${value ?? 'null'}]`);
    return `[${rows.join(',')}]`;
  }

  /** Reads changes as they stand in the engine. @throws {Error} when a secret cannot be read */
  decodeChanges(stored: readonly Whole<StoredChange>[]): AccountChange[] {
    return stored.map(({ position, id, body }) => {
      const rows = JSON.parse(body) as [string, string, unknown][];
      return { position, id, writes: rows.flatMap((row) => this.#open(...row)) };
    });
  }

  #seal(table: TableName, record: unknown): unknown {
    const field = secretFields[table];
    if (field === undefined) return record;
    // `unaudited` is for the audit log of one machine.
    const { unaudited, [field.plain]: secret, ...shown } = record as Fields;
    if (secret === undefined) return shown;
    if (this.#key === undefined) return { ...shown, [field.plain]: secret };
    return { ...shown, [field.sealed]: this.#key.seal(JSON.stringify(secret), field.about(shown)) };
  }

  #open(table: string, key: string, value: unknown): Write[] {
    if (!isKnown(table)) return [];
    const field = secretFields[table];
    const isSealed = field !== undefined && value !== null && field.sealed in (value as Fields);
    const opened = isSealed ? this.#openField(field, value as Fields) : (value ?? undefined);
    return [{ table, key, value: opened } as Write];
  }

  #openField({ plain, sealed, about, people }: SecretField, record: Fields): unknown {
    if (this.#key === undefined)
      throw new Error(
        `Cannot read the ${people} of the engine: they are encrypted; give --postgres-key-file`,
      );
    const { [sealed]: secret, ...rest } = record;
    return { ...rest, [plain]: JSON.parse(this.#key.open(secret as string, about(rest)).toString()) };
  }
}

function isKnown(table: string): table is TableName {
  return (accountTables as readonly string[]).includes(table);
}
