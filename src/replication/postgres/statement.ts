/** What can be put in the place of `$1`. Bytes go as they are; a list is an array of the engine. */
export type Value =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Uint8Array
  | null
  | undefined
  | readonly Value[];

/** One statement of SQL. With a name it is prepared once a session; the same name must always have the same text. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly Value[];
}

/** `int8` comes as a bigint, `bytea` as a Buffer, `timestamptz` as a Date. */
export interface QueryResult<Row = Record<string, unknown>> {
  readonly rows: Row[];
  /** Rows that were returned or changed. */
  readonly rowCount: number;
}

/** Sends a statement; those that are sent without waiting for one another travel together. */
export type Run = <Row = Record<string, unknown>>(statement: Statement) => Promise<QueryResult<Row>>;
