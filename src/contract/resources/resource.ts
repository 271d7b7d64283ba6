import type { Field, FieldValue, Operand, Option } from '../shapes/option.ts';
import type { AnyColumns } from './column.ts';

/** Identification of the items of a list. */
export interface ItemIdentity {
  readonly one: string;
  /** The field that is unique to each item. */
  readonly key: string;
  /** Another field that can be used instead of `key`. */
  readonly alias?: string;
  /** True if an item has its own path. Otherwise the client finds the item in the list. */
  readonly single?: true;
}

/** A resource of the management API: its path, columns and fields, and what can be done with it. */
export interface Resource extends ItemIdentity {
  /** Name of the resource in the client: `apps`. */
  readonly name: string;
  readonly many: string;
  readonly within?: 'app' | 'team';
  readonly collection: string;
  readonly columns: AnyColumns;
  readonly filters?: readonly Field[];
  /** True if the list can be read as rows of CSV or NDJSON. */
  readonly inRows?: true;
  /** Number of items listed without `--limit`; by default all. */
  readonly defaultLimit?: number;
  /** True if the client rejects a name that another item of the team has. The API accepts equal names. */
  readonly oneOfAName?: true;
  readonly create?: Creation;
  readonly update?: Change;
  readonly remove?: Removal;
  readonly actions?: readonly Action[];
}

export interface Creation {
  /** The word of the command; by default `create`. */
  readonly word?: string;
  /** By default the field `name` of the body. */
  readonly operand: Operand & FieldValue;
  /** True if the request is a PUT whose path ends with the operand. */
  readonly put?: true;
  readonly fields: readonly Field[];
  readonly secret?: Secret;
}

/** A field of a response that is shown only once. */
export interface Secret {
  readonly field: string;
  /** Values of other fields that make the field a secret. */
  readonly where?: Readonly<Record<string, unknown>>;
}

/** A change of an item. Missing fields stay unchanged. */
export interface Change {
  readonly fields: readonly Field[];
  /** Fields that are sent unchanged if they are missing, because the request replaces the whole item. */
  readonly whole?: readonly string[];
}

export interface Removal {
  /** The word of the command; by default `delete`. */
  readonly word?: string;
  /** Data that a deletion removes together with the item. The confirmation question names this data. */
  readonly loses?: string;
}

/** A request below the path of an item: a POST, or a list if `columns` is set. */
export interface Action {
  readonly word: string;
  readonly summary: string;
  readonly options?: readonly Option[];
  readonly fields?: readonly Field[];
  /**
   * A field that is `null` unless the item has a successor of the same name. The name then stands for the successor.
   */
  readonly replaced?: string;
  /** Segments below the path of the item. `--delivery` stands for the value of that option. */
  readonly path: readonly string[];
  readonly method?: 'GET' | 'DELETE';
  /** Path of the list that contains the result, which is read and shown after its first attempt. */
  readonly follow?: readonly string[];
  readonly columns?: AnyColumns;
  readonly most?: number;
  readonly secret?: Secret;
}
