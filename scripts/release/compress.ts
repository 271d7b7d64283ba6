/**
 * Compresses with the libraries in Bun, whose version is locked. The bytes depend on no program of the machine, and
 * contain no time or name.
 * @param quick true for tests: files are a quarter larger
 */
export function gzip(bytes: Buffer, quick = false): Buffer {
  return Buffer.from(Bun.gzipSync(bytes as Buffer<ArrayBuffer>, { library: 'libdeflate', level: quick ? 1 : 8 }));
}

/** Level 19 would make an executable 8 % smaller, but take fifteen times as long as level 12. */
export function zstd(bytes: Buffer, quick = false): Buffer {
  return Buffer.from(Bun.zstdCompressSync(bytes, { level: quick ? 1 : 12 }));
}
