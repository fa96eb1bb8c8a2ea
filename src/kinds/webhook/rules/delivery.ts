/** Deliveries: an event for a webhook. */

export const DELIVERY_STATES = ['delivered', 'retrying', 'waiting', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** The same for every attempt, on every node, before anything of it is written. */
export const deliveryId = (webhookId: string, seq: number) => `msg_${webhookId.replaceAll('-', '')}_${seq}`

/** The number of the event that a delivery of this webhook is about; null: it is not an id of one. */
export function seqOfDelivery(webhookId: string, id: string): number | null {
  const beginning = deliveryId(webhookId, 0).slice(0, -1)
  const rest = id.startsWith(beginning) ? id.slice(beginning.length) : ''
  return /^\d{1,15}$/.test(rest) ? Number(rest) : null
}
