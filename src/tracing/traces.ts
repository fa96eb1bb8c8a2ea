import {
  type Attributes,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { OnWritten, ServerStore, Written } from '../door/server-store.ts'
import type { Changes } from '../kernel/batch/requests.ts'
import type { MissionRecord } from '../kinds/mission/record.ts'
import { endOfMission } from '../kinds/mission/states.ts'
import type { RunRecord } from '../kinds/run/record.ts'
import { isOver } from '../kinds/run/states.ts'
import { spanIdOf, type TracedRun, traceIdOf } from '../pure/trace.ts'
import { ofMission, ofResource, ofRun, ofToolCall } from './attributes.ts'
import { SayingExporter } from './exporter.ts'
import { missionOfTask } from './postgres.ts'

/** Spans that wait for the next sending, and how many go at once. What comes beyond is dropped. */
const MOST_WAITING = 2_048
const AT_A_TIME = 512
const SEND_EVERY_MS = 1_000
/** A collector that does not answer holds up neither what is traced nor the stop of the server. */
const ANSWER_WITHIN_MS = 10_000
const STOP_WITHIN_MS = 2_000

interface About {
  store: Pick<ServerStore, 'readers' | 'onWritten'>
  /** The base of the OTLP endpoint, without /v1/traces. */
  endpoint: string
  version: string
  node: string
  warn: (error: unknown, what: string) => void
}

interface Ended {
  name: string
  traceId: string
  spanId: string
  parentId: string | null
  startedAt: number
  endedAt: number
  attributes: Attributes
  /** Null: it went well, or was cancelled. */
  error: string | null
}

/** A call of a tool, as the program of a run reports it when it has ended. */
export interface ToolCall {
  tool: string
  isError: boolean
  startedAt: number
  endedAt: number
}

/**
 * Sends missions, runs and calls of tools as spans, each when it has ended, by the node that recorded its end. Loaded only where a
 * collector is set.
 */
export class Traces {
  readonly #about: About
  readonly #provider: BasicTracerProvider
  readonly #tracer: Tracer
  readonly #stopListening: () => void
  /** Ended runs whose mission is being looked up. */
  #looking: Promise<void> = Promise.resolve()
  /** Of the span that begins next. */
  #ids = { traceId: '', spanId: '' }

  constructor(about: About) {
    const { store, endpoint, version, node, warn } = about
    this.#about = about
    const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
    const otlp = new OTLPTraceExporter({ url, timeoutMillis: ANSWER_WITHIN_MS })
    this.#provider = new BasicTracerProvider({
      resource: resourceFromAttributes(ofResource(version, node)),
      idGenerator: { generateTraceId: () => this.#ids.traceId, generateSpanId: () => this.#ids.spanId },
      spanProcessors: [
        new BatchSpanProcessor(new SayingExporter(otlp, warn), {
          maxQueueSize: MOST_WAITING,
          maxExportBatchSize: AT_A_TIME,
          scheduledDelayMillis: SEND_EVERY_MS,
          exportTimeoutMillis: ANSWER_WITHIN_MS,
        }),
      ],
    })
    this.#tracer = this.#provider.getTracer('baton', version)
    this.#stopListening = store.onWritten(this.#written)
  }

  /** The trace of a run, as it is known before the run begins. */
  async traceOf(
    workspaceId: number,
    runId: string,
    task: { id: number; uuid: string } | null,
  ): Promise<TracedRun> {
    const { readers } = this.#about.store
    const missionId = task ? await missionOfTask(readers, workspaceId, task.id) : null
    return { id: runId, taskId: task?.uuid ?? null, missionId }
  }

  toolCalled(run: TracedRun, { tool, isError, startedAt, endedAt }: ToolCall): void {
    this.#send({
      name: `execute_tool ${tool}`,
      traceId: traceIdOf(run),
      // Only this node knows of it: its id need not follow from anything.
      spanId: spanIdOf(crypto.randomUUID()),
      parentId: spanIdOf(run.id),
      ...{ startedAt, endedAt },
      attributes: ofToolCall(tool, isError),
      error: isError ? 'The call failed.' : null,
    })
  }

  /** Sends what waits, as far as the collector takes it soon. */
  async close(): Promise<void> {
    this.#stopListening()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_WITHIN_MS)
    })
    // What could not be sent was said already.
    const sent = this.#looking.then(() => this.#provider.shutdown()).catch(() => undefined)
    await Promise.race([sent, late])
    clearTimeout(timer)
  }

  #written: OnWritten = (workspaceId, written) => {
    try {
      if (written.on === 'batch') this.#missionsEnded(written)
      else {
        const ended = this.#runsEnded(workspaceId, written)
        this.#looking = this.#looking.then(() => ended)
      }
    } catch (error) {
      this.#about.warn(error, 'what ended could not be traced')
    }
  }

  #missionsEnded({ changes }: Extract<Written, { on: 'batch' }>): void {
    for (const event of changes.events) {
      const state = endOfMission(event)
      const mission = state && missionOf(changes, event.payload.missionId)
      if (!mission || mission.completedAt === null) continue
      const { uuid, createdAt, completedAt } = mission
      this.#send({
        name: `invoke_workflow ${mission.title}`,
        ...{ traceId: traceIdOf({ id: uuid, taskId: null, missionId: uuid }), spanId: spanIdOf(uuid) },
        ...{ parentId: null, startedAt: createdAt, endedAt: completedAt },
        attributes: ofMission(mission, state),
        error: state === 'failed' ? 'The mission failed.' : null,
      })
    }
  }

  async #runsEnded(workspaceId: number, { view, changes }: Extract<Written, { on: 'runs' }>): Promise<void> {
    for (const { id, set } of changes.runs) {
      const before = view.runs.get(id)
      if (!before || set.status === undefined || !isOver(set.status) || isOver(before.status)) continue
      const run = { ...before, ...set }
      // One that never began did nothing.
      if (run.startedAt === null) continue
      const task = run.taskId === null ? null : { id: run.taskId, uuid: run.taskUuid! }
      try {
        this.#runEnded(await this.traceOf(workspaceId, id, task), run, run.startedAt, view.now)
      } catch (error) {
        this.#about.warn(error, 'a run could not be traced')
      }
    }
  }

  #runEnded(traced: TracedRun, run: RunRecord, startedAt: number, now: number): void {
    const { missionId } = traced
    this.#send({
      name: `invoke_agent ${run.agent}`,
      ...{ traceId: traceIdOf(traced), spanId: spanIdOf(run.id) },
      parentId: missionId === null ? null : spanIdOf(missionId),
      ...{ startedAt, endedAt: run.finishedAt ?? now },
      attributes: ofRun(run),
      error: FAILED.has(run.status) ? (run.errorMessage ?? run.status) : null,
    })
  }

  #send({ name, traceId, spanId, parentId, startedAt, endedAt, attributes, error }: Ended): void {
    this.#ids = { traceId, spanId }
    const parent = { traceId, spanId: parentId ?? '', traceFlags: TraceFlags.SAMPLED, isRemote: true }
    const context = parentId === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
    const options = { kind: SpanKind.INTERNAL, startTime: startedAt, attributes }
    const span = this.#tracer.startSpan(name, options, context)
    if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: error.slice(0, 500) })
    span.end(Math.max(startedAt, endedAt))
  }
}

const FAILED: ReadonlySet<string> = new Set(['failed', 'timed_out'])

const missionOf = ({ kinds }: Changes, uuid: unknown): MissionRecord | undefined =>
  kinds.mission.written.find((mission) => mission.uuid === uuid)
