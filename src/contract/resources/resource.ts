import type { Field, FieldValue, Operand, Option } from '../shapes/option.ts';
import type { AnyColumns } from './column.ts';

/** Fields that identify the items of a list. */
export interface ItemIdentity {
  readonly one: string;
  /** The field that is unique to each item. */
  readonly key: string;
  /** Another field that can be used instead of `key`. */
  readonly alias?: string;
  /** A field that is set if an item has a successor of the same name. The name then refers to the successor. */
  readonly replaced?: string;
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
  /** An item in the examples of the help text. Absent for a log. */
  readonly sample?: string;
  /** Arguments in the examples of commands, by the second word of the command; by default `sample`. */
  readonly examples?: Readonly<Record<string, string>>;
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
  /** Name of the command; by default `create`. */
  readonly word?: string;
  /** Operand; by default the field `name` of the body. */
  readonly operand: Operand & FieldValue;
  /** True if the request is a PUT whose path ends with the operand. */
  readonly put?: true;
  readonly fields: readonly Field[];
  readonly secret?: Secret;
}

/** A field of a response that is shown only once. */
export interface Secret {
  readonly field: string;
  /** Values that other fields have if the field is a secret. */
  readonly where?: Readonly<Record<string, unknown>>;
}

/** A change of an item. Fields that are not sent remain unchanged. */
export interface Change {
  readonly fields: readonly Field[];
  /** Fields that are sent with their current values if the user omits them, because the request replaces the item. */
  readonly whole?: readonly string[];
}

export interface Removal {
  /** Name of the command; by default `delete`. */
  readonly word?: string;
  /** Data that a deletion removes together with the item. The confirmation prompt mentions this data. */
  readonly loses?: string;
}

/** A request to a path below an item: a POST, or a request for a list if `columns` is set. */
export interface Action {
  readonly word: string;
  readonly summary: string;
  readonly options?: readonly Option[];
  readonly fields?: readonly Field[];
  /** Field with the expiry of a previous key or secret, which the action invalidates. The command asks first. */
  readonly overlap?: string;
  /** Segments below the path of the item. The segment `--delivery` is replaced by the value of that option. */
  readonly path: readonly string[];
  readonly method?: 'GET' | 'DELETE';
  /**
   * Path of the list with the result of the action. The client waits for the first delivery attempt, and shows its
   * result.
   */
  readonly follow?: readonly string[];
  readonly columns?: AnyColumns;
  readonly most?: number;
  readonly secret?: Secret;
}
