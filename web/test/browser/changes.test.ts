import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import type { Look, OpenedPage } from '../../../test/support/browser/open-page.ts'
import { useChromium } from '../../../test/support/browser/use-browser.ts'
import { git, isGitHere } from '../../../test/support/git.ts'
import { makeMission, showMission } from '../../../test/support/http-missions.ts'
import { eventually } from '../../../test/support/recovery.ts'
import { type Fleet, type Seen, useFleets } from '../../../test/support/runs.ts'
import { hireWorker, workshop } from '../../../test/support/working-agent.ts'

/** A person reads what an agent did to a real repository, and decides about exactly that. */

const { isHere, borrow } = useChromium()
const { served, fleet } = useFleets()

async function openPage(w: Fleet, path: string, look?: Look): Promise<OpenedPage> {
  const opened = await borrow({ url: served().url, key: w.ownerKey }, look)
  await opened.goto(path)
  return opened
}

/** Items and dialogs take answers only a moment after they were shown. */
const settled = (page: Page) =>
  page.evaluate(`new Promise((settle) => requestAnimationFrame(() => setTimeout(settle, 350)))`)

const waits = (w: Fleet, task: Seen, generation: number): Promise<Seen> =>
  eventually(async () => {
    const seen = await w.read(task)
    return seen.state === 'awaiting_human' && seen.generation === generation && seen
  })

const ASKED = {
  title: 'Greet people',
  description: 'Write a **greeting** for each visitor.',
  successCriteria: 'Nobody is greeted twice.',
  verification: { kind: 'human' },
}

/** An agent that changes two files and leaves a file with secrets; its result waits. */
async function firstAttempt(w: Fleet, plan: readonly string[] = [WRITES]) {
  const repository = await workshop(w, { 'src/old name.txt': 'kept\n' })
  await hireWorker(w, 'dev', repository, plan)
  const task = await w.assign('dev', ASKED)
  return { repository, task, first: await waits(w, task, 1) }
}
const WRITES = `do writeFileSync('readme.md', 'one\\nHello <b>you</b>\\n'); writeFileSync('.env', 'TOKEN=1')`

const review = (page: Page, name: string) =>
  page.getByRole('article').getByRole('region', { name, exact: true })
const files = (page: Page) => page.getByRole('list', { name: 'Changed files' })
const diffOf = (page: Page, path: string) => page.getByRole('group', { name: `Changes of ${path}` })

describe.skipIf(!isHere || !isGitHere)('what an agent changed', { timeout: 180_000 }, () => {
  test('is read in the inbox, rejected with a comment, continued, and approved as it was seen', async () => {
    const w = await fleet()
    const { repository, task, first } = await firstAttempt(w)
    const { page, calls } = await openPage(w, '/inbox')
    expect(calls.length, calls.join('\n')).toBeLessThanOrEqual(5)

    // In this order: what was asked, what was done, what changed, what was checked, what is missing, the decision.
    const places = ['What was asked', 'Result', 'Changes', 'Checks', 'What the work lacks']
    const tops: number[] = []
    for (const name of places) tops.push((await review(page, name).boundingBox())!.y)
    expect(tops).toEqual(tops.toSorted((a, b) => a - b))
    await review(page, 'What was asked').getByText('Nobody is greeted twice.').waitFor()
    await review(page, 'What the work lacks').getByText('.env: named like a file with secrets').waitFor()
    await review(page, 'Changes').getByText('2 files, +2 −0').waitFor()
    await page.keyboard.press('d')
    await diffOf(page, 'readme.md').getByText('Hello <b>you</b>').waitFor()
    await diffOf(page, 'work.txt').getByText('dev 1').waitFor()
    expect(await axe(page)).toEqual([])

    await settled(page)
    await page.keyboard.press('r')
    await page.getByLabel('Reason').fill('Greet them twice.')
    await page.keyboard.press('Control+Enter')
    const second = await waits(w, task, 2)
    expect(second.resultDigest).not.toBe(first.resultDigest)

    // The second attempt is on top of the first; what is new can be read alone.
    await page.getByRole('article').getByText('attempt 2', { exact: true }).waitFor()
    await files(page).getByRole('button', { name: 'work.txt' }).click()
    await diffOf(page, 'work.txt').getByText('dev 1').waitFor()
    await diffOf(page, 'work.txt').getByText('dev 2').waitFor()
    await page.getByText('New in this attempt').click()
    await review(page, 'Changes').getByText('1 file, +1 −0').waitFor()
    await files(page).getByRole('button', { name: 'work.txt' }).click()
    await diffOf(page, 'work.txt').getByText('dev 2').waitFor()
    await page.keyboard.press('a')
    await w.taskIn(task, 'completed')
    const { commit } = (await w.resultsOf(task)).at(-1)
    expect(git(repository, 'show', `${commit}:work.txt`)).toBe('dev 1\ndev 2')
    expect(second.resultDigest).toContain(commit)
  })

  test('is on the tab Code of the task, by attempt, and in the details of the run', async () => {
    const w = await fleet()
    const { task, first } = await firstAttempt(w, [WRITES, `do writeFileSync('.env', 'TOKEN=2')`])
    await w.on(task, 'reject', { comment: 'Once more.', digest: first.resultDigest })
    await waits(w, task, 2)
    const [one, two] = await w.over('dev', 2)
    const { page } = await openPage(w, `/tasks/${task.id}?tab=code`)
    await page.getByText(`baton/${task.id}/gen-2`, { exact: true }).first().waitFor()
    await page.getByText('attempt 1 of dev, in the same folder').waitFor()
    for (const commit of [two.folder.saved.commit, two.folder.worktree.baseCommit])
      await page.getByRole('button', { name: `Copy ${commit.slice(0, 10)}` }).waitFor()
    const short = page.getByText(two.folder.saved.commit.slice(0, 10), { exact: true }).first()
    expect(await short.evaluate((text) => text.scrollWidth - text.clientWidth), 'all of it is shown').toBe(0)
    await page.getByText('git -C').waitFor()
    await diffOf(page, 'readme.md').getByText('Hello <b>you</b>').waitFor()
    await page.getByRole('combobox', { name: 'Attempt' }).selectOption({ label: 'Attempt 1 of dev' })
    await page.getByText(`baton/${task.id}/gen-1`, { exact: true }).first().waitFor()
    await page.getByText('2 files, +2 −0').waitFor()

    const run = await openPage(w, `/runs/${one.id}`)
    await run.page.getByText('Left out of the commit: .env').waitFor()
    await run.page.getByRole('button', { name: 'Details' }).click()
    await run.page
      .getByRole('button', { name: `Copy ${one.folder.saved.commit.slice(0, 10)}` })
      .first()
      .waitFor()
    await run.page.getByText('1 commit, 2 files, +2 −0').waitFor()
    await diffOf(run.page, 'readme.md').getByText('Hello <b>you</b>').waitFor()
    expect(await axe(run.page)).toEqual([])

    const board = await openPage(w, '/board', { phone: true })
    await board.page.getByText('1 file left out').waitFor()
  })

  test('is approved on the page of the task; a result that came meanwhile is shown first', async () => {
    const w = await fleet()
    const { task, first } = await firstAttempt(w)
    const { page } = await openPage(w, `/tasks/${task.id}`, { phone: true })
    await page.getByRole('button', { name: 'Approve' }).click()
    await files(page).getByRole('button', { name: 'readme.md' }).click()
    await diffOf(page, 'readme.md').getByText('Hello <b>you</b>').waitFor()
    await w.on(task, 'reject', { comment: 'Not yet.', digest: first.resultDigest })
    await waits(w, task, 2)
    await page.getByRole('button', { name: 'Show the current one' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('gen-2').first().waitFor()
    await dialog.getByRole('button', { name: 'Approve' }).click()
    await w.taskIn(task, 'completed')
  })

  test('is left behind when a rejection asks for a fresh start', async () => {
    const w = await fleet()
    const { repository, task } = await firstAttempt(w, [WRITES, 'done'])
    const { page } = await openPage(w, '/inbox')
    await settled(page)
    await page.getByRole('button', { name: 'Reject and start over' }).click()
    const choice = page.getByLabel('Start over')
    expect(await choice.isChecked()).toBe(true)
    await page.getByLabel('Reason').fill('All wrong.')
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
    await waits(w, task, 2)
    const { commit } = (await w.resultsOf(task)).at(-1)
    expect(git(repository, 'show', `${commit}:work.txt`)).toBe('dev 2')
    await page.getByText('New in this attempt').click()
    await page.getByText('This attempt started from the base: all of it is new.').waitFor()
  })
})

describe.skipIf(!isHere || !isGitHere)('what a mission changed', () => {
  test('is read where a person accepts its outcome: branch, files and their diffs', async () => {
    const w = await fleet()
    const repository = await workshop(w, {})
    await hireWorker(w, 'dev', repository, [WRITES])
    const tasks = [{ tempId: 'a', agent: 'dev' }]
    const mission = await makeMission(w, tasks, { config: { autonomy: 'full_auto', acceptance: 'human' } })
    await eventually(async () => (await w.call('GET', '/inbox')).body.items.length > 0)
    const { page } = await openPage(w, '/inbox')
    const changes = review(page, 'Changes')
    await changes
      .getByText(/^baton\/.*\/gen-1$/)
      .first()
      .waitFor()
    await changes.getByText('2 files, +2 −0').waitFor()
    await page.keyboard.press('d')
    await diffOf(page, 'readme.md').getByText('Hello <b>you</b>').waitFor()
    await changes.getByText(`git -C`).first().waitFor()
    expect(await axe(page)).toEqual([])
    await settled(page)
    await page.keyboard.press('a')
    await eventually(async () => (await showMission(w, mission)).state === 'completed')
  })
})

describe.skipIf(!isHere || !isGitHere)('the tab Code says why it is empty', () => {
  test('when no run worked in a worktree', async () => {
    const w = await fleet()
    await w.put('talker', { adapterType: 'simulated', adapterConfig: { steps: [{ result: {} }] } })
    const task = await w.assign('talker')
    await w.taskIn(task, 'completed')
    const { page } = await openPage(w, `/tasks/${task.id}?tab=code`)
    await page.getByText('Its runs did not work in a git worktree.').waitFor()
  })

  test('when the repository is not on this node', async () => {
    const w = await fleet()
    const { repository, task } = await firstAttempt(w)
    const { rename } = await import('node:fs/promises')
    await rename(repository, `${repository}-elsewhere`)
    const opened = await openPage(w, `/tasks/${task.id}?tab=lineage`)
    opened.expected.push(/409/)
    await opened.page.getByRole('tab', { name: 'Code' }).click()
    await opened.page.getByText('The repository of the run is not on this node').waitFor()
  })

  test('is verified by Baton’s own agent, which says why nobody else acts on it', async () => {
    const w = await fleet()
    const repository = await workshop(w, {})
    await hireWorker(w, 'dev', repository, [WRITES])
    const task = await w.assign('dev', { verification: { kind: 'command', command: 'true' } })
    await eventually(async () => (await w.read(task)).state === 'completed')
    const { page } = await openPage(w, '/agents/baton?tab=settings')
    await page.getByText('This is Baton’s own agent.').waitFor()
    for (const name of ['Wake', 'Pause'])
      expect(await page.getByRole('button', { name }).getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('button', { name: 'More actions' }).click()
    for (const name of [/^Stop now/, /^Terminate/])
      expect(await page.getByRole('menuitem', { name }).getAttribute('aria-disabled')).toBe('true')
  })
})
