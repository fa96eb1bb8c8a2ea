import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core'
import { signedIn } from './sign-in.ts'

/** Opens pages of the app as a person does, and records what they do. */

/** Where the app is served, and a key of the workspace to sign in with. */
export interface Place {
  url: string
  key: string
}

export interface Look {
  theme?: 'light' | 'dark'
  phone?: boolean
  /** Without it nothing moves on its own, so that pages are at rest soon. */
  motion?: boolean
}

/** A part of opening the socket, which carries no data of the page. */
const OPENS_SOCKET = 'POST /session/ticket'

/** On a busy machine pages come late, but they come. */
const LONGEST_WAIT_MS = 150_000

/** Longer than a page waits before it asks for something, or React before it shows what was loaded. */
const QUIET_MS = 500
const STEP_MS = 100
/** With a limit: after a change of its size a page that does nothing is sometimes never told that it is idle. */
const IDLE_AND_STEP = `new Promise((settle) => requestIdleCallback(() => setTimeout(settle, ${STEP_MS}), { timeout: 2000 }))`

const DESK = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

const contextOptions = ({ theme = 'light', phone, motion }: Look): BrowserContextOptions => ({
  viewport: phone ? PHONE : DESK,
  deviceScaleFactor: 1,
  colorScheme: theme,
  reducedMotion: motion ? 'no-preference' : 'reduce',
  locale: 'en-GB',
  timezoneId: 'UTC',
  ...(phone ? { isMobile: true, hasTouch: true } : {}),
})

export class OpenedPage {
  readonly page: Page
  /** What the page asked of the API, such as `GET /board?limit=50`, in order; the socket aside. */
  readonly calls: string[] = []
  /** Faults that belong to the test: those that match. */
  readonly expected: RegExp[] = []
  readonly #faults: string[] = []
  readonly #context: BrowserContext
  readonly #url: string
  readonly #base: string
  readonly #unanswered = new Set<Request>()
  /** Requests that began or ended. */
  #activities = 0

  constructor(context: BrowserContext, page: Page, url: string, base: string) {
    this.page = page
    this.#context = context
    this.#url = url
    this.#base = base
    this.#watch()
  }

  /** What no page may do: errors on the console, exceptions, breaches of its policy, requests to other hosts. */
  get faults(): string[] {
    return this.#faults.filter((fault) => !this.expected.some((pattern) => pattern.test(fault)))
  }

  #watch(): void {
    this.page.on('console', (message) => {
      if (message.type() === 'error')
        this.#faults.push(`console: ${message.text()} ${message.location().url}`)
    })
    this.page.on('pageerror', (error) => this.#faults.push(`exception: ${error.message}`))
    this.page.on('request', (request) => this.#began(request))
    this.page.on('requestfinished', (request) => this.#ended(request))
    this.page.on('requestfailed', (request) => this.#ended(request))
    this.page.on('websocket', (socket) => this.#mustBeOurs(socket.url().replace(/^ws/, 'http')))
  }

  #began(request: Request): void {
    const url = request.url()
    if (/^(data|blob):/.test(url)) return
    this.#mustBeOurs(url)
    this.#activities += 1
    this.#unanswered.add(request)
    const api = `${this.#url}/api/v1`
    if (!url.startsWith(api)) return
    const call = `${request.method()} ${url.slice(api.length)}`
    if (call !== OPENS_SOCKET) this.calls.push(call)
  }

  #ended(request: Request): void {
    this.#unanswered.delete(request)
    this.#activities += 1
  }

  #mustBeOurs(url: string): void {
    if (new URL(url).origin !== this.#url) this.#faults.push(`request to another host: ${url}`)
  }

  /** Opens a path of the workspace, such as `/board`, and waits until the page is at rest. */
  async goto(path: string): Promise<void> {
    await this.page.goto(this.address(path))
    await this.atRest()
  }

  address = (path: string) => `${this.#url}${this.#base}${path}`

  /** Waits until the page has its heading, nothing loads, and it has asked nothing for a while. */
  async atRest(quietMs = QUIET_MS): Promise<void> {
    await this.page.locator('h1').first().waitFor()
    for (let sinceMs = 0; sinceMs < quietMs; ) {
      const before = this.#activities
      const isBusy = this.#unanswered.size > 0 || (await this.page.locator('[aria-busy="true"]').count()) > 0
      // Time of the page, after its own work: on a busy machine that takes long, and may end in a request.
      if (isBusy) await new Promise((resolve) => setTimeout(resolve, 50))
      else await this.page.evaluate(IDLE_AND_STEP)
      sinceMs = isBusy || this.#activities !== before ? 0 : sinceMs + STEP_MS
    }
  }

  /** What the page asks for while its time passes and nothing happens. Its clock must be installed. */
  async callsWhileIdle(ms: number): Promise<string[]> {
    const before = this.calls.length
    await this.page.clock.runFor(ms)
    await this.atRest(STEP_MS)
    return this.calls.slice(before)
  }

  /** Another tab of the same browser: what was loaded once is not loaded again. */
  async tab(): Promise<OpenedPage> {
    return new OpenedPage(this.#context, await this.#context.newPage(), this.#url, this.#base)
  }

  /** How many pixels the page, or the part of it that scrolls, is wider than what is shown of it. */
  async overflow(): Promise<number> {
    const parts = 'html, body, main, [data-scroll-restoration-id="page"]'
    const wider = `[...document.querySelectorAll('${parts}')].map((one) => one.scrollWidth - one.clientWidth)`
    return Math.max(...((await this.page.evaluate(wider)) as number[]))
  }

  /** How many pixels the document itself is longer than the window: pages scroll inside themselves. */
  documentScroll(): Promise<number> {
    const longer = 'document.documentElement.scrollHeight - document.documentElement.clientHeight'
    return this.page.evaluate<number>(longer)
  }

  close(): Promise<void> {
    return this.#context.close()
  }
}

/** A new context, signed in with the key of a workspace, with one page that is still empty. */
export async function preparePage(browser: Browser, place: Place, look: Look = {}): Promise<OpenedPage> {
  const { storageState, base } = await signedIn(place)
  const context = await browser.newContext({ ...contextOptions(look), storageState })
  context.setDefaultTimeout(LONGEST_WAIT_MS)
  return new OpenedPage(context, await context.newPage(), place.url, base)
}
