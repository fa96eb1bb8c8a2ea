import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { IconButton } from './icon-button.tsx'
import { useReturnFocus } from './return-focus.ts'

const WIDTHS = { small: 'sm:max-w-104', usual: 'sm:max-w-144', wide: 'sm:max-w-220' }

/** Wide ones are long: their buttons stay in view while they are read. */
const AT_HAND =
  'sticky -bottom-4 -mx-6 -mb-6 rounded-b-dialog border-t border-line bg-raised px-6 py-4 max-sm:bottom-0 max-sm:-mx-4 max-sm:-mb-4 max-sm:rounded-none max-sm:px-4'

/**
 * The first field, else the dialog itself. Not its close button, as it would be otherwise: the button's tooltip would open, and
 * take the first Esc.
 */
function focusWhatIsAsked(event: Event): void {
  event.preventDefault()
  const dialog = event.target as HTMLElement
  const field = dialog.querySelector<HTMLElement>('input, textarea, select')
  ;(field ?? dialog).focus()
}

/** A dialog in the middle; a sheet from below on a phone. Esc and a click outside close it, unless only its buttons may. */
export function Dialog(props: {
  open: boolean
  onClose: () => void
  /** What it shows is shown once: it is not closed by accident. */
  onlyByButtons?: boolean
  title: ReactNode
  /** One sentence below the title. */
  text?: ReactNode
  width?: keyof typeof WIDTHS
  /** The row of buttons at the end. */
  actions?: ReactNode
  children?: ReactNode
}) {
  const { open, onClose, onlyByButtons = false, title, text, width = 'usual', actions, children } = props
  const returnFocus = useReturnFocus(open)
  return (
    <Radix.Root onOpenChange={(isOpen) => !isOpen && !onlyByButtons && onClose()} open={open}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 grid grid-cols-[minmax(0,1fr)] animate-fade place-items-center overflow-y-auto bg-scrim p-4 max-sm:place-items-end max-sm:p-0">
          <Radix.Content
            {...(text ? {} : { 'aria-describedby': undefined })}
            onCloseAutoFocus={returnFocus}
            onOpenAutoFocus={focusWhatIsAsked}
            className={`w-full animate-rise rounded-dialog bg-raised p-6 shadow-float outline-none max-sm:rounded-b-none max-sm:p-4 ${WIDTHS[width]}`}
          >
            <header className="flex items-start gap-4">
              <div className="min-w-0 flex-1">
                <Radix.Title className="text-title font-semibold break-words">{title}</Radix.Title>
                {text && <Radix.Description className="mt-1 text-body text-muted">{text}</Radix.Description>}
              </div>
              {!onlyByButtons && (
                <Radix.Close asChild>
                  <IconButton className="-mt-1.5 -mr-2" icon="close" label="Close" shortcut="Esc" />
                </Radix.Close>
              )}
            </header>
            {children && <div className="mt-4">{children}</div>}
            {actions && (
              <footer className={`mt-6 flex flex-wrap justify-end gap-2 ${width === 'wide' ? AT_HAND : ''}`}>
                {actions}
              </footer>
            )}
          </Radix.Content>
        </Radix.Overlay>
      </Radix.Portal>
    </Radix.Root>
  )
}
