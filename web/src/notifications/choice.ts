import { useSyncExternalStore } from 'react'
import { INBOX_TABS, type InboxTab } from '../things/inbox/kinds.ts'
import { type Allowed, allowedNow, askBrowser } from './browser.ts'

/** Whether this browser tells of what waits, and of which kinds. Kept in it, for all workspaces. */

export interface NotificationChoice {
  /** Null: nobody was asked. */
  readonly isOn: boolean | null
  readonly muted: readonly InboxTab[]
}

const KEY = 'baton.notifications'
/** A mission that has ended waits for nobody. */
const USUAL: NotificationChoice = { isOn: null, muted: ['finished'] }

/** Stored text may come from another version, or be written by hand. */
export function choiceIn(text: string | null): NotificationChoice {
  try {
    const { isOn, muted } = JSON.parse(text ?? '{}') as Partial<Record<keyof NotificationChoice, unknown>>
    return {
      isOn: typeof isOn === 'boolean' ? isOn : USUAL.isOn,
      muted: Array.isArray(muted) ? INBOX_TABS.filter((tab) => muted.includes(tab)) : USUAL.muted,
    }
  } catch {
    return USUAL
  }
}

const listeners = new Set<() => void>()
let read: { text: string | null; choice: NotificationChoice } = { text: null, choice: USUAL }

/** The same object until it changes. */
export function notificationChoice(): NotificationChoice {
  const text = localStorage.getItem(KEY)
  if (text !== read.text) read = { text, choice: choiceIn(text) }
  return read.choice
}

function change(changed: Partial<NotificationChoice>): void {
  localStorage.setItem(KEY, JSON.stringify({ ...notificationChoice(), ...changed }))
  for (const listener of listeners) listener()
}

export const switchOff = () => change({ isOn: false })

/** Who closes the question of the browser has not answered it. */
export async function switchOn(): Promise<void> {
  const allowed = await askBrowser()
  if (allowed !== 'default') change({ isOn: allowed === 'granted' })
}

export function muteKind(tab: InboxTab, isMuted: boolean): void {
  const others = notificationChoice().muted.filter((one) => one !== tab)
  change({ muted: isMuted ? [...others, tab] : others })
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  // Other tabs follow.
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

export interface Notifications extends NotificationChoice {
  readonly allowed: Allowed
  readonly isTelling: boolean
}

export function useNotifications(): Notifications {
  const choice = useSyncExternalStore(subscribe, notificationChoice)
  const allowed = useSyncExternalStore(subscribe, allowedNow)
  return { ...choice, allowed, isTelling: choice.isOn === true && allowed === 'granted' }
}
