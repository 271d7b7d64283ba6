import { Failure } from './failure.ts';

/** The person at the terminal. */
export interface Person {
  /** @returns the typed line; an empty line at the end of input */
  ask(question: string): Promise<string>;
  /** Asks a question without showing the typed line. */
  askSecret(question: string): Promise<string>;
}

/** Input of a terminal. */
export type Keyboard = Pick<NodeJS.ReadStream, 'setRawMode' | 'setEncoding' | 'on' | 'off' | 'resume' | 'pause'>;

const key = { interrupt: '\u0003', end: '\u0004', backspace: '\b', erase: '\u0015', delete: '\u007f' };

/** @param show writes to the terminal */
export function personAt(keyboard: Keyboard, show: (text: string) => void): Person {
  return {
    async ask(question) {
      show(question);
      let line = '';
      await eachChunk(keyboard, (chunk) => {
        line += chunk;
        return line.includes('\n');
      });
      return line.split(/\r?\n/, 1)[0] ?? '';
    },
    async askSecret(question) {
      keyboard.setRawMode(true);
      try {
        show(question); // Raw mode is set before the question, so that no typed key is shown.
        return await readRaw(keyboard);
      } finally {
        keyboard.setRawMode(false);
        show('\n');
      }
    },
  };
}

/** @throws {Failure} if the person declines */
export async function confirm(person: Person, question: string, declined: string): Promise<void> {
  const answer = await person.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('failed', declined);
}

async function readRaw(keyboard: Keyboard): Promise<string> {
  let typed: string[] = [];
  let interrupted = false;
  await eachChunk(keyboard, (chunk) => {
    for (const character of chunk) {
      if (character === '\r' || character === '\n' || character === key.end) return true;
      if (character === key.interrupt) {
        interrupted = true;
        return true;
      }
      if (character === key.backspace || character === key.delete) typed.pop();
      else if (character === key.erase) typed = [];
      else typed.push(character);
    }
    return false;
  });
  if (interrupted) throw new Failure('interrupted', 'Interrupted');
  return typed.join('');
}

/** Passes input to `take` until `take` returns true or the input ends. */
function eachChunk(keyboard: Keyboard, take: (chunk: string) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const onData = (chunk: string) => {
      if (take(chunk)) done();
    };
    const done = () => {
      keyboard.off('data', onData);
      keyboard.off('end', done);
      keyboard.pause();
      resolve();
    };
    keyboard.setEncoding('utf8');
    keyboard.on('data', onData);
    keyboard.on('end', done);
    keyboard.resume();
  });
}
