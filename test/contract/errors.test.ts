import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/contract/errors.ts';
import { type RefusalCode, refusals } from '../../src/contract/refusals.ts';

describe('a refusal', () => {
  it.each(Object.keys(refusals) as RefusalCode[])('of the code %s has its status', (code) => {
    const refusal = new ApiError(code, 'why', 3);
    expect(refusal).toMatchObject({ code, status: refusals[code].status, message: 'why', retryAfter: 3 });
  });
});
