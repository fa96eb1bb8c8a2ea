import { textOfPicos as dollarsOf, picosOf } from '../../../pure/money.ts'

/** What runs cost: exact dollars, of which there are never less than none. */

export { dollarsOf, picosOf }

/** As it is stored. */
export const storedDollars = (dollars: string | null): string | null =>
  dollars === null ? null : dollarsOf(picosOf(dollars))

/** At least zero. */
export const dollarsBeyond = (dollars: string, booked: string | null): string => {
  const more = picosOf(dollars) - picosOf(booked ?? '0')
  return dollarsOf(more > 0n ? more : 0n)
}

export const addDollars = (a: string, b: string | null): string =>
  b === null ? dollarsOf(picosOf(a)) : dollarsOf(picosOf(a) + picosOf(b))
