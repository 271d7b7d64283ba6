import { randomBytes } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** What `readdir` shows of a claim. Names are random, so they never come again and any two differ. */
export const claimName = /^serve-[0-9a-f]{16}\.sock$/;

/** A process's wish to use a directory, shown as a listening Unix domain socket in it. */
export interface Claim {
  readonly name: string;
  /** The claim has won: whoever asks is told so from now on. */
  decide(): void;
  /** Takes the claim away; whoever waits for its decision sees it gone. */
  withdraw(): Promise<void>;
}

/** The living process behind a claim; `pid` is unknown when it is too busy or too stuck to answer. */
export interface Claimant {
  readonly pid: string | undefined;
}

/** What a socket address can hold, in bytes: `sun_path` less its final zero; 108 on Linux, 104 on others. */
const longestAddress = process.platform === 'linux' ? 107 : 103;
/** How long a claimant may keep silent until it counts as alive but stuck. */
const patienceMs = 5_000;
/** How often a claimant that hangs up without a word is asked again. */
const attempts = 10;

/**
 * Shows a new, undecided claim of this process in `directory`.
 * @throws {Error} of the system, when the directory cannot be written or takes no sockets
 */
export async function showClaim(directory: string): Promise<Claim> {
  const name = `serve-${randomBytes(8).toString('hex')}.sock`;
  const way = shortWay(directory, `${name}.tmp`);
  const waiting = new Set<Socket>();
  let answer = `starting ${process.pid}\n`;
  const server = createServer((socket) => {
    waiting.add(socket.on('error', () => {}).on('close', () => waiting.delete(socket)));
    socket.write(answer);
  });
  try {
    await listen(server, `${way.path}/${name}.tmp`);
    // Only now comes the real name: a socket that is bound but does not listen yet would look dead.
    renameSync(`${directory}/${name}.tmp`, `${directory}/${name}`);
  } catch (error) {
    server.close();
    way.close();
    throw error;
  }
  return {
    name,
    decide() {
      answer = `serving ${process.pid}\n`;
      for (const socket of waiting) socket.write(answer);
      server.unref();
    },
    async withdraw() {
      rmSync(`${directory}/${name}`, { force: true });
      for (const socket of waiting) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      way.close();
    },
  };
}

/**
 * Asks a claim who is behind it.
 * @param patient wait until an undecided claim is decided or gone; otherwise it counts as it is
 * @returns `undefined` when nobody is behind it, or not any more
 * @throws {Error} of the system, when it cannot be asked
 */
export async function askClaim(
  directory: string,
  name: string,
  patient: boolean,
): Promise<Claimant | undefined> {
  const way = shortWay(directory, name);
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const heard = await listenTo(`${way.path}/${name}`, patient);
      if (heard !== 'hung up') return heard;
    }
    return { pid: undefined };
  } finally {
    way.close();
  }
}

/** Being hung up on is no proof of death: a process out of file descriptors does that too. Only a refusal is one. */
function listenTo(path: string, patient: boolean): Promise<Claimant | undefined | 'hung up'> {
  return new Promise((resolve, reject) => {
    let heard = '';
    const socket = connect(path).setTimeout(patienceMs).setEncoding('latin1');
    const settle = (result: Claimant | undefined | 'hung up') => {
      resolve(result);
      socket.destroy();
    };
    const claimant = () => ({ pid: /\d+/.exec(heard)?.[0] });
    socket
      .on('data', (text) => {
        heard += text;
        if (/serving \d+\n/.test(heard) || (!patient && heard.endsWith('\n'))) settle(claimant());
      })
      .on('timeout', () => settle(claimant()))
      .on('close', () => settle('hung up'))
      .on('error', (error: NodeJS.ErrnoException) => {
        if (['ECONNREFUSED', 'ENOENT'].includes(error.code ?? '')) settle(undefined);
        else if (['ECONNRESET', 'EPIPE'].includes(error.code ?? '')) settle('hung up');
        else reject(error);
      });
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays on: a later failure to accept (no descriptors left) must not end the process.
    server.on('error', reject).listen(path, resolve);
  });
}

/**
 * A way to a file of the directory that fits into a socket address. A longer one would be cut off silently by Node,
 * so on Linux it goes through an open descriptor of the directory.
 */
function shortWay(directory: string, name: string): { readonly path: string; close(): void } {
  const length = Buffer.byteLength(`${directory}/${name}`);
  if (length <= longestAddress) return { path: directory, close() {} };
  if (process.platform !== 'linux') {
    throw new Error(
      `its path is ${length - longestAddress} bytes too long for a socket; choose a shorter one`,
    );
  }
  const descriptor = openSync(directory, 'r');
  return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) };
}
