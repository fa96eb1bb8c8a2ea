import mysql from 'mysql2/promise'
import pg from 'pg'

/** What a database consists of, a line for each part: columns, constraints, indexes, policies, grants, functions, settings. */

export async function postgresCatalogue(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ line: string }>(POSTGRES)
    return rows.map(({ line }) => line.replace(/\s+/g, ' ').trim()).sort()
  } finally {
    await client.end()
  }
}

const IN_BATON = `n.nspname = 'baton'`
const POSTGRES = `
  select format('column %s.%s %s%s%s%s storage %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
           case when a.attnotnull then ' not null' else '' end,
           coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), ''),
           case when co.collname is null or co.collname = 'default' then '' else ' collate ' || co.collname end,
           a.attstorage::text || a.attcompression::text) as line
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    left join pg_collation co on co.oid = a.attcollation
   where ${IN_BATON} and c.relkind in ('r', 'p', 'v') and a.attnum > 0 and not a.attisdropped
  union all
  select format('constraint %s.%s %s', c.relname, k.conname, pg_get_constraintdef(k.oid))
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
   where ${IN_BATON} and k.contype <> 'n'
  union all
  select format('index %s %s', i.indexname, i.indexdef) from pg_indexes i where i.schemaname = 'baton'
  union all
  select format('policy %s.%s %s for %s to %s using %s check %s', p.tablename, p.policyname, p.permissive, p.cmd, p.roles, p.qual, p.with_check)
    from pg_policies p where p.schemaname = 'baton'
  union all
  select format('table %s kind %s rls %s forced %s options %s grants %s', c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity,
           c.reloptions, (select array_agg(x::text order by x::text) from unnest(c.relacl) x))
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${IN_BATON} and c.relkind in ('r', 'p', 'v', 'S')
  union all
  select format('toast of %s options %s', c.relname, t.reloptions)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_class t on t.oid = c.reltoastrelid
   where ${IN_BATON} and t.reloptions is not null
  union all
  select format('columns of %s granted %s', c.relname, (select array_agg(a.attname || ' ' || a.attacl::text order by a.attnum) from pg_attribute a
             where a.attrelid = c.oid and a.attacl is not null))
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where ${IN_BATON} and exists (select from pg_attribute a where a.attrelid = c.oid and a.attacl is not null)
  union all
  select format('function %s grants %s', pg_get_functiondef(p.oid), (select array_agg(x::text order by x::text) from unnest(p.proacl) x))
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${IN_BATON}
  union all
  select format('trigger %s', pg_get_triggerdef(t.oid)) from pg_trigger t join pg_class c on c.oid = t.tgrelid
    join pg_namespace n on n.oid = c.relnamespace where ${IN_BATON} and not t.tgisinternal
  union all
  select format('type %s %s', t.typname, (select array_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid))
    from pg_type t join pg_namespace n on n.oid = t.typnamespace where ${IN_BATON} and t.typtype = 'e'
  union all
  select format('schema %s grants %s', n.nspname, (select array_agg(x::text order by x::text) from unnest(n.nspacl) x))
    from pg_namespace n where ${IN_BATON}
  union all
  select format('statistics %s %s', s.stxname, pg_get_statisticsobjdef(s.oid)) from pg_statistic_ext s
    join pg_namespace n on n.oid = s.stxnamespace where ${IN_BATON}`

export async function mysqlCatalogue(url: string): Promise<string[]> {
  const client = await mysql.createConnection({ uri: url, rowsAsArray: true })
  try {
    const lines: string[] = []
    for (const text of MYSQL) {
      const [rows] = await client.query<mysql.RowDataPacket[][]>(text)
      lines.push(...rows.map((row) => row.map(String).join(' ')))
    }
    return lines.sort()
  } finally {
    client.destroy()
  }
}

const MYSQL = [
  `select 'column', concat(table_name, '.', column_name), column_type, is_nullable, coalesce(column_default, ''), extra,
          coalesce(collation_name, '') from information_schema.columns where table_schema = database()`,
  `select 'table', table_name, engine, table_collation, row_format, create_options from information_schema.tables
    where table_schema = database()`,
  `select 'index', concat(table_name, '.', index_name), non_unique, group_concat(column_name order by seq_in_index) from information_schema.statistics
    where table_schema = database() group by table_name, index_name, non_unique`,
  `select 'foreign key', concat(k.table_name, '.', k.constraint_name), group_concat(k.column_name order by k.ordinal_position), k.referenced_table_name,
          group_concat(k.referenced_column_name order by k.ordinal_position), r.update_rule, r.delete_rule
     from information_schema.key_column_usage k join information_schema.referential_constraints r
       on r.constraint_schema = k.table_schema and r.constraint_name = k.constraint_name and r.table_name = k.table_name
    where k.table_schema = database() and k.referenced_table_name is not null
    group by k.table_name, k.constraint_name, k.referenced_table_name, r.update_rule, r.delete_rule`,
  `select 'check', concat(table_name, '.', constraint_name), check_clause from information_schema.check_constraints
    where constraint_schema = database()`,
]
