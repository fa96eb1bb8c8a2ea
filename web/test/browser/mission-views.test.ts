import { describe, expect, test } from 'vitest'
import { idCarriedBy } from '../../../src/pure/ids.ts'
import { axe, axeOnColours } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import {
  claimOne,
  failForGood,
  makeMission,
  submit,
  tasksByTitle,
} from '../../../test/support/http-missions.ts'
import { fence, inOneHour, type Json } from '../../../test/support/http-workspace.ts'

/** A mission as activity, graph and timeline, while it runs. */

const { isHere, workspace, openPage } = useBrowser()

const TASKS = [
  { tempId: 'map', title: 'List all callers' },
  { tempId: 'docs', title: 'Write the docs' },
  { tempId: 'move', title: 'Move invoices', dependsOn: ['map'] },
  { tempId: 'last', title: 'Release', dependsOn: ['move', { on: 'docs', kind: 'order' }] },
]
const numberOf = ({ id }: Json) => `#${idCarriedBy(String(id))}`

describe.skipIf(!isHere)('a mission that runs', () => {
  test('is followed in activity, graph and timeline with the keyboard alone, live, and people learn its end', async () => {
    const w = await workspace()
    const mission = await makeMission(w, TASKS, { title: 'Move billing' })
    const tasks = await tasksByTitle(w, mission)
    const [map, move] = [tasks['List all callers']!, tasks['Move invoices']!]
    const opened = await openPage(w, `/missions/${mission.id}`)
    const { page } = opened
    const activity = page.getByRole('list', { name: 'Activity of the mission' })
    await activity.getByText(/approved version 1 of the plan: 4 tasks/).waitFor()
    expect(opened.calls.length, opened.calls.join('\n')).toBeLessThanOrEqual(5)

    // Live, in words, with the task by number and title.
    const claimed = await claimOne(w, map)
    await activity.getByText(`alpha took ${numberOf(map)} List all callers.`).waitFor()
    await w.post(`/missions/${mission.id}/comments`, { text: 'Keep the old one alive.' })
    await page.getByText('People', { exact: true }).click()
    await activity.getByText('Keep the old one alive.').waitFor()
    expect(await activity.getByText('alpha took').count()).toBe(0)
    expect(page.url()).toContain('what=people')
    expect(await axe(page)).toEqual([])

    // The graph: the same keys as everywhere, and its own.
    await page.getByRole('heading', { level: 1 }).focus()
    await page.keyboard.press('v')
    const graph = page.getByRole('region', { name: 'Graph' })
    const node = (title: string) => graph.getByRole('link', { name: title })
    await node(`${numberOf(map)} List all callers, Assigned`).focus()
    const places = () =>
      page.evaluate(
        `[...document.querySelectorAll('[data-task]')].map((one) => one.parentElement.getAttribute('transform')).join()`,
      )
    const before = await places()
    const calls = opened.calls.length
    await w.post(`/tasks/${map.id}/start`, fence('s-alpha', Number(claimed.generation)))
    await node('List all callers, Running').waitFor()
    expect(await places()).toBe(before)
    expect(opened.calls.slice(calls).filter((call) => call.includes('/graph'))).toEqual([])
    await page.keyboard.press('ArrowRight')
    const focused = () => page.evaluate("document.activeElement.getAttribute('data-task')")
    expect(await focused()).toBe(move.id)
    await page.keyboard.press('n')
    await graph.getByText(`${numberOf(move)} with its neighbours`).waitFor()
    expect(await node('Write the docs').count()).toBe(0)
    await node('Move invoices').focus()
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: numberOf(move) })
    await panel.getByText('Move invoices').waitFor()
    expect(await axe(page)).toEqual([])
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await node('Write the docs').waitFor()
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await axeOnColours(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'light' })

    // The timeline.
    await page.keyboard.press('v')
    const timeline = page.getByRole('region', { name: 'Timeline' })
    const row = (title: string) => timeline.getByRole('listitem').filter({ hasText: title })
    await row('List all callers')
      .getByText(/running .+$/)
      .waitFor()
    await submit(w, claimed)
    await row('List all callers')
      .getByText(/running [^,]+$/)
      .waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await timeline.getByText(/Move invoices waited .+, last for #\d+; 1 task waits for it\./).waitFor()
    expect(await axe(page)).toEqual([])
  })

  test('shows only what failed, takes tasks that are added, and is a list on a phone', async () => {
    const w = await workspace()
    const mission = await makeMission(w, TASKS)
    const { 'List all callers': map, 'Write the docs': docs } = await tasksByTitle(w, mission)
    await failForGood(w, await claimOne(w, docs!))
    const { page } = await openPage(w, `/missions/${mission.id}?view=graph&only=failed`)
    const graph = page.getByRole('region', { name: 'Graph' })
    await graph.getByRole('link', { name: /Write the docs, Failed/ }).waitFor()
    const placeOf = (title: string) =>
      graph
        .getByRole('link', { name: title })
        .evaluate((one) => one.parentElement?.getAttribute('transform') ?? null)
    const before = await placeOf('Release')
    const held = await claimOne(w, map!)
    const child = { ...fence('s-alpha', Number(held.generation)), title: 'Ask the others' }
    expect((await w.post(`/tasks/${map!.id}/children`, child)).status).toBe(201)
    const added = graph.getByRole('link', { name: 'Ask the others' })
    await added.waitFor()
    expect(await added.getByText('added', { exact: true }).count()).toBe(1)
    expect(await placeOf('Release')).toBe(before)
    const phone = await openPage(w, `/missions/${mission.id}?view=graph`, { phone: true })
    await phone.page.getByRole('table', { name: 'Tasks of the mission, by layers' }).waitFor()
    expect(await phone.overflow()).toBe(0)
    expect(await axe(phone.page)).toEqual([])
  })

  test('without tasks, with one, and with more than can be drawn says so, and a bar opens its run', async () => {
    const w = await workspace()
    const many = Array.from({ length: 401 }, (_, n) => ({
      tempId: `t${n}`,
      title: n === 400 ? 'Join' : `Part ${n}`,
      ...(n === 400 ? { dependsOn: Array.from({ length: 400 }, (_, part) => `t${part}`) } : {}),
    }))
    const large = await makeMission(w, many)
    const { page } = await openPage(w, `/missions/${large.id}?view=graph`)
    await page.getByText('It has 401 tasks. Up to 400 are drawn at once.').waitFor()
    await page.getByLabel('Find a task').fill('join')
    await page.getByRole('list', { name: 'Tasks found' }).getByRole('link').click()
    await page.getByText(/with its neighbours, without 251 more/).waitFor()
    await page.getByRole('region', { name: 'Graph' }).getByRole('link', { name: 'Join' }).waitFor()
    // Elsewhere: its agent would take the tasks of the large one first.
    const other = await workspace()
    const agent = { adapterType: 'simulated', adapterConfig: { steps: [{ result: { done: true } }] } }
    expect(await other.call('PUT', '/agents/sim', { ...agent, runtimeConfig: {} })).toMatchObject({
      status: 201,
    })
    const single = await makeMission(other, [{ tempId: 'a', title: 'Alone', agent: 'sim' }])
    await other.happens('mission_completed')
    const one = await openPage(other, `/missions/${single.id}?view=timeline`)
    await one.page.getByRole('link', { name: 'Alone' }).focus()
    await one.page.keyboard.press('Tab')
    await one.page.keyboard.press('Enter')
    await one.page.getByRole('heading', { name: /Alone|Run/ }).waitFor()
    expect(one.page.url()).toContain('/runs/')
    const planned = await other.post('/missions', {
      goal: 'Later',
      planner: { agent: 'sim' },
      startAt: inOneHour(),
    })
    expect(planned.status).toBe(201)
    await one.goto(`/missions/${planned.body.id}?view=graph`)
    await one.page.getByText('It has no tasks yet.').waitFor()
    await one.goto(`/missions/${planned.body.id}?view=timeline`)
    await one.page.getByText('No task has begun.').waitFor()
  })
})
