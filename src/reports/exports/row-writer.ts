import type { TObject, TSchema } from 'typebox';
import { csvText } from '../../contract/escaping.ts';
import type { DocumentOptions } from '../../contract/shapes/fields.ts';

/** The syntax of a format. */
interface Style {
  /** Returns the text before the first row. @param names names of the columns */
  head(names: readonly string[]): string;
  /** Returns the text before a cell. */
  before(name: string, isFirst: boolean): string;
  cell(value: Cell): string;
  /** The text after the last cell. */
  readonly end: string;
}

export type RowFormat = 'csv' | 'ndjson';

const styles: Readonly<Record<RowFormat, Style>> = {
  // RFC 4180, with the header row.
  csv: {
    head: (names) => `${names.map(csvCell).join(',')}\r\n`,
    before: (_, isFirst) => (isFirst ? '' : ','),
    cell: csvCell,
    end: '\r\n',
  },
  ndjson: {
    head: () => '',
    before: (name, isFirst) => `${isFirst ? '{' : ','}${JSON.stringify(name)}:`,
    cell: (value) => JSON.stringify(value),
    end: '}\n',
  },
};

function csvCell(value: Cell): string {
  if (typeof value === 'number') return `${value}`;
  if (value === null) return '';
  if (Array.isArray(value) && !value.some((item) => typeof item === 'object')) return csvText(value.join(', '));
  return csvText(typeof value === 'object' ? JSON.stringify(value) : `${value}`);
}

/** Maximum size of a chunk. */
export const chunkBytes = 128 * 1024;

const utf8 = new TextEncoder();
const zero = 48;

/**
 * Limit of numbers that are written digit by digit. Larger, negative and fractional numbers are rare and written as
 * text.
 */
const mostDigits = 2 ** 31;

/**
 * Writes rows as bytes into one buffer. Millions of rows create no garbage: repeated cells are encoded once and copied,
 * and numbers are written digit by digit.
 */
export class RowWriter {
  readonly #cell: (value: Cell) => string;
  readonly #before: readonly Uint8Array[];
  readonly #end: Uint8Array;
  #memory = new Uint8Array(chunkBytes + 4096);
  #length = 0;

  constructor(format: RowFormat, columns: Columns) {
    const { head, before, cell, end } = styles[format];
    const names = Object.keys(columns);
    this.#cell = cell;
    this.#before = names.map((name, at) => utf8.encode(before(name, at === 0)));
    this.#end = utf8.encode(end);
    this.add(utf8.encode(head(names)));
  }

  /** True if the buffer holds a whole chunk. */
  get isFull(): boolean {
    return this.#length >= chunkBytes;
  }

  /** Encodes adjacent cells. @param first column of the first cell */
  encode(first: number, cells: readonly Cell[]): Uint8Array {
    const chunks = cells.map((cell, at) => [this.#before[first + at]!, utf8.encode(this.#cell(cell))]);
    return Buffer.concat(chunks.flat());
  }

  /** Appends encoded cells to the row. */
  add(encoded: Uint8Array): void {
    this.#makeRoom(encoded.length);
    this.#memory.set(encoded, this.#length);
    this.#length += encoded.length;
  }

  /** Appends a number to the row. */
  number(column: number, value: number): void {
    if (value >= 0 && value < mostDigits && Number.isInteger(value)) {
      this.add(this.#before[column]!);
      this.#digits(value);
    } else {
      this.add(this.encode(column, [value]));
    }
  }

  end(): void {
    this.add(this.#end);
  }

  /** Moves the oldest bytes to a chunk. @returns the number of bytes */
  moveTo(chunk: Uint8Array): number {
    const moved = Math.min(this.#length, chunk.length);
    chunk.set(this.#memory.subarray(0, moved));
    this.#memory.copyWithin(0, moved, this.#length);
    this.#length -= moved;
    return moved;
  }

  /** Returns the bytes that have not been moved. */
  rest(): Uint8Array {
    return this.#memory.subarray(0, this.#length);
  }

  #digits(value: number): void {
    const end = this.#length + countDigits(value);
    this.#makeRoom(end - this.#length);
    for (let at = end - 1, rest = value; at >= this.#length; at -= 1) {
      const tenth = (rest / 10) | 0;
      this.#memory[at] = zero + rest - tenth * 10;
      rest = tenth;
    }
    this.#length = end;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#memory.length) return;
    const memory = new Uint8Array(2 * needed);
    memory.set(this.#memory);
    this.#memory = memory;
  }
}

function countDigits(value: number): number {
  let digits = 1;
  for (let next = 10; value >= next; next *= 10) digits += 1;
  return digits;
}

/** A value in a row. An object is written as JSON, including in CSV. */
export type Cell = string | number | boolean | null | object;

/** The columns of a report, in order. */
export type Columns = Readonly<Record<string, { readonly description: string; readonly example: Cell }>>;

interface Field extends TSchema {
  readonly type?: unknown;
  readonly description?: string;
  readonly enum?: readonly string[];
}

/**
 * Lists a column for each field of an object of a JSON response. Fields of a nested object are separate columns. Lists
 * are omitted.
 */
export function listColumns(schema: TObject, example = (schema as DocumentOptions).example as object): Columns {
  const examples = new Map<string, Cell>(Object.entries(example));
  const columns = Object.entries<Field>(schema.properties).map(([name, field]): Columns => {
    const { type, description = '', enum: values = [] } = field;
    if (type === 'array') return {};
    if (type === 'object') return listColumns(field as unknown as TObject, examples.get(name) as object);
    const options = values.map((value) => ` \`${value}\``);
    return { [name]: { description: `${description}${options}`, example: examples.get(name) ?? null } };
  });
  return Object.assign({}, ...columns);
}

/** Returns the columns of the items of a list in a report. */
export function columnsIn(report: TObject, list: string): Columns {
  const { items } = report.properties[list] as unknown as { readonly items: TObject };
  const examples = new Map(Object.entries((report as DocumentOptions).example as object));
  return listColumns(items, examples.get(list).at(-1));
}

/** Returns the cells of an item that has a field for each column. */
export function cellsIn(item: object, columns: Columns): readonly Cell[] {
  const fields = new Map<string, Cell>(Object.entries(item));
  return Object.keys(columns).map((name) => fields.get(name) ?? null);
}
