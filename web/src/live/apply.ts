import type { EventType } from '../../../src/core/events.ts'
import { type Card, type LiveEvent, payloadField } from './card.ts'
import * as cards from './card-rules.ts'
import type { Entities } from './entities.ts'
import * as things from './thing-rules.ts'

/** What each type of event changes. A new type does not compile until it is listed here. */

interface Rule {
  /** Of the card of its task. */
  card?: (card: Card, event: LiveEvent) => Card
  run?: things.RunRule
  agent?: things.AgentRule
  mission?: things.MissionRule
  /** The task is created, leaves the board, or an item of the inbox starts or stops waiting. */
  also?: 'creates' | 'archives' | 'queues_run' | 'adds_item' | 'closes_item'
}

const NOTHING: Rule = {}
const MOVE: Rule = { card: cards.moved }
const NOTE: Rule = { card: cards.noted }
const MISSION: Rule = { mission: things.movedMission }

const RULES = {
  task_created: { also: 'creates' },
  task_divided: MOVE,
  task_queued: MOVE,
  task_skipped: MOVE,
  task_assigned: MOVE,
  task_started: MOVE,
  task_continuing: MOVE,
  task_continues_later: MOVE,
  task_resumed: MOVE,
  task_released: MOVE,
  task_requeued: MOVE,
  task_completed: MOVE,
  task_output_submitted: MOVE,
  task_human_review_requested: MOVE,
  task_completed_by_person: MOVE,
  task_answered: MOVE,
  task_verification_passed: MOVE,
  task_verification_failed: MOVE,
  task_human_approved: MOVE,
  task_verification_requested: MOVE,
  task_human_rejected: MOVE,
  task_retrying: MOVE,
  task_lease_expired: MOVE,
  task_worker_lost: MOVE,
  task_agent_lost: MOVE,
  task_stalled: MOVE,
  task_hung: MOVE,
  task_held_back: MOVE,
  task_expired: MOVE,
  task_merged: MOVE,
  task_result_promoted: MOVE,
  task_failed: MOVE,
  task_budget_exceeded: MOVE,
  task_paused: MOVE,
  task_unpaused: MOVE,
  task_unpaused_to_wait: MOVE,
  task_retried: MOVE,
  task_retried_to_wait: MOVE,
  task_reopened: MOVE,
  task_reset_to_wait: MOVE,
  task_reset: MOVE,
  task_cancelled: MOVE,

  task_updated: NOTE,
  task_archived: { card: cards.noted, also: 'archives' },
  task_work_removed: NOTE,
  task_progress: { card: cards.progressed },
  task_hang_suspected: NOTE,
  task_logged: NOTHING,
  model_fallback: NOTE,
  task_verification_started: NOTE,
  task_result_rejected: NOTE,
  stall_detected: NOTHING,
  alert_raised: NOTE,
  alert_cleared: NOTE,
  claim_renewed: { card: cards.renewed },
  claim_write_refused: NOTE,

  workspace_created: NOTHING,
  key_created: NOTHING,
  key_revoked: NOTHING,
  limits_changed: NOTHING,
  agent_registered: NOTHING,
  agent_updated: NOTHING,
  agent_paused: { agent: things.pausedAgent },
  agent_resumed: { agent: things.idleAgent },
  agent_leaving: { agent: things.leavingAgent },
  agent_terminated: { agent: things.terminatedAgent },
  agent_removed: { agent: things.terminatedAgent },
  agent_stale: { agent: things.silentAgent },
  agent_recovered: { agent: things.idleAgent },
  agent_faulted: { agent: things.faultyAgent },
  agent_status_changed: { agent: things.busyOrIdleAgent },
  dependency_cycle_found: NOTHING,
  recovery_forced: NOTHING,
  session_started: NOTHING,
  session_ended: NOTHING,
  worker_registered: NOTHING,
  worker_draining: NOTHING,
  worker_lost: NOTHING,
  project_created: NOTHING,
  project_planned: NOTHING,
  track_changed: NOTHING,
  wakeup_requested: NOTHING,
  wakeup_coalesced: NOTHING,
  wakeup_skipped: NOTHING,
  run_queued: { card: cards.ranBy, also: 'queues_run' },
  run_started: { card: cards.ranBy, run: things.startedRun },
  run_status: { run: things.runSaid },
  run_cancel_requested: { run: things.stoppingRun },
  run_flagged: { run: things.flaggedRun },
  run_finished: { card: cards.spent, run: things.finishedRun },
  run_usage: { card: cards.spent, run: things.runUsed },
  runtime_state_updated: NOTHING,
  runtime_state_reset: NOTHING,
  credential_parked: { agent: things.parkedAgent },

  mission_created: NOTHING,
  mission_planning_started: MISSION,
  mission_plan_ready: MISSION,
  mission_plan_rejected: MISSION,
  mission_plan_failed: MISSION,
  mission_approved: MISSION,
  mission_rejected: MISSION,
  mission_paused: MISSION,
  mission_resumed: MISSION,
  mission_updated: MISSION,
  mission_budget_exceeded: MISSION,
  mission_budget_increased: MISSION,
  mission_stopping: MISSION,
  mission_completed: MISSION,
  mission_failed: MISSION,
  mission_cancelled: MISSION,
  mission_outcome_ready: MISSION,
  mission_outcome_declined: MISSION,
  mission_plan_proposed: MISSION,
  mission_plan_changed: MISSION,
  mission_reopened: MISSION,
  cost_snapshot: MISSION,
  mission_retrying: MISSION,

  routine_created: NOTHING,
  routine_updated: NOTHING,
  routine_removed: NOTHING,
  routine_started: NOTHING,
  routine_skipped: NOTHING,
  routine_waiting: NOTHING,
  routine_missed: NOTHING,
  routine_failed: NOTHING,

  inbox_added: { card: cards.waitingForPerson, also: 'adds_item' },
  inbox_closed: { also: 'closes_item' },
  comment_added: { card: cards.commented },
  report_written: NOTHING,
} as const satisfies Record<EventType, Rule>

/** What an event did to the card of its task. */
export interface Applied {
  before: Card | undefined
  after: Card | undefined
  /** The card contained the event already. */
  isKnown: boolean
  /** The card has to be read again: it lacks the change of an earlier event. */
  isStale: boolean
  isArchived: boolean
  /** No rule says all that this event changed: the card must be read. */
  mustBeRead: boolean
}

/** Applies one event to everything it is about. An event of a type that is not in the table makes its task stale, and breaks nothing. */
export function apply(entities: Entities, event: LiveEvent): Applied {
  const rule = (RULES as Partial<Record<string, Rule>>)[event.type]
  if (rule) applyToThings(entities, event, rule)
  return applyToCard(entities, event, rule)
}

function applyToCard(entities: Entities, event: LiveEvent, rule: Rule | undefined): Applied {
  const { seq } = event
  const id = event.taskId ?? payloadField(event, 'taskId', 'string') ?? ''
  const before = entities.get('card', id)
  const isArchived = rule?.also === 'archives'
  const isStale = entities.isStale('card', id)
  if (!before) return { before, after: before, isKnown: false, isStale, isArchived, mustBeRead: false }
  const isKnown = entities.seqOf('card', id) >= seq
  const isNews = !isKnown && entities.change('card', id, seq, (card) => rule?.card?.(card, event) ?? card)
  const mustBeRead = isNews && (rule === undefined || cards.mustBeRead(before, event))
  return { before, after: entities.get('card', id), isKnown, isStale, isArchived, mustBeRead }
}

function applyToThings(entities: Entities, event: LiveEvent, rule: Rule): void {
  const { seq, runId, missionId } = event
  const { run, agent, mission, also } = rule
  if (run && runId !== null) entities.change('run', runId, seq, (one) => run(one, event))
  if (agent)
    entities.change('agent', payloadField(event, 'agent', 'string') ?? '', seq, (one) => agent(one, event))
  if (mission && missionId !== null) entities.change('mission', missionId, seq, (one) => mission(one, event))
  if (also === 'queues_run' && runId !== null && !entities.get('run', runId))
    entities.put('run', runId, things.queuedRun(event), seq)
  const item = also === 'adds_item' ? things.addedItem(event) : null
  if (item) entities.put('inbox', item.id, item, seq)
  if (also === 'closes_item')
    entities.change('inbox', payloadField(event, 'id', 'string') ?? '', seq, (one) =>
      things.closedItem(one, event),
    )
}
