import { useEffect } from 'react'

let waiting = 0
let page = ''
/** Missions that ended while somebody looked elsewhere. */
let ended = 0

function write(): void {
  const name = [endedText(ended), page, 'Baton'].filter((one) => one !== '').join(' · ')
  document.title = waiting > 0 ? `(${waiting}) ${name}` : name
}

const endedText = (count: number) =>
  count === 0 ? '' : count === 1 ? 'A mission ended' : `${count} missions ended`

/** The tab says so until somebody looks at it. */
export function endedWhileAway(count: number): void {
  if (document.hasFocus()) return
  ended += count
  write()
  addEventListener(
    'focus',
    () => {
      ended = 0
      write()
    },
    { once: true },
  )
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
