import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Neither waits for the writer of a FIFO nor follows a link; git does not follow the links of ignore files either. */
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * The bytes of a regular file; `large` when it has more than `mostBytes`. What was opened is checked, not what the path names: the
 * tree may change meanwhile.
 * @throws {Error} with a `code`, when it cannot be read; `EINVAL` when it is a device, a FIFO or another special file
 */
export function readRegular(path: string, mostBytes: number): Buffer | 'large' {
  const descriptor = openSync(path, openFlags);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EINVAL' });
    return stat.size > mostBytes ? 'large' : readBytes(descriptor, stat.size);
  } finally {
    closeSync(descriptor);
  }
}

/** A file that shrinks meanwhile gives fewer bytes. */
function readBytes(descriptor: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let length = 0;
  for (let more = -1; more !== 0 && length < size; length += more)
    more = readSync(descriptor, bytes, length, size - length, null);
  return bytes.subarray(0, length);
}
