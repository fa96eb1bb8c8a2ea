/** Dollars as exact decimals of either sign: text outside, whole pico-dollars inside. Sums of floats would drift. */

const DECIMALS = 12

/** Rounded half away from zero. `1e-7` is an amount, too. */
export function picosOf(dollars: string): bigint {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    dollars.match(/^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/) ?? []
  const digits = BigInt(`${whole}${fraction}` || '0')
  // The amount is `digits` times ten to this power, in pico-dollars.
  const power = Number(exponent) - fraction.length + DECIMALS
  const unit = 10n ** BigInt(Math.abs(power))
  const amount = power >= 0 ? digits * unit : (digits + unit / 2n) / unit
  return sign === '' ? amount : -amount
}

/** Without trailing zeros. */
export function textOfPicos(picos: bigint): string {
  const digits = (picos < 0n ? -picos : picos).toString().padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '')
  const whole = digits.slice(0, -DECIMALS)
  return `${picos < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** For people: at least two decimals. `$1.80`, `$0.00012`. */
export function dollarText(dollars: string): string {
  const [whole, fraction = ''] = dollars.split('.')
  return `$${whole}.${fraction.padEnd(2, '0')}`
}

/** The sum of amounts; null counts as none. */
export const sumOfDollars = (...amounts: readonly (string | null)[]): string =>
  textOfPicos(amounts.reduce((sum, one) => (one === null ? sum : sum + picosOf(one)), 0n))

export const lessDollars = (a: string, b: string): string => textOfPicos(picosOf(a) - picosOf(b))

/** `a` as percent of `b`, with one decimal, rounded down. */
export const percentOf = (a: bigint, b: bigint): number => (b <= 0n ? 100 : Number((a * 1000n) / b) / 10)
