/** What clients requested, and the answers they got. Every answer must be true after every crash. */

export type Kind = 'create' | 'claim' | 'next' | 'renew' | 'submit' | 'release'

export interface Hold {
  taskId: string
  session: string
  generation: number
}

export interface SentRequest {
  kind: Kind
  path: string
  body: Record<string, unknown>
  /** Its Idempotency-Key. */
  key: string | null
  /** Under which claim, for requests only a holder may send. */
  hold: Hold | null
  outcome: 'acknowledged' | 'refused' | 'unknown'
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would
  answer: any
}

export class Ledger {
  readonly all: SentRequest[] = []
  /** Tasks that were created and perhaps are not finished: many clients compete for the same ones. */
  readonly open: string[] = []
  /** Events that a client has read, by seq. */
  readonly readEvents = new Map<number, string>()
  acknowledged = 0
  unavailable = 0
  #onAcknowledged: (() => void)[] = []

  record(asked: SentRequest): void {
    this.all.push(asked)
    if (asked.outcome === 'acknowledged') this.count()
  }

  count(): void {
    this.acknowledged += 1
    for (const check of [...this.#onAcknowledged]) check()
  }

  /** Resolves with the n-th acknowledged answer from now. */
  after(n: number): Promise<void> {
    const goal = this.acknowledged + n
    return new Promise((resolve) => {
      const count = () => {
        if (this.acknowledged < goal) return
        this.#onAcknowledged = this.#onAcknowledged.filter((other) => other !== count)
        resolve()
      }
      this.#onAcknowledged.push(count)
    })
  }

  of(outcome: SentRequest['outcome'], ...kinds: Kind[]): SentRequest[] {
    return this.all.filter((asked) => asked.outcome === outcome && kinds.includes(asked.kind))
  }
}

/** The claims an answer grants. */
export function grantsIn({ kind, answer }: SentRequest): Hold[] {
  if (kind === 'claim') return [answer.claim]
  return kind === 'next' ? answer.claims : []
}

/** The tasks a creation asks for, by their titles, which are unique. */
export const titlesIn = ({ body }: SentRequest): string[] =>
  'tasks' in body
    ? (body.tasks as { title: string }[]).map(({ title }) => title)
    : [(body as { title: string }).title]

export const tasksIn = ({ answer }: SentRequest): { id: string; title: string }[] => answer.items ?? [answer]
