/** What clients requested, and the answers they got. Every answer must be true after every crash. */

export type Kind = 'create' | 'claim' | 'next' | 'renew' | 'submit' | 'release'

export interface Hold {
  taskId: string
  session: string
  generation: number
}

export interface Asked {
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
  readonly all: Asked[] = []
  /** Tasks that were created and perhaps are not finished: many clients compete for the same ones. */
  readonly open: string[] = []
  /** Events that a client has read, by seq. */
  readonly readEvents = new Map<number, string>()
  acknowledged = 0
  unavailable = 0
  #onAcknowledged: (() => void)[] = []

  record(asked: Asked): void {
    this.all.push(asked)
    if (asked.outcome === 'acknowledged') this.count()
  }

  count(): void {
    this.acknowledged += 1
    for (const look of [...this.#onAcknowledged]) look()
  }

  /** Resolves with the n-th acknowledged answer from now. */
  after(n: number): Promise<void> {
    const goal = this.acknowledged + n
    return new Promise((resolve) => {
      const look = () => {
        if (this.acknowledged < goal) return
        this.#onAcknowledged = this.#onAcknowledged.filter((other) => other !== look)
        resolve()
      }
      this.#onAcknowledged.push(look)
    })
  }

  of(outcome: Asked['outcome'], ...kinds: Kind[]): Asked[] {
    return this.all.filter((asked) => asked.outcome === outcome && kinds.includes(asked.kind))
  }
}

/** The claims an answer grants. */
export function grantsIn({ kind, answer }: Asked): Hold[] {
  if (kind === 'claim') return [answer.claim]
  return kind === 'next' ? answer.claims : []
}

/** The tasks a creation asks for, by their titles, which are unique. */
export const titlesIn = ({ body }: Asked): string[] =>
  'tasks' in body
    ? (body.tasks as { title: string }[]).map(({ title }) => title)
    : [(body as { title: string }).title]

export const tasksIn = ({ answer }: Asked): { id: string; title: string }[] => answer.items ?? [answer]
