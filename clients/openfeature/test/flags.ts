/** Flags of the in-memory providers. */
export const flags = {
  checkout: {
    disabled: false,
    variants: { on: true, off: false },
    defaultVariant: 'off',
    contextEvaluator: ({ targetingKey }: { targetingKey?: string }) => (targetingKey === 'ada' ? 'on' : 'off'),
  },
  banner: { disabled: false, variants: { red: '#f00', blue: '#00f' }, defaultVariant: 'blue' },
  // The provider returns the default value, without a variant.
  retired: { disabled: true, variants: { on: true }, defaultVariant: 'on' },
} as const;
