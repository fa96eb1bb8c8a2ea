import { TABLES } from './0001-tables.ts'

export interface Migration {
  version: number
  name: string
  /** Each can run again: MySQL cannot roll back part of a schema, so an interrupted migration starts over. */
  statements: readonly string[]
}

/** A released migration never changes: its checksum is recorded in every database. */
export const MIGRATIONS: readonly Migration[] = [{ version: 1, name: '0001_tables', statements: TABLES }]
