import { describe, expect, it } from 'vitest';
import { BodyInbox } from '../../src/http/engines/body-inbox.ts';

const tap = { pause: () => {}, resume: () => {} };

describe('BodyInbox', () => {
  it('refuses a body as soon as it exceeds the limit, even if the handler reads it later', async () => {
    const early = new BodyInbox(tap);
    const read = early.read(10, undefined);
    early.push(Buffer.alloc(10), false);
    early.push(Buffer.alloc(1), true);
    await expect(read).rejects.toMatchObject({ code: 'body_too_large' });
    const late = new BodyInbox(tap);
    late.push(Buffer.alloc(11), true);
    await expect(late.read(10, undefined)).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('accepts a body that is exactly as large as the limit', async () => {
    const inbox = new BodyInbox(tap);
    inbox.push(Buffer.from('12345'), false);
    inbox.push(Buffer.from('67890'), true);
    expect(Buffer.from(await inbox.read(10, undefined)).toString()).toBe('1234567890');
  });
});
