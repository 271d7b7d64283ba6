import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCallback } from '../../src/cli/sign-in/browser.ts';

async function open(patienceMs = 10_000) {
  const callback = await openCallback('the state', patienceMs);
  onTestFinished(() => callback.close());
  return callback;
}

/** Sends a request without normalising its target. */
function requestStatus(redirectUri: string, method: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request({ port: new URL(redirectUri).port, host: '127.0.0.1', method, path }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    sent.on('error', reject).end();
  });
}

describe('openCallback', () => {
  it("openCallback returns the parameters of the browser's request, and shows the result in the browser", async () => {
    const { redirectUri, arrived } = await open();
    expect(redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const pendingResponse = fetch(`${redirectUri}?code=c&state=the+state`);
    const arrival = await arrived;
    expect(arrival.parameters.get('code')).toBe('c');
    arrival.show('All is well.');
    const response = await pendingResponse;
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('<p>All is well.</p>');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it.each([
    ['GET', '/callback?code=c', 400],
    ['GET', '/callback?code=c&state=the+statf', 400],
    ['GET', '/callback?code=c&state=', 400],
    ['POST', '/callback?code=c&state=the+state', 404],
    ['GET', '/?code=c&state=the+state', 404],
    ['GET', '//callback?code=c&state=the+state', 404],
    ['GET', '//[', 404],
  ])('openCallback refuses %s %s, and continues to wait', async (method, target, status) => {
    const { redirectUri, arrived } = await open();
    expect(await requestStatus(redirectUri, method, target)).toBe(status);
    const pendingResponse = fetch(`${redirectUri}?error=access_denied&state=the+state`);
    const { parameters, show } = await arrived;
    expect(parameters.get('error')).toBe('access_denied');
    show('');
    await pendingResponse;
  });

  it('openCallback fails after its time limit', async () => {
    const { arrived } = await open(1);
    await expect(arrived).rejects.toMatchObject({ exitCode: 3, message: expect.stringContaining('start again') });
  });
});
