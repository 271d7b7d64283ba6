import { ApiError } from '../contract/errors.ts';
import { isName } from '../contract/names.ts';

/** @throws {ApiError} `invalid_name` unless `name` is a valid name for a `what` */
export function checkName(name: string, what: string): void {
  if (isName(name)) return;
  throw new ApiError(
    'invalid_name',
    `The name of the ${what} must have 1 to 256 UTF-8 bytes and no control characters`,
  );
}
