import { describe, expect, it } from 'vitest';
import { makeTable, showForPerson, showRelative } from '../../src/cli/show.ts';
import { administrator } from './administrator.ts';

const admin = administrator();
const { run } = admin;
const wide = { width: 200 };

describe('a list on a terminal', () => {
  it('times are relative on a terminal, and absolute in a pipe', async () => {
    await run(`keys create Frontend --name Web --app ${admin.application}`);
    admin.running.clock.advance(150_000);
    const list = `keys list --app ${admin.application}`;
    expect((await run(list, {}, wide)).out).toMatch(/\nFrontend +Web .* 2 min ago +/);
    expect((await run(list)).out).toMatch(/\nFrontend +Web .* \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC +/);
  });

  it('the text of an item shows a time, and how long ago the time was', async () => {
    admin.running.clock.advance(150_000);
    const { out } = await run(`apps show ${admin.application}`, {}, wide);
    expect(out).toMatch(/^ {2}Created at +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(2 min ago\)$/m);
  });

  it('the id is the last column of a list, and the text of an item contains no JSON', async () => {
    await run(`keys create Frontend --name Web --app ${admin.application}`);
    const list = await run(`keys list --app ${admin.application}`);
    expect(list.out).toMatch(/^TYPE +NAME .* ID\n.* key_\w+\n$/);
    expect((await run(`keys show Web --app ${admin.application}`)).out).not.toMatch(/[{}[\]"]/);
  });

  it('states have colours only if the terminal supports them', async () => {
    const name = 'checkout';
    await run(`features create ${name} --app ${admin.application}`);
    const list = `features list --app ${admin.application}`;
    expect((await run(list, {}, { ...wide, styled: true })).out).toContain('\u001b[32mdeclared\u001b[0m');
    expect((await run(list, {}, wide)).out).not.toContain('\u001b');
  });
});

describe('the values of a table on a terminal', () => {
  const now = Date.parse('2026-11-30T12:00:00Z');

  it.each([
    ['2026-11-30T11:58:00Z', '2 min ago'],
    ['2026-11-30T12:00:00Z', 'now'],
    ['2026-11-29T09:00:00Z', 'yesterday'],
    ['2026-12-03T12:00:00Z', 'in 3 days'],
    ['2026-01-31T12:00:00Z', '2026-01-31'],
  ])('the time %s is shown as %s', (at, text) => {
    expect(showRelative(at, now)).toBe(text);
  });

  it('numbers have grouped digits, numbers of people have their error, and unknown values are dashes', () => {
    expect(showForPerson(1234567, { right: true }, now)).toBe('1,234,567');
    expect(showForPerson(6820, { right: true, people: true }, now)).toBe('6,820 ± 140');
    expect(showForPerson(null, { right: true, people: true }, now)).toBe('-');
  });

  it('a coloured cell is aligned like other cells', () => {
    const headings = [{ title: 'STATE', state: true }, { title: 'N' }] as const;
    const rows = [
      ['failing', '1'],
      ['unheard of', '2'],
    ];
    expect(makeTable(headings, rows, { styled: true, width: 80 }).text.split('\n').slice(1)).toEqual([
      '\u001b[31mfailing\u001b[0m     1',
      'unheard of  2',
      '',
    ]);
  });
});
