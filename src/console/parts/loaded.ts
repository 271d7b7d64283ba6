import { useEffect, useState } from 'preact/hooks';

/** Loads a part of a page once it is wanted. @returns `undefined` until it is loaded */
export function useLoaded<T>(load: () => Promise<T>, wanted: boolean): T | undefined {
  const [loaded, setLoaded] = useState<{ readonly part: T }>();
  useEffect(() => {
    if (!wanted || loaded !== undefined) return undefined;
    let isMounted = true;
    load().then(
      (part) => isMounted && setLoaded({ part }),
      () => undefined, // It is loaded again the next time it is wanted.
    );
    return () => {
      isMounted = false;
    };
  }, [wanted]);
  return loaded?.part;
}
