import { useMemo } from 'react'
import type { VerificationRule } from '../../../../src/core/plans/mission-plan.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Money } from '../../parts/money.tsx'
import { LayerHead } from './layer-head.tsx'
import { layersOf } from './layers.ts'
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

const HEAD = 'px-2 py-1.5 text-left text-label font-medium text-muted first:pl-0 max-sm:hidden'
const CELL = 'min-w-0 px-2 py-2 align-top first:pl-0 max-sm:block max-sm:px-0 max-sm:py-0'

/** The tasks of a plan, layer by layer: those of one layer can be worked on at the same time. */
export function PlanTable(props: { tasks: readonly PlannedTask[]; marks?: ReadonlyMap<string, PlanMark> }) {
  const { tasks: planned, marks } = props
  const layers = useMemo(() => layersOf(planned), [planned])
  return (
    <table className="w-full table-fixed border-collapse text-row max-sm:block">
      <caption className="sr-only">Tasks of the plan, by layers</caption>
      <thead className="border-b border-line max-sm:sr-only">
        <tr>
          <th className={`${HEAD} w-[36%]`}>Task</th>
          <th className={`${HEAD} w-[16%]`}>Agent</th>
          <th className={`${HEAD} w-[14%]`}>Model</th>
          <th className={`${HEAD} w-[14%]`}>After</th>
          <th className={`${HEAD} w-[12%]`}>Reviewed by</th>
          <th className={`${HEAD} w-[8%] text-right`}>Budget</th>
        </tr>
      </thead>
      {layers.map((tasks, layer) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a layer is its number
        <tbody className="max-sm:block" key={layer}>
          <LayerHead columns={6} layer={layer} tasks={tasks.length} />
          {tasks.map((task) => (
            <PlanRow key={task.tempId} mark={marks?.get(task.tempId)} task={task} />
          ))}
        </tbody>
      ))}
    </table>
  )
}

function PlanRow({ task, mark }: { task: PlannedTask; mark: PlanMark | undefined }) {
  const { title, tempId, agent, capabilities, contractor, model, dependsOn, optional } = task
  return (
    <tr className="border-b border-line max-sm:block max-sm:py-2">
      <td className={CELL}>
        <span className="block break-words">
          {title} {mark && <Chip hue={mark.kind === 'added' ? 'done' : 'held'}>{mark.kind}</Chip>}{' '}
          {optional && <Chip>optional</Chip>}
        </span>
        {title !== tempId && <span className="block truncate font-mono text-label text-faint">{tempId}</span>}
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
      </td>
      <td className={`${CELL} truncate text-muted`} title={model ?? undefined}>
        {model ?? <span className="max-sm:hidden">–</span>}
      </td>
      <td
        className={`${CELL} truncate font-mono text-label text-muted`}
        title={dependsOn.map(({ on }) => on).join(', ')}
      >
        {dependsOn.length > 0 ? (
          dependsOn.map(({ on }) => on).join(', ')
        ) : (
          <span className="max-sm:hidden">–</span>
        )}
      </td>
      <td className={`${CELL} truncate text-muted`}>
        {task.verification === null ? <span className="max-sm:hidden">–</span> : judgedBy(task)}
      </td>
      <td className={`${CELL} text-right text-muted max-sm:text-left`}>
        {task.budgetUsd === null ? <span className="max-sm:hidden">–</span> : <Money usd={task.budgetUsd} />}
      </td>
    </tr>
  )
}
