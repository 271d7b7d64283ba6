/** Maximum count in a packet: the maximum of an int32. */
export const maxCount = 2_147_483_647;

const maxText = 256;

/**
 * Whether a parsed body is a packet as sent by SDKs. Every packet that passes also passes `PacketSchema`, which checks the rest
 * and describes errors. This check is faster: the schema's takes longer than parsing the packet.
 */
export function isPlainPacket(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { k, e, f, m, i, u } = body;
  return (
    isShortText(k) &&
    isShortText(e) &&
    (f == null || isFeatures(f)) &&
    (m == null || isMetrics(m)) &&
    (i == null || typeof i === 'string') &&
    (u == null || typeof u === 'string')
  );
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema counts characters, of which there are at most as many as code units. */
function isShortText(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= maxText;
}

function isFeatures(features: unknown): boolean {
  if (!isObject(features)) return false;
  for (const feature in features) {
    const variants = features[feature];
    if (!isObject(variants)) return false;
    for (const variant in variants) if (!isCounts(variants[variant])) return false;
  }
  return true;
}

function isCounts(counts: unknown): boolean {
  if (!Array.isArray(counts) || counts.length > 3) return false;
  for (const count of counts) if ((count | 0) !== count || count < 0) return false;
  return true;
}

function isMetrics(metrics: unknown): boolean {
  if (!isObject(metrics)) return false;
  for (const metric in metrics) if (!Number.isFinite(metrics[metric])) return false;
  return true;
}
