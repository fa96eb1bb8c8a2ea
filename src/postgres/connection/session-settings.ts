export const SCHEMA = 'baton'

export type SessionSettings = Readonly<Record<string, string>>

/**
 * Settings that Baton relies on, made on every connection: a database, a role or a server may have others (`alter database …
 * set`), and then statements would mean something else, fail, or take a hundred times as long.
 */
export const EVERYWHERE: SessionSettings = {
  search_path: SCHEMA,

  // What transactions see and may do. Rows are locked and then read again, which requires this isolation level.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  row_security: 'on',
  // Unset, unless the transaction sets it.
  'baton.workspace_id': '',
  'baton.workspace_name': '',
  'baton.key_hash': '',
  'baton.scope': '',

  // Only Baton's own time limits apply.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',

  // How values are written and read.
  client_encoding: 'UTF8',
  timezone: 'UTC',
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  client_min_messages: 'warning',

  // Statements are short: compiling one, or starting workers for it, costs more than it saves. Before 18 a plan with a
  // disabled node type counts as so expensive that every single one would be compiled.
  jit: 'off',
  max_parallel_workers_per_gather: '0',

  // Plans are the same everywhere.
  plan_cache_mode: 'auto',
  enable_bitmapscan: 'on',
  enable_hashagg: 'on',
  enable_hashjoin: 'on',
  enable_incremental_sort: 'on',
  enable_indexonlyscan: 'on',
  enable_indexscan: 'on',
  enable_material: 'on',
  enable_memoize: 'on',
  enable_mergejoin: 'on',
  enable_nestloop: 'on',
  enable_seqscan: 'on',
  enable_sort: 'on',
  enable_tidscan: 'on',
  seq_page_cost: '1',
  random_page_cost: '4',
  cpu_tuple_cost: '0.01',
  cpu_index_tuple_cost: '0.005',
  cpu_operator_cost: '0.0025',
  effective_cache_size: '4GB',
  work_mem: '4MB',
  hash_mem_multiplier: '2',
  from_collapse_limit: '8',
  join_collapse_limit: '8',
  geqo: 'on',
  constraint_exclusion: 'partition',
  cursor_tuple_fraction: '0.1',
}

/** The same for a setting that older servers do not know. */
export const SINCE_17: SessionSettings = { transaction_timeout: '0' }

/** A stopped client must not hold locks forever. */
export const FOR_SERVING: SessionSettings = {
  statement_timeout: '30s',
  lock_timeout: '10s',
  idle_in_transaction_session_timeout: '15s',
}

/** Migrations may take long, but a node that stops in the middle of one must not block the others. */
export const FOR_SETUP: SessionSettings = { idle_in_transaction_session_timeout: '60s' }

/**
 * Writes find every row by its key, so there is one good plan for each statement, at any size: the rows whose ids are in the
 * batch, hash-joined with the batch. It is made once and cached, since planning each batch costs more than it gains. Other
 * kinds of plans are disabled: one that was made while a table was new and empty would still compare every row with every
 * row of the batch long after the table has grown.
 */
export const PLAN_FOR_WRITING: SessionSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_nestloop: 'off',
  enable_mergejoin: 'off',
}

/** Readers cannot write: what changes anything goes through a pool that says so. */
export const FOR_READING: SessionSettings = { default_transaction_read_only: 'on' }

/** As the `options` of a connection: in force from the start, or the connection fails. */
export const asOptions = (settings: SessionSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\\s]/g, '\\$&')}`)
    .join(' ')

// The same on an open connection. $1 names, $2 values.
const SET_ALL =
  'select set_config(s.name, s.value, false) from unnest($1::text[], $2::text[]) as s(name, value)'

export const asStatement = (settings: SessionSettings) => ({
  text: SET_ALL,
  values: [Object.keys(settings), Object.values(settings)],
})
