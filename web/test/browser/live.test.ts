import type { Locator, Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BOARD_COLUMNS } from '../../../src/views/board/columns.ts'
import { type OpenedPage, preparePage } from '../../../test/support/browser/open-page.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Json, Task, Workspace } from '../../../test/support/http-workspace.ts'
import { useProcesses } from '../../../test/support/recovery.ts'

/** Whatever happens to the server, to the network or to the task: the board shows the present state, or says since when it does not. */

/** A connection that breaks is on the console. */
const BROKEN = /WebSocket|ERR_/
/** Servers start slowly on a busy machine. */
const RESTART = { timeout: 120_000 }

const pill = (page: Page) => page.locator('header [role="status"]')
const messages = (page: Page) => page.getByLabel('Messages')
const card = (page: Page, { id }: Task) => page.locator(`[data-card="${id}"]`)
const says = (what: Locator, words: RegExp) =>
  expect.poll(() => what.allInnerTexts()).toContainEqual(expect.stringMatching(words))

async function press(page: Page, task: Task, key: string): Promise<void> {
  await card(page, task).getByRole('link').focus()
  await page.keyboard.press(key)
}

/** Each column as it is drawn: its heading with its count, and its cards with their states. */
const DRAWN = `[...document.querySelectorAll('main section[aria-label]')].map((column) => ({
  column: column.querySelector('h2').textContent,
  cards: [...column.querySelectorAll('[data-card]')].map((card) => card.dataset.card + ' ' + card.querySelector('.sr-only').textContent).sort(),
}))`

const HEADINGS = {
  inbox: 'To do',
  assigned: 'Assigned',
  in_progress: 'In progress',
  review: 'Review',
  done: 'Done',
}
const STATE_WORDS: Record<string, string> = {
  queued: 'Queued',
  paused: 'Paused',
  assigned: 'Assigned',
  cancelled: 'Cancelled',
}

/** The same, of the server's answer. */
async function answered(w: Pick<Workspace, 'call'>) {
  const { columns, counts } = (await w.call('GET', '/board')).body
  // What did not succeed is counted beside the column.
  const countOf = { done: counts.completed ?? 0, assigned: counts.assigned ?? 0 } as Record<string, number>
  return BOARD_COLUMNS.map((name) => ({
    column: `${HEADINGS[name]}${countOf[name] ?? columns[name].count}`,
    cards: columns[name].items.map(({ id, state }: Json) => `${id} ${STATE_WORDS[String(state)]}`).sort(),
  }))
}

/** The page shows what the server answers, and is still the page that was opened. */
async function showsWhatIs({ page }: OpenedPage, w: Pick<Workspace, 'call'>): Promise<void> {
  const expected = await answered(w)
  await expect.poll(() => page.evaluate(DRAWN)).toEqual(expected)
  expect(await page.evaluate('window.isAsOpened')).toBe(true)
}

async function openBoard(opened: OpenedPage): Promise<OpenedPage> {
  await opened.goto('/board')
  await opened.page.evaluate('window.isAsOpened = true')
  return opened
}

describe('a board is live', () => {
  const { browser, workspace, prepare, borrowed } = useBrowser()
  const processes = useProcesses()

  function watched(opened: OpenedPage): OpenedPage {
    onTestFinished(async () => {
      await opened.close()
      expect(opened.faults).toEqual([])
    })
    return opened
  }
  const opened = async (w: Workspace) => openBoard(await borrowed(w))

  test('what is done in one window, or over the API, is in the other, and the counts are those of the server', async () => {
    const w = await workspace()
    const task = await w.make({ title: 'First' })
    const [one, other] = [await opened(w), await opened(w)]
    await says(pill(other.page), /^live/)
    await press(one.page, task, 'p')
    await says(messages(one.page), /paused\./)
    await says(card(other.page, task), /Paused$|^Paused\n/)
    await w.make({ title: 'Second' })
    await w.held({ title: 'Third' })
    for (const page of [one, other]) await showsWhatIs(page, w)
  })

  test(
    'a server that is killed and restarted is reported, and nothing is missing afterwards',
    RESTART,
    async () => {
      const killed = await processes.serve()
      const w = await processes.workspace(killed.url)
      const task = await w.make({ title: 'First' })
      const board = await openBoard(
        watched(await preparePage(browser(), { url: killed.url, key: w.ownerKey })),
      )
      board.expected.push(BROKEN)
      await says(pill(board.page), /^live/)
      killed.child.kill('SIGKILL')
      await says(pill(board.page), /^reconnecting in/)
      await press(board.page, task, 'p')
      await says(messages(board.page), /Nothing was sent/)
      await processes.serve({ BATON_PORT: new URL(killed.url).port })
      await w.make({ title: 'Second' })
      await w.held({ title: 'Third' })
      await w.on(task, 'pause')
      await says(pill(board.page), /^live/)
      await showsWhatIs(board, w)
    },
  )

  test('without a network it says since when, refuses acts in words, and catches up automatically', async () => {
    const w = await workspace()
    const task = await w.make({ title: 'First' })
    const board = await opened(w)
    board.expected.push(BROKEN)
    await says(pill(board.page), /^live/)
    await board.page.context().setOffline(true)
    await says(pill(board.page), /^offline since \d\d:\d\d$/)
    await press(board.page, task, 'p')
    await says(messages(board.page), /Nothing was sent: you are disconnected/)
    expect((await w.read(task)).state).toBe('queued')
    await w.make({ title: 'Second' })
    await board.page.context().setOffline(false)
    await says(pill(board.page), /^live/)
    await showsWhatIs(board, w)
  })

  test('without a network a page that was never opened says so, and opens by itself; the app stays', async () => {
    // One of its own: what other tests opened is cached.
    const opened = watched(await prepare(await workspace()))
    opened.expected.push(BROKEN, /dynamically imported module|PageNotLoaded/)
    const { page } = opened
    await opened.goto('/settings/appearance')
    await page.context().setOffline(true)
    await says(pill(page), /^offline since/)
    await page.keyboard.press('Control+k')
    await says(messages(page), /Not loaded yet/)
    await page.getByRole('link', { name: 'Routines' }).click()
    await page.getByRole('heading', { name: 'This page is not loaded yet' }).waitFor()
    await page.context().setOffline(false)
    await page.getByRole('heading', { name: 'No routines yet' }).waitFor()
  })

  test.each([1, -1])(
    'with a clock that is wrong by %d h its countdowns and ages are right',
    async (hours) => {
      const w = await workspace()
      const task = await w.held({ title: 'First' })
      const wrong = watched(await prepare(w))
      await wrong.page.clock.install({ time: Date.now() + hours * 3_600_000 })
      await wrong.goto(`/tasks/${task.id}`)
      await says(pill(wrong.page), /^live/)
      const facts = wrong.page.locator('main header')
      await says(facts, /lease [1-5] m/)
      await says(facts, /created (now|\d+ s ago|[1-4] m ago)/)
    },
  )

  test('where sockets are blocked it polls every two seconds, and says so', async () => {
    const w = await workspace()
    const task = await w.make({ title: 'First' })
    const blocked = watched(await prepare(w))
    blocked.expected.push(BROKEN)
    await blocked.page.routeWebSocket(/\/events\/ws/, (socket) => socket.close())
    await blocked.page.goto(blocked.address('/board'))
    await blocked.page.evaluate('window.isAsOpened = true')
    await says(pill(blocked.page), /^every 2 s$/)
    const second = await w.make({ title: 'Second' })
    await card(blocked.page, second).waitFor()
    await press(blocked.page, task, 'p')
    await w.reaches(task, 'paused')
    await showsWhatIs(blocked, w)
    await says(pill(blocked.page), /^every 2 s$/)
  })

  test('an act on a task that somebody else has just changed shows its state and its holder', async () => {
    const w = await workspace()
    const [taken, cancelled] = [await w.make({ title: 'Taken' }), await w.make({ title: 'Cancelled' })]
    const second = watched(await prepare(w))
    // Events of that time never reach the second page: it notices with the next one that they are missing.
    let isLate = false
    await second.page.routeWebSocket(/\/events\/ws/, (socket) => {
      const server = socket.connectToServer()
      server.onMessage((message) => {
        if (!isLate || !String(message).includes('"events"')) socket.send(message)
      })
    })
    await openBoard(second)
    await says(pill(second.page), /^live/)
    isLate = true
    expect((await w.claim(taken, 'alpha')).body.reason).toBe('GRANTED')
    expect((await w.on(cancelled, 'cancel')).status).toBe(200)
    await press(second.page, taken, 'p')
    await says(
      messages(second.page),
      /Refused\..* is assigned since \d+ (s|min), held by alpha, attempt 1\./s,
    )
    await press(second.page, cancelled, 'p')
    await says(messages(second.page), /Refused\..* is cancelled since \d+ (s|min)\./s)
    isLate = false
    await w.make({ title: 'Later' })
    await showsWhatIs(second, w)
  })
})
