import type { MissionState } from '../../../../src/kinds/mission/states.ts'
import { countText } from '../../parts/wording.ts'
import type { Hue } from '../../theme/marks.ts'
import type { ListedMission } from '../../things/mission/progress.tsx'

/** The board of missions: its columns are what states mean. Pure. */

const MISSION_COLUMNS = ['pending', 'running', 'paused', 'terminal'] as const
export type MissionColumn = (typeof MISSION_COLUMNS)[number]

export const MISSION_COLUMN_WORDS = {
  pending: 'Planning',
  running: 'Running',
  paused: 'Paused',
  terminal: 'Done',
} as const satisfies Record<MissionColumn, string>

interface Apart {
  words: string
  hue: Hue
}

/** States that are not what the name of their column says: they are counted beside it. */
const APART: Partial<Record<MissionState, Apart>> = {
  awaiting_approval: { words: 'to approve', hue: 'ask' },
  budget_exceeded: { words: 'out of budget', hue: 'ask' },
  failed: { words: 'failed', hue: 'bad' },
  cancelled: { words: 'cancelled', hue: 'wait' },
}

export interface MissionColumnView {
  name: MissionColumn
  missions: readonly ListedMission[]
  /** Those that are what the column is named after. */
  main: number
  apart: readonly Apart[]
}

/** Missions in their columns, in the order of the list; those that have ended, the last to end first. */
export function columnsOf(missions: readonly ListedMission[]): MissionColumnView[] {
  return MISSION_COLUMNS.map((name) => {
    const within = missions.filter(({ stateType }) => stateType === name)
    const apart = Object.entries(APART).flatMap(([state, { words, hue }]) => {
      const count = within.filter((mission) => mission.state === state).length
      return count === 0 ? [] : { words: `${countText(count)} ${words}`, hue, count }
    })
    return {
      name,
      missions: name === 'terminal' ? within.toSorted(byEnd) : within,
      main: within.length - apart.reduce((sum, { count }) => sum + count, 0),
      apart: apart.map(({ words, hue }) => ({ words, hue })),
    }
  })
}

const endOf = ({ completedAt }: ListedMission) => (completedAt === null ? 0 : Date.parse(completedAt))
const byEnd = (one: ListedMission, other: ListedMission) => endOf(other) - endOf(one)

/** The column in words, for screen readers. */
export const missionColumnLabel = ({ name, main, apart }: MissionColumnView) =>
  [MISSION_COLUMN_WORDS[name], countText(main), ...apart.map(({ words }) => words)].join(', ')

/** What a person has to decide, as the inbox has it; null: nothing. */
export function waitsForPeople(mission: ListedMission): string | null {
  const { stateType, closedBy, proposedVersion, config, tasksByState } = mission
  if (stateType === 'terminal') return null
  const tasks = (tasksByState.awaiting_human ?? 0) + (tasksByState.budget_exceeded ?? 0)
  const isProposed = closedBy.includes('unapproved') || proposedVersion !== null
  const waits = [
    isProposed && 'Plan to approve',
    config.outcome?.isPlanning === false && !isProposed && 'Outcome to accept',
    closedBy.includes('budget') && 'Budget spent',
    tasks > 0 && (tasks === 1 ? '1 task needs you' : `${countText(tasks)} tasks need you`),
  ].filter((words) => words !== false)
  return waits.length === 0 ? null : waits.join(' · ')
}
