import { lazy, Suspense } from 'react'
import { Markdown } from '../../parts/markdown.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { type Tab, Tabs } from '../../parts/tabs.tsx'
import { Comments } from './comments.tsx'
import { Lineage } from './lineage.tsx'
import { QuestionBox } from './question-box.tsx'
import { SideFacts } from './side-facts.tsx'
import type { TaskTab } from './tabs.ts'
import { WhyAndNextLines } from './task-heading.tsx'
import type { ShownTask, Task } from './use-task.ts'

const Results = lazy(() => import('./results.tsx').then(({ Results }) => ({ default: Results })))
const TaskRuns = lazy(() => import('./runs.tsx').then(({ TaskRuns }) => ({ default: TaskRuns })))
const EventLog = lazy(() => import('./event-log.tsx').then(({ EventLog }) => ({ default: EventLog })))
const Code = lazy(() => import('./code.tsx').then(({ Code }) => ({ default: Code })))

export interface TaskPlace {
  tab?: TaskTab | undefined
  /** The result that is compared. */
  result?: string | undefined
}

interface Props {
  task: Task
  now: ShownTask
  place: TaskPlace
  onPlace: (place: TaskPlace) => void
  isCompact: boolean
}

/** Everything of a task below its heading, on its page and in the panel. */
export function TaskBody(props: Props) {
  const { task, now, isCompact } = props
  const facts = <SideFacts now={now} task={task} />
  return (
    <div
      className={
        isCompact
          ? 'flex min-w-0 flex-col gap-5'
          : 'grid min-w-0 gap-x-10 gap-y-6 lg:grid-cols-[minmax(0,1fr)_20rem]'
      }
    >
      <div className="flex min-w-0 flex-col gap-5">
        <WhyAndNextLines now={now} task={task} />
        {now.awaits === 'question' && <QuestionBox task={task} />}
        {task.description && (
          <div className="max-w-prose">
            <Markdown text={task.description} />
          </div>
        )}
        <TaskTabs {...props} />
        {isCompact && facts}
      </div>
      {!isCompact && <aside aria-label="Facts">{facts}</aside>}
    </div>
  )
}

const WORDS: Record<TaskTab, string> = {
  lineage: 'Attempts',
  results: 'Results',
  comments: 'Comments',
  runs: 'Runs',
  events: 'Events',
  code: 'Code',
}

/** A result that waits for a person is what they came for. */
export const firstTab = ({ awaits, resultDigest }: ShownTask): TaskTab =>
  awaits === 'result' && resultDigest !== null ? 'results' : 'lineage'

function TaskTabs({ task, now, place, onPlace }: Props) {
  const tab = place.tab ?? firstTab(now)
  const counts: Partial<Record<TaskTab, number>> = { lineage: now.generation, comments: task.commentCount }
  const tabs = (Object.keys(WORDS) as TaskTab[]).map(
    (name): Tab<TaskTab> => ({ name, words: WORDS[name], count: counts[name] || null }),
  )
  return (
    <Tabs label="About the task" onChange={(next) => onPlace({ tab: next })} tabs={tabs} value={tab}>
      <div className="pt-4">
        <Suspense fallback={<Skeleton rows={4} />}>
          <TabContent now={now} onPlace={onPlace} place={place} tab={tab} task={task} />
        </Suspense>
      </div>
    </Tabs>
  )
}

function TabContent({ tab, task, now, place, onPlace }: Omit<Props, 'isCompact'> & { tab: TaskTab }) {
  switch (tab) {
    case 'lineage':
      return <Lineage now={now} onResults={() => onPlace({ tab: 'results' })} task={task} />
    case 'results':
      return (
        <Results
          compared={place.result ?? null}
          onCompare={(ref) => onPlace({ tab, result: ref ?? undefined })}
          task={task}
        />
      )
    case 'comments':
      return <Comments now={now} task={task} />
    case 'runs':
      return <TaskRuns task={task} />
    case 'events':
      return <EventLog task={task} />
    case 'code':
      return <Code task={task} />
  }
}
