import { describe, expect, test } from 'vitest'
import { obtainChromium } from '../support/chromium.ts'
import { DEBIAN, pretend } from '../support/servers/fake-machine.ts'

const CHROMIUM = '/usr/bin/chromium'

describe('the browser of the tests', () => {
  test('is the one that the environment names, before all that are installed', async () => {
    const machine = pretend({ env: { BATON_CHROMIUM: '/opt/chrome' }, files: ['/opt/chrome', CHROMIUM] })
    expect(await obtainChromium(machine)).toBe('/opt/chrome')
  })

  test('is not searched for when the environment names one that does not exist', async () => {
    const machine = pretend({ env: { BATON_CHROMIUM: '/opt/chrome' }, files: [CHROMIUM] })
    await expect(obtainChromium(machine)).rejects.toThrow(
      'BATON_CHROMIUM names /opt/chrome, which does not exist.',
    )
  })

  test.each([
    CHROMIUM,
    '/usr/bin/google-chrome',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ])('is %s where that is installed', async (path) => {
    const machine = pretend({ files: [path, ...DEBIAN], isRoot: true })
    expect(await obtainChromium(machine)).toBe(path)
    expect(machine.ran).toEqual([])
  })

  test('is installed as a package by root on Debian', async () => {
    const files = [...DEBIAN]
    const machine = pretend({ files, isRoot: true, known: ['chromium'] })
    const run = machine.run
    machine.run = async (program, args, env) => {
      if (args.includes('install')) files.push(CHROMIUM)
      return run(program, args, env)
    }
    expect(await obtainChromium(machine)).toBe(CHROMIUM)
    expect(machine.ran.at(-1)).toMatch(
      /apt-get install .*--no-install-recommends .*chromium fonts-liberation$/,
    )
  })

  test('is missed with one sentence where nobody may install it, and that fails a run of CI', async () => {
    const sentence =
      'The tests on Chromium cannot run, because there is no Chromium or Chrome here, and only root can install it: install it, or set BATON_CHROMIUM.'
    const machine = pretend({ files: DEBIAN })
    expect(await obtainChromium(machine)).toEqual({ skipped: sentence })
    expect(machine.said).toEqual([`Skipped: ${sentence}`])
    await expect(obtainChromium(pretend({ files: DEBIAN, env: { CI: 'true' } }))).rejects.toThrow(sentence)
  })
})
