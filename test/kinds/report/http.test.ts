import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { idCarriedBy } from '../../../src/pure/ids.ts'
import {
  actOn,
  claimOne,
  FULL_AUTO,
  failForGood,
  makeMission,
  showMission,
  submit,
  take,
  tasksByTitle,
} from '../../support/http-missions.ts'
import {
  expectRefusal,
  fence,
  type Json,
  KEY,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** Reports on missions and their tasks. */

const { served, workspace } = useServer()

interface Report extends Json {
  id: string
  version: number
  type: string
  source: string
  taskId: string | null
  markdown: string
}

const reportOn = async (w: Workspace, what: string, query = ''): Promise<Report> =>
  (await w.call('GET', `${what}/report${query}`)).body
const written = (w: Workspace, what: string, version = 1): Promise<Report> =>
  until(async () => {
    const found = await reportOn(w, what)
    return found.version >= version && found
  })
const onMission = (w: Workspace, { id }: Json, version?: number) => written(w, `/missions/${id}`, version)
const onTask = (w: Workspace, { id }: Json, version?: number) => written(w, `/tasks/${id}`, version)
const listed = async (w: Workspace, { id }: Json, query = ''): Promise<Report[]> =>
  (await w.call('GET', `/missions/${id}/reports${query}`)).body.items

/** As a report names it: by its number and title. */
const nameOf = ({ id, title }: Json) => `[\\#${idCarriedBy(String(id))} ${title}]`

describe('by rule', () => {
  test('AC-26: a report is written when a task of a mission completes, with its outcome first', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [
      { tempId: 'a', type: 'research', estimatedTokens: 4_000 },
      { tempId: 'b' },
    ])
    const { a } = await tasksByTitle(w, mission)
    const { taskId, generation } = await claimOne(w, a!)
    const summary = 'Found it.\n# Not a heading <script>'
    await w.post(`/tasks/${taskId}/submit`, { ...fence('s-alpha', generation), result: 1, summary })
    const report = await onTask(w, a!)
    expect(report).toMatchObject({
      ...{ missionId: mission.id, taskId: a!.id, version: 1, type: 'research', source: 'rule' },
      author: { kind: 'system', id: null },
    })
    const { markdown } = report
    expect(markdown).toMatch(/^# a\n\n## Outcome\n\n\*\*Done\*\* after .+, by alpha\./)
    expect(markdown).toContain('> Found it.\n> # Not a heading &lt;script>')
    expect(markdown).toContain(`/api/v1/tasks/${a!.id}`)
    expect(markdown).toContain('0 tokens; 4,000 were estimated (100 % less)')
    expect(markdown).toContain('alpha took it (attempt 1)')
    const headings = [...markdown.matchAll(/^## (.+)$/gm)].map(([, name]) => name)
    expect(headings).toEqual(['Outcome', 'Timeline', 'Cost', 'Links'])
  })

  test('AC-9: the report on a task names it, also in the log', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b' }])
    const { a } = await tasksByTitle(w, mission)
    await submit(w, await claimOne(w, a!))
    const report = await onTask(w, a!)
    const [event] = await w.happens('report_written')
    expect(event).toMatchObject({
      ...{ taskId: a!.id, missionId: mission.id, entityType: 'task', entityId: a!.id },
      payload: { reportId: report.id, version: 1, kind: 'delivery', taskId: a!.id, missionId: mission.id },
    })
    expect((await w.call('GET', `/reports/${report.id}`)).body).toEqual(report)
    expect(await listed(w, mission)).toMatchObject([{ id: report.id, taskId: a!.id }])
  })

  test('what failed is an incident, with why it failed', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a', type: 'research' }])
    const { a } = await tasksByTitle(w, mission)
    await failForGood(w, await claimOne(w, a!))
    const report = await onTask(w, a!)
    expect(report.type).toBe('incident')
    expect(report.markdown).toContain('The task failed: it cannot be done as it is asked for.\n\n> no')
    const whole = await onMission(w, mission)
    expect(whole.markdown).toContain(
      `- ${nameOf(a!)}(/api/v1/tasks/${a!.id}) (it cannot be done as it is asked for): no`,
    )
    expect(whole.markdown.indexOf('## Outcome')).toBeLessThan(whole.markdown.indexOf('## Failures'))
    expect(await listed(w, mission, '?type=incident')).toMatchObject([{ taskId: a!.id }])
  })

  test('a program that ended with an error is told by its exit code and the cause, without its path and its trace', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a', maxRetries: 0 }])
    const { a } = await tasksByTitle(w, mission)
    const { taskId, generation } = await claimOne(w, a!)
    const error =
      "/opt/tools/build.sh exited with code 3: Error: Cannot find module './a.js'\n    at load (x.js:1)"
    const failed = { ...fence('s-alpha', Number(generation)), failureClass: 'infrastructure', error }
    expect((await w.post(`/tasks/${taskId}/fail`, failed)).status).toBe(200)
    const whole = await onMission(w, mission)
    expect(whole.markdown).toContain(`(it exited with code 3): Cannot find module './a.js'\n`)
  })

  test.each([
    ['research', 'research'],
    ['analysis', 'research'],
    ['writing', 'delivery'],
    ['coding', 'delivery'],
    ['verification', 'audit'],
    ['review', 'audit'],
    ['synthesis', 'summary'],
    ['other', 'delivery'],
    ['constructor', 'delivery'],
  ])('the report on a task of type %s is of type %s', async (type, expected) => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a', type }])
    const { a } = await tasksByTitle(w, mission)
    await submit(w, await claimOne(w, a!))
    expect((await onTask(w, a!)).type).toBe(expected)
  })

  test('a mission that has ended has one report, and after it was reopened and has ended again a second', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b' }])
    const { a } = await tasksByTitle(w, mission)
    await submit(w, await claimOne(w, a!))
    await failForGood(w, await take(w))
    const first = await onMission(w, mission)
    expect(first).toMatchObject({ version: 1, type: 'summary', source: 'rule', taskId: null })
    expect(first.markdown).toMatch(/## Outcome\n\n\*\*Failed\*\* .*2 tasks: .*1 done/)
    expect(first.markdown).toContain('Mission failed, by Baton')
    // For people: no codes, no ISO times, and keys by their names.
    expect(first.markdown).not.toMatch(/mission_|key:|\d{4}-\d\d-\d\dT/)
    expect(first.markdown).toMatch(/- \d+ [A-Z][a-z]{2} \d{4}, [\d:]{8} UTC: Mission created, by \w+/)
    await actOn(w, mission, 'retry')
    await submit(w, await take(w))
    const second = await onMission(w, mission, 2)
    expect(second.markdown).toMatch(/## Outcome\n\n\*\*Done\*\*/)
    expect(await reportOn(w, `/missions/${mission.id}`, '?version=1')).toEqual(first)
    const all = await listed(w, mission)
    expect(all.map(({ taskId, version }) => [taskId === null, version])).toEqual(
      expect.arrayContaining([
        [true, 1],
        [true, 2],
        [false, 1],
      ]),
    )
    expect(await w.count('report_written')).toBe(all.length)
  })

  test('what was never begun is not reported on, and tasks of no mission are not either', async () => {
    const w = await workspace()
    const alone = await w.held()
    await w.on(alone, 'submit', { ...fence('s-alpha', 1), result: 1 })
    const mission = await makeMission(w, [{ tempId: 'a' }])
    await actOn(w, mission, 'cancel')
    await onMission(w, mission)
    expect(await listed(w, mission)).toMatchObject([{ taskId: null }])
    expectRefusal(await w.call('GET', `/tasks/${alone.id}/report`), 404, 'NOT_FOUND')
    expectRefusal(await w.post(`/tasks/${alone.id}/report`, { markdown: 'x' }), 409, 'WRONG_STATE')
  })
})

describe('handed in', () => {
  test('a report is the next version, with its author and its type', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a', type: 'coding' }, { tempId: 'b' }])
    const { a } = await tasksByTitle(w, mission)
    const own = await w.post(`/tasks/${a!.id}/report`, { markdown: '# Mine' })
    expect(own).toMatchObject({
      status: 201,
      body: {
        ...{ version: 1, type: 'delivery', source: 'submitted', markdown: '# Mine', bytes: 6 },
        author: { kind: 'key', name: 'owner' },
      },
    })
    await submit(w, await claimOne(w, a!))
    expect(await onTask(w, a!, 2)).toMatchObject({ version: 2, source: 'rule' })
    const third = await w.post(`/tasks/${a!.id}/report`, { markdown: 'More.', type: 'audit' })
    expect(third.body).toMatchObject({ version: 3, type: 'audit' })
    const [first] = await w.happens('report_written')
    expect(first).toMatchObject({ actor: expect.stringMatching(KEY), payload: { source: 'submitted' } })
    const whole = await w.post(`/missions/${mission.id}/report`, { markdown: 'So far.' })
    expect(whole.body).toMatchObject({ version: 1, type: 'summary', taskId: null })
    expect((await showMission(w, mission)).version, 'those who edit it are not disturbed').toBe(
      mission.version,
    )
  })
  test('many at once get versions without gaps', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }])
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, n) => w.post(`/missions/${mission.id}/report`, { markdown: `No. ${n}` })),
    )
    expect(all.map(({ body }) => body.version).sort()).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('a report of more than a MiB, a blank one, and one of an unknown type are refused', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }])
    const hand = (body: Json) => w.post(`/missions/${mission.id}/report`, body)
    const large = 'é'.repeat(524_288)
    expectRefusal(await hand({ markdown: `${large}x` }), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'markdown', message: 'is 1048577 bytes; a report has at most 1048576' }],
    })
    expect((await hand({ markdown: large })).status).toBe(201)
    expectRefusal(await hand({ markdown: ' \n' }), 400, 'VALIDATION_FAILED')
    expectRefusal(await hand({ markdown: 'x', type: 'novel' }), 400, 'VALIDATION_FAILED')
    expectRefusal(await hand({ type: 'audit' }), 400, 'VALIDATION_FAILED')
  })
})

describe('a download', () => {
  test('is the text alone, under a name of ids', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }], { title: '"; filename=evil.exe' })
    const { body } = await w.post(`/missions/${mission.id}/report`, { markdown: '# Über <b>' })
    const get = (path: string, accept: string) =>
      fetch(`${served().url}/api/v1${path}`, { headers: { authorization: `Bearer ${w.ownerKey}`, accept } })
    for (const answer of [
      await get(`/missions/${mission.id}/report`, 'text/markdown'),
      await get(`/reports/${body.id}?format=markdown`, '*/*'),
    ]) {
      expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
      expect(answer.headers.get('content-disposition')).toBe(
        `attachment; filename="report-mission-${mission.id}-v1.md"`,
      )
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(await answer.text()).toBe('# Über <b>')
    }
    const json = await get(`/reports/${body.id}?format=json`, 'text/markdown')
    expect(await json.json()).toEqual(body)
  })

  test('is found by id and version in its workspace alone', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const mission = await makeMission(w, [{ tempId: 'a' }])
    const { body } = await w.post(`/missions/${mission.id}/report`, { markdown: 'Secret.' })
    for (const path of [
      `/reports/${body.id}`,
      `/missions/${mission.id}/report`,
      `/missions/${mission.id}/reports`,
    ])
      expectRefusal(await other.call('GET', path), 404, 'NOT_FOUND')
    expectRefusal(await other.post(`/missions/${mission.id}/report`, { markdown: 'x' }), 404, 'NOT_FOUND')
    expectRefusal(await w.call('GET', `/reports/${randomUUID()}`), 404, 'NOT_FOUND')
    expectRefusal(await w.call('GET', `/missions/${mission.id}/report?version=2`), 404, 'NOT_FOUND')
    for (const version of ['0', '-1', 'x', '1e9', '99999999999'])
      expect((await w.call('GET', `/missions/${mission.id}/report?version=${version}`)).status).toBe(400)
  })

  test('all of a workspace are listed, newest first, by type and period, page by page', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const [one, two] = [await makeMission(w, [{ tempId: 'a' }]), await makeMission(w, [{ tempId: 'b' }])]
    await other.post(`/missions/${(await makeMission(other, [{ tempId: 'c' }])).id}/report`, {
      markdown: 'Theirs.',
    })
    const made: Report[] = []
    for (const [mission, type] of [
      [one, 'audit'],
      [two, 'incident'],
      [one, 'incident'],
    ] as const)
      made.unshift((await w.post(`/missions/${mission.id}/report`, { markdown: 'Well.', type })).body)
    const idsIn = async (query: string, from = w) => {
      const { status, body } = await from.call('GET', `/reports${query}`)
      expect(status).toBe(200)
      return body.items.map(({ id }: Report) => id)
    }
    const ids = made.map(({ id }) => id)
    const { items } = (await w.call('GET', '/reports')).body
    expect(items).toEqual(made.map(({ markdown: _markdown, ...head }) => head))
    expect(await idsIn('?type=incident')).toEqual([ids[0], ids[1]])
    const [newest, , oldest] = made.map(({ at }) => String(at))
    // The start belongs to the period, its end does not.
    const isIn = (from: string, to: string) =>
      made.filter(({ at }) => String(at) >= from && String(at) < to).map(({ id }) => id)
    expect(await idsIn(`?from=${oldest}`)).toEqual(ids)
    expect(await idsIn(`?to=${oldest}`)).toEqual([])
    const before = isIn(oldest!, newest!)
    expect(before).not.toContain(ids[0])
    if (before.length > 0) expect(await idsIn(`?from=${oldest}&to=${newest}`)).toEqual(before)
    expect(await idsIn('?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')).toEqual([])
    const pages: string[] = []
    for (let cursor = ''; ; ) {
      const page = (await w.call('GET', `/reports?limit=1${cursor}`)).body
      pages.push(...page.items.map(({ id }: Report) => id))
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
    }
    expect(pages).toEqual(ids)
    expect(await idsIn('', other)).toHaveLength(1)
  })

  test('a period that ends before it begins, or is no time, is refused', async () => {
    const w = await workspace()
    for (const to of ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'])
      expectRefusal(
        await w.call('GET', `/reports?from=2026-01-02T00:00:00Z&to=${to}`),
        ...([
          400,
          'VALIDATION_FAILED',
          { errors: [{ field: 'to', message: 'must be later than "from"' }] },
        ] as const),
      )
    for (const query of ['from=yesterday', 'to=2026-13-01T00:00:00Z', 'from=2026-01-01', 'to='])
      expectRefusal(await w.call('GET', `/reports?${query}`), 400, 'VALIDATION_FAILED')
  })

  test('the list is read page by page', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }])
    for (const n of [1, 2, 3]) await w.post(`/missions/${mission.id}/report`, { markdown: `No. ${n}` })
    const path = `/missions/${mission.id}/reports?limit=2`
    const { items, nextCursor } = (await w.call('GET', path)).body
    expect(items.map(({ version }: Report) => version)).toEqual([3, 2])
    expect(items[0]).not.toHaveProperty('markdown')
    const rest = (await w.call('GET', `${path}&cursor=${nextCursor}`)).body
    expect([rest.items.map(({ version }: Report) => version), rest.nextCursor]).toEqual([[1], null])
  })
})

describe('by an agent', () => {
  const reporting = async (w: Workspace) => {
    await w.call('PUT', '/agents/reporter', { adapterType: 'external' })
    return makeMission(w, [{ tempId: 'a' }], {
      goal: 'Make checkout fast',
      config: { ...FULL_AUTO, reportAgent: 'reporter' },
    })
  }
  const asked = (w: Workspace): Promise<Json & { taskId: string; generation: number; task: Json }> =>
    until(async () => {
      const body = { agent: 'reporter', session: 's-reporter', purposes: ['report'] }
      return (await w.post('/claims/next', body)).body.claims[0]
    })

  test('the answer of the agent that the mission names is the next version, and the mission stays ended', async () => {
    const w = await workspace()
    const mission = await reporting(w)
    const { taskId, generation } = await take(w)
    await w.post(`/tasks/${taskId}/submit`, {
      ...fence('s-alpha', generation),
      ...{ result: 1, summary: 'It takes 90 ms now.' },
    })
    const claim = await asked(w)
    expect(claim.task).toMatchObject({ purpose: 'report', missionId: mission.id })
    for (const part of ['Make checkout fast', 'The mission is completed', 'It takes 90 ms now.'])
      expect(claim.task.description).toContain(part)
    const ended = await showMission(w, mission)
    await submit(w, claim, 'reporter', { text: '# Faster\n\nFrom 900 to 90 ms.' })
    expect(await onMission(w, mission, 2)).toMatchObject({
      ...{ version: 2, type: 'summary', source: 'agent', markdown: '# Faster\n\nFrom 900 to 90 ms.' },
      author: { kind: 'agent', id: 'reporter' },
    })
    expect(await reportOn(w, `/missions/${mission.id}`, '?version=1')).toMatchObject({ source: 'rule' })
    const { state, tasksByState, taskCount, version } = await showMission(w, mission)
    expect({ state, tasksByState, taskCount, version }).toEqual({
      ...{ state: 'completed', tasksByState: { completed: 1 }, taskCount: 1, version: ended.version },
    })
    // It is no work: nobody reports on it.
    expectRefusal(await w.call('GET', `/tasks/${claim.taskId}/report`), 404, 'NOT_FOUND')
  })

  test('when it fails, the report by rule stays', async () => {
    const w = await workspace()
    const mission = await reporting(w)
    await submit(w, await take(w))
    const claim = await asked(w)
    await failForGood(w, claim, 'reporter')
    await w.reaches({ id: claim.taskId }, 'failed')
    // Handled after it, in the order of the log.
    const next = await makeMission(w, [{ tempId: 'z' }])
    await actOn(w, next, 'cancel')
    await onMission(w, next)
    expect(await reportOn(w, `/missions/${mission.id}`)).toMatchObject({ version: 1, source: 'rule' })
    expect(await showMission(w, mission)).toMatchObject({ state: 'completed', tasksFailed: 0 })
  })

  test('a mission that names an unknown agent for it is refused', async () => {
    const w = await workspace()
    const plan = { tasks: [{ tempId: 'a' }] }
    const answer = await w.post('/missions', { goal: 'x', plan, config: { reportAgent: 'nobody' } })
    expectRefusal(answer, 400, 'VALIDATION_FAILED', { errors: [{ field: 'config.reportAgent' }] })
  })
})
