/** 128 bits as four unsigned words, for what travels to the worker in records of numbers. */
export type Digest = readonly [number, number, number, number];

/** The first 128 bits of a hash. */
export function digestWords(hash: Buffer): Digest {
  return [hash.readUInt32BE(0), hash.readUInt32BE(4), hash.readUInt32BE(8), hash.readUInt32BE(12)];
}
