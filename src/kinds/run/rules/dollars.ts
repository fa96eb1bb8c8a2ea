/** Dollars as exact decimals: text outside, whole nano-dollars inside. Sums of floats would drift. */

const DECIMALS = 9

/** Rounded half up, as a decimal column of this precision rounds. `1e-7` is an amount, too. */
export function nanosOf(dollars: string): bigint {
  const [, whole = '', fraction = '', exponent = '0'] =
    dollars.match(/^(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/) ?? []
  const digits = `${whole}${fraction}` || '0'
  // The amount is `digits` times ten to this power, in nano-dollars.
  const power = Number(exponent) - fraction.length + DECIMALS
  if (power >= 0) return BigInt(digits) * 10n ** BigInt(power)
  const unit = 10n ** BigInt(-power)
  return (BigInt(digits) + unit / 2n) / unit
}

/** Without trailing zeros. */
export function dollarsOf(nanos: bigint): string {
  const digits = nanos.toString().padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, -DECIMALS) : `${digits.slice(0, -DECIMALS)}.${fraction}`
}

/** As it is stored. */
export const storedDollars = (dollars: string | null): string | null =>
  dollars === null ? null : dollarsOf(nanosOf(dollars))

/** At least zero. */
export const dollarsBeyond = (dollars: string, booked: string | null): string => {
  const more = nanosOf(dollars) - nanosOf(booked ?? '0')
  return dollarsOf(more > 0n ? more : 0n)
}

export const addDollars = (a: string, b: string | null): string =>
  b === null ? dollarsOf(nanosOf(a)) : dollarsOf(nanosOf(a) + nanosOf(b))
