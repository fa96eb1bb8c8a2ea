import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { type OpenedPage, preparePage } from '../../test/support/browser/open-page.ts'
import { launchChromium } from '../../test/support/chromium.ts'
import { launch, ownerKeyIn } from '../../test/support/launched.ts'
import { callApi, NODE, type Served } from '../run-program.ts'

/** A server as people start it, and a browser beside it. */
export interface WebBed extends Served {
  browser: Browser
  /** A page of its own with an empty cache, still without an address. */
  prepare(): Promise<OpenedPage>
  call(method: string, path: string, body?: unknown): ReturnType<typeof callApi>
  close(): Promise<void>
}

export async function makeWebBed(): Promise<WebBed> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  const server = launch({ BATON_DATA: folder, BATON_NODE_NAME: NODE, BATON_MAX_LOG_BYTES: '0' })
  const url = await server.ready
  const served = { url, key: ownerKeyIn(folder) }
  const browser = await launchChromium()
  return {
    ...served,
    browser,
    prepare: () => preparePage(browser, served, { motion: true }),
    call: (method, path, body) => callApi(served, method, path, body),
    async close() {
      await browser.close()
      server.child.kill('SIGTERM')
      await server.ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
