/** The views of a mission, as the address names them; and by other names. */
export const MISSION_VIEWS = [
  'activity',
  'graph',
  'timeline',
  'tasks',
  'plan',
  'changes',
  'report',
  'comments',
] as const
export type MissionView = (typeof MISSION_VIEWS)[number]
export const OTHER_MISSION_VIEWS = {
  events: 'activity',
  table: 'tasks',
  code: 'changes',
} as const satisfies Record<string, MissionView>

export const MISSION_VIEW_WORDS: Record<MissionView, string> = {
  activity: 'Activity',
  graph: 'Graph',
  timeline: 'Timeline',
  tasks: 'Tasks',
  plan: 'Plan',
  changes: 'Changes',
  report: 'Report',
  comments: 'Comments',
}

/** Which part of the activity is shown. */
export const FILTERS = ['all', 'problems', 'people', 'tasks', 'plan'] as const
export type Filter = (typeof FILTERS)[number]

/** What the address of a mission may say. */
export interface MissionAddress {
  view?: MissionView | undefined
  version?: number | undefined
  since?: number | undefined
  /** The plan is being edited. */
  edit?: true | undefined
  /** The task beside the page. */
  task?: string | undefined
  /** The task whose neighbours alone are drawn. */
  focus?: string | undefined
  only?: 'failed' | undefined
  what?: Filter | undefined
}
