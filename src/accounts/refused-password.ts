import { ApiError } from '../contract/errors.ts';

/** @param fault as returned by `passwordFault` */
export function refusedPassword(fault: string): ApiError {
  return new ApiError('invalid_body', `Cannot take the password: ${fault}`);
}
