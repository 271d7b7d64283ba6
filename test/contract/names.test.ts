import { expect, test } from 'vitest';
import { isEmail } from '../../src/contract/names.ts';

test.each([
  'ada@example.com',
  'a@b',
  "o'neil+flags@sub.example.com",
  'jürgen@müller.example',
  'пётр@пример.рф',
  '一二@例子.测试',
])('%s can be an e-mail address', (email) => {
  expect(isEmail(email)).toBe(true);
});

test.each([
  ['without a host', 'ada@'],
  ['with two @', 'a@b@example.com'],
  ['with a space', 'a da@example.com'],
  ['with a control character', 'ada\0@example.com'],
  ['with a direction override', 'ada\u202emoc.elpmaxe@example.com'],
  ['with a zero-width space', 'a\u200bda@example.com'],
  ['with a soft hyphen', 'a\u00adda@example.com'],
  ['with an invisible mark', 'a\u034fda@example.com'],
  ['with a variation selector', 'ada\ufe0f@example.com'],
  ['with a Cyrillic letter', '\u0430da@example.com'],
  ['with a Cyrillic letter in its host', 'ada@ex\u0430mple.com'],
  ['with Greek letters', 'ad\u03b1@example.com'],
  ['with full-width letters', '\uff41\uff44\uff41@example.com'],
  ['with a full-width @', 'ada\uff20example.com'],
  ['with the Kelvin sign', '\u212aate@example.com'],
  ['that is too long', `${'a'.repeat(250)}@example.com`],
])('a text %s is not an e-mail address', (_, email) => {
  expect(isEmail(email)).toBe(false);
});
