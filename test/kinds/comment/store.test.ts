import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { freshUuid } from '../../../src/kernel/fresh-uuid.ts'
import type { StoredComment } from '../../../src/kernel/store/comment-reads.ts'
import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import type { NewComment } from '../../../src/kinds/comment/record.ts'
import { beginRun } from '../../../src/kinds/run/rules/run-life.ts'
import type { RunEndState } from '../../../src/kinds/run/states.ts'
import { register } from '../../support/agents.ts'
import { commandMission, createMission, missionIn, missionNow, missionTask } from '../../support/missions.ts'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import * as steps from '../../support/run-steps.ts'
import { granted, holder, outcome, type Task, type Work } from '../../support/tasks.ts'

/** Comments are held by the server's store, and by the one it is compared with. */
const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')

const AGENT = 'alpha'
const alpha = holder(AGENT)
const said = (text: string, replyTo: NewComment['replyTo'] = null): NewComment => ({
  uuid: freshUuid(),
  text,
  replyTo,
})
const say = (work: Work, task: Task, text: string, actor?: string) =>
  work.command(task, { kind: 'comment', comment: said(text) }, actor)
const reads = (work: Work) => (work.store as RunStore).comments
const thread = (work: Work, { id }: { id: number }, on: 'task' | 'mission' = 'task') =>
  reads(work).list(work.workspace, { on, id }, 0, 100)
const texts = (comments: readonly StoredComment[]) => comments.map(({ text }) => text)
const added = async (work: Work) => (await work.events()).filter(({ type }) => type === 'comment_added')

/** A task of a mission, and the comments that an agent gets about it. */
class Told {
  readonly work: Work
  readonly task: Task & { missionId: number | null }

  constructor(work: Work, task: Task & { missionId: number | null }) {
    this.work = work
    this.task = task
  }

  unread = (limit = 100) => reads(this.work).unread(this.work.workspace, this.task, limit)

  /** A run whose prompt contains what is not read yet. */
  async begin(): Promise<string> {
    const { work, task } = this
    const store = work.store as RunStore
    const run = { runId: randomUUID(), nodeId: randomUUID(), tokenHash: randomBytes(32).toString('hex') }
    await steps.askForWakeups(store, work.workspace, [{ agent: AGENT, asked: steps.wakeupRequest() }])
    await steps.takeWakeup(store, { workspaceId: work.workspace, agent: AGENT }, run)
    const { upTo } = await this.unread()
    const begun = await store.transact(
      work.workspace,
      beginRun({
        ...{ workspaceId: work.workspace, runId: run.runId, agent: AGENT, sessionIdBefore: null },
        ...{ folder: null, log: null, promptedComments: upTo },
        task: { ...task, generation: 1, attempt: 1, session: alpha.session },
      }),
    )
    expect(begun).toBe(true)
    return run.runId
  }

  end = (runId: string, status: RunEndState) =>
    steps.finishRun(this.work.store as RunStore, {
      ...steps.ENDED,
      ...{ workspaceId: this.work.workspace, runId, agent: AGENT, status },
      errorCode: status === 'succeeded' ? null : 'timeout',
    })
}

describe.each(kinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  async function told(): Promise<Told & { mission: { id: number; uuid: string } }> {
    const work = await nodes.work()
    await register(work, AGENT, { adapterType: 'scripted' })
    const mission = missionIn(await createMission(work, (id) => [missionTask(id, { maxRetries: 0 })]))
    const [task] = await work.store.records(work.workspace, {}, 1)
    return Object.assign(new Told(work, task!), { mission })
  }

  describe('a comment', () => {
    test('is in the thread of its task with its author, and in the log, and changes nothing else', async () => {
      const work = await nodes.work()
      const task = await work.create()
      const before = await work.record(task)
      const reply = await say(work, task, 'Keep the old endpoint.', 'agent:alpha')
      expect(reply).toMatchObject({ ok: true, reason: 'COMMENTED', comment: { author: 'agent:alpha' } })
      const [comment] = await thread(work, task)
      expect(comment).toMatchObject({
        ...{ on: 'task', text: 'Keep the old endpoint.', author: 'agent:alpha', replyTo: null },
      })
      expect(await added(work)).toMatchObject([
        {
          ...{ taskId: task.id, actor: 'agent:alpha', from: null, to: null, at: comment!.at },
          payload: {
            ...{ commentId: comment!.uuid, author: 'agent:alpha', preview: 'Keep the old endpoint.' },
            ...{ isWhole: true, replyTo: null },
          },
        },
      ])
      expect(await work.record(task)).toEqual(before)
      expect((await work.details(task)).commentCount).toBe(1)
    })

    test('is in the log with the beginning of its text only, cut between characters', async () => {
      const work = await nodes.work()
      const task = await work.create()
      await say(work, task, `a${'😀'.repeat(4_000)}`)
      const [{ payload }] = (await added(work)) as unknown as [{ payload: { preview: string } }]
      expect(payload).toMatchObject({ isWhole: false })
      expect(payload.preview.length).toBeLessThan(300)
      expect(payload.preview.isWellFormed()).toBe(true)
      expect((await thread(work, task))[0]!.text).toHaveLength(8_001)
    })

    test('comes after those it was written after, also when many come at once from two nodes', async () => {
      const [here, there] = await nodes.pair()
      const task = await here.create()
      const ends = await Promise.all(
        Array.from({ length: 30 }, (_, i) => say(i % 2 ? here : there, task, `comment ${i}`)),
      )
      expect(ends.every(({ ok }) => ok)).toBe(true)
      const inLog = (await added(here)).map(({ payload }) => payload.commentId)
      expect((await thread(there, task)).map(({ uuid }) => uuid)).toEqual(inLog)
      expect((await here.details(task)).commentCount).toBe(30)
      const page = await reads(here).list(here.workspace, { on: 'task', id: task.id }, 0, 10)
      const rest = await reads(here).list(here.workspace, { on: 'task', id: task.id }, page.at(-1)!.id, 100)
      expect([...page, ...rest].map(({ uuid }) => uuid)).toEqual(inLog)
    })

    test('may answer another one of its thread', async () => {
      const work = await nodes.work()
      const task = await work.create()
      await say(work, task, 'Which one?')
      const [first] = await thread(work, task)
      const id = await reads(work).find(work.workspace, { on: 'task', id: task.id }, first!.uuid)
      expect(id).toBe(first!.id)
      const reply = said('The second.', { id: id!, uuid: first!.uuid })
      await work.command(task, { kind: 'comment', comment: reply })
      expect((await thread(work, task))[1]).toMatchObject({ text: 'The second.', replyTo: first!.uuid })
      const other = await work.create()
      expect(await reads(work).find(work.workspace, { on: 'task', id: other.id }, first!.uuid)).toBeNull()
    })

    test('is possible on a task that has ended, and not on one that is archived', async () => {
      const work = await nodes.work()
      const task = await work.create()
      await work.submit(task, granted(await work.claim(task, alpha)))
      expect(outcome(await say(work, task, 'Well done.'))).toBe('COMMENTED')
      await work.archive(task)
      expect(await say(work, task, 'Too late.')).toMatchObject({
        code: 'WRONG_STATE',
        detail: 'The task is archived: it takes no more comments.',
      })
      expect(texts(await thread(work, task))).toEqual(['Well done.'])
      expect(outcome(await say(work, { ...task, uuid: randomUUID() }, 'Who?'))).toBe('NOT_FOUND')
    })

    test('is written once under an idempotency key, and is the same in the second answer', async () => {
      const { work, task, mission } = await told()
      const once = work.under('said-once')
      const command = { kind: 'comment', comment: said('Once.') } as const
      const [first, second] = [await once.command(task, command), await once.command(task, command)]
      expect(second).toEqual(first)
      expect(texts(await thread(work, task))).toEqual(['Once.'])
      const alone = work.under('said-once-more')
      const ofMission = { kind: 'comment', comment: said('Once.') } as const
      const replies = [
        await commandMission(alone, mission.uuid, ofMission),
        await commandMission(alone, mission.uuid, ofMission),
      ]
      expect(replies[0]).toMatchObject({ ok: true, comment: { uuid: ofMission.comment.uuid } })
      expect(replies[1]).toMatchObject({ ok: true, comment: { uuid: ofMission.comment.uuid } })
      expect(texts(await thread(work, mission, 'mission'))).toEqual(['Once.'])
    })

    test('of a mission is in its own thread, and does not disturb those who edit it', async () => {
      const { work, task, mission } = await told()
      const before = await missionNow(work, mission)
      await commandMission(work, mission.uuid, { kind: 'comment', comment: said('Slower, please.') })
      expect(await missionNow(work, mission)).toEqual(before)
      expect(texts(await thread(work, mission, 'mission'))).toEqual(['Slower, please.'])
      expect(await thread(work, task)).toEqual([])
      expect(await added(work)).toMatchObject([
        { taskId: null, missionId: mission.id, payload: { missionId: mission.uuid } },
      ])
    })
  })

  describe('what is said with an act', () => {
    test('is written with it', async () => {
      const work = await nodes.work()
      const task = await work.create({ maxRetries: 0 })
      await work.fail(task, granted(await work.claim(task, alpha)))
      const run = (comment: NewComment) =>
        work.run({
          ...{ on: 'task', actor: 'key:test', taskId: task.id, uuid: task.uuid, said: comment },
          command: { kind: 'retry', reason: null },
        })
      expect(outcome(await run(said('Use the other database.')))).toBe('DONE')
      const types = (await work.eventsOf(task)).map(({ type }) => type)
      expect(types.slice(-2)).toEqual(['task_retried', 'comment_added'])
      expect(texts(await thread(work, task))).toEqual(['Use the other database.'])
      // It is queued already: the act is refused, and what was said with it is not written.
      expect(outcome(await run(said('Again.')))).toBe('WRONG_STATE')
      expect(await thread(work, task)).toHaveLength(1)
    })

    test('is not written twice when the act is repeated and changes nothing', async () => {
      const work = await nodes.work()
      const task = await work.create()
      for (let i = 0; i < 2; i++)
        await work.run({
          ...{ on: 'task', actor: 'key:test', taskId: task.id, uuid: task.uuid, said: said('Not needed.') },
          command: { kind: 'cancel', reason: null },
        })
      expect(texts(await thread(work, task))).toEqual(['Not needed.'])
    })

    test('to a mission is in its thread', async () => {
      const { work, mission, task } = await told()
      await work.fail(task, granted(await work.claim(task, alpha)))
      await commandMission(work, mission.uuid, { kind: 'retry', reason: null, said: said('Once more.') })
      expect(texts(await thread(work, mission, 'mission'))).toEqual(['Once more.'])
    })
  })

  describe('what an agent has not seen yet', () => {
    test('is what was said about its task and its mission since a prompt that led to an end', async () => {
      const here = await told()
      const { work, task, mission } = here
      expect(await here.unread()).toEqual({ comments: [], total: 0, upTo: { task: null, mission: null } })
      await say(work, task, 'first')
      await commandMission(work, mission.uuid, { kind: 'comment', comment: said('to all') })
      const both = await here.unread()
      expect(both).toMatchObject({
        total: 2,
        upTo: { task: both.comments[0]!.id, mission: both.comments[1]!.id },
      })
      expect(both.comments).toMatchObject([
        { on: 'task', text: 'first' },
        { on: 'mission', text: 'to all' },
      ])
      const runId = await here.begin()
      await say(work, task, 'second')
      await here.end(runId, 'succeeded')
      expect(texts((await here.unread()).comments)).toEqual(['second'])
      await here.end(await here.begin(), 'succeeded')
      expect(await here.unread()).toMatchObject({ comments: [], total: 0 })
      await commandMission(work, mission.uuid, { kind: 'comment', comment: said('to all, again') })
      expect(texts((await here.unread()).comments)).toEqual(['to all, again'])
    })

    test.each(['failed', 'cancelled', 'timed_out'] as const)(
      'is shown again when the run with the prompt %s, and while nobody knows how it ended',
      async (status) => {
        const here = await told()
        await say(here.work, here.task, 'Never lost.')
        const runId = await here.begin()
        expect(texts((await here.unread()).comments)).toEqual(['Never lost.'])
        await here.end(runId, status)
        expect(texts((await here.unread()).comments)).toEqual(['Never lost.'])
      },
    )

    test('is the newest of many, with how many there are', async () => {
      const here = await told()
      for (const text of ['a', 'b', 'c', 'd']) await say(here.work, here.task, text)
      const { comments, total, upTo } = await here.unread(2)
      expect([texts(comments), total]).toEqual([['c', 'd'], 4])
      expect(upTo.task).toBe(comments.at(-1)!.id)
    })

    test('is not what was said about other tasks', async () => {
      const here = await told()
      const other = await here.work.create()
      await say(here.work, other, 'Not yours.')
      expect((await here.unread()).total).toBe(0)
    })
  })
})
