import { simulateOnStores } from './on-stores.ts'

/** A few runs on each; test/long/simulation-stores.test.ts has more. */
simulateOnStores(3)
