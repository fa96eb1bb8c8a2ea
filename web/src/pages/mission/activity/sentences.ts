import type { EventType } from '../../../../../src/kinds/events.ts'
import { MISSION_RULES } from './mission-sentences.ts'
import type { Rule } from './rule.ts'
import { TASK_RULES } from './task-sentences.ts'

/** What the activity of a mission tells, by type of event. */
export const RULES: Partial<Record<EventType, Rule>> = { ...MISSION_RULES, ...TASK_RULES }
