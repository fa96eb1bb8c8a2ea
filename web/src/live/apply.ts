import type { EventType } from '../../../src/kinds/events.ts'
import { TASK_TRANSITIONS } from '../../../src/pure/states.ts'
import { type Card, type LiveEvent, payloadField } from './card.ts'
import * as cards from './card-rules.ts'
import type { Entities } from './entities.ts'
import * as runs from './run-rules.ts'

/**
 * What events change on cards and runs; pages read everything else. Most types need nothing here: a state change moves the card of its
 * task, and after any other event of a task its card is read again. The types below say more than that, or less.
 */

interface Rule {
  /** Changes the card of its task; without it, at most the version changes. */
  card?: (card: Card, event: LiveEvent) => Card
  run?: runs.RunRule
  /** The task leaves the board, or a run is new. */
  also?: 'archives' | 'queues_run'
}

const MOVE: Rule = { card: cards.moved }
/** The event changes nothing that a card shows. */
const NOTE: Rule = {}

const RULES: Partial<Record<EventType, Rule>> = {
  task_archived: { also: 'archives' },
  task_progress: { card: cards.progressed },
  task_logged: NOTE,
  task_work_removed: NOTE,
  task_hang_suspected: NOTE,
  task_verification_started: NOTE,
  task_result_rejected: NOTE,
  model_fallback: NOTE,
  claim_renewed: { card: cards.renewed },
  claim_write_refused: NOTE,
  stall_detected: NOTE,
  alert_raised: NOTE,
  alert_repeated: NOTE,
  alert_acknowledged: NOTE,
  alert_resolved: NOTE,
  task_untaken: NOTE,
  comment_added: { card: cards.commented },
  inbox_added: { card: cards.waitingForPerson },
  inbox_closed: NOTE,

  run_queued: { card: cards.ranBy, also: 'queues_run' },
  run_started: { card: cards.ranBy, run: runs.started },
  run_status: { run: runs.said },
  run_cancel_requested: { run: runs.stopping },
  run_flagged: { run: runs.flagged },
  run_finished: { card: cards.spent, run: runs.finished },
  run_usage: { card: cards.spent, run: runs.used },
  claim_usage: { card: cards.spent },
}

const ruleFor = (type: EventType): Rule | undefined =>
  RULES[type] ?? (type in TASK_TRANSITIONS ? MOVE : undefined)

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

/** Applies one event to its card and its run. A type that is newer than this page makes its task stale, and breaks nothing. */
export function apply(entities: Entities, event: LiveEvent): Applied {
  const rule = ruleFor(event.type)
  if (rule) applyToRun(entities, event, rule)
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
  const change = rule?.card ?? cards.noted
  const isNews = !isKnown && entities.change('card', id, seq, (card) => change(card, event))
  const mustBeRead = isNews && (rule === undefined || cards.mustBeRead(before, event))
  return { before, after: entities.get('card', id), isKnown, isStale, isArchived, mustBeRead }
}

function applyToRun(entities: Entities, event: LiveEvent, { run, also }: Rule): void {
  const { seq, runId } = event
  if (runId === null) return
  if (run) entities.change('run', runId, seq, (one) => run(one, event))
  if (also === 'queues_run' && !entities.get('run', runId))
    entities.put('run', runId, runs.queued(event), seq)
}
