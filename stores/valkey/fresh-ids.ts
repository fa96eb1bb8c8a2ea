import { randomInt } from 'node:crypto'

/** An unused id and 22 random bits for each. */
export const freshIds = (lastId: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: lastId + 1 + i, random: randomInt(2 ** 22) }))
