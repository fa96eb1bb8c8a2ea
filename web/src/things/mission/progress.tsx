import type { AnswerTo } from '../../../../src/client/client.ts'
import { Money } from '../../parts/money.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { countText } from '../../parts/wording.ts'

export type Mission = AnswerTo<'GET', '/missions/:id'>
export type ListedMission = AnswerTo<'GET', '/missions'>['items'][number]

/** "31 of 48 done, 2 failed". */
export function progressWords({ taskCount, tasksCompleted, tasksFailed }: ListedMission): string {
  if (taskCount === 0) return 'no tasks yet'
  const failed = tasksFailed > 0 ? `, ${countText(tasksFailed)} failed` : ''
  return `${countText(tasksCompleted)} of ${countText(taskCount)} done${failed}`
}

export function Progress({ mission, height }: { mission: ListedMission; height?: number }) {
  const { taskCount, tasksCompleted, tasksFailed, title } = mission
  const percent = (count: number) => (taskCount === 0 ? 0 : (count / taskCount) * 100)
  return (
    <ProgressBar
      {...(height === undefined ? {} : { height })}
      label={`Progress of ${title}: ${progressWords(mission)}`}
      parts={[
        { hue: 'done', percent: percent(tasksCompleted) },
        { hue: 'bad', percent: percent(tasksFailed) },
      ]}
      percent={percent(tasksCompleted)}
    />
  )
}

/** Of the runs whose cost is known; on hover, of how many it is not. */
export const MissionCost = ({
  mission: { costUsd, isSimulated, runs, unknownRuns },
}: {
  mission: ListedMission
}) => (
  <span title={unknownRuns > 0 ? `Unknown for ${unknownRuns} of ${runs} runs` : undefined}>
    <Money simulated={isSimulated && 'short'} usd={costUsd} />
  </span>
)
