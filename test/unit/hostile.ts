/** A property that cannot be read. */
export const throwing = {
  get(): never {
    throw new Error("not readable");
  },
};

/** Seems to have every property; none can be read. */
export const hostileProxy = (): Error => new Proxy({} as Error, { has: () => true, ...throwing });
