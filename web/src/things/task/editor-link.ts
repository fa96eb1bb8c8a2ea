import { useSyncExternalStore } from 'react'

/** Which editor opens the folders of runs. Kept in this browser: a link can only open a program of the machine it is on. */

export const EDITORS = ['none', 'vscode', 'cursor'] as const
export type Editor = (typeof EDITORS)[number]
export const EDITOR_WORDS: Record<Editor, string> = { none: 'None', vscode: 'VS Code', cursor: 'Cursor' }

const KEY = 'baton-editor'
const listeners = new Set<() => void>()

const chosen = (): Editor => EDITORS.find((one) => one === localStorage.getItem(KEY)) ?? 'vscode'

export function chooseEditor(editor: Editor): void {
  localStorage.setItem(KEY, editor)
  for (const listener of listeners) listener()
}

export const useEditor = (): Editor =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, chosen)

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]', '::1']

/** Null: no editor is chosen, or the page is not on the machine of its server. Windows paths begin with a drive. */
export function editorLink(editor: Editor, host: string, path: string): string | null {
  if (editor === 'none' || !LOOPBACK.includes(host)) return null
  const slashed = path.replaceAll('\\', '/')
  const absolute = slashed.startsWith('/') ? slashed : `/${slashed}`
  return `${editor}://file${absolute.split('/').map(encodeURIComponent).join('/').replaceAll('%3A', ':')}`
}
