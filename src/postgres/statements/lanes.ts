import type { Serves } from '../../kinds/task/rules/reviews.ts'

/**
 * The lanes of the queue. Tasks of one lane are equal to an agent that looks for work: they have the same project, track queue,
 * capabilities, mission and purpose, and may not be done by the same agents. Lanes of missions, and of tasks that are not work, begin with `~` and sort after all others:
 * a query looks into those of open missions only, however much waits in missions that are closed.
 */

/** A lane that is always open: `~0/…` holds what belongs to no mission, and reports, which are made when a mission has ended. */
export const laneOf = (task: {
  projectId: number
  trackQueue: string
  capabilities: readonly string[]
  missionId: number | null
  purpose: string
  serves: Serves | null
}): string => {
  const { projectId, trackQueue, capabilities, missionId, purpose, serves } = task
  const isPlain = missionId === null && purpose === 'work'
  if (isPlain && projectId === 0 && trackQueue === '' && capabilities.length === 0) return ''
  const own = `${projectId}/${trackQueue}/${JSON.stringify(capabilities)}`
  // Otherwise an agent would find only results it may not judge at the head of the lane.
  const others = serves ? `/${JSON.stringify(serves.notAgents)}` : ''
  return isPlain ? own : `~${purpose === 'report' ? 0 : (missionId ?? 0)}/${purpose}/${own}${others}`
}

// `/` is the character before `0`: the lanes of mission 12 are from `~12/` up to `~120`.
const OPEN_RANGES = `ranges(lo, hi, open_for) as (
     select r.lo collate "C", r.hi collate "C", r.open_for from (values ('', '~', 'all'), ('~0/', '~00', 'all')) as r(lo, hi, open_for)
     union all
     select ('~' || m.mission_id || '/') collate "C", ('~' || m.mission_id || '0') collate "C", m.open_for from missions m
      where m.workspace_id = $1 and m.open_for in ('planning', 'all'))`

const WAITING = `t.workspace_id = $1 and t.rank is not null and t.only_agent is null`
const OF_LANE = 't.lane, t.project_id, t.track_queue, t.capabilities, t.purpose'

/**
 * The lanes in which tasks wait, found by walking from one to the next: `lanes`, to be used after `with recursive`. $1 workspace.
 */
export const OPEN_LANES = `${OPEN_RANGES},
   all_lanes as (
     select n.*, r.hi, r.open_for from ranges r cross join lateral (
       select ${OF_LANE} from tasks t where ${WAITING} and t.lane >= r.lo and t.lane < r.hi order by t.lane limit 1) n
     union all
     select n.*, l.hi, l.open_for from all_lanes l cross join lateral (
       select ${OF_LANE} from tasks t where ${WAITING} and t.lane > l.lane and t.lane < l.hi order by t.lane limit 1) n),
   lanes as (select * from all_lanes l where l.open_for in ('all', l.purpose))`

const RESERVED = `t.workspace_id = $1 and t.rank is not null and t.only_agent = `

/**
 * Likewise the lanes of missions, and of other purposes, with tasks that are reserved for agents: `own_lanes`, after a relation
 * `own` with the column `agent`.
 */
export const OWN_LANES = `all_own_lanes as (
     select o.agent, n.* from own o cross join lateral (
       select t.lane, t.mission_id, t.purpose from tasks t where ${RESERVED} o.agent and t.lane >= '~' order by t.lane limit 1) n
     union all
     select l.agent, n.* from all_own_lanes l cross join lateral (
       select t.lane, t.mission_id, t.purpose from tasks t where ${RESERVED} l.agent and t.lane > l.lane order by t.lane limit 1) n),
   own_lanes as (select l.* from all_own_lanes l where l.mission_id is null or l.purpose = 'report' or exists (
     select from missions m where m.workspace_id = $1 and m.mission_id = l.mission_id and m.open_for in ('all', l.purpose)))`
