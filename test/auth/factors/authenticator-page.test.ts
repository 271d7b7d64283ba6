import { describe, expect, it } from 'vitest';
import { opened } from '../../support/opened.ts';
import { openSignIn } from '../sign-in-fixture.ts';
import { appCode, secretField } from '../support/enrolment.ts';
import type { Page } from '../test-browser.ts';

const fixture = opened(openSignIn);

const path = '/connect/authenticator';
const readHeading = ({ html }: Page) => /<h1>([^<]*)</.exec(html)?.[1];
const readSecret = ({ html }: Page) => secretField(html);
const readCodes = ({ html }: Page) => html.match(/<li><code>[^<]*/g) ?? [];
const now = (secret: string) => appCode(secret, fixture.clock.now());

describe('the page for two-step verification', () => {
  it('the page for two-step verification asks the user for a recent sign-in', async () => {
    const browser = fixture.newBrowser();
    expect(readHeading(await browser.open(path))).toBe('Sign in');
    expect(readHeading(await browser.submit({ ...fixture.admin }))).toBe('Set up two-step verification');
    fixture.clock.advance(15 * 60_000 + 1000);
    expect(readHeading(await browser.open(path))).toBe('Sign in');
  });

  it('the page for two-step verification adds an authenticator app, and renews the recovery codes', async () => {
    const browser = fixture.newBrowser();
    await browser.open(path);
    const secret = readSecret(await browser.submit({ ...fixture.admin }));
    const wrong = await browser.submit({ action: 'enrol', secret, code: '000000' });
    expect(wrong).toMatchObject({ status: 403, error: expect.stringContaining('The code is wrong') });
    const weak = await browser.submit({ action: 'enrol', secret: 'A', code: '000000' });
    expect(readHeading(weak)).toBe('Set up two-step verification');
    const first = readCodes(await browser.submit({ action: 'enrol', secret, code: now(secret) }));
    expect(first).toHaveLength(10);
    expect((await browser.submit({ action: 'enrolled' })).location?.pathname).toBe('/settings/you');
    expect((await browser.open(path)).html).toContain('10 of 10 recovery codes left');
    const second = readCodes(await browser.submit({ action: 'recovery-codes' }));
    expect(new Set([...first, ...second]).size).toBe(20);
    const actions = (await fixture.audit()).map(({ action }) => action);
    expect(actions.slice(0, 2)).toEqual(['recovery-codes.regenerated', 'totp.added']);
  });
});
