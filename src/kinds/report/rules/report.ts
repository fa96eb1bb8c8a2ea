/** What is written about a mission, or about one of its tasks. A report never changes: what is written later is its next version. */

/** Of Automatos 7.3.3. */
export const REPORT_TYPES = ['standup', 'research', 'incident', 'summary', 'delivery', 'audit'] as const
export type ReportType = (typeof REPORT_TYPES)[number]

export const LARGEST_REPORT_BYTES = 1_048_576

const BY_TASK_TYPE: Readonly<Record<string, ReportType>> = {
  research: 'research',
  analysis: 'research',
  writing: 'delivery',
  coding: 'delivery',
  verification: 'audit',
  review: 'audit',
  synthesis: 'summary',
}

/** What failed is an incident, whatever it was to be. */
export const typeOfTaskReport = (taskType: string, hasFailed: boolean): ReportType =>
  hasFailed ? 'incident' : Object.hasOwn(BY_TASK_TYPE, taskType) ? BY_TASK_TYPE[taskType]! : 'delivery'

/** Who wrote a report: Baton, the agent that the mission names for it, or a caller that handed it in. */
export const REPORT_SOURCES = ['rule', 'agent', 'submitted'] as const
type ReportSource = (typeof REPORT_SOURCES)[number]

export interface NewReport {
  readonly uuid: string
  /** The task it is about; null: the mission. */
  readonly task: { readonly id: number; readonly uuid: string; readonly generation: number } | null
  /** One more than the newest that the caller saw. */
  readonly version: number
  readonly type: ReportType
  readonly source: ReportSource
  readonly markdown: string
  /** Its author, when that is not the one who sends it. */
  readonly author?: string | undefined
  /** The event of the end that it reports: one report is written for each. Null: it was handed in. */
  readonly endedSeq: number | null
}

/** As it is stored. */
export interface ReportAdded extends Omit<NewReport, 'author'> {
  readonly missionId: number
  readonly author: string
  readonly at: number
}

/** Part of a stored reply, so without its text. A type alias, as all of them. */
export type ReportKept = { readonly uuid: string; readonly version: number }
