import type { Write } from '../../accounts/store/account-store.ts';
import { accountTables, type TableName } from '../../storage/lmdb/accounts.ts';
import type { LogEntry, LogPosition, Whole } from '../postgres/follower.ts';
import type { PostgresKey } from '../postgres/postgres-key.ts';

/** A change of the accounts. Its position is the version that results from the change. */
export interface AccountChange extends LogPosition {
  readonly writes: readonly Write[];
}

/** A stored change in PostgreSQL: see `RecordCodec.encodeChange`. */
export type StoredChange = LogEntry<string>;

/** A record in PostgreSQL. Keys and values are JSON, so that they can contain any character. */
export interface StoredRecord {
  readonly table: string;
  readonly key: string;
  /** JSON; `undefined` if the record was removed. */
  readonly value: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** A field that PostgreSQL stores encrypted, under another name. */
interface SecretField {
  readonly plain: string;
  readonly sealed: string;
  /** Returns the text that binds an encrypted secret to its record, so that another record cannot contain it. */
  readonly about: (record: Fields) => string;
  readonly people: string;
}

const secretFields: { readonly [Name in TableName]?: readonly SecretField[] } = {
  signingKeys: [
    { plain: 'privateJwk', sealed: 'sealedJwk', about: ({ kid }) => `signing key ${kid}`, people: 'signing keys' },
  ],
  webhooks: [
    { plain: 'secrets', sealed: 'sealedSecrets', about: ({ id }) => `webhook ${id}`, people: 'secrets of webhooks' },
    {
      plain: 'authorization',
      sealed: 'sealedAuthorization',
      about: ({ id }) => `authorization of webhook ${id}`,
      people: 'credentials of webhooks',
    },
  ],
  totp: [
    {
      plain: 'secret',
      sealed: 'sealedSecret',
      about: ({ userId }) => `totp ${userId}`,
      people: 'secrets of authenticator apps',
    },
  ],
  identityProviders: [
    {
      plain: 'clientSecret',
      sealed: 'sealedSecret',
      about: ({ id }) => `identity provider ${id}`,
      people: 'client secrets of identity providers',
    },
  ],
};

/** Names of the tables whose records have secrets. */
export const secretTables: readonly string[] = Object.keys(secretFields);

/** Converts records to and from their form in PostgreSQL, where secrets are encrypted. */
export class RecordCodec {
  readonly #key: PostgresKey | undefined;

  /** @param key encrypts the secrets; without a key, they are stored in clear text */
  constructor(key: PostgresKey | undefined) {
    this.#key = key;
  }

  encode({ table, key, value }: Write): StoredRecord {
    const shown = value === undefined ? undefined : JSON.stringify(this.#seal(table, value));
    return { table, key: JSON.stringify(key).slice(1, -1), value: shown };
  }

  /** Encrypts the secrets of a record that is stored in clear text. */
  sealRecord({ table, key, value }: StoredRecord): StoredRecord {
    return { table, key, value: value && JSON.stringify(this.#seal(table as TableName, JSON.parse(value))) };
  }

  /** Encrypts the secrets of a change that is stored in clear text. */
  sealChange(body: string): string {
    const rows = JSON.parse(body) as [string, string, unknown][];
    const sealed = rows.map(([table, key, value]) => [
      table,
      key,
      value === null ? null : this.#seal(table as TableName, value),
    ]);
    return JSON.stringify(sealed);
  }

  /**
   * Decodes records. Skips unknown tables, which a later version might have written.
   * @throws {Error} if a secret cannot be decrypted
   */
  decodeRecords(records: readonly StoredRecord[]): Write[] {
    return records.flatMap(({ table, key, value }) =>
      this.#open(table, JSON.parse(`"${key}"`) as string, JSON.parse(value ?? 'null')),
    );
  }

  /** Encodes all writes of a change as one text. */
  encodeChange(records: readonly StoredRecord[]): string {
    const rows = records.map(({ table, key, value }) => `["${table}","${key}",${value ?? 'null'}]`);
    return `[${rows.join(',')}]`;
  }

  /** @throws {Error} if a secret cannot be decrypted */
  decodeChanges(stored: readonly Whole<StoredChange>[]): AccountChange[] {
    return stored.map(({ position, id, body }) => {
      const rows = JSON.parse(body) as [string, string, unknown][];
      return { position, id, writes: rows.flatMap((row) => this.#open(...row)) };
    });
  }

  #seal(table: TableName, record: unknown): unknown {
    const fields = secretFields[table];
    if (fields === undefined) return record;
    // Leaves out `unaudited`, which is only for the audit log of a single machine.
    const { unaudited, ...shown } = record as Fields;
    return fields.reduce((sealed, field) => this.#sealField(field, sealed), shown as Fields);
  }

  #sealField({ plain, sealed, about }: SecretField, record: Fields): Fields {
    const { [plain]: secret, ...shown } = record;
    if (secret === undefined || this.#key === undefined) return record;
    return { ...shown, [sealed]: this.#key.seal(JSON.stringify(secret), about(shown)) };
  }

  #open(table: string, key: string, value: unknown): Write[] {
    if (!isKnown(table)) return [];
    if (value === null) return [{ table, key, value: undefined } as Write];
    const sealed = (secretFields[table] ?? []).filter((field) => field.sealed in (value as Fields));
    const opened: unknown = sealed.reduce((record, field) => this.#openField(field, record), value as Fields);
    return [{ table, key, value: opened } as Write];
  }

  #openField({ plain, sealed, about, people }: SecretField, record: Fields): Fields {
    if (this.#key === undefined)
      throw new Error(`Cannot read the ${people} in PostgreSQL: the secrets are encrypted; give --postgres-key-file`);
    const { [sealed]: secret, ...rest } = record;
    return { ...rest, [plain]: JSON.parse(this.#key.open(secret as string, about(rest)).toString()) };
  }
}

function isKnown(table: string): table is TableName {
  return (accountTables as readonly string[]).includes(table);
}
