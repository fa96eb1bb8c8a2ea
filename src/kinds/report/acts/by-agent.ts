import { hash } from 'node:crypto'
import type { RunKernel } from '../../../door/server-kernel.ts'
import { throwIfNotLeader } from '../../../kernel/caller.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { answerIn } from '../../../pure/json-in-text.ts'
import type { NewTask } from '../../task/command.ts'
import { newTask } from '../../task/rules/new-task.ts'
import type { MissionMaterial, TaskMaterial } from '../rules/material.ts'
import { reportingText } from '../rules/mission-report.ts'
import { LARGEST_REPORT_BYTES } from '../rules/report.ts'

import type { Draft } from './keep.ts'

/** Reports by the agent that a mission names for them. What goes wrong with that leaves the report by rule. */

const RETRIES = 2
/** As text, so that a prompt stays readable. */
const LONGEST_DESCRIPTION = 100_000

/** Once for each end of the mission, however often this is called. */
export async function askReporter(
  kernel: RunKernel,
  caller: Caller,
  material: MissionMaterial,
  endedSeq: number,
): Promise<void> {
  const agent = material.mission.config.reportAgent
  if (agent === undefined) return
  const [found] = await kernel.store.agents.list(caller.workspaceId, { slugs: [agent] }, 1)
  if (!found || found.record.state === 'terminated') return
  const task = reportTask(material, agent, endedSeq)
  // Refused: the mission or its project is gone, or the workspace is full. The report by rule exists.
  throwIfNotLeader(await kernel.run(caller, { on: 'new', tasks: [task] }))
}

function reportTask(material: MissionMaterial, agent: string, endedSeq: number): NewTask {
  const { mission } = material
  const key = `report ${mission.uuid}/${endedSeq}`
  return newTask({
    // The mission can end without it.
    optional: true,
    projectId: mission.projectId,
    priority: mission.priority,
    missionId: mission.id,
    maxRetries: RETRIES,
    onlyAgent: agent,
    verification: 'none',
    purpose: 'report',
    unique: { key, bodyHash: hash('sha256', key) },
    details: {
      title: `Report: ${mission.title}`,
      taskType: 'report',
      description: reportingText(material).slice(0, LONGEST_DESCRIPTION).toWellFormed(),
      input: { goal: mission.goal },
      project: mission.project,
      createdBy: mission.createdBy,
    },
  })
}

/** Its answer is the next version of the report on the mission. */
export async function answeredReport(
  kernel: RunKernel,
  workspaceId: number,
  { id, state, agent }: TaskMaterial,
  { seq: endedSeq }: { seq: number },
): Promise<Draft | null> {
  if (state !== 'completed') return null
  const result = await kernel.store.reports.acceptedAnswer(workspaceId, id)
  const markdown = result ? markdownIn(result.data) : ''
  if (markdown === '') return null
  const author = agent === null ? undefined : `agent:${agent}`
  return { task: null, type: 'summary', source: 'agent', endedSeq, markdown, author }
}

function markdownIn(data: unknown): string {
  const answer = answerIn(data)
  const { markdown, report } = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<
    string,
    unknown
  >
  const text = [answer, markdown, report].find((one) => typeof one === 'string')
  return storable(text === undefined ? asJson(answer) : (text as string))
}

const asJson = (value: unknown) =>
  value === null || value === undefined ? '' : `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

/** Postgres holds no NUL in text. What is too long is cut. */
function storable(text: string): string {
  const clean = text.replaceAll('\u0000', '').toWellFormed().trim()
  const bytes = Buffer.from(clean)
  if (bytes.length <= LARGEST_REPORT_BYTES) return clean
  // Three bytes less: a cut character becomes one of three.
  return bytes.subarray(0, LARGEST_REPORT_BYTES - 3).toString()
}
