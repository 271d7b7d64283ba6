/** A decoding thread that ends in the middle of a report of 0 bytes. */
export async function decode({ limit }) {
  if (limit === 0) process.exit(1);
  return { ok: true, bytes: limit, value: { work: limit } };
}
