import { useRouter } from '@tanstack/react-router'
import type { ComponentProps, MouseEvent } from 'react'

/** Goes to a page of this workspace: "/tasks/B-014?tab=runs". */
export function useGo(): (to: string, options?: { replace?: boolean }) => void {
  const router = useRouter()
  return (to, { replace = false } = {}) =>
    void router.navigate({ href: router.basepath + to, replace } as never)
}

const isPlainClick = (event: MouseEvent) =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey

/** A link to a page of this workspace. It can be opened in another tab, copied and sent. */
export function PageLink({ to, onClick, ...rest }: { to: string } & Omit<ComponentProps<'a'>, 'href'>) {
  const { basepath } = useRouter()
  const go = useGo()
  return (
    <a
      {...rest}
      href={basepath + to}
      onClick={(event) => {
        onClick?.(event)
        if (event.defaultPrevented || !isPlainClick(event) || rest.target) return
        event.preventDefault()
        go(to)
      }}
    />
  )
}
