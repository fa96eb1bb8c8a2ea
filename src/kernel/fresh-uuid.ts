import { randomInt } from 'node:crypto'
import { uuidCarrying } from '../core/ids.ts'

/** An outside id for what is known inside by its name. */
export const freshUuid = () => uuidCarrying(randomInt(2 ** 47), Date.now(), randomInt(2 ** 22))
