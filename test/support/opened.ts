import { beforeAll } from 'vitest';

/** Opens a value before the tests of a file or `describe`. @returns an object with the fields of the value */
export function opened<T extends object>(open: () => Promise<T>): T {
  let value: T | undefined;
  const get = (): T => {
    if (value === undefined) throw new Error('read before the tests');
    return value;
  };
  beforeAll(async () => {
    value = await open();
  });
  return new Proxy({} as T, {
    get(_target, name) {
      const field: unknown = Reflect.get(get(), name, get());
      return typeof field === 'function' ? field.bind(get()) : field;
    },
    has: (_target, name) => name in get(),
    ownKeys: () => Reflect.ownKeys(get()),
    getOwnPropertyDescriptor: (_target, name) => ({
      ...Reflect.getOwnPropertyDescriptor(get(), name),
      configurable: true,
    }),
  });
}
