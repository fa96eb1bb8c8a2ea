import { useMemo } from 'react'
import type { VerificationRule } from '../../../../src/kinds/mission/plan/mission-plan.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Chip } from '../../parts/chip.tsx'
import { LongMarkdown } from '../../parts/long-markdown.tsx'
import { Money } from '../../parts/money.tsx'
import { LayerHead, layersOf } from './layers.tsx'
import type { PlanMark, PlannedTask } from './written-plan.ts'

const VERIFICATION: Record<VerificationRule['kind'], string> = {
  human: 'a person',
  agent: 'an agent',
  command: 'a command',
  auto: 'automatic',
}

function judgedBy({ verification }: PlannedTask): string {
  if (verification === null) return '–'
  return verification.kind === 'agent' && verification.agent
    ? verification.agent
    : VERIFICATION[verification.kind]
}

const HEAD = 'px-2 py-1.5 text-left text-label font-medium text-muted @max-[800px]:hidden'
const CELL = 'min-w-0 px-2 py-2 align-top @max-[800px]:block @max-[800px]:px-0 @max-[800px]:py-0'

/** The tasks of a plan, layer by layer: those of one layer can be worked on at the same time. */
export function PlanTable(props: { tasks: readonly PlannedTask[]; marks?: ReadonlyMap<string, PlanMark> }) {
  const { tasks: planned, marks } = props
  const layers = useMemo(() => layersOf(planned), [planned])
  const titles = useMemo(() => new Map(planned.map(({ tempId, title }) => [tempId, title])), [planned])
  return (
    <table className="-mx-2 w-[calc(100%+1rem)] table-fixed border-collapse text-row @max-[800px]:block">
      <caption className="sr-only">Tasks of the plan, by layers</caption>
      <thead className="border-b border-line @max-[800px]:sr-only">
        <tr>
          <th className={`${HEAD} w-[40%]`}>Task</th>
          <th className={`${HEAD} w-[14%]`}>Agent</th>
          <th className={`${HEAD} w-[8%]`}>Model</th>
          <th className={`${HEAD} w-[20%]`}>After</th>
          <th className={`${HEAD} w-[10%]`}>Reviewed by</th>
          <th className={`${HEAD} w-[8%] text-right`}>Budget</th>
        </tr>
      </thead>
      {layers.map((tasks, layer) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a layer is its number
        <tbody className="@max-[800px]:block" key={layer}>
          <LayerHead columns={6} layer={layer} tasks={tasks.length} />
          {tasks.map((task) => (
            <PlanRow key={task.tempId} mark={marks?.get(task.tempId)} task={task} titles={titles} />
          ))}
        </tbody>
      ))}
    </table>
  )
}

/** What the head of its column says where rows have no columns. */
const InTwoLines = ({ children }: { children: string }) => (
  <span className="hidden font-sans @max-[800px]:inline">{children}</span>
)

function PlanRow(props: {
  task: PlannedTask
  mark: PlanMark | undefined
  titles: ReadonlyMap<string, string>
}) {
  const { task, mark, titles } = props
  const { title, agent, preferredAgent, capabilities, contractor, model, dependsOn, optional } = task
  const after = dependsOn.map(({ on }) => titles.get(on) ?? on).join(', ')
  return (
    <tr className="border-b border-line @max-[800px]:flex @max-[800px]:flex-wrap @max-[800px]:gap-x-3 @max-[800px]:p-2">
      <td className={`${CELL} @max-[800px]:basis-full`}>
        <span className="block font-medium break-words">
          {title} {mark && <Chip hue={mark.kind === 'added' ? 'done' : 'held'}>{mark.kind}</Chip>}{' '}
          {optional && <Chip>optional</Chip>}
        </span>
        {task.description && (
          <div className="max-w-prose text-muted">
            <LongMarkdown text={task.description} />
          </div>
        )}
        {task.successCriteria && (
          <div className="max-w-prose text-muted">
            <span className="text-label font-medium">Done when</span>
            <LongMarkdown text={task.successCriteria} />
          </div>
        )}
        {mark?.words.map((words) => (
          <span className="block text-label break-words text-held" key={words}>
            {words}
          </span>
        ))}
      </td>
      <td className={CELL}>
        {agent ? (
          <span className="flex">
            <AgentChip size={16} slug={agent} />
          </span>
        ) : (
          <span className="break-words text-muted">
            {contractor ? `made from ${contractor.template}` : capabilities.join(', ') || 'any agent'}
          </span>
        )}
        {preferredAgent && <span className="block break-words text-muted">{preferredAgent} first</span>}
      </td>
      <td className={`${CELL} truncate text-muted`} title={model ?? undefined}>
        {model ?? <span className="@max-[800px]:hidden">–</span>}
      </td>
      <td className={`${CELL} text-label text-muted @max-[800px]:basis-full`}>
        {after !== '' ? (
          <span className="line-clamp-2 break-words" title={after}>
            <InTwoLines>after </InTwoLines>
            {after}
          </span>
        ) : (
          <span className="@max-[800px]:hidden">–</span>
        )}
      </td>
      <td className={`${CELL} truncate text-muted`}>
        {task.verification === null ? (
          <span className="@max-[800px]:hidden">–</span>
        ) : (
          <>
            <InTwoLines>review: </InTwoLines>
            {judgedBy(task)}
          </>
        )}
      </td>
      <td className={`${CELL} text-right text-muted @max-[800px]:text-left`}>
        {task.budgetUsd === null ? (
          <span className="@max-[800px]:hidden">–</span>
        ) : (
          <>
            <InTwoLines>budget </InTwoLines>
            <Money usd={task.budgetUsd} />
          </>
        )}
      </td>
    </tr>
  )
}
