import { useSyncExternalStore } from 'react'

const KEPT_AS = 'baton-single-keys'
const listeners = new Set<() => void>()

/** Keys without Ctrl or Alt act, unless the user has switched them off. */
export const areSingleKeysOn = () => localStorage.getItem(KEPT_AS) !== 'off'

export function switchSingleKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(KEPT_AS)
  else localStorage.setItem(KEPT_AS, 'off')
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  // Other tabs follow.
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}

export const useSingleKeys = () => useSyncExternalStore(subscribe, areSingleKeysOn)
