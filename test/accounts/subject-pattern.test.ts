import { describe, expect, test } from 'vitest';
import { isSubjectPattern, matchesSubject } from '../../src/accounts/trusts.ts';
import { seededRandom } from '../support/random.ts';

describe('a subject pattern', () => {
  test.each([
    ['repo:shop/checkout:ref:refs/heads/main', 'repo:shop/checkout:ref:refs/heads/main', true],
    ['repo:shop/checkout:ref:refs/heads/main', 'repo:shop/checkout:ref:refs/heads/main2', false],
    ['repo:shop/checkout:ref:refs/heads/*', 'repo:shop/checkout:ref:refs/heads/release-1', true],
    ['repo:shop/checkout:ref:refs/heads/*', 'repo:shop/checkout:ref:refs/heads/release/1', false],
    ['repo:shop/checkout:ref:refs/heads/*', 'repo:shop/checkout:ref:refs/heads/', false],
    ['repo:shop/checkout:ref:refs/*/v1', 'repo:shop/checkout:ref:refs/tags/v1', true],
    ['repo:shop/*:ref:refs/heads/main', 'repo:shop/checkout:ref:refs/heads/main', true],
    ['repo:shop/*:ref:refs/heads/main', 'repo:shop-evil/checkout:ref:refs/heads/main', false],
    ['repo:shop/*:ref:refs/heads/main', 'repo:shop/checkout:pull_request:ref:refs/heads/main', false],
    ['repo:shop/web-*-app:environment:live', 'repo:shop/web-shop-app:environment:live', true],
    ['repo:shop/web-*-app:environment:live', 'repo:shop/web-app:environment:live', false],
    ['repo:shop/a*a:environment:live', 'repo:shop/aa:environment:live', false],
    [
      'project_path:shop/checkout:ref_type:branch:ref:main',
      'project_path:shop/checkout:ref_type:branch:ref:main',
      true,
    ],
    ['system:serviceaccount:shop:*', 'system:serviceaccount:shop:deployer', true],
    ['system:serviceaccount:shop:*', 'system:serviceaccount:shop:a:b', false],
    ['system:serviceaccount:shop:*', 'system/serviceaccount/shop/deployer', false],
    ['a:b:c', 'a:b:C', false],
    ['a:b:.*', 'a:b:xyz', false],
  ])('the subject pattern %s matches the subject %s: %s', (pattern, subject, expected) => {
    expect(isSubjectPattern(pattern)).toBe(true);
    expect(matchesSubject(pattern, subject)).toBe(expected);
  });

  test.each([
    '',
    '*',
    '*:b:c',
    'repo:*/checkout:ref:refs/heads/main',
    'repo:sh*/checkout:ref:refs/heads/main',
    'a:b:*x*',
    'a:b:**',
    'a:b:c\n',
    'a:b:ü',
    'x'.repeat(256),
  ])('%j is not a valid subject pattern', (pattern) => {
    expect(isSubjectPattern(pattern)).toBe(false);
  });

  test('a subject pattern matches the same subjects as the equivalent regular expression', () => {
    const random = seededRandom(7);
    const pick = (letters: string) => letters[Math.floor(random() * letters.length)]!;
    const word = (letters: string, length: number) =>
      Array.from({ length: Math.floor(random() * length) }, () => pick(letters)).join('');
    let matched = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const pattern = `a:b${word(':/*ab', 8)}`;
      if (!isSubjectPattern(pattern)) continue;
      const subject = pattern.replaceAll('*', () => word(':/ab*', 4)) + (random() < 0.2 ? pick('ab:/') : '');
      const source = pattern.replaceAll(/[*]/g, '[^:/]+');
      const expected = new RegExp(`^${source}$`).test(subject);
      expect(matchesSubject(pattern, subject), `${pattern} ${subject}`).toBe(expected);
      if (expected) matched += 1;
    }
    expect(matched).toBeGreaterThan(500);
  });

  test('matching a hostile subject reads each of its characters a bounded number of times', () => {
    const pattern = `a:b:${'*:'.repeat(100)}c`;
    expect(isSubjectPattern(pattern)).toBe(true);
    const hostile = `a:b:${'x:'.repeat(100)}${'x'.repeat(1_000_000)}`;
    expect(matchesSubject(pattern, hostile)).toBe(false);
  });
});
