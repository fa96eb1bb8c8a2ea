import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { useFleets } from '../../support/runs.ts'
import { tablesWith } from '../../support/seed.ts'

/** Parts of its settings that an agent extracts, and secrets it finds on the node, appear nowhere. */

const { served, fleet } = useFleets()
const fresh = (what: string) => `${what}-${randomBytes(6).toString('hex')}`

test('parts of variables, the owner key and the password of the database are redacted from everything', async () => {
  const w = await fleet()
  const [token, user, password, pair] = ['token', 'user', 'password', 'pair'].map(fresh) as [
    string,
    string,
    string,
    string,
  ]
  const ownerKey = served().ownerKey
  const databasePassword = new URL(served().databaseUrl).password
  expect(databasePassword.length).toBeGreaterThan(5)
  const source = `
    import { readFileSync } from 'node:fs'
    const { AUTH, LOGIN, DB, DATA, NEEDLE } = process.env
    const url = new URL(DB)
    const found = [AUTH.split(' ')[1], ...atob(LOGIN.split(' ')[1]).split(':'), url.username, url.password,
      readFileSync(DATA + '/owner-key', 'utf8').trim(), [...NEEDLE].reverse().join('')]
    for (const one of found) { console.log('out ' + one); console.error('err ' + one) }
    console.log(JSON.stringify({ result: found, summary: found.join(' ') }))`
  await w.script('dev', source, {
    env: {
      AUTH: `Bearer ${token}`,
      LOGIN: `Basic ${Buffer.from(`${pair}:${password}`).toString('base64')}`,
      DB: `postgres://${user}:${password}@db/shop`,
      DATA: served().dataFolder,
      NEEDLE: [...databasePassword].reverse().join(''),
    },
    coordinatorEnabled: false,
  })
  await w.wake('dev')
  const [run] = await w.over('dev')
  expect([run.status, run.errorMessage]).toEqual(['succeeded', null])
  expect(run.result).toEqual(Array(7).fill('[redacted]'))
  const { content } = await w.log(run.id)
  expect(content.match(/^(out|err) \[redacted\]$/gm)).toHaveLength(14)
  for (const secret of [token, user, password, pair, ownerKey]) {
    expect(JSON.stringify([run, content, await w.timeline(run.id), await w.events()])).not.toContain(secret)
    expect(await tablesWith(served().databaseUrl, secret)).toEqual(
      secret === ownerKey ? [] : expect.any(Array),
    )
  }
})
