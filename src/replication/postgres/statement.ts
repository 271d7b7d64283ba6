/** A value of a parameter such as `$1`. A list is an array in SQL. */
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

/** A statement. With a name it is prepared once in each session: a name must always have the same text. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly Value[];
}

/** `int8` is a bigint, `bytea` a Buffer, `timestamptz` a Date. */
export interface QueryResult<Row = Record<string, unknown>> {
  readonly rows: Row[];
  /** Number of rows returned or changed. */
  readonly rowCount: number;
}

/** Sends a statement. Statements sent without waiting are pipelined. */
export type Run = <Row = Record<string, unknown>>(statement: Statement) => Promise<QueryResult<Row>>;
