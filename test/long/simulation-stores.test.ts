import { simulateOnStores } from '../simulation/on-stores.ts'

simulateOnStores(100)
