import { chromium } from 'playwright-core'
import { find, type Machine, thisMachine } from './servers/machine.ts'
import type { Skipped } from './servers/obtain.ts'
import { obtainProgram } from './servers/program.ts'

/** The real browser of the test run, of the screenshots and of the benchmark. */

/** The one without windows first: the same engine, and much less work than a whole browser that nobody sees. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]
/** Where macOS has them. */
const APPLICATIONS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The program that the environment names, or an installed one, or the package of Debian. */
export async function obtainChromium(machine: Machine = thisMachine): Promise<string | Skipped> {
  const { env, exists } = machine
  if (env.BATON_CHROMIUM && !exists(env.BATON_CHROMIUM))
    throw new Error(`BATON_CHROMIUM names ${env.BATON_CHROMIUM}, which does not exist.`)
  return obtainProgram(machine, {
    name: 'Chromium',
    wanted: 'Chromium or Chrome',
    // Ubuntu's package of this name is a snap, which starts in no container; there somebody installs Chrome.
    packages: ['chromium-headless-shell', 'chromium'].map((name) => ({ names: [name, 'fonts-liberation'] })),
    locate: () =>
      env.BATON_CHROMIUM ||
      NAMES.map((name) => find(name, machine)).find(Boolean) ||
      APPLICATIONS.find((path) => exists(path)),
    variable: 'BATON_CHROMIUM',
  })
}

const FLAGS = [
  // A container's /dev/shm has 64 MB, and a page that does not fit is killed.
  '--disable-dev-shm-usage',
  '--disable-gpu',
  // A second page of a browser context does not compile the app again.
  '--process-per-site',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Nothing but this machine has an address: no page can load anything from elsewhere.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
]

/** With a new, empty profile each time. It ends with this process. */
export const startChromium = (program: string, { isRoot }: Machine = thisMachine) =>
  chromium.launch({
    executablePath: program,
    args: FLAGS,
    // The sandbox does not start as root, and only there it is left out.
    chromiumSandbox: !isRoot,
  })

export async function launchChromium(machine: Machine = thisMachine) {
  const program = await obtainChromium(machine)
  if (typeof program !== 'string') throw new Error(program.skipped)
  return startChromium(program, machine)
}
