import { useSyncExternalStore } from 'react'
import { workspaceInAddress } from '../../requests/signed-in.ts'
import { BOARD_SEARCH, type BoardSearch, boardAt } from './search.ts'

/** Boards with a name, kept in this browser for one workspace. What they show is an address. */

export interface SavedView {
  readonly name: string
  /** As in the address: "?state=failed&group=agent". */
  readonly address: string
  /** Shown when the board is opened without anything in its address. */
  readonly isDefault: boolean
}

export const LONGEST_NAME = 60
const MOST_VIEWS = 50

const NAMES = Object.keys(BOARD_SEARCH) as (keyof BoardSearch)[]

/** What a view keeps: what is shown and how, not what is open beside it. In one order, whatever was chosen first. */
export function addressOf(search: BoardSearch): string {
  const inOrder: BoardSearch = Object.fromEntries(NAMES.map((name) => [name, search[name]]))
  return boardAt(inOrder, { task: undefined, new: undefined })
}

export const isShown = (view: SavedView, search: BoardSearch) => view.address === addressOf(search)

/** A view of this name is replaced. */
export function withView(views: readonly SavedView[], name: string, search: BoardSearch): SavedView[] {
  const before = views.find((one) => one.name === name)
  const view = { name, address: addressOf(search), isDefault: before?.isDefault ?? false }
  return before ? views.map((one) => (one === before ? view : one)) : [...views, view].slice(-MOST_VIEWS)
}

/** The other view of that name goes. */
export const renamed = (views: readonly SavedView[], from: string, to: string): SavedView[] =>
  views
    .filter(({ name }) => name === from || name !== to)
    .map((one) => (one.name === from ? { ...one, name: to } : one))

export const without = (views: readonly SavedView[], name: string): SavedView[] =>
  views.filter((one) => one.name !== name)

/** One is the default, or none. */
export const withDefault = (views: readonly SavedView[], name: string | null): SavedView[] =>
  views.map((one) => ({ ...one, isDefault: one.name === name }))

/** What was kept, as far as it is views: a browser's storage is not ours alone. */
export function readViews(text: string | null): SavedView[] {
  try {
    const kept: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(kept) ? kept.flatMap(viewIn) : []
  } catch {
    return []
  }
}

function viewIn(kept: unknown): SavedView[] {
  if (typeof kept !== 'object' || kept === null) return []
  const { name, address, isDefault } = kept as Record<keyof SavedView, unknown>
  if (typeof name !== 'string' || typeof address !== 'string' || !/^\/board(\?|$)/.test(address)) return []
  return [{ name, address, isDefault: isDefault === true }]
}

const keyHere = () => `baton-board-views:${workspaceInAddress()}`
const listeners = new Set<() => void>()
let read: { key: string; text: string | null; views: SavedView[] } | null = null

function viewsHere(): SavedView[] {
  const key = keyHere()
  const text = localStorage.getItem(key)
  // The same list as long as nothing changed, also in another tab.
  if (read?.key !== key || read.text !== text) read = { key, text, views: readViews(text) }
  return read.views
}

function keep(views: readonly SavedView[]): void {
  localStorage.setItem(keyHere(), JSON.stringify(views))
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

/** The views of this workspace, and how they are changed. */
export function useSavedViews(): [readonly SavedView[], (views: readonly SavedView[]) => void] {
  return [useSyncExternalStore(listen, viewsHere), keep]
}
