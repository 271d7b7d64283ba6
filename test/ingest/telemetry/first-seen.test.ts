import { expect, test } from 'vitest';
import { createApplication, createKey, manage, postJson, token } from '../../support/binary.ts';
import { startLocal } from '../../support/service.ts';

test('a feature is first seen in the minute of its first report, even if the report has only user hashes', async () => {
  const service = await startLocal();
  const access = await token(service.http, service.credentials);
  const id = await createApplication(service.http, access, { name: 'shop' });
  const { key } = await createKey(service.http, access, id, 'Backend');
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const [first, last] = [now - 180_000, now - 60_000].map((at) => new Date(at).toISOString());
  for (const time of [first, last]) {
    const stats = [{ feature: 'checkout', uniqueUserHashes: [1, 2] }];
    expect(
      await postJson(`http://${service.http}/api/usage/stats`, { appKey: key, environment: 'Production', time, stats }),
    ).toBe(200);
  }
  const path = `/api/v2/applications/${id}/features/checkout`;
  const feature = await manage(service.http, access, 'GET', path, 200);
  expect(feature).toMatchObject({ firstSeenAt: first, lastSeenAt: last });
  await service.stop();
});
