import { describe, expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { fence, type Task, type Workspace } from '../../../test/support/http-workspace.ts'

/** A person reads a task, and decides about it. */

const { isHere, workspace, openPage } = useBrowser()

/** Its first holder lost it and handed in late; the second one's result is judged by a person. */
async function twoResults(w: Workspace): Promise<Task> {
  const task = await w.held({ title: 'Translate the shop', key: 'B-040-translate' })
  await w.on(task, 'pause', { reason: 'wrong glossary' })
  await w.on(task, 'resume')
  expect((await w.claim(task, 'beta')).body.reason).toBe('GRANTED')
  const late = { ...fence('s-alpha', 1), result: { pages: { cart: 'Korb' } } }
  expect((await w.on(task, 'submit', late)).status).toBe(409)
  const accepted = { ...fence('s-beta', 2), result: { pages: { cart: 'Warenkorb' } } }
  expect((await w.on(task, 'submit', accepted)).status).toBe(200)
  return task
}

describe.skipIf(!isHere)('on the page of a task', () => {
  test('every generation says why it ended; a rejected result is compared and promoted', async () => {
    const w = await workspace()
    const task = await twoResults(w)
    const { page } = await openPage(w, '/tasks/B-040-translate?tab=lineage')
    const lineage = page.getByRole('list', { name: 'Attempts' })
    await lineage.getByText('paused').waitFor()
    await lineage.getByRole('button', { name: 'result rejected, compare' }).click()
    await page.getByRole('button', { name: 'Compare with the accepted one' }).click()
    const changes = page.getByRole('list', { name: 'Changes by path' })
    await changes.getByText('"Warenkorb"').waitFor()
    expect(await changes.innerText()).toContain('"Korb"')
    expect(page.url()).toContain('result=')
    await page.getByRole('button', { name: 'Promote' }).click()
    await page.getByLabel('Reason').fill('the customer wants the short word')
    await page.getByRole('button', { name: 'Promote result' }).click()
    await expect
      .poll(
        async () =>
          (await w.read(task, '/results')).items.find((one: { accepted: boolean }) => one.accepted)
            .generation,
      )
      .toBe(1)
  })

  test('the track of a task says what it is for, and its holder what it said about itself', async () => {
    const w = await workspace()
    expect((await w.post('/projects', { slug: 'shop' })).status).toBe(201)
    const track = { maxAgents: 2, purpose: 'Everything that customers see' }
    expect((await w.call('PUT', '/projects/shop/tracks/B', track)).status).toBe(200)
    const task = await w.make({ title: 'Translate', project: 'shop', key: 'B-041-translate' })
    const said = { metadata: { host: 'build-7' } }
    expect((await w.claim(task, 'alpha', said)).body.reason).toBe('GRANTED')
    const { page } = await openPage(w, `/tasks/${task.id}`)
    await page.getByText('Everything that customers see').waitFor()
    await page.getByText('Said by its holder').click()
    await page.getByText('build-7').waitFor()
  })

  test('a rejected result says whose it is', async () => {
    const w = await workspace()
    await twoResults(w)
    const { page } = await openPage(w, '/tasks/B-040-translate?tab=results')
    const rejected = page
      .getByRole('list', { name: 'Results' })
      .getByRole('listitem')
      .filter({ hasText: 'rejected' })
    await rejected.getByText('alpha').waitFor()
  })

  test('a task whose agent is paused says so, and the agent is resumed there', async () => {
    const w = await workspace()
    const adapterConfig = { steps: [{ result: { ok: true } }] }
    expect(await w.call('PUT', '/agents/dev-1', { adapterType: 'simulated', adapterConfig })).toMatchObject({
      status: 201,
    })
    expect((await w.post('/agents/dev-1/pause')).status).toBeLessThan(300)
    const task = await w.make({ title: 'Port the API', agent: 'dev-1' })
    const { page, calls } = await openPage(w, `/tasks/${task.id}`)
    await page.getByText('The agent dev-1 is paused').waitFor()
    expect(calls.length, calls.join('\n')).toBeLessThanOrEqual(5)
    await page.getByRole('button', { name: 'Resume dev-1' }).click()
    await w.reaches(task, 'completed')
    await page.getByText('Done').first().waitFor()
  })

  test('a question is answered, and the page shows what follows', async () => {
    const w = await workspace()
    const task = await w.held({ title: 'Port the API' })
    await w.on(task, 'ask', {
      ...fence('s-alpha', 1),
      question: 'Keep the **old** one?',
      options: ['yes', 'no'],
    })
    const { page } = await openPage(w, `/tasks/${task.id}`)
    await page.getByText('A question from alpha is waiting for you').waitFor()
    await page.getByRole('region', { name: 'Question' }).getByRole('button', { name: 'yes' }).click()
    await page.getByRole('heading', { level: 1 }).getByText('Queued').waitFor()
    expect((await w.read(task)).question.answer).toBe('yes')
    // The agent that asked continues.
    expect((await w.claim(task)).body.reason).toBe('GRANTED')
    await page.getByRole('heading', { level: 1 }).getByText('Assigned').waitFor()
    await page.getByText('Taken by alpha').waitFor()
  })

  test('a comment and another attempt are one act; keys pause and resume', async () => {
    const w = await workspace()
    const task = await w.held({ title: 'Migrate billing', maxRetries: 0 })
    await w.on(task, 'fail', { ...fence('s-alpha', 1), failureClass: 'quality', error: 'exit 1' })
    await w.reaches(task, 'failed')
    const { page } = await openPage(w, `/tasks/${task.id}?tab=comments`)
    await page.getByText('Its only attempt is spent.').waitFor()
    await page.getByLabel('Comment', { exact: true }).fill('Use the **new** API.')
    await page.getByRole('button', { name: 'Comment and run again' }).click()
    await page.getByRole('list', { name: 'Activity' }).getByText('Use the new API.').waitFor()
    expect((await w.read(task)).state).toBe('queued')
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('p')
    await page.getByRole('heading', { level: 1 }).getByText('Paused').waitFor()
    await w.reaches(task, 'paused')
    await page.keyboard.press('p')
    await w.reaches(task, 'queued')
  })
})
