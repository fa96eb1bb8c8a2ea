import { useEffect } from 'react'

let waiting = 0
let page = ''
let news: string | null = null

function write(): void {
  const shown = news ?? page
  const name = shown === '' ? 'Baton' : `${shown} · Baton`
  document.title = waiting > 0 ? `(${waiting}) ${name}` : name
}

/** How much waits for a person, on every page's tab. */
export function setWaitingInTitle(count: number): void {
  waiting = count
  write()
}

/** What happened while nobody looked, instead of the page's own title; null: somebody is there again. */
export function setNewsInTitle(words: string | null): void {
  if (news === words) return
  news = words
  write()
}

export function useDocumentTitle(title: string): void {
  useEffect(() => {
    page = title
    write()
  }, [title])
}
