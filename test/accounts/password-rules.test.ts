import { describe, expect, test } from 'vitest';
import { isCommonPassword, passwordFault } from '../../src/accounts/password-rules.ts';
import { newPassword } from '../../src/accounts/passwords.ts';

const email = 'grace.hopper@example.com';

test.each([
  ['12345678901', 'must have at least 12 characters'],
  ['\u{1f600}'.repeat(11), 'must have at least 12 characters'],
  ['x'.repeat(1025), 'must have at most 1024 bytes'],
  ['\u00e4'.repeat(513), 'must have at most 1024 bytes'],
  ['Flagmeter-2026', 'must not contain the name of this service'],
  ['my f1agm3ter!', 'must not contain the name of this service'],
  ['x GRACE.HOPPER@example.com', 'must not contain the e-mail address or the part before its @'],
  ['2026-Grace.Hopper', 'must not contain the e-mail address or the part before its @'],
])('rejects the password %j', (password, fault) => {
  expect(passwordFault(password, email)).toBe(fault);
});

test.each([
  ['correct horse battery staple', email],
  ['grace under pressure', email],
  ['a library of books', 'lib@example.com'],
  ['\u043f\u0430\u0440\u043e\u043b\u044c \u0434\u043b\u044f \u0441\u0435\u0431\u044f', email],
])('accepts the password %j of the user %s', (password, of) => {
  expect(passwordFault(password, of)).toBeUndefined();
});

describe('a common password', () => {
  test.each(['Password1234', '1Q2W3E4R5T6Y', '123456789012', 'qwertyqwerty', 'unbelievable'])(
    'the password %s is a common password',
    async (word) => {
      expect(await isCommonPassword(word)).toBe(true);
    },
  );

  test('a part of a common password is not a common password', async () => {
    for (const part of ['', 'qwertyqwert', 'unbelievabl', 'password1234 ', 'unbelievable\nunbelievabl'])
      expect(await isCommonPassword(part)).toBe(false);
  });

  test('generated passwords and long sentences are not common passwords', async () => {
    const generated = newPassword((count) => new Uint8Array(count).map((_, at) => at * 7));
    expect(await isCommonPassword(generated)).toBe(false);
    expect(await isCommonPassword('the analytical engine')).toBe(false);
  });
});
