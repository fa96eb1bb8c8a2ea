import type pg from 'pg'
import { BY_KEYS, scopedQueries } from '../../../postgres/statements/scoped-query.ts'
import { MOST_VALUES } from '../shapes.ts'
import { DONE_WORK, OPEN_SETS, WORK } from './board.ts'

/** Open tasks of each kind, and finished ones, whose types are looked at. */
const MOST_LOOKED_AT = 2_000

// Tags by walking the index from one to the next; types of the tasks that a board shows first. $1 workspace.
const VALUES = `with recursive walked(tag, n) as (
     (select g.tag, 1 from task_tags g where g.workspace_id = $1 order by g.tag limit 1)
     union all
     select x.tag, w.n + 1 from walked w cross join lateral (
       select g.tag from task_tags g where g.workspace_id = $1 and g.tag > w.tag order by g.tag limit 1) x
      where w.n < ${MOST_VALUES}),
   looked_at as (
     ${OPEN_SETS.map((set) => `(select t.id from tasks t where ${WORK} and ${set} limit ${MOST_LOOKED_AT})`).join(' union all ')}
     union all (select t.id from tasks t where ${DONE_WORK} order by t.completed_at desc, t.id desc limit ${MOST_LOOKED_AT}))
   select array(select w.tag from walked w order by w.tag) as tags,
     array(select distinct d.task_type from looked_at l join task_details d on d.workspace_id = $1 and d.task_id = l.id
       order by 1 limit ${MOST_VALUES}) as types`

export async function boardValues(
  pool: pg.Pool,
  workspaceId: number,
): Promise<{ tags: string[]; types: string[] }> {
  const [, rows] = await scopedQueries<{ tags: string[]; types: string[] }>(
    pool,
    'baton.workspace_id',
    String(workspaceId),
    [BY_KEYS, { name: 'board_values', text: VALUES, values: [workspaceId] }],
  )
  return rows![0]!
}
