import { expect, test } from 'vitest'
import { useFleets } from '../../support/runs.ts'

/** How the output of runs is stored, on a server whose settings say so. */

const { fleet } = useFleets({ BATON_COMPRESS_LOGS: 'false', BATON_EXCERPT_BYTES: '1024' })

test('a run has as much of its output as the setting says, and its log is read as text that is not compressed', async () => {
  const w = await fleet()
  await w.script(
    'dev',
    `for (let i = 0; i < 200; i++) console.log('line ' + i + ' äöü')
     console.log(JSON.stringify({ baton: 'status', message: 'Nearly there' }))
     process.stderr.write('x'.repeat(1024))`,
  )
  await w.wake('dev')
  const [run] = await w.over('dev')
  const seen = await w.run(run.id)
  const [head, tail] = seen.stdoutExcerpt.split(/\n… \d+ bytes omitted; see the log …\n/)
  expect(Buffer.byteLength(head + tail)).toBeLessThanOrEqual(1024)
  expect(Buffer.byteLength(head + tail)).toBeGreaterThan(1016)
  expect(head).toMatch(/^line 0 äöü\nline 1 /)
  expect(tail).toMatch(/Nearly there"\}\n$/)
  expect(seen.stderrExcerpt, 'what fits is whole').toBe('x'.repeat(1024))
  expect(seen.log).toMatchObject({ compressed: false, status: 'available' })
  const log = await w.log(run.id)
  expect(log).toMatchObject({
    nextOffset: null,
    bytes: Buffer.byteLength(log.content),
    sha256: seen.log.sha256,
  })
  const at = Buffer.byteLength(log.content.slice(0, log.content.indexOf('line 150 ')))
  const page = await w.call('GET', `/runs/${run.id}/log?offset=${at}&limitBytes=8`)
  expect(page.body).toMatchObject({ content: 'line 150', offset: at, nextOffset: at + 8 })
  const found = await w.call('GET', `/runs/${run.id}/log/search?q=line%20150`)
  expect(found.body).toMatchObject({ total: 1, hits: [{ offset: at }] })
  const { body } = await w.call('GET', `/runs/${run.id}/transcript?limit=500`)
  expect(JSON.stringify(body.items ?? body.steps)).toContain('Nearly there')
})
