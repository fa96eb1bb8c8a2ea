import { freshUuid } from '../../../kernel/fresh-uuid.ts'
import type { Outgoing } from '../../../outgoing/outgoing.ts'
import type { KnownWebhook } from '../postgres/known.ts'
import { messageFor, type Told } from '../rules/messages.ts'
import { fits } from '../rules/patterns.ts'
import { Sender } from './send.ts'

/**
 * Tells webhooks something that cannot be an event, since the database is away. The leader knows all active ones from memory; what is said
 * in this way is in no log, and is not repeated when it does not arrive.
 */

const AT_ONCE = 16

/** What is said. A receiver that wants events of this type gets it. */
export interface Announcement {
  type: string
  /** When it began. */
  at: number
  sentence: string
  severity: string
  /** Null: to all workspaces. */
  workspaceId: number | null
}

/** What the steps of the coordinator keep (`context.kept(KnownWebhooks)`). */
export class KnownWebhooks {
  #known: readonly KnownWebhook[] = []

  remember(known: readonly KnownWebhook[]): void {
    this.#known = known
  }

  /** Returns how many webhooks it has reached. */
  async announce(outgoing: Outgoing, said: Announcement, stopping: AbortSignal): Promise<number> {
    const { type, workspaceId } = said
    const wanting = this.#known.filter(
      (one) =>
        (workspaceId === null || one.workspaceId === workspaceId) &&
        one.events.some((pattern) => fits(pattern, type)),
    )
    let reached = 0
    const left = [...wanting]
    const sending = async () => {
      for (let one = left.shift(); one && !stopping.aborted; one = left.shift())
        if (await tell(one, outgoing, said, stopping)) reached++
    }
    await Promise.all(Array.from({ length: AT_ONCE }, sending))
    return reached
  }
}

async function tell(
  { format, secrets, workspaceUuid }: KnownWebhook,
  outgoing: Outgoing,
  { type, at, sentence, severity }: Announcement,
  stopping: AbortSignal,
): Promise<boolean> {
  const told = saying(type, new Date(at).toISOString(), sentence, workspaceUuid, outgoing.appUrl())
  const message = messageFor(format, { ...told, severity })
  if (!message) return false
  const sender = new Sender({ secrets, format }, outgoing)
  try {
    const attempt = await sender.send(`msg_${freshUuid().replaceAll('-', '')}`, message, stopping)
    return attempt?.isDelivered ?? false
  } finally {
    sender.close()
  }
}

/** What is told of no event. */
export const saying = (
  type: string,
  at: string,
  sentence: string,
  workspaceId: string,
  url: string,
): Told => ({
  ...{ type, at, seq: null, workspaceId, entityType: 'workspace', entityId: null, taskId: null },
  ...{ missionId: null, runId: null, generation: null, from: null, to: null, actor: 'system', sentence, url },
})
