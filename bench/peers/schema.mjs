import pg from 'pg'

/** A schema for one peer: dropped before the peer makes it and when the peer is done. */
export async function cleanSchema(url, name) {
  const pool = new pg.Pool({ connectionString: url, max: 1, options: '-c client_min_messages=warning' })
  const drop = () => pool.query(`drop schema if exists ${name} cascade`)
  await drop()
  return {
    isEmpty: async (table) => (await pool.query(`select from ${name}.${table} limit 1`)).rowCount === 0,
    // What autovacuum does eventually: without statistics the plan for a fetch of pg-boss can be several times slower.
    async calm() {
      const { rows } = await pool.query('select tablename from pg_tables where schemaname = $1', [name])
      await pool.query(`vacuum (analyze) ${rows.map(({ tablename }) => `${name}.${tablename}`).join(', ')}`)
      await pool.query('checkpoint')
    },
    async close() {
      await drop()
      await pool.end()
    },
  }
}
