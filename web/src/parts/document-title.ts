import { useEffect } from 'react'

let waiting = 0
let page = ''

function write(): void {
  const name = page === '' ? 'Baton' : `${page} · Baton`
  document.title = waiting > 0 ? `(${waiting}) ${name}` : name
}

/** How much waits for a person, on every page's tab. */
export function setWaitingInTitle(count: number): void {
  waiting = count
  write()
}

export function useDocumentTitle(title: string): void {
  useEffect(() => {
    page = title
    write()
  }, [title])
}
