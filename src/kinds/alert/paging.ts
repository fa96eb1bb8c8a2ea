import { isUuid } from '../../pure/ids.ts'
import { type Cursor, LATEST_MS, type Paging } from '../../pure/paging.ts'

/** Where a page of alerts ends. */
export interface AlertPlace {
  /** When it was first noticed. */
  firstAt: number
  id: string
}

const cursor: Cursor<AlertPlace> = {
  read(text) {
    const [, at, id] = /^(\d{1,16})\.(.+)$/.exec(text) ?? []
    return id !== undefined && isUuid(id) && Number(at) <= LATEST_MS ? { firstAt: Number(at), id } : null
  },
  write: ({ firstAt, id }) => `${firstAt}.${id}`,
}

export const newestFirst = { cursor } satisfies Paging

export const placeOf = ({ firstAt, alertId }: { firstAt: number; alertId: string }): AlertPlace => ({
  firstAt,
  id: alertId,
})
