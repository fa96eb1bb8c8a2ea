import { COLUMNS_OF_COORDINATION, DUE_BY_WORKSPACE } from './columns-of-coordination.ts'
import { COLUMNS_OF_RUNS } from './columns-of-runs.ts'
import { TABLES_OF_TASKS } from './tables-of-tasks.ts'
import { TABLES_OF_WORKSPACES } from './tables-of-workspaces.ts'

/**
 * The tables, for MySQL and MariaDB alike. `workspace_id` leads every key.
 *
 * Names and keys are VARBINARY that holds UTF-8: bytes are compared as bytes, where the collations that both servers
 * share fold case or do not see a blank at the end. What nobody compares is text. Instants are milliseconds.
 *
 * InnoDB has no partial indexes. What Postgres keeps in one is a narrow table here (`baton_waiting`, `baton_held`,
 * `baton_track_holders`, `baton_lost_claims`): only what is waiting, held or lost costs anything, and the wide history
 * carries no entries that say "not me".
 *
 * What claims change in `baton_tasks` keeps its length (0 stands for "no such instant"; session and agent are read from
 * the claim): InnoDB writes such a row in place, at half the cost on MariaDB and a third on MySQL.
 */

export interface Version {
  version: number
  name: string
  /** Each may be run again: there is no taking back part of a schema, so one that was interrupted is begun anew. */
  statements: readonly string[]
}

/** A version that was released is never changed: its checksum is recorded in every database. */
export const SCHEMA: readonly Version[] = [
  { version: 1, name: '0001_foundation', statements: [...TABLES_OF_WORKSPACES, ...TABLES_OF_TASKS] },
  { version: 2, name: '0002_coordination', statements: COLUMNS_OF_COORDINATION },
  { version: 3, name: '0003_due_by_workspace', statements: DUE_BY_WORKSPACE },
  { version: 4, name: '0004_runs', statements: COLUMNS_OF_RUNS },
]
