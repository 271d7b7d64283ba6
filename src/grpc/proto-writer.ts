/** Encodes small messages from their fields: one call per field, then `joinFields`. */

const varint = 0;
const delimited = 2;

/** A non-negative field of type `int32` or `enum`. Empty for 0, as proto3 requires. */
export function numberField(field: number, value: number): Buffer {
  return value === 0 ? nothing : Buffer.from([...varintOf(field * 8 + varint), ...varintOf(value)]);
}

/** A field of type `string`, `bytes` or a message. */
export function bytesField(field: number, value: string | Uint8Array): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([Buffer.from([...varintOf(field * 8 + delimited), ...varintOf(bytes.length)]), bytes]);
}

export function joinFields(...fields: readonly Uint8Array[]): Buffer {
  return Buffer.concat(fields);
}

const nothing = Buffer.alloc(0);

/** @param value from 0 to 2^53 */
function varintOf(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}
