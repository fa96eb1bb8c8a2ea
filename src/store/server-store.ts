export type { PostgresStore as ServerStore } from './postgres/store.ts'
