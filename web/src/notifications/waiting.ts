import type { InboxKind } from '../../../src/kinds/task/rules/waiting.ts'
import type { LiveEvent } from '../live/card.ts'
import { type InboxTab, KINDS } from '../things/inbox/kinds.ts'

/** What begins to wait while nobody looks, collected into one notification for each kind. It knows no browser. */

export interface Waits {
  readonly id: string
  readonly tab: InboxTab
  /** What it is about, as far as events say. */
  readonly about: string | null
}

export interface Notice {
  /** One of the same tag replaces the one before. */
  readonly tab: InboxTab
  readonly title: string
  readonly text: string
  /** The page that a click opens. */
  readonly to: string
}

interface Deps {
  after: (waitMs: number, run: () => void) => void
  now: () => number
  isMuted: (tab: InboxTab) => boolean
  /** Whether somebody sees the workspace now, in this tab or in another one. */
  isInView: () => Promise<boolean>
  show: (notice: Notice) => void
  withdraw: (tab: InboxTab) => void
}

/** What comes within this time is one notification. */
const COLLECT_MS = 1_000
/** A plan of a hundred tasks that fail one after the other is no hundred sounds. */
const BETWEEN_MS = 10_000
const LONGEST_TEXT = 200

const WORDS: Record<InboxTab, { one: string; more: string }> = {
  approvals: { one: 'An approval waits for you', more: 'approvals wait for you' },
  questions: { one: 'A question waits for you', more: 'questions wait for you' },
  results: { one: 'A result waits for your review', more: 'results wait for your review' },
  budgets: { one: 'A budget waits for your decision', more: 'budgets wait for your decision' },
  problems: { one: 'A problem waits for you', more: 'problems wait for you' },
  finished: { one: 'A mission has ended', more: 'missions have ended' },
}

const shortened = (text: string) =>
  text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1).trimEnd()}…`

/** In words: one thing by what it is about, several by how many they are. */
export function noticeOf(tab: InboxTab, waits: readonly Waits[], workspace: string): Notice {
  const [first] = waits
  const isOne = waits.length === 1
  const about = isOne ? first!.about : null
  return {
    tab,
    title: isOne ? WORDS[tab].one : `${waits.length} ${WORDS[tab].more}`,
    text: [...(about === null ? [] : [shortened(about)]), workspace].join('\n'),
    to: isOne ? `/inbox?${new URLSearchParams({ kind: tab, item: first!.id })}` : `/inbox?kind=${tab}`,
  }
}

/** What an event says begins to wait; null: nothing, or of a kind that is newer than this page. `title`: of a task, if it is known. */
export function waitsIn({ type, payload }: LiveEvent, title: string | undefined): Waits | null {
  if (type !== 'inbox_added') return null
  const { id, kind, agent, reason } = (payload.item ?? {}) as Record<string, unknown>
  if (typeof id !== 'string' || typeof kind !== 'string' || !Object.hasOwn(KINDS, kind)) return null
  // Reasons are codes, but those of alerts, which are sentences.
  const said = id.startsWith('raised:') ? reason : agent
  const about = [title, said].filter((one) => typeof one === 'string')
  return { id, tab: KINDS[kind as InboxKind].tab, about: about.length === 0 ? null : about.join(' · ') }
}

export class WaitingNotices {
  readonly #deps: Deps
  readonly #workspace: string
  /** What nobody has seen yet, by its id. */
  readonly #unseen = new Map<string, Waits>()
  readonly #shown = new Set<InboxTab>()
  readonly #news = new Set<InboxTab>()
  #isDue = false
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(deps: Deps, workspace: string) {
    this.#deps = deps
    this.#workspace = workspace
  }

  add(waits: Waits): void {
    if (this.#deps.isMuted(waits.tab)) return
    this.#unseen.set(waits.id, waits)
    this.#news.add(waits.tab)
    if (this.#isDue) return
    this.#isDue = true
    const { after, now } = this.#deps
    after(Math.max(COLLECT_MS, this.#toldAt + BETWEEN_MS - now()), () => void this.#tell())
  }

  /** It was answered, or waits no more: nobody need be told. */
  remove(id: string): void {
    this.#unseen.delete(id)
    for (const tab of this.#shown) if (this.#of(tab).length === 0) this.#withdraw(tab)
  }

  /** Somebody looks at the workspace. */
  seen(): void {
    this.#unseen.clear()
    this.#news.clear()
    for (const tab of this.#shown) this.#withdraw(tab)
  }

  async #tell(): Promise<void> {
    this.#isDue = false
    if (await this.#deps.isInView()) return this.seen()
    const news = [...this.#news]
    this.#news.clear()
    for (const tab of news) {
      const waits = this.#of(tab)
      if (waits.length === 0) continue
      this.#toldAt = this.#deps.now()
      this.#shown.add(tab)
      this.#deps.show(noticeOf(tab, waits, this.#workspace))
    }
  }

  #of(tab: InboxTab): Waits[] {
    return [...this.#unseen.values()].filter((one) => one.tab === tab)
  }

  #withdraw(tab: InboxTab): void {
    this.#shown.delete(tab)
    this.#deps.withdraw(tab)
  }
}
