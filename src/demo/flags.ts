import type { SourceName } from './senders.ts';

/** The share of each variant, by name: together 1. */
export type Shares = Readonly<Record<string, number>>;

/** A flag of the made-up shop, and what became of it. Times are in days before today. */
export interface DemoFlag {
  readonly name: string;
  /** Its description. A flag without one is not declared. */
  readonly words?: string;
  /** When it came, when that is within the history, and when the last program stopped asking for it. */
  readonly came?: number;
  readonly left?: number;
  readonly archived?: number;
  /** It stays for good: a switch for operators. */
  readonly permanent?: true;
  /** What the team means to give. */
  readonly split?: Shares;
  /** What colleagues have written down. */
  readonly notes?: readonly DemoNote[];
  /** Checks a minute in Production by each program that asks, on average. */
  readonly asks: Partial<Record<SourceName, number>>;
  /** How many of a day's visitors meet it. */
  readonly reach?: number;
  readonly shares: (daysAgo: number) => Shares;
  /** Of 100 checks, how many are used and viewed; by variant where that differs. */
  readonly used?: number | Shares;
  readonly viewed?: number;
  /** Only there. */
  readonly only?: readonly string[];
}

/** A note at a time. */
export interface DemoNote {
  readonly daysAgo: number;
  readonly text: string;
}

/** All flags, the busiest first. */
export const flags: readonly DemoFlag[] = [
  {
    name: 'checkout-redesign',
    words: 'The checkout on one page, rolled out over two weeks',
    came: 34,
    notes: [
      { daysAgo: 32, text: 'Roll-out begins with the staff' },
      { daysAgo: 25, text: 'Half of all visitors; support sees no more questions than before' },
      { daysAgo: 18, text: 'Everyone' },
    ],
    asks: { web: 420, app: 130, api: 90 },
    reach: 0.55,
    shares: climb(32, 18, 1),
    used: 40,
    viewed: 31,
  },
  {
    name: 'recommendations',
    words: 'Which list the start page recommends from',
    asks: { web: 510, app: 160 },
    reach: 0.8,
    shares: always({ popular: 0.34, similar: 0.33, personal: 0.33 }),
    split: { popular: 1, similar: 1, personal: 1 },
    used: { popular: 11, similar: 12, personal: 14 },
    viewed: 64,
  },
  {
    name: 'basket-layout',
    words: 'A/B test: do people finish more orders when the basket is on one page?',
    came: 35,
    notes: [{ daysAgo: 21, text: 'Newsletter about winter shoes' }],
    asks: { web: 310, app: 90 },
    reach: 0.42,
    shares: always({ stepwise: 0.5, 'one-page': 0.5 }),
    split: { stepwise: 1, 'one-page': 1 },
    used: { stepwise: 20, 'one-page': 24 },
    viewed: 70,
  },
  {
    name: 'free-shipping-banner',
    words: 'A/B test: does a banner about free shipping change what people buy?',
    came: 28,
    asks: { web: 340 },
    reach: 0.5,
    shares: always({ none: 0.5, banner: 0.5 }),
    split: { none: 1, banner: 1 },
    used: 9,
    viewed: 82,
  },
  on('new-search', 'Search with typo tolerance', { web: 280, app: 110, search: 190 }, 61, 46),
  on('image-cdn', 'Product pictures come from the new network', { web: 620, app: 210 }, 74, 0),
  half('dark-mode', 'Visitors choose it in their profile', { web: 260, app: 150 }, 0.62, true),
  half('product-video', 'A video on the product page where there is one', { web: 150 }, 0.3),
  half('express-delivery', 'Delivery on the same day, by postcode', { web: 120, app: 60, api: 140 }, 0.35),
  {
    name: 'loyalty-points',
    words: 'Points for every order; the roll-out pauses at 40 %',
    came: 12,
    asks: { web: 190, app: 120, api: 60 },
    reach: 0.45,
    shares: climb(10, 2, 0.4),
    used: 22,
    viewed: 48,
  },
  {
    name: 'apple-pay',
    words: 'Shown where the device has it',
    asks: { web: 96, app: 64 },
    reach: 0.22,
    shares: always({ on: 0.41, off: 0.59 }),
    used: 18,
    viewed: 35,
  },
  half('pay-later', 'Payment by invoice after 30 days', { web: 92, api: 75 }, 0.18),
  on('reviews-v2', 'Reviews with pictures', { web: 170, app: 70 }, 26, 52),
  half('address-autocomplete', 'Suggests addresses while people type', { web: 66, app: 22 }, 0.16),
  half('gift-cards', 'Gift cards in the basket', { web: 58, api: 40 }, 0.12),
  half('wishlist-sharing', 'Links to a wish list', { web: 44, app: 31 }, 0.1),
  {
    name: 'app-onboarding',
    words: 'The first screens of the app',
    asks: { app: 40 },
    reach: 0.06,
    shares: always({ short: 0.4, tour: 0.4, video: 0.2 }),
    used: { short: 61, tour: 55, video: 38 },
    viewed: 95,
  },
  half('push-opt-in', 'Asks for notifications after the first order', { app: 35 }, 0.08),
  half('biometric-login', 'Face or fingerprint instead of a password', { app: 88 }, 0.2),
  {
    name: 'payments-circuit-breaker',
    words: 'Stops payments while the provider is down',
    permanent: true,
    notes: [{ daysAgo: 9, text: 'The payment provider was down for an hour' }],
    asks: { api: 240, worker: 40 },
    shares: always({ closed: 1 }),
    used: 100,
  },
  {
    name: 'maintenance-mode',
    words: 'Shows the maintenance page',
    permanent: true,
    asks: { web: 540, api: 120 },
    reach: 1,
    shares: always({ off: 1 }),
  },
  {
    name: 'fraud-score-v3',
    words: 'The new score decides on a tenth of the orders',
    came: 20,
    asks: { api: 150 },
    shares: always({ v2: 0.9, v3: 0.1 }),
    used: 97,
  },
  half('guest-checkout-limit', 'Limits orders without an account', { api: 88 }),
  on('async-order-mails', 'Mails leave by the queue', { worker: 130 }, 80, 96),
  half('batch-stock-sync', 'Stock in batches of 500', { worker: 75 }),
  half('warehouse-routing', 'Chooses the nearest warehouse', { worker: 62, api: 20 }),
  half('search-synonyms', 'Finds trainers when people type sneakers', { search: 165 }),
  half('search-spelling', 'Did you mean …?', { search: 140 }),
  half('cart-reminder-mail', 'A mail after a day', { worker: 18 }),
  {
    name: 'new-tax-rounding',
    words: 'Rounds taxes by line; waits for the accountants',
    only: ['Staging', 'Development'],
    asks: { api: 60 },
    shares: always({ on: 0.5, off: 0.5 }),
    used: 90,
  },
  {
    name: 'legacy-invoice-pdf',
    words: 'Invoices by the old library',
    left: 40,
    asks: { api: 45, worker: 12 },
    shares: always({ on: 1 }),
    used: 88,
  },
  {
    name: 'summer-sale-banner',
    words: 'The banner of the summer sale',
    left: 55,
    asks: { web: 210 },
    reach: 0.6,
    shares: always({ on: 1 }),
    viewed: 90,
  },
  {
    name: 'legacy-search',
    words: 'The search before new-search',
    archived: 30,
    asks: { api: 14, search: 6 },
    shares: always({ off: 1 }),
  },
  // No one declared what follows: a typing error, a panel for developers, and one that came this week.
  { name: 'chekout-redesign', came: 16, asks: { worker: 3 }, shares: always({ off: 1 }) },
  { name: 'debug-panel', only: ['Development'], asks: { web: 90 }, shares: always({ on: 0.7, off: 0.3 }) },
  {
    name: 'holiday-theme',
    came: 3,
    asks: { web: 130 },
    reach: 0.3,
    shares: climb(3, 1, 0.25),
    viewed: 40,
  },
];

function always(shares: Shares): DemoFlag['shares'] {
  return () => shares;
}

/** A roll-out: the share of `on` climbs from one day to another. */
function climb(from: number, to: number, end: number): DemoFlag['shares'] {
  return (daysAgo) => {
    const progress = Math.min(1, Math.max(0, (from - daysAgo) / (from - to)));
    const on = end * progress;
    return on >= 1 ? { on: 1 } : { on, off: 1 - on };
  };
}

/** A flag that has been on for everyone for many days. */
function on(name: string, words: string, asks: DemoFlag['asks'], since: number, used: number): DemoFlag {
  const reach = asks.web === undefined && asks.app === undefined ? {} : { reach: 0.6 };
  return { name, words, asks, ...reach, shares: climb(since + 8, since, 1), used, viewed: used / 2 };
}

/** A flag that some people have. */
function half(
  name: string,
  words: string,
  asks: DemoFlag['asks'],
  reach?: number,
  permanent?: true,
): DemoFlag {
  const more = { ...(reach !== undefined && { reach }), ...(permanent && { permanent }) };
  return { name, words, asks, ...more, shares: always({ on: 0.38, off: 0.62 }), used: 33, viewed: 25 };
}
