import { RUN_ERRORS } from '../../../../src/kinds/run/rules/outcomes.ts'
import { RUN_STATES } from '../../../../src/kinds/run/states.ts'
import { param, type SearchOf } from '../../search-params.ts'
import { SOURCE_WORDS } from '../../things/run/run.ts'

const keysOf = <Name extends string>(table: Record<Name, unknown>) => Object.keys(table) as Name[]

export const SOURCES = keysOf(SOURCE_WORDS)
export const ERROR_CODES = keysOf(RUN_ERRORS)

/** The search parameters of the list of runs. */
export const RUNS_SEARCH = {
  agent: param.text,
  status: param.oneOf(RUN_STATES),
  source: param.oneOf(SOURCES),
  errorCode: param.oneOf(ERROR_CODES),
  task: param.text,
  mission: param.text,
}

export type RunFilter = SearchOf<typeof RUNS_SEARCH>
