import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { releaseNotes } from '../../scripts/release/changelog.ts';
import { createProgress } from '../../scripts/release/progress.ts';
import { createTar } from '../../scripts/release/tar.ts';

const changelog =
  '# Changelog\n\n## [1.1.0] - 2026-11-30\n\n### Added\n\n- New.\n\n## [1.0.0] - 2026-10-01\n\n- Old.\n';

describe('the notes of a release', () => {
  it('the notes of a release are the section of its version in the changelog', () => {
    expect(releaseNotes(changelog, '1.1.0')).toBe('# flagmeter 1.1.0\n\n### Added\n\n- New.\n');
    expect(releaseNotes(changelog, '1.0.0')).toBe('# flagmeter 1.0.0\n\n- Old.\n');
  });

  it('a version without a section in the changelog is refused', () => {
    expect(() => releaseNotes(changelog, '1.2.0')).toThrow('CHANGELOG.md has no section ## [1.2.0]');
  });

  it('the changelog has a section for the version of the project', () => {
    const text = readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8');
    expect(() => releaseNotes(text, packageJson.version)).not.toThrow();
  });
});

describe('the archives of a release', () => {
  it('equal files in another order give the same archive', () => {
    const files = [
      { path: 'b/c', content: 'text' },
      { path: 'a', content: 'text', mode: 0o755 },
    ];
    expect(createTar('x', files, 1).equals(createTar('x', files.toReversed(), 1))).toBe(true);
    expect(createTar('x', files, 1).equals(createTar('x', files, 2))).toBe(false);
  });

  it('a path that is too long for an archive is refused', () => {
    const path = 'a'.repeat(101);
    expect(() => createTar('', [{ path, content: '' }], 1)).toThrow('the path has more than 100 bytes');
  });
});

describe('the progress of a release', () => {
  it.each([
    [true, '\r\x1b[Kone\r\x1b[Ktwo'],
    [false, 'one\ntwo\n'],
  ])('progress uses one line in a terminal only (terminal: %s)', (isTTY, expected) => {
    let shown = '';
    const show = createProgress({ isTTY, write: (text) => (shown += text) });
    show('one');
    show('two');
    expect(shown).toBe(expected);
  });
});
