import { expect, test } from 'vitest';
import { ConsoleBrowser } from '../console/host/console-browser.ts';
import { freshDirectory, prepare, startBinary, stop } from '../support/binary.ts';

/** URLs without the port. The name of the cookie depends on them, and must survive a restart on another port. */
const args = ['--auth-url', 'https://auth.example', '--base-url', 'https://console.example'];

test('the start and the end of a console session survive a SIGKILL right after the response', async () => {
  const data = `${freshDirectory()}/data`;
  const { adminEmail, adminPassword } = await prepare(data);
  const start = () => startBinary({ data, args });
  let service = await start();
  let browser = new ConsoleBrowser(service);
  const restart = async () => {
    service.kill('SIGKILL');
    await service.exit;
    service = await start();
    const again = new ConsoleBrowser(service);
    for (const [name, value] of browser.cookies) again.cookies.set(name, value);
    browser = again;
  };
  await browser.signIn({ email: adminEmail, password: adminPassword });
  await restart();
  expect(await browser.who()).toBe(adminEmail);
  expect(await browser.status()).toBe(200);
  const [name, value] = browser.session!;
  expect((await browser.ask('DELETE', '/console/session')).status).toBe(204);
  browser.cookies.set(name, value);
  await restart();
  expect(await browser.who()).toBeNull();
  expect(await browser.status()).toBe(401);
  expect(await stop(service)).toMatchObject({ code: 0 });
});
