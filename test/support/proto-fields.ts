import { Refusal } from '../../src/contract/errors.ts';
import { bytesField, joinFields, numberField } from '../../src/grpc/protobuf.ts';

/** Encoded key, environment and time. Both kinds of report have these fields at the same numbers. */
export const headFields = joinFields(
  bytesField(1, 'a-key'),
  bytesField(2, 'Production'),
  bytesField(3, numberField(1, 1_770_000_000)),
);
export const bytes = (...values: number[]) => Uint8Array.from(values);

/** Encodes a field of the type double. */
export function doubleField(field: number, value: number): Buffer {
  const double = Buffer.alloc(9);
  double[0] = field * 8 + 1;
  double.writeDoubleLE(value, 1);
  return double;
}

/** Returns the code of the refusal that `decode` throws; `none` if it throws nothing. */
export function readCode(decode: () => unknown): string {
  try {
    decode();
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
  return 'none';
}
