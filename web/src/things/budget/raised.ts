import type { Amount } from './budget.ts'

/** What is offered: so much more than the limit, or than what is used, whichever is higher. */
export function raisedBy(factor: number, { unit, used, limit }: Amount): string {
  const base = Math.max(Number(used), Number(limit)) * factor
  return unit === 'usd' ? base.toFixed(2).replace(/\.00$/, '') : String(Math.ceil(base))
}
