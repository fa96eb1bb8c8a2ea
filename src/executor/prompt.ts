import type { RunKernel } from '../door/server-kernel.ts'
import type { AgentRecord } from '../kinds/agent/record.ts'
import { renderTemplate } from '../kinds/run/prompts/render.ts'
import { parseTemplate, type TemplateNode } from '../kinds/run/prompts/template.ts'
import { DEFAULT_TEMPLATE, SERVICE_TEMPLATE } from '../kinds/run/prompts/texts.ts'
import {
  PROMPT_VARIABLES,
  type PromptPath,
  type PromptValues,
  valuesOfAgent,
} from '../kinds/run/prompts/variables.ts'
import type { Wakeup } from '../kinds/run/record.ts'
import { CannotPrepare } from './cannot-prepare.ts'
import type { Held } from './holding.ts'
import { upstreamOutputs } from './upstream.ts'

/** The prompt of an agent. */

export function promptOf(agent: AgentRecord, values: PromptValues): string {
  const config = (agent.adapterConfig ?? {}) as { promptTemplate?: string }
  // What an agent plans and judges is Baton's to say: its own template is about work.
  const isWork = (values['task.purpose'] ?? 'work') === 'work'
  const parsed = parseTemplate(isWork ? (config.promptTemplate ?? DEFAULT_TEMPLATE) : SERVICE_TEMPLATE)
  if (!parsed.ok) {
    const [{ line, column, message }] = parsed.problems as [(typeof parsed.problems)[number]]
    throw new CannotPrepare(
      'invalid_configuration',
      `promptTemplate, line ${line}, column ${column}: ${message}.`,
    )
  }
  const prompt = renderTemplate(parsed.template, values)
  const without = (path: PromptPath, text: string) => (usesVariable(parsed.template.nodes, path) ? '' : text)
  return [
    prompt,
    without('task.answer', answerAsText(values)),
    without('task.comments', commentsAsText(values)),
  ].join('')
}

/** A template that does not mention the comments must not keep them from the agent. */
function commentsAsText(values: PromptValues): string {
  const comments = values['task.comments']
  return comments == null ? '' : `\n\nComments on the task and its mission:\n\n${JSON.stringify(comments)}\n`
}

/** A template that does not mention the answer must not keep it from the agent that waited for it. */
function answerAsText(values: PromptValues): string {
  const answer = values['task.answer']
  if (answer == null) return ''
  return `\n\nA person was asked: ${values['task.question']}\n\nThe answer: ${answer}\n`
}

const usesVariable = (nodes: readonly TemplateNode[], path: PromptPath): boolean =>
  nodes.some(
    (node) =>
      (node.kind !== 'text' && node.path === path) ||
      (node.kind === 'section' && usesVariable(node.nodes, path)),
  )

export async function promptValues(
  kernel: RunKernel,
  workspaceId: number,
  about: {
    agent: AgentRecord
    runId: string
    wakeup: Wakeup
    held: Held | null
    baseUrl: string
    token: string
  },
): Promise<PromptValues> {
  const { agent, runId, wakeup, held, baseUrl, token } = about
  const [workspace, ofTask] = await Promise.all([
    kernel.store.workspaces.read(workspaceId),
    held && valuesOfTask(kernel, workspaceId, held),
  ])
  return {
    'workspace.id': workspace.uuid,
    'workspace.name': workspace.name,
    ...valuesOfAgent(agent),
    'run.id': runId,
    'run.source': wakeup.source,
    'run.startedAt': new Date().toISOString(),
    'heartbeat.reason': wakeup.reason,
    'wakeup.reason': reasonGiven(wakeup),
    'wakeup.payload': wakeup.payload,
    'credentials.apiBaseUrl': baseUrl,
    'credentials.apiKey': token,
    ...ofTask,
  }
}

/** Baton's own wakeups have a word for a reason, which tells an agent nothing. */
const reasonGiven = ({ source, reason }: Wakeup) =>
  source === 'on_demand' || source === 'automation' ? reason : null

/** Values like those of a run, to preview the prompt of an agent. */
export async function exampleValues(
  kernel: RunKernel,
  workspaceId: number,
  agent: AgentRecord,
  baseUrl: string,
): Promise<PromptValues> {
  const examples = PROMPT_VARIABLES.filter(({ path }) => path.startsWith('task.') || path.startsWith('run.'))
  const wakeup = { source: 'on_demand', reason: 'a preview', payload: null } as Wakeup
  const about = { agent, runId: '', wakeup, held: null, baseUrl, token: '' }
  return {
    ...(await promptValues(kernel, workspaceId, about)),
    ...Object.fromEntries(examples.map(({ path, example }) => [path, example])),
  }
}

async function valuesOfTask(kernel: RunKernel, workspaceId: number, held: Held): Promise<PromptValues> {
  const [found] = await kernel.store.tasksById(workspaceId, [held.taskId])
  if (!found) return {}
  const { record, details } = found
  return {
    'task.id': record.uuid,
    'task.key': record.key,
    'task.title': details.title,
    'task.description': details.description,
    'task.type': details.taskType,
    'task.purpose': record.purpose,
    'task.input': details.input,
    'task.tags': details.tags,
    'task.project': details.project,
    'task.attempt': held.attempt,
    'task.maxAttempts': record.maxRetries + 1,
    'task.turn': record.continuations + 1,
    'task.maxTurns': record.maxContinuations + 1,
    'task.generation': held.generation,
    'task.checkpoint': details.checkpoint,
    // A rate limit is no verdict on the work. A manual retry resets the attempts, but the last error still applies.
    'verdict.previous': details.failureClass === 'rate_limited' ? null : details.error,
    'task.question': details.question?.answer == null ? null : details.question.question,
    'task.answer': details.question?.answer,
    'task.model': details.plan?.model,
    'task.successCriteria': details.plan?.successCriteria,
    'task.outputSchema': details.plan?.outputSchema,
    'task.toolsRequested': details.plan?.toolsRequested,
    'upstream.outputs': await upstreamOutputs(kernel, workspaceId, record.id),
  }
}
