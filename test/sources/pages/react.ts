import { FlagProvider, type IConfig, useFlag, useFlagsStatus, useVariant } from '@unleash/proxy-client-react';
import { createElement, Fragment, useEffect } from 'react';
import { createRoot } from 'react-dom/client';

function Product() {
  const flags = [useFlag('checkout'), useFlag('search'), useVariant('banner').name];
  return createElement('p', null, flags.join(' '));
}

function Shop({ products, onReady }: { readonly products: number; readonly onReady: () => void }) {
  const { flagsReady } = useFlagsStatus();
  useEffect(() => {
    if (flagsReady) onReady();
  }, [flagsReady, onReady]);
  return createElement(
    Fragment,
    null,
    ...Array.from({ length: products }, (_, key) => createElement(Product, { key })),
  );
}

/** Starts Unleash's SDK for React. @returns a function that renders more products, each of which checks each flag */
async function start(config: IConfig): Promise<(times: number) => void> {
  const root = createRoot(document.body.appendChild(document.createElement('main')));
  let shown = 0;
  const render = (onReady: () => void) =>
    root.render(createElement(FlagProvider, { config }, createElement(Shop, { products: shown, onReady })));
  await new Promise<void>(render);
  return (times) => {
    shown += times;
    render(() => {});
  };
}

Object.assign(globalThis, { start });
