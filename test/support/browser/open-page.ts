import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  ConsoleMessage,
  Page,
  Request,
  WebSocket,
} from 'playwright-core'
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
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
/**
 * Time of the page, after its own work: on a busy machine that takes long, and may end in a request. Returns whether it still loads.
 * With a limit: after a change of its size a page that does nothing is sometimes never told that it is idle.
 */
const restFor = (ms: number) => `new Promise((settle) => {
  let leftMs = ${ms}
  const isBusy = () => document.querySelector('[aria-busy="true"]') !== null
  const step = () => {
    if (leftMs <= 0 || isBusy()) return settle(isBusy())
    leftMs -= ${STEP_MS}
    requestIdleCallback(() => setTimeout(step, ${STEP_MS}), { timeout: 2000 })
  }
  step()
})`

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

  readonly #onConsole = (message: ConsoleMessage) => {
    if (message.type() === 'error') this.#faults.push(`console: ${message.text()} ${message.location().url}`)
  }
  readonly #onError = (error: Error) => this.#faults.push(`exception: ${error.message}`)
  readonly #onSocket = (socket: WebSocket) => this.#mustBeOurs(socket.url().replace(/^ws/, 'http'))

  #watch(): void {
    this.page.on('console', this.#onConsole)
    this.page.on('pageerror', this.#onError)
    this.page.on('request', this.#onRequest)
    this.page.on('requestfinished', this.#onEnd)
    this.page.on('requestfailed', this.#onEnd)
    this.page.on('websocket', this.#onSocket)
  }

  /** What the page does from now on is not recorded here. */
  leave(): void {
    this.page.off('console', this.#onConsole)
    this.page.off('pageerror', this.#onError)
    this.page.off('request', this.#onRequest)
    this.page.off('requestfinished', this.#onEnd)
    this.page.off('requestfailed', this.#onEnd)
    this.page.off('websocket', this.#onSocket)
  }

  readonly #onRequest = (request: Request) => {
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

  readonly #onEnd = (request: Request) => {
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

  /**
   * Leads to a path of the workspace as a link in the app does: the tab keeps what it has loaded, which takes a third of the work of
   * opening the address. An empty tab opens it.
   */
  async visit(path: string): Promise<void> {
    const address = this.address(path)
    if (!this.page.url().startsWith(`${this.#url}${this.#base}`)) return this.goto(path)
    await this.page.evaluate(`history.pushState({}, '', ${JSON.stringify(address)})`)
    await this.atRest()
  }

  address = (path: string) => `${this.#url}${this.#base}${path}`

  /** Waits until the page has its heading, nothing loads, and it has asked nothing for a while. */
  async atRest(quietMs = QUIET_MS): Promise<void> {
    await this.page.locator('h1').first().waitFor()
    for (;;) {
      const before = this.#activities
      // Cheap for the page, and often enough to see that it is not at rest.
      await sleep(STEP_MS / 2)
      if (this.#unanswered.size > 0 || this.#activities !== before) continue
      const isBusy = await this.page.evaluate(restFor(quietMs))
      if (!isBusy && this.#unanswered.size === 0 && this.#activities === before) return
    }
  }

  /** What the page asks for while its time passes and nothing happens. Its clock must be installed. */
  async callsWhileIdle(ms: number): Promise<string[]> {
    const before = this.calls.length
    await this.page.clock.runFor(ms)
    await this.atRest(STEP_MS)
    return this.calls.slice(before)
  }

  /** The same tab for another path, with nothing recorded. What was loaded and compiled once is not again. */
  again(): OpenedPage {
    this.leave()
    return new OpenedPage(this.#context, this.page, this.#url, this.#base)
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

export async function newContext(browser: Browser, look: Look, more?: BrowserContextOptions) {
  const context = await browser.newContext({ ...contextOptions(look), ...more })
  context.setDefaultTimeout(LONGEST_WAIT_MS)
  return context
}

/** A new context, signed in with the key of a workspace, with one page that is still empty. */
export async function preparePage(browser: Browser, place: Place, look: Look = {}): Promise<OpenedPage> {
  const { storageState, base } = await signedIn(place)
  const context = await newContext(browser, look, { storageState })
  return new OpenedPage(context, await context.newPage(), place.url, base)
}
