import { randomInt } from 'node:crypto'
import { uuidCarrying } from '../pure/ids.ts'

/** A public id for records whose internal key is a name. */
export const freshUuid = () => uuidCarrying(randomInt(2 ** 47), Date.now(), randomInt(2 ** 22))
