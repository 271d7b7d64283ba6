import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Keyboard, type Person, personAt } from '../../src/cli/prompt.ts';

/** Creates a person at a test keyboard. `shown` returns the output, and `modes` records changes of raw mode. */
function atKeyboard(): { person: Person; typed: PassThrough; shown: () => string; modes: boolean[] } {
  const modes: boolean[] = [];
  let shown = '';
  const typed = new PassThrough();
  const keyboard = Object.assign(typed, { setRawMode: (mode: boolean) => modes.push(mode) });
  const person = personAt(keyboard as unknown as Keyboard, (text) => {
    shown += text;
    if (text.startsWith('Secret')) expect(modes).toEqual([true]);
  });
  return { person, typed, shown: () => shown, modes };
}

describe('ask', () => {
  it.each([
    ['yes\n', 'yes'],
    ['yes\r\nmore', 'yes'],
    ['\n', ''],
  ])('ask reads the input %j as the line %j', async (text, answer) => {
    const { person, typed, shown, modes } = atKeyboard();
    const asked = person.ask('Sure? ');
    typed.write(text);
    expect(await asked).toBe(answer);
    expect([shown(), modes]).toEqual(['Sure? ', []]);
  });

  it('ask returns an empty line at the end of input', async () => {
    const { person, typed } = atKeyboard();
    typed.end();
    expect(await person.ask('Sure? ')).toBe('');
  });

  it('ask works repeatedly on the same terminal', async () => {
    const { person, typed } = atKeyboard();
    typed.write('first\n');
    expect(await person.ask('? ')).toBe('first');
    typed.write('second\n');
    expect(await person.ask('? ')).toBe('second');
    expect(typed.listenerCount('data') + typed.listenerCount('end')).toBeLessThanOrEqual(2);
  });
});

describe('askSecret', () => {
  it.each([
    [['s3cret\r'], 's3cret'],
    [['s3', 'cr', 'et\n'], 's3cret'],
    [['sx\u007f3y\bcret\r'], 's3cret'],
    [['wrong\u0015s3cret\r'], 's3cret'],
    [['half\u0004'], 'half'],
    [['\u007f\r'], ''],
    [['pässwörd 🎉x\u007f\r'], 'pässwörd 🎉'],
  ])('askSecret returns for the input %j the secret %j, and does not show it', async (chunks, secret) => {
    const { person, typed, shown, modes } = atKeyboard();
    const asked = person.askSecret('Secret: ');
    for (const chunk of chunks) typed.write(chunk);
    expect(await asked).toBe(secret);
    expect([shown(), modes]).toEqual(['Secret: \n', [true, false]]);
  });

  it('askSecret restores the terminal when it is interrupted', async () => {
    const { person, typed, modes } = atKeyboard();
    const asked = person.askSecret('Secret: ');
    typed.write('abc\u0003');
    await expect(asked).rejects.toMatchObject({ exitCode: 130, message: 'Interrupted' });
    expect(modes).toEqual([true, false]);
  });
});
