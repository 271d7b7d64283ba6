import type { ChangedField } from '../../../contract/shapes/activity.ts';

/** Formats an action as text: "sign-in client created" for `sign-in-client.created`. */
export function actionText(action: string): string {
  const [thing = '', done = ''] = action.split('.');
  const noun = thing
    .replace('sign-in-', 'sign-in ')
    .replace(/^api-/, 'API ')
    .replace('feature', 'flag')
    .replace(/(?<!sign)-/g, ' ');
  return `${noun} ${done.replaceAll('-', ' ')}`.trim();
}

/** Formats a changed setting: "allowed origins: none → https://shop.example". */
export function changeText({ field, from, to }: ChangedField): string {
  const words = field.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words}: ${from ?? 'none'} → ${to ?? 'none'}`;
}

/** Returns the bounds of the days in two date fields, in the reader's time zone, as RFC 3339. */
export function dayBounds(from: string | undefined, to: string | undefined) {
  return {
    from: from ? new Date(`${from}T00:00`).toISOString() : undefined,
    to: to ? startOfNext(to).toISOString() : undefined,
  };
}

function startOfNext(day: string): Date {
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + 1);
  return date;
}
