import { expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'

/** What people do in the settings: with keys, signed-in browsers and limits. */

const { isHere, workspace, openPage, served } = useBrowser()

const statusWith = async (key: string) => (await served().call('GET', '/session', undefined, { key })).status

test.skipIf(!isHere)('a key is made, shown once with its curl line, and revoked by its name', async () => {
  const w = await workspace()
  const { page } = await openPage(w, '/settings/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('CI of the shop')
  await dialog.getByLabel('operate tasks').uncheck()
  await page.keyboard.press('Escape')
  // What was written is still there.
  await page.getByRole('button', { name: 'New key' }).click()
  await dialog.getByRole('button', { name: 'Make the key' }).click()
  await dialog.getByText('The key CI of the shop').waitFor()
  const key = (await dialog.getByRole('button', { name: /^Copy baton_/ }).innerText()).trim()
  expect(await dialog.getByRole('button', { name: /^Copy curl/ }).innerText()).toContain(`Bearer ${key}`)
  expect(await statusWith(key)).toBe(200)
  // It is shown once: a key too many does not take it away.
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  await page.evaluate('new Promise((settle) => requestAnimationFrame(() => requestAnimationFrame(settle)))')
  expect(await dialog.getByText(key, { exact: true }).count()).toBe(1)
  await dialog.getByRole('button', { name: 'I have kept it' }).click()
  const row = page
    .getByRole('list', { name: 'Keys' })
    .getByRole('listitem')
    .filter({ hasText: 'CI of the shop' })
  await row.getByText('May read, work on tasks', { exact: true }).waitFor()
  expect(await page.getByText(key).count()).toBe(0)
  await page.getByRole('button', { name: 'Revoke CI of the shop' }).click()
  const revoke = dialog.getByRole('button', { name: 'Revoke key' })
  expect(await revoke.getAttribute('aria-disabled')).toBe('true')
  await dialog.getByLabel('Type “CI of the shop” to confirm').fill('CI of the shop')
  await revoke.click()
  await row.waitFor({ state: 'detached' })
  await expect.poll(() => statusWith(key)).toBe(401)
  await page.getByRole('button', { name: 'Show 1 that has ended' }).click()
  await row.getByText('revoked', { exact: true }).waitFor()
})

test.skipIf(!isHere)(
  'a limit below its use is refused in words, and what changed meanwhile is shown',
  async () => {
    const w = await workspace()
    for (const agent of ['alpha', 'beta']) await w.claim(await w.make(), agent)
    const opened = await openPage(w, '/settings/limits')
    opened.expected.push(/40[09]/)
    const { page } = opened
    const claims = page.getByLabel('Tasks held at once')
    await page.getByText('2 in use now').waitFor()
    await claims.fill('1')
    await page.getByRole('button', { name: 'Save limits' }).click()
    await page.getByText('It would be 1, and 2 are in use.').waitFor()
    await claims.fill('20')
    await w.setLimits({ verifyTimeoutSeconds: 60 })
    const changed = page.getByRole('alert', { name: 'Changed by somebody else' })
    await changed.getByRole('cell', { name: '180 s' }).waitFor()
    await changed.getByRole('cell', { name: '60 s' }).waitFor()
    await changed.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByRole('button', { name: 'Save limits' }).click()
    await page.getByText('The limits are saved.').waitFor()
    expect((await w.call('GET', '/limits')).body).toMatchObject({
      maxConcurrentClaims: 20,
      verifyTimeoutSeconds: 60,
    })
  },
)

test.skipIf(!isHere)('another browser is signed out; the one that is used is marked', async () => {
  const w = await workspace()
  const userAgent = 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0'
  const other = await fetch(`${served().url}/api/v1/session`, {
    method: 'POST',
    headers: { origin: served().url, 'content-type': 'application/json', 'user-agent': userAgent },
    body: JSON.stringify({ key: w.ownerKey }),
  })
  expect(other.status).toBe(201)
  const { page } = await openPage(w, '/settings/browsers')
  const rows = page.getByRole('list', { name: 'Signed-in browsers' }).getByRole('listitem')
  const firefox = rows.filter({ hasText: 'Firefox on Windows' })
  await firefox.waitFor()
  expect(await rows.filter({ hasText: 'this browser' }).count()).toBe(1)
  expect(await firefox.getByText('this browser').count()).toBe(0)
  await firefox.getByRole('button', { name: /^Sign out/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await firefox.waitFor({ state: 'detached' })
  expect((await w.call('GET', '/session/all')).body.items).toHaveLength(1)
})

test.skipIf(!isHere)(
  'who may not administer reads which right is missing, and is refused nothing',
  async () => {
    const w = await workspace()
    const { body } = await w.post('/keys', { name: 'reader', role: 'viewer' })
    const opened = await openPage({ ownerKey: body.key }, '/settings/keys')
    const { page } = opened
    await page.getByText('This needs the right to administer the workspace.').waitFor()
    await opened.goto('/nodes')
    await page.getByText('This needs the right to administer the workspace.').first().waitFor()
    await opened.goto('/settings/limits')
    expect(await page.getByLabel('Tasks held at once').getAttribute('readonly')).not.toBeNull()
    expect(opened.calls.filter((call) => /keys|coordinator|nodes/.test(call))).toEqual([])
  },
)

test.skipIf(!isHere)('the address of the settings opens their first section', async () => {
  const { page } = await openPage(await workspace(), '/settings')
  await page.waitForURL(/\/settings\/appearance$/)
})
