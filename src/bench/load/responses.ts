const newline = 10;
const carriageReturn = 13;
const contentLength = Buffer.from('content-length:');
const chunked = Buffer.from('transfer-encoding: chunked');
/** Maximum length of a head. Longer heads do not occur in load tests. */
const maxHead = 65_536;

/**
 * Reads HTTP/1.1 responses from the chunks of a socket. A response can begin and end anywhere in a chunk. Parses only
 * the status, and finds the start of the next response.
 * @param onResponse called with the status of each complete response, except 1xx
 * @returns a function that takes the next chunk
 * @throws {Error} from the returned function, if the stream is not a response or its body has neither a declared length
 * nor chunks
 */
export function responseReader(onResponse: (status: number) => void): (chunk: Uint8Array) => void {
  let held: Buffer | undefined;
  let status = 0;
  let bodyLeft = 0;
  let moreChunks = false;

  return (chunk) => {
    const bytes = held === undefined ? chunk : Buffer.concat([held, chunk]);
    held = undefined;
    let at = 0;
    while (at < bytes.length) {
      if (bodyLeft > 0) {
        const taken = Math.min(bodyLeft, bytes.length - at);
        at += taken;
        bodyLeft -= taken;
        if (bodyLeft === 0 && !moreChunks) onResponse(status);
        continue;
      }
      const head = moreChunks ? readChunkHead(bytes, at, status) : readHead(bytes, at);
      if (head === undefined) {
        if (bytes.length - at > maxHead) throw new Error('the head of a response does not end');
        held = Buffer.from(bytes.subarray(at));
        return;
      }
      status = head.status;
      bodyLeft = head.length;
      moreChunks = head.moreChunks;
      at = head.end;
      if (bodyLeft === 0 && !moreChunks && status >= 200) onResponse(status);
    }
  };
}

/** The head of a response or of a chunk. */
interface Head {
  readonly status: number;
  /** Bytes of the body or the chunk. */
  readonly length: number;
  /** True if the head of a chunk follows. */
  readonly moreChunks: boolean;
  /** Index of the beginning of the body. */
  readonly end: number;
}

/** Reads a head in a single pass without creating strings, because the generator shares its cores with the target. */
function readHead(bytes: Uint8Array, start: number): Head | undefined {
  let length = -1;
  let moreChunks = false;
  for (let i = start; i + 2 < bytes.length; i++) {
    if (bytes[i] !== newline) continue;
    if (bytes[i + 1] === carriageReturn && bytes[i + 2] === newline) {
      const status = statusAt(bytes, start);
      return { status, length: moreChunks ? 0 : bodyLength(status, length), moreChunks, end: i + 3 };
    }
    if (isAt(bytes, i + 1, contentLength)) length = numberAt(bytes, i + 1 + contentLength.length);
    else if (isAt(bytes, i + 1, chunked)) moreChunks = true;
  }
  return undefined;
}

/** Reads the size of a chunk, and the line end after it. Extensions and trailers are not supported. */
function readChunkHead(bytes: Uint8Array, start: number, status: number): Head | undefined {
  const newlineAt = bytes.indexOf(newline, start);
  if (newlineAt < 0) return undefined;
  const size = Number.parseInt(String.fromCharCode(...bytes.subarray(start, newlineAt)), 16);
  if (!(size >= 0)) throw new Error('the stream has an invalid chunk');
  return { status, length: size + 2, moreChunks: size > 0, end: newlineAt + 1 };
}

function statusAt(bytes: Uint8Array, start: number): number {
  const status = numberAt(bytes, start + 'HTTP/1.1'.length);
  if (bytes[start] !== 72 /* H */ || status < 100 || status > 599) throw new Error('the stream is not HTTP/1.1');
  return status;
}

function bodyLength(status: number, declared: number): number {
  if (status < 200 || status === 204 || status === 304) return 0;
  if (declared < 0) throw new Error(`a response with status ${status} has neither a content-length nor chunks`);
  return declared;
}

/** True if a header begins at an index, in upper or lower case. */
function isAt(bytes: Uint8Array, start: number, header: Uint8Array): boolean {
  for (let i = 0; i < header.length; i++) {
    if ((bytes[start + i]! | 32) !== (header[i]! | 32)) return false;
  }
  return true;
}

/** Skips spaces from an index, and returns the decimal number that follows; 0 without digits. */
function numberAt(bytes: Uint8Array, start: number): number {
  let i = start;
  while (bytes[i] === 32) i++;
  let value = 0;
  for (let digit = bytes[i]! - 48; digit >= 0 && digit <= 9; digit = bytes[++i]! - 48) value = value * 10 + digit;
  return value;
}
