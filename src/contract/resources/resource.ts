import type { Field, FieldValue, Operand, Option } from '../shapes/option.ts';
import type { AnyColumns } from './column.ts';

/** How the items of a list are identified. */
export interface ItemIdentity {
  readonly one: string;
  /** The field that is unique to each item. */
  readonly key: string;
  /** Another field that may be used instead. */
  readonly alias?: string;
  /** Whether an item can be read at a path of its own. Otherwise it is found in the list. */
  readonly single?: true;
}

/** A resource of the management API: its path, columns and fields, and what can be done with it. */
export interface Resource extends ItemIdentity {
  /** The word for it in the client: `apps`. */
  readonly name: string;
  readonly many: string;
  readonly within?: 'app' | 'team';
  readonly collection: string;
  readonly columns: AnyColumns;
  readonly filters?: readonly Field[];
  /** Whether the list can be read as rows of CSV or NDJSON. */
  readonly inRows?: true;
  /** Number of items listed without `--limit`; by default all. */
  readonly defaultLimit?: number;
  /** The names of a team's items differ, although the API accepts equal ones. */
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
  /** The request is a PUT, and the operand the last segment of its path. */
  readonly put?: true;
  readonly fields: readonly Field[];
  readonly secret?: Secret;
}

/** A field of an answer that is shown only once. */
export interface Secret {
  readonly field: string;
  /** The values of other fields without which it is not a secret. */
  readonly where?: Readonly<Record<string, unknown>>;
}

/** Fields that are missing stay unchanged. */
export interface Change {
  readonly fields: readonly Field[];
  /** The request replaces the whole item. These fields are sent unchanged if they are missing. */
  readonly whole?: readonly string[];
}

export interface Removal {
  /** The word of the command; by default `delete`. */
  readonly word?: string;
  /** What is lost with it: part of the question for confirmation. */
  readonly loses?: string;
}

/** A request below the path of an item: a POST, or with `columns` a list. */
export interface Action {
  readonly word: string;
  readonly summary: string;
  readonly options?: readonly Option[];
  readonly fields?: readonly Field[];
  /** A field that is not `null` in an item with a successor of the same name. A name then stands for the successor. */
  readonly replaced?: string;
  /** The segments below the path of the item. `--delivery` stands for the value of that flag. */
  readonly path: readonly string[];
  readonly method?: 'GET' | 'DELETE';
  /** The list that has the result, which is read and shown after its first attempt. */
  readonly follow?: readonly string[];
  readonly columns?: AnyColumns;
  readonly most?: number;
  readonly secret?: Secret;
}
