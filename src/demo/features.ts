import type { ProgramName } from './programs.ts';
import type { Shares } from './random.ts';

/** The history of a flag, in days before today. */
interface Lifecycle {
  /** The first and the last day on which programs check the flag. Absent if the day is outside of the history. */
  readonly since?: number;
  readonly until?: number;
  readonly archived?: number;
  readonly permanent?: true;
  /** True if the team declares an even split. */
  readonly experiment?: true;
  /** Environments that have the flag; all by default. */
  readonly only?: readonly string[];
  readonly notes?: readonly (readonly [daysAgo: number, text: string])[];
}

const some = always({ on: 0.38, off: 0.62 });

/**
 * Creates a flag of the shop.
 * @param description a flag without a description is not declared
 * @param asks average number of checks a minute in Production, by program
 * @param reach share of a day's visitors whose client checks the flag
 * @param used uses per 100 checks, by variant if variants differ
 * @param viewed views per 100 checks
 */
function feature(
  name: string,
  description: string | undefined,
  asks: Readonly<Partial<Record<ProgramName, number>>>,
  reach: number,
  shares: (daysAgo: number) => Shares = some,
  used: number | Shares = 33,
  viewed = 25,
  lifecycle: Lifecycle = {},
) {
  return { name, description, asks, reach, shares, used, viewed, ...lifecycle };
}

export type DemoFeature = Readonly<ReturnType<typeof feature>>;

/** All flags of the shop, the busiest first. */
// biome-ignore format: a table
export const features: readonly DemoFeature[] = [
  feature('checkout-redesign', 'The checkout on one page, rolled out over two weeks', { web: 420, app: 130, api: 90 }, 0.55, climb(32, 18, 1), 40, 31, { since: 34, notes: [
    [32, 'Roll-out begins with the staff'],
    [25, 'Half of all visitors; no increase in support requests'],
    [18, 'Everyone']] }),
  feature('recommendations', 'Which list the start page recommends from', { web: 510, app: 160 }, 0.8,
    always({ popular: 0.34, similar: 0.33, personal: 0.33 }), { popular: 11, similar: 12, personal: 14 }, 64, { experiment: true }),
  feature('basket-layout', 'A/B test: do people finish more orders when the basket is on one page?', { web: 310, app: 90 }, 0.42,
    always({ stepwise: 0.5, 'one-page': 0.5 }), { stepwise: 20, 'one-page': 24 }, 70, { since: 35, experiment: true, notes: [[21, 'Newsletter about winter shoes']] }),
  feature('free-shipping-banner', 'A/B test: does a banner about free shipping change what people buy?', { web: 340 }, 0.5,
    always({ none: 0.5, banner: 0.5 }), 9, 82, { since: 28, experiment: true }),
  feature('new-search', 'Search with typo tolerance', { web: 280, app: 110, search: 190 }, 0.6, climb(69, 61, 1), 46, 23),
  feature('image-cdn', 'Product pictures come from the new network', { web: 620, app: 210 }, 0.6, climb(82, 74, 1), 0, 0),
  feature('dark-mode', 'Visitors choose it in their profile', { web: 260, app: 150 }, 0.62, some, 33, 25, { permanent: true }),
  feature('product-video', 'A video on the product page where there is one', { web: 150 }, 0.3),
  feature('express-delivery', 'Delivery on the same day, by postcode', { web: 120, app: 60, api: 140 }, 0.35),
  feature('loyalty-points', 'Points for every order; the roll-out pauses at 40 %', { web: 190, app: 120, api: 60 }, 0.45, climb(10, 2, 0.4), 22, 48, { since: 12 }),
  feature('apple-pay', 'Shown where the device has it', { web: 96, app: 64 }, 0.22, always({ on: 0.41, off: 0.59 }), 18, 35),
  feature('pay-later', 'Payment by invoice after 30 days', { web: 92, api: 75 }, 0.18),
  feature('reviews-v2', 'Reviews with pictures', { web: 170, app: 70 }, 0.6, climb(34, 26, 1), 52, 26),
  feature('address-autocomplete', 'Suggests addresses while people type', { web: 66, app: 22 }, 0.16),
  feature('gift-cards', 'Gift cards in the basket', { web: 58, api: 40 }, 0.12),
  feature('wishlist-sharing', 'Links to a wish list', { web: 44, app: 31 }, 0.1),
  feature('app-onboarding', 'The first screens of the app', { app: 40 }, 0.06, always({ short: 0.4, tour: 0.4, video: 0.2 }), { short: 61, tour: 55, video: 38 }, 95),
  feature('push-opt-in', 'Asks for notifications after the first order', { app: 35 }, 0.08),
  feature('biometric-login', 'Face or fingerprint instead of a password', { app: 88 }, 0.2),
  feature('payments-circuit-breaker', 'Stops payments while the provider is down', { api: 240, worker: 40 }, 0, always({ closed: 1 }), 100, 0,
    { permanent: true, notes: [[8.4, 'The payment provider was down for an hour']] }),
  feature('maintenance-mode', 'Shows the maintenance page', { web: 540, api: 120 }, 1, always({ off: 1 }), 0, 0, { permanent: true }),
  feature('fraud-score-v3', 'The new score decides on a tenth of the orders', { api: 150 }, 0, always({ v2: 0.9, v3: 0.1 }), 97, 0, { since: 20 }),
  feature('guest-checkout-limit', 'Limits orders without an account', { api: 88 }, 0),
  feature('async-order-mails', 'Mails leave by the queue', { worker: 130 }, 0, climb(88, 80, 1), 96, 48),
  feature('batch-stock-sync', 'Stock in batches of 500', { worker: 75 }, 0),
  feature('warehouse-routing', 'Chooses the nearest warehouse', { worker: 62, api: 20 }, 0),
  feature('search-synonyms', 'Finds trainers when people type sneakers', { search: 165 }, 0),
  feature('search-spelling', 'Did you mean …?', { search: 140 }, 0),
  feature('cart-reminder-mail', 'A mail after a day', { worker: 18 }, 0),
  feature('new-tax-rounding', 'Rounds taxes by line; waits for the accountants', { api: 60 }, 0, always({ on: 0.5, off: 0.5 }), 90, 0, { only: ['Staging', 'Development'] }),
  feature('legacy-invoice-pdf', 'Invoices by the old library', { api: 45, worker: 12 }, 0, always({ on: 1 }), 88, 0, { until: 40 }),
  feature('summer-sale-banner', 'The banner of the summer sale', { web: 210 }, 0.6, always({ on: 1 }), 0, 90, { until: 55 }),
  feature('legacy-search', 'The search before new-search', { api: 14, search: 6 }, 0, always({ off: 1 }), 0, 0, { archived: 30 }),
  // Undeclared flags: a misspelling, a panel for developers, and a flag that is new this week.
  feature('chekout-redesign', undefined, { worker: 3 }, 0, always({ off: 1 }), 0, 0, { since: 16 }),
  feature('debug-panel', undefined, { web: 90 }, 0, always({ on: 0.7, off: 0.3 }), 0, 0, { only: ['Development'] }),
  feature('holiday-theme', undefined, { web: 130 }, 0.3, climb(3, 1, 0.25), 0, 40, { since: 3 }),
];

function always(shares: Shares) {
  return () => shares;
}

/** Returns the shares of a roll-out, in which the share of `on` grows from one day to another. */
function climb(from: number, to: number, end: number) {
  return (daysAgo: number): Shares => {
    const on = end * Math.min(1, Math.max(0, (from - daysAgo) / (from - to)));
    return { ...(on > 0 && { on }), ...(on < 1 && { off: 1 - on }) };
  };
}
