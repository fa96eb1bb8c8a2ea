import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { start } from '../src/start.ts'
import { type Look, preparePage } from '../test/support/browser/open-page.ts'
import { PAGES } from '../test/support/browser/pages.ts'
import { launchChromium } from '../test/support/chromium.ts'
import { animated } from './screenshots/animation.ts'
import { smaller } from './screenshots/png.ts'
import { type Call, setScene } from './screenshots/scene.ts'

/**
 * `npm run screenshots`: a picture of each page in docs/screenshots, in light, in dark and on a phone, and the board in motion for
 * the README. With names of pages, only these. The server is one of its own, and leaves nothing behind.
 */

const FOLDER = 'docs/screenshots'
const LOOKS: Record<string, Look> = { light: {}, dark: { theme: 'dark' }, phone: { phone: true } }
const FRAMES = 40
const FRAME_MS = 250

const wanted = process.argv.slice(2)
const data = mkdtempSync(join(tmpdir(), 'baton-screenshots-'))
const environment = { PATH: process.env.PATH, HOME: process.env.HOME, BATON_DATA: data, BATON_PORT: '0' }
// Not the name of the machine: pictures are public, and the same wherever they are made.
const fixed = { BATON_NODE_NAME: 'node-1', BATON_LOG_LEVEL: 'silent' }
const baton = await start(readConfig({ ...environment, ...fixed }))
const browser = await launchChromium()
const key = readFileSync(join(data, 'owner-key'), 'utf8').trim()
const place = { url: baton.url, key }

const call: Call = async (method, path, body) => {
  const answer = await fetch(`${baton.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const said = (await answer.json()) as Record<string, unknown>
  if (!answer.ok) throw new Error(`${method} ${path}: ${said.detail}`)
  return said
}

function keep(name: string, picture: Buffer): void {
  writeFileSync(join(FOLDER, name), picture)
  console.log(`${FOLDER}/${name}  ${Math.ceil(picture.length / 1024)} KB`)
}

async function photograph(name: string, path: string): Promise<void> {
  for (const [how, look] of Object.entries(LOOKS)) {
    const opened = await preparePage(browser, place, look)
    await opened.goto(path)
    keep(
      `${name.replaceAll(' ', '-')}-${how}.png`,
      smaller(await opened.page.screenshot({ animations: 'disabled', caret: 'hide' })),
    )
    await opened.close()
  }
}

/** The board while the demonstration begins. */
async function film(): Promise<void> {
  const opened = await preparePage(browser, place, { motion: true })
  await opened.page.setViewportSize({ width: 1200, height: 640 })
  await opened.goto('/board')
  await call('POST', '/demo', { title: 'Open a second shop' })
  const frames: Buffer[] = []
  for (let frame = 0; frame < FRAMES; frame++) {
    frames.push(await opened.page.screenshot())
    await new Promise((resolve) => setTimeout(resolve, FRAME_MS))
  }
  keep('board.png', animated(frames, FRAME_MS))
  await opened.close()
}

try {
  mkdirSync(FOLDER, { recursive: true })
  const made = await setScene(call)
  for (const { name, path } of PAGES)
    if (wanted.length === 0 || wanted.includes(name)) await photograph(name, path(made))
  if (wanted.length === 0 || wanted.includes('film')) await film()
} finally {
  await browser.close()
  await baton.stop()
  rmSync(data, { recursive: true, force: true })
}
process.exit(0)
