/** A decoding thread that exits while it decodes a report of 0 bytes. */
export async function decode({ limit }) {
  if (limit === 0) process.exit(1);
  return { ok: true, bytes: limit, value: { work: limit } };
}
