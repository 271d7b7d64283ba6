/** 128 bits as four unsigned words, for records of numbers that are sent to the worker. */
export type Digest = readonly [number, number, number, number];

/** The first 128 bits of a hash. */
export function digestWords(hash: Buffer): Digest {
  return [hash.readUInt32BE(0), hash.readUInt32BE(4), hash.readUInt32BE(8), hash.readUInt32BE(12)];
}

/** The bytes of a digest. */
export function digestBytes(...words: Digest): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  for (const [at, word] of words.entries()) bytes.writeUInt32BE(word, at * 4);
  return bytes;
}
