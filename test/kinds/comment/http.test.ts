import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { actOn, claimOne, failForGood, makeMission, tasksByTitle } from '../../support/http-missions.ts'
import {
  expectRefusal,
  inState,
  type Json,
  KEY,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'

/** Comments on tasks and missions. */

const { served, workspace } = useServer()

type Thing = { id: string }
const say = (
  w: Workspace,
  { id }: Thing,
  text: string,
  more: Json = {},
  headers: Record<string, string> = {},
) => w.post(`/tasks/${id}/comments`, { text, ...more }, headers)
const thread = async (w: Workspace, { id }: Thing, query = '', on = 'tasks') =>
  (await w.call('GET', `/${on}/${id}/comments${query}`)).body
const textsOf = ({ items }: { items: { text: string }[] }) => items.map(({ text }) => text)

describe('a comment', () => {
  test('on a task is trimmed, has its author, and is counted where the task is shown and handed out', async () => {
    const w = await workspace()
    const task = await w.make()
    expect(task.commentCount).toBe(0)
    const { status, body } = await say(w, task, '  Keep the old\nendpoint 🦀. \n')
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ...{ taskId: task.id, missionId: null, replyTo: null, text: 'Keep the old\nendpoint 🦀.' },
      author: { kind: 'key', id: expect.any(String), name: 'owner' },
      at: expect.any(String),
    })
    expect(await thread(w, task)).toEqual({ items: [body], nextCursor: null })
    expect(await w.read(task)).toMatchObject({ commentCount: 1, version: task.version })
    expect((await w.next()).claims).toMatchObject([{ task: { id: task.id, commentCount: 1 } }])
    expect(await w.happens('comment_added')).toMatchObject([
      {
        ...{ entityType: 'task', entityId: task.id, taskId: task.id, missionId: null, from: null, to: null },
        ...{ actorName: 'owner', by: body.author, at: body.at },
        payload: {
          ...{ commentId: body.id, author: expect.stringMatching(KEY), preview: body.text },
          ...{ isWhole: true, replyTo: null },
        },
      },
    ])
  })

  test('on a mission is in the thread of the mission, and in its log', async () => {
    const w = await workspace()
    const mission = (await makeMission(w, [{ tempId: 'a' }])) as Thing
    const { a } = (await tasksByTitle(w, mission)) as Record<string, Thing>
    const said = await w.post(`/missions/${mission.id}/comments`, { text: 'Slower.' })
    expect(said).toMatchObject({ status: 201, body: { taskId: null, missionId: mission.id } })
    expect(await thread(w, mission, '', 'missions')).toEqual({ items: [said.body], nextCursor: null })
    await say(w, a!, 'About the task.')
    const { items } = (await w.call('GET', `/missions/${mission.id}/events?type=comment_*`)).body
    expect(items).toMatchObject([
      { type: 'comment_added', entityType: 'mission', taskId: null, missionId: mission.id },
      { type: 'comment_added', entityType: 'task', taskId: a!.id, missionId: mission.id },
    ])
    expect(textsOf(await thread(w, a!))).toEqual(['About the task.'])
  })

  test('answers another one of its thread, and no other', async () => {
    const w = await workspace()
    const [task, other] = [await w.make(), await w.make()]
    const first = (await say(w, task, 'Which one?')).body
    const second = (await say(w, task, 'The second.', { replyTo: first.id })).body
    const third = (await say(w, task, 'Thanks.', { replyTo: second.id })).body
    expect([second.replyTo, third.replyTo]).toEqual([first.id, second.id])
    expect((await thread(w, task)).items).toEqual([first, second, third])
    for (const replyTo of [randomUUID(), (await say(w, other, 'Elsewhere.')).body.id])
      expectRefusal(await say(w, task, 'What?', { replyTo }), 400, 'VALIDATION_FAILED', {
        errors: [{ field: 'replyTo', message: 'names no comment of this task' }],
      })
    expect((await thread(w, task)).items).toHaveLength(3)
  })

  test('is read page by page, and from the last one that is known', async () => {
    const w = await workspace()
    const task = await w.make()
    for (let i = 1; i <= 5; i++) await say(w, task, `comment ${i}`)
    const page = await thread(w, task, '?limit=2')
    expect(textsOf(page)).toEqual(['comment 1', 'comment 2'])
    expect(page.nextCursor).toBe(page.items[1].id)
    const rest = await thread(w, task, `?limit=3&after=${page.nextCursor}`)
    expect([textsOf(rest), rest.nextCursor]).toEqual([['comment 3', 'comment 4', 'comment 5'], null])
    const last = rest.items.at(-1).id
    expect((await thread(w, task, `?after=${last}`)).items).toEqual([])
    await say(w, task, 'one more')
    expect(textsOf(await thread(w, task, `?after=${last}`))).toEqual(['one more'])
    const foreign = await w.call('GET', `/tasks/${(await w.make()).id}/comments?after=${last}`)
    expectRefusal(foreign, 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'after', message: 'names no comment of this task' }],
    })
  })

  test('is written once under an idempotency key', async () => {
    const w = await workspace()
    const task = await w.make()
    const headers = { 'idempotency-key': 'comment-1' }
    const [first, second] = [
      await say(w, task, 'Once.', {}, headers),
      await say(w, task, 'Once.', {}, headers),
    ]
    expect([second.status, second.body]).toEqual([201, first.body])
    expect((await thread(w, task)).items).toEqual([first.body])
    expectRefusal(await say(w, task, 'Other.', {}, headers), 422, 'IDEMPOTENCY_KEY_REUSED')
    const mission = (await makeMission(w, [{ tempId: 'a' }])) as Thing
    const path = `/missions/${mission.id}/comments`
    const answers = [
      await w.post(path, { text: 'Once.' }, headers),
      await w.post(path, { text: 'Once.' }, { 'idempotency-key': 'comment-2' }),
      await w.post(path, { text: 'Once.' }, { 'idempotency-key': 'comment-2' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([422, 201, 201])
    expect(answers[2]!.body).toEqual(answers[1]!.body)
  })

  const LONG = 'ä😀'.repeat(5_000)
  test.each([
    ['nothing', '', 'must NOT have fewer than 1 characters'],
    ['blanks', ' \n\t\u00a0 ', 'is blank; a comment has 1 to 10000'],
    ['10,001 characters', `${LONG}x`, 'has 10001 characters; a comment has 1 to 10000'],
    ['100,001 characters', 'x'.repeat(100_001), 'must NOT have more than 100000 characters'],
    ['a megabyte', 'x'.repeat(1_000_000), 'must NOT have more than 100000 characters'],
    ['half a surrogate pair', 'x\ud800', 'contains a NUL or half a surrogate pair, which cannot be stored'],
    ['a NUL', 'x\u0000', 'contains a NUL or half a surrogate pair, which cannot be stored'],
  ])('of %s is refused with a sentence', async (_what, text, message) => {
    const w = await workspace()
    const task = await w.make()
    expectRefusal(await say(w, task, text), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'text', message }],
    })
    expect(await w.count('comment_added')).toBe(0)
  })

  test('of more than a megabyte is refused, and of 10,000 characters is whole', async () => {
    const w = await workspace()
    const task = await w.make()
    expectRefusal(await say(w, task, 'x'.repeat(1_100_000)), 413, 'BODY_TOO_LARGE')
    const { body } = await say(w, task, `  ${LONG}  `)
    expect(body.text).toBe(LONG)
    const [{ payload }] = (await w.happens('comment_added')) as unknown as [{ payload: Json }]
    expect(payload).toMatchObject({ isWhole: false })
    expect(LONG.startsWith((payload.preview as string).replace(/\ufffd$/, ''))).toBe(true)
    expect((payload.preview as string).length).toBeLessThan(300)
  })

  test.each(['completed', 'failed', 'cancelled', 'running', 'paused'] as const)(
    'is possible on a task that is %s',
    async (state) => {
      const w = await workspace()
      const task = await inState[state](w)
      expect((await say(w, task, 'Why?')).status).toBe(201)
    },
  )

  test('is refused on a task that is archived, until it is retried', async () => {
    const w = await workspace()
    const task = await inState.failed(w)
    await w.on(task, 'archive')
    expectRefusal(await say(w, task, 'Why?'), 409, 'WRONG_STATE', {
      detail: 'The task is archived: it takes no more comments.',
    })
    await w.on(task, 'retry')
    expect((await say(w, task, 'Why?')).status).toBe(201)
  })

  test('answers and follows no comment of another workspace', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const comment = (await say(other, await other.make(), 'Ours.')).body
    const own = await w.make()
    expectRefusal(await say(w, own, 'Mine.', { replyTo: comment.id }), 400, 'VALIDATION_FAILED')
    expectRefusal(
      await w.call('GET', `/tasks/${own.id}/comments?after=${comment.id}`),
      400,
      'VALIDATION_FAILED',
    )
  })

  test('needs the right to work; reading it needs only the right to read', async () => {
    const w = await workspace()
    const task = await w.make()
    const { key } = (await w.post('/keys', { name: 'a viewer', role: 'viewer' })).body
    const as = (method: string, body?: Json) =>
      served().call(method, `/tasks/${task.id}/comments`, body, { key })
    expectRefusal(await as('POST', { text: 'Hello.' }), 403, 'FORBIDDEN')
    await say(w, task, 'Hello.')
    expect(textsOf((await as('GET')).body)).toEqual(['Hello.'])
  })

  test('is sent at once to readers of the log, of the task and of its mission', async () => {
    const w = await workspace()
    const mission = (await makeMission(w, [{ tempId: 'a' }])) as Thing
    const { a } = (await tasksByTitle(w, mission)) as Record<string, Thing>
    const streams = await Promise.all(
      ['', `&task=${a!.id}`, `&mission=${mission.id}`, '&type=comment_*'].map(async (query) => {
        const headers = { authorization: `Bearer ${w.ownerKey}` }
        const stream = await fetch(`${served().api}/events/stream?after=0${query}`, { headers })
        return stream.body!.pipeThrough(new TextDecoderStream())
      }),
    )
    const { body } = await say(w, a!, 'Live.')
    for (const stream of streams) {
      let seen = ''
      for await (const chunk of stream) {
        seen += chunk
        if (seen.includes(body.id)) break
      }
      expect(seen).toContain('"preview":"Live."')
    }
  })
})

describe('what is said with an act', () => {
  test.each([
    ['retry', () => inState.failed],
    ['reset', () => inState.completed],
    ['cancel', () => inState.queued],
    ['reject', () => inState.awaiting_human],
    ['approve', () => inState.awaiting_human],
  ] as const)('is a comment of the task: %s', async (act, state) => {
    const w = await workspace()
    const task = await state()(w)
    const answer = await w.on(task, act, { comment: ' Use the other database. ' })
    expect(answer).toMatchObject({ status: 200, body: { commentCount: 1 } })
    const { items } = await thread(w, task)
    expect(items).toMatchObject([{ text: 'Use the other database.', author: { kind: 'key' } }])
    const events: { type: string; at: string }[] = (await w.read(task, '/events')).items
    const said = events.findIndex(({ type }) => type === 'comment_added')
    expect(events[said]).toMatchObject({ payload: { commentId: items[0].id } })
    expect(events[said - 1]).toMatchObject({ to: answer.body.state, at: events[said]!.at })
  })

  test('has the meaning it had: the next holder still gets a rejection', async () => {
    const w = await workspace()
    const task = await inState.awaiting_human(w)
    await w.on(task, 'reject', { comment: 'The test is missing.' })
    expect(await w.read(task)).toMatchObject({ error: 'The test is missing.' })
    const [rejected] = await w.happens('task_human_rejected')
    expect(rejected!.payload).toMatchObject({ comment: 'The test is missing.' })
  })

  test('is not written when the act is refused, or is too long', async () => {
    const w = await workspace()
    const task = await w.make()
    expectRefusal(await w.on(task, 'retry', { comment: 'Again.' }), 409, 'WRONG_STATE')
    const failed = await inState.failed(w)
    expectRefusal(await w.on(failed, 'retry', { comment: 'x'.repeat(10_001) }), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'comment', message: 'has 10001 characters; a comment has 1 to 10000' }],
    })
    expect((await w.on(failed, 'retry', { comment: ' ' })).status).toBe(200)
    expect(await w.count('comment_added')).toBe(0)
  })

  test('in the inbox is a comment, too', async () => {
    const w = await workspace()
    const task = await inState.awaiting_human(w)
    const answer = await w.post(`/inbox/task:${task.id}:1/answer`, { decision: 'reject', comment: 'No.' })
    expect(answer.status).toBe(200)
    expect(textsOf(await thread(w, task))).toEqual(['No.'])
  })

  test('about a mission is in its thread: approvals, rejections, retries', async () => {
    const w = await workspace()
    const make = (body: Json = {}) => makeMission(w, [{ tempId: 'a' }], body) as Promise<Thing>
    const asked = { config: { autonomy: 'approve' } }
    const [approved, rejected, failed] = [await make(asked), await make(asked), await make()]
    expect(await actOn(w, approved, 'approve', { comment: 'Go.' })).toMatchObject({ status: 200 })
    expect(await actOn(w, rejected, 'reject', { comment: 'Too much.' })).toMatchObject({ status: 200 })
    const { a } = await tasksByTitle(w, failed)
    await failForGood(w, await claimOne(w, a!))
    expect(await actOn(w, failed, 'retry', { comment: 'Once more.' })).toMatchObject({ status: 200 })
    const said = [approved, rejected, failed].map(async (mission) =>
      textsOf(await thread(w, mission, '', 'missions')),
    )
    expect(await Promise.all(said)).toEqual([['Go.'], ['Too much.'], ['Once more.']])
  })
})
