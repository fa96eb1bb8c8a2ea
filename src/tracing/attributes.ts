import type { Attributes } from '@opentelemetry/api'
import type { MissionRecord } from '../kinds/mission/record.ts'
import type { RunRecord } from '../kinds/run/record.ts'

/** What spans say: names of the semantic conventions for generative AI, which still change, and of Baton. In this file alone. */

const OPERATION = 'gen_ai.operation.name'

/** Attributes that have no value are left out. */
const known = (given: Record<string, string | number | boolean | null | undefined>): Attributes =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value != null)) as Attributes

export const ofResource = (version: string, node: string): Attributes => ({
  'service.name': 'baton',
  'service.version': version,
  'service.instance.id': node,
})

/** The goal is not sent: it may hold what only agents should read. */
export const ofMission = ({ uuid, title }: MissionRecord, state: string): Attributes =>
  known({
    [OPERATION]: 'invoke_workflow',
    'gen_ai.workflow.name': title,
    'baton.mission.id': uuid,
    'baton.mission.state': state,
    'error.type': state === 'failed' ? 'failed' : null,
  })

export const ofRun = (run: RunRecord): Attributes =>
  known({
    [OPERATION]: 'invoke_agent',
    'gen_ai.agent.name': run.agent,
    'gen_ai.agent.id': run.agentId,
    'gen_ai.provider.name': run.provider,
    'gen_ai.request.model': run.model,
    'gen_ai.conversation.id': run.sessionIdAfter,
    // With cached tokens, as the convention counts.
    'gen_ai.usage.input_tokens':
      run.inputTokens === null ? null : run.inputTokens + (run.cachedInputTokens ?? 0),
    'gen_ai.usage.cache_read.input_tokens': run.cachedInputTokens,
    'gen_ai.usage.output_tokens': run.outputTokens,
    'error.type': run.errorCode,
    'baton.run.id': run.id,
    'baton.run.status': run.status,
    'baton.task.id': run.taskUuid,
    'baton.task.generation': run.generation,
    'baton.task.attempt': run.attempt,
    'baton.adapter': run.adapterType,
    'baton.cost_usd': run.costUsd === null ? null : Number(run.costUsd),
  })

/** What a call was given and returned stays in the log of the run: it may hold secrets. */
export const ofToolCall = (tool: string, isError: boolean): Attributes =>
  known({
    [OPERATION]: 'execute_tool',
    'gen_ai.tool.name': tool,
    'error.type': isError ? 'tool_error' : null,
  })
