import { TABLES } from './0001-tables.ts'
import { DEPENDENCY_COUNTS } from './0002-dependency-counts.ts'
import { PURPOSES } from './0003-purposes.ts'
import { VERIFICATIONS } from './0004-verifications.ts'
import { WAITING_FOR_PEOPLE } from './0005-waiting-for-people.ts'
import { BRANCH_RETENTION } from './0006-branch-retention.ts'
import { ALERTS } from './0007-alerts.ts'
import { TIME_ZONE } from './0008-time-zone.ts'

export interface Migration {
  version: number
  name: string
  /**
   * Each can run again: MySQL cannot roll back part of a schema, so an interrupted migration starts over. One that adds
   * columns is known to have run by their names, and does nothing else that must be done again.
   */
  statements: readonly string[]
}

/** A released migration never changes: its checksum is recorded in every database. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: '0001_tables', statements: TABLES },
  { version: 2, name: '0002_dependency_counts', statements: DEPENDENCY_COUNTS },
  { version: 3, name: '0003_purposes', statements: PURPOSES },
  { version: 4, name: '0004_verifications', statements: VERIFICATIONS },
  { version: 5, name: '0005_waiting_for_people', statements: WAITING_FOR_PEOPLE },
  { version: 6, name: '0006_branch_retention', statements: BRANCH_RETENTION },
  { version: 7, name: '0007_alerts', statements: ALERTS },
  { version: 8, name: '0008_time_zone', statements: TIME_ZONE },
]
