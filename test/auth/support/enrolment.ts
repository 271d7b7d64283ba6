import { TOTP } from 'otpauth';

/** Reads a field of the page that sets up an authenticator app: the key of the app, and its HMAC. */
export function secretField(html: string): string {
  return /name="secret" value="([A-Z2-7]{32}\.[\w-]{43})"/.exec(html)?.[1] ?? '';
}

export function appKeyIn(field: string): string {
  return field.split('.')[0] ?? '';
}

/** The code that an app with the key of this field shows. @param at Unix ms */
export function appCode(field: string, at: number): string {
  return TOTP.generate({ secret: new TOTP({ secret: appKeyIn(field) }).secret, timestamp: at });
}
